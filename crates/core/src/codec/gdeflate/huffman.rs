//! Canonical prefix codes of at most 15 bits.

use super::super::CodecError;
use super::damaged;

const LONGEST: usize = 15;
/// Codes up to this length are found by one look.
const QUICK: usize = 10;

/// A prefix code, made of the length of each symbol's code word.
pub struct Code {
    /// By the next bits: symbol and length (4 bits), or 0.
    quick: Vec<u16>,
    /// Number of code words of each length.
    counts: [u16; LONGEST + 1],
    /// Symbols in the order of their code words.
    symbols: Vec<u16>,
}

impl Code {
    /// Codes that leave words unused are taken; the unused ones are errors where they occur.
    pub fn new(lengths: &[u8]) -> Result<Code, CodecError> {
        let mut counts = [0u16; LONGEST + 1];
        for &length in lengths.iter().filter(|&&length| length > 0) {
            counts[usize::from(length).min(LONGEST)] += 1;
        }
        let firsts = first_words(&counts)?;
        let mut code = Code {
            quick: vec![0; 1 << QUICK],
            counts,
            symbols: Vec::with_capacity(lengths.len()),
        };
        for (length, &first) in firsts.iter().enumerate().skip(1) {
            let having = (0..)
                .zip(lengths)
                .filter(|(_, l)| usize::from(**l) == length);
            for (word, (symbol, _)) in (first..).zip(having) {
                code.symbols.push(symbol);
                code.note(word, length, symbol);
            }
        }
        Ok(code)
    }

    fn note(&mut self, word: u32, length: usize, symbol: u16) {
        if length > QUICK {
            return;
        }
        // The first bit of a word is its highest, and the lowest of the stream.
        let start = (word.reverse_bits() >> (32 - length)) as usize;
        for entry in self.quick.iter_mut().skip(start).step_by(1 << length) {
            *entry = symbol << 4 | length as u16;
        }
    }

    /// The symbol whose word comes next, and the length of the word.
    pub fn find(&self, bits: u32) -> Result<(u16, u32), CodecError> {
        match self.quick[bits as usize & ((1 << QUICK) - 1)] {
            0 => self.search(bits),
            entry => Ok((entry >> 4, u32::from(entry & 15))),
        }
    }

    fn search(&self, bits: u32) -> Result<(u16, u32), CodecError> {
        let (mut word, mut first, mut before) = (0u32, 0u32, 0u32);
        for length in 1..=LONGEST {
            word = word << 1 | bits >> (length - 1) & 1;
            first <<= 1;
            let count = u32::from(self.counts[length]);
            if let Some(place) = word.checked_sub(first).filter(|&place| place < count) {
                let symbol = self.symbols.get((before + place) as usize);
                return symbol
                    .map(|&symbol| (symbol, length as u32))
                    .ok_or_else(|| damaged("a symbol is none of its code"));
            }
            first += count;
            before += count;
        }
        Err(damaged("bits are no word of their code"))
    }
}

/// The first word of each length.
fn first_words(counts: &[u16; LONGEST + 1]) -> Result<[u32; LONGEST + 1], CodecError> {
    let mut firsts = [0; LONGEST + 1];
    let mut next = 0;
    for (length, (first, &count)) in firsts.iter_mut().zip(counts).enumerate().skip(1) {
        next <<= 1;
        *first = next;
        next += u32::from(count);
        if next > 1 << length {
            return Err(damaged("a code has more words than there can be"));
        }
    }
    Ok(firsts)
}
