//! Block headers and symbols: deflate's own (RFC 1951, 3.2.3 to 3.2.7) but for the longest and the
//! farthest matches, read of lanes.

use super::super::CodecError;
use super::damaged;
use super::huffman::Code;
use super::lanes::Bits;

const LITERALS: usize = 288;
const DISTANCES: usize = 32;
const END: u16 = 256;
const LENGTH_ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];
/// Up to the last symbol but one; the last has a form of its own.
const LENGTH_BASES: [u16; 28] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227,
];
const LENGTH_EXTRA: [u8; 28] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5,
];
const LONGEST: usize = LENGTH_BASES.len();
/// Those of Deflate64: pages of 64 KiB have matches that deflate can't reach.
const DISTANCE_BASES: [u16; 32] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577, 32769, 49153,
];
const DISTANCE_EXTRA: [u8; 32] = [
    0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13,
    13, 14, 14,
];

/// What a block's body is.
pub enum Body {
    Stored,
    Coded(Codes),
}

pub struct Codes {
    literals: Code,
    distances: Code,
}

/// A literal, the length of a match, or the end of a block.
pub enum Symbol {
    Literal(u8),
    Match(usize),
    End,
}

/// Whether the block is the last one, and its body.
pub fn block(bits: &mut impl Bits) -> Result<(bool, Body), CodecError> {
    bits.first_lane();
    let last = bits.take(1) == 1;
    let kind = bits.take(2);
    bits.refill()?;
    let body = match kind {
        0 => return Ok((last, Body::Stored)),
        1 => fixed()?,
        2 => dynamic(bits)?,
        _ => return Err(damaged("a block is of no kind that there is")),
    };
    bits.first_lane();
    Ok((last, Body::Coded(body)))
}

impl Codes {
    pub fn symbol(&self, bits: &mut impl Bits) -> Result<Symbol, CodecError> {
        let symbol = read(&self.literals, bits)?;
        if symbol < END {
            return Ok(Symbol::Literal(symbol as u8));
        }
        if symbol == END {
            return Ok(Symbol::End);
        }
        let at = usize::from(symbol - END - 1);
        if at == LONGEST {
            return Ok(Symbol::Match(bits.longest()));
        }
        let base = LENGTH_BASES.get(at).zip(LENGTH_EXTRA.get(at));
        let (base, extra) = base.ok_or_else(|| damaged("a length is none that there is"))?;
        Ok(Symbol::Match(with_extra(*base, *extra, bits)))
    }

    pub fn distance(&self, bits: &mut impl Bits) -> Result<usize, CodecError> {
        let at = usize::from(read(&self.distances, bits)?);
        let base = DISTANCE_BASES.get(at).zip(DISTANCE_EXTRA.get(at));
        let (base, extra) = base.ok_or_else(|| damaged("a distance is none that there is"))?;
        Ok(with_extra(*base, *extra, bits))
    }
}

fn read(code: &Code, bits: &mut impl Bits) -> Result<u16, CodecError> {
    let (symbol, length) = code.find(bits.peek())?;
    bits.skip(length);
    Ok(symbol)
}

fn with_extra(base: u16, extra: u8, bits: &mut impl Bits) -> usize {
    usize::from(base) + bits.take(extra.into()) as usize
}

fn fixed() -> Result<Codes, CodecError> {
    let mut lengths = [8; LITERALS];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    Ok(Codes {
        literals: Code::new(&lengths)?,
        distances: Code::new(&[5; DISTANCES])?,
    })
}

fn dynamic(bits: &mut impl Bits) -> Result<Codes, CodecError> {
    let literals = bits.take(5) as usize + 257;
    let distances = bits.take(5) as usize + 1;
    let given = bits.take(4) as usize + 4;
    bits.refill()?;
    let mut of_lengths = [0; LENGTH_ORDER.len()];
    for &place in &LENGTH_ORDER[..given] {
        of_lengths[place] = bits.take(3) as u8;
        bits.next_lane()?;
    }
    bits.first_lane();
    let lengths = code_lengths(bits, &Code::new(&of_lengths)?, literals + distances)?;
    Ok(Codes {
        literals: Code::new(&lengths[..literals])?,
        distances: Code::new(&lengths[literals..])?,
    })
}

fn code_lengths(bits: &mut impl Bits, code: &Code, count: usize) -> Result<Vec<u8>, CodecError> {
    let mut lengths: Vec<u8> = Vec::with_capacity(count);
    while lengths.len() < count {
        let (length, times) = match read(code, bits)? {
            16 => {
                let last = lengths.last().copied();
                let last = last.ok_or_else(|| damaged("no code length is there to repeat"))?;
                (last, 3 + bits.take(2))
            }
            17 => (0, 3 + bits.take(3)),
            18 => (0, 11 + bits.take(7)),
            length => (length as u8, 1),
        };
        let end = lengths.len() + times as usize;
        lengths.resize(end, length);
        bits.next_lane()?;
    }
    match lengths.len() == count {
        true => Ok(lengths),
        false => Err(damaged("code lengths go on behind the last symbol")),
    }
}
