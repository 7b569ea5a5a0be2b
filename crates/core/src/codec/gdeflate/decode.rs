//! From a stream to bytes of a known number.

use super::super::CodecError;
use super::super::support::check_size;
use super::lanes::{Bits, Reader};
use super::symbols::{Body, Codes, Symbol, block};
use super::{LANES, NAME, damaged};

/// Fills `dst`, which the stream has to fill exactly.
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    let mut bits = Reader::new(src)?;
    let mut to = Output { dst, len: 0 };
    loop {
        let (last, body) = block(&mut bits)?;
        match body {
            Body::Stored => stored(&mut bits, &mut to)?,
            Body::Coded(codes) => coded(&mut bits, &codes, &mut to)?,
        }
        if last {
            break;
        }
    }
    bits.finish()?;
    check_size(NAME, to.dst.len(), to.len)
}

fn stored(bits: &mut Reader, to: &mut Output) -> Result<(), CodecError> {
    for _ in 0..bits.take(16) {
        let at = to.make_room(1)?;
        to.dst[at] = bits.take(8) as u8;
        bits.next_lane()?;
    }
    Ok(())
}

/// A match whose distance is still to come: where it goes, and its length.
type Waiting = [Option<(usize, usize)>; LANES];

fn coded(bits: &mut Reader, codes: &Codes, to: &mut Output) -> Result<(), CodecError> {
    let mut waiting: Waiting = [None; LANES];
    loop {
        let place = &mut waiting[bits.lane()];
        if let Some((at, length)) = place.take() {
            to.copy(at, length, codes.distance(bits)?)?;
        } else {
            match codes.symbol(bits)? {
                Symbol::Literal(byte) => {
                    let at = to.make_room(1)?;
                    to.dst[at] = byte;
                }
                Symbol::Match(length) => *place = Some((to.make_room(length)?, length)),
                Symbol::End => break,
            }
        }
        bits.next_lane()?;
    }
    for _ in 0..LANES {
        if let Some((at, length)) = waiting[bits.lane()].take() {
            to.copy(at, length, codes.distance(bits)?)?;
        }
        bits.next_lane()?;
    }
    Ok(())
}

struct Output<'a> {
    dst: &'a mut [u8],
    len: usize,
}

impl Output<'_> {
    /// Where the next `count` bytes go.
    fn make_room(&mut self, count: usize) -> Result<usize, CodecError> {
        if self.dst.len() - self.len < count {
            check_size(NAME, self.dst.len(), self.len.saturating_add(count))?;
        }
        let at = self.len;
        self.len += count;
        Ok(at)
    }

    /// Matches come in the order of their places, so that all before one is there.
    fn copy(&mut self, at: usize, length: usize, distance: usize) -> Result<(), CodecError> {
        let from = at.checked_sub(distance);
        let from = from.ok_or_else(|| damaged("a match begins before the data"))?;
        if distance >= length {
            self.dst.copy_within(from..from + length, at);
        } else {
            for k in 0..length {
                self.dst[at + k] = self.dst[from + k];
            }
        }
        Ok(())
    }
}
