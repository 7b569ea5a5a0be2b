//! From bytes to a stream: libdeflate finds matches and codes, and its bits are dealt to lanes.

use super::super::CodecError;
use super::super::deflate::{self, Format};
use super::LANES;
use super::lanes::{Bits, LEAST_MATCH, Writer};
use super::symbols::{Body, Codes, Symbol, block};

/// Deflate's.
const LONGEST_MATCH: usize = 258;

pub fn encode(level: i32, src: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut plain = Vec::new();
    deflate::encode(Format::Raw, level, src, &mut plain)?;
    deal(&plain)
}

/// Deals the bits of a deflate stream, which must be sound.
fn deal(plain: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut dealer = Dealer {
        plain,
        at: 0,
        writer: Writer::new(),
    };
    loop {
        let (last, body) = block(&mut dealer)?;
        match body {
            Body::Stored => stored(&mut dealer)?,
            Body::Coded(codes) => coded(&mut dealer, &codes)?,
        }
        if last {
            return Ok(dealer.writer.finish());
        }
    }
}

fn stored(dealer: &mut Dealer) -> Result<(), CodecError> {
    dealer.at = dealer.at.next_multiple_of(8);
    let count = dealer.take(16);
    // Its complement, which lanes do without.
    dealer.at += 16;
    for _ in 0..count {
        dealer.take(8);
        dealer.next_lane()?;
    }
    Ok(())
}

fn coded(dealer: &mut Dealer, codes: &Codes) -> Result<(), CodecError> {
    let mut waiting: [Option<Bare>; LANES] = [None; LANES];
    loop {
        let place = &mut waiting[dealer.writer.lane()];
        if let Some(distance) = place.take() {
            dealer.writer.put(distance.bits, distance.count);
        } else {
            match codes.symbol(dealer)? {
                Symbol::Literal(_) => {}
                Symbol::Match(_) => *place = Some(dealer.distance(codes)?),
                Symbol::End => break,
            }
        }
        dealer.next_lane()?;
    }
    for _ in 0..LANES {
        if let Some(distance) = waiting[dealer.writer.lane()].take() {
            dealer.writer.put(distance.bits, distance.count);
        }
        dealer.next_lane()?;
    }
    Ok(())
}

/// Reads plain bits; what is read goes to the lane that has its turn.
struct Dealer<'a> {
    plain: &'a [u8],
    /// In bits.
    at: usize,
    writer: Writer,
}

/// Bits that wait for their lane.
#[derive(Clone, Copy)]
struct Bare {
    bits: u32,
    count: u32,
}

impl Dealer<'_> {
    fn distance(&mut self, codes: &Codes) -> Result<Bare, CodecError> {
        let mut bits = Plain {
            bits: self.window(),
            taken: 0,
        };
        codes.distance(&mut bits)?;
        self.at += bits.taken as usize;
        Ok(Bare {
            bits: self.window_at(self.at - bits.taken as usize) & mask(bits.taken),
            count: bits.taken,
        })
    }

    fn window(&self) -> u32 {
        self.window_at(self.at)
    }

    fn window_at(&self, at: usize) -> u32 {
        let mut bytes = [0; 8];
        let rest = self.plain.get(at / 8..).unwrap_or_default();
        let count = rest.len().min(8);
        bytes[..count].copy_from_slice(&rest[..count]);
        (u64::from_le_bytes(bytes) >> (at % 8)) as u32
    }
}

impl Bits for Dealer<'_> {
    fn peek(&self) -> u32 {
        self.window()
    }

    fn skip(&mut self, count: u32) {
        self.writer.put(self.window() & mask(count), count);
        self.at += count as usize;
    }

    fn refill(&mut self) -> Result<(), CodecError> {
        self.writer.refill();
        Ok(())
    }

    fn longest(&mut self) -> usize {
        self.writer.put((LONGEST_MATCH - LEAST_MATCH) as u32, 16);
        LONGEST_MATCH
    }

    fn first_lane(&mut self) {
        self.writer.first_lane();
    }

    fn next_lane(&mut self) -> Result<(), CodecError> {
        self.writer.next_lane();
        Ok(())
    }
}

/// The next bits, of no lane.
struct Plain {
    bits: u32,
    taken: u32,
}

impl Bits for Plain {
    fn peek(&self) -> u32 {
        self.bits
    }

    fn skip(&mut self, count: u32) {
        self.bits >>= count;
        self.taken += count;
    }

    fn refill(&mut self) -> Result<(), CodecError> {
        Ok(())
    }

    fn longest(&mut self) -> usize {
        LONGEST_MATCH
    }

    fn first_lane(&mut self) {}

    fn next_lane(&mut self) -> Result<(), CodecError> {
        Ok(())
    }
}

fn mask(count: u32) -> u32 {
    (1 << count) - 1
}
