//! The 32 lanes of a stream, as a reader and a writer see them.

use super::super::CodecError;
use super::{LANES, damaged};

const WORD: u32 = 32;
pub const LEAST_MATCH: usize = 3;

/// Bits that are read, lane after lane.
pub trait Bits {
    /// The next bits of the lane, at least 15 where so many were not taken.
    fn peek(&self) -> u32;
    /// Passes over `count` bits of the lane.
    fn skip(&mut self, count: u32);
    /// Makes the lane hold 32 bits at the least.
    fn refill(&mut self) -> Result<(), CodecError>;
    /// Goes to lane 0.
    fn first_lane(&mut self);
    /// Refills the lane and goes to the next.
    fn next_lane(&mut self) -> Result<(), CodecError>;

    /// Reads what follows the symbol of the longest match, and gives its length.
    fn longest(&mut self) -> usize;

    fn take(&mut self, count: u32) -> u32 {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count);
        bits
    }
}

pub struct Reader<'a> {
    words: std::slice::Chunks<'a, u8>,
    held: [u64; LANES],
    counts: [u32; LANES],
    /// Lanes that took a word behind the stream's end. They may hold it, not read it.
    beyond: [bool; LANES],
    lane: usize,
}

impl<'a> Reader<'a> {
    pub fn new(src: &'a [u8]) -> Result<Self, CodecError> {
        let mut reader = Reader {
            words: src.chunks(4),
            held: [0; LANES],
            counts: [0; LANES],
            beyond: [false; LANES],
            lane: 0,
        };
        for _ in 0..LANES {
            reader.next_lane()?;
        }
        Ok(reader)
    }

    pub fn lane(&self) -> usize {
        self.lane
    }

    /// Checks that nothing behind the stream's end was read. Encoders may pad, so a rest is no fault.
    pub fn finish(&self) -> Result<(), CodecError> {
        let read_beyond = |lane: usize| self.beyond[lane] && self.counts[lane] < WORD;
        match (0..LANES).any(read_beyond) {
            true => Err(too_short()),
            false => Ok(()),
        }
    }

    fn next_word(&mut self) -> Result<u64, CodecError> {
        if let Some(bytes) = self.words.next() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            return Ok(u32::from_le_bytes(word).into());
        }
        match std::mem::replace(&mut self.beyond[self.lane], true) {
            true => Err(too_short()),
            false => Ok(0),
        }
    }
}

impl Bits for Reader<'_> {
    fn peek(&self) -> u32 {
        self.held[self.lane] as u32
    }

    fn skip(&mut self, count: u32) {
        self.held[self.lane] >>= count;
        // No more than 32 bits are taken of a lane before it is filled again.
        self.counts[self.lane] = self.counts[self.lane].saturating_sub(count);
    }

    fn refill(&mut self) -> Result<(), CodecError> {
        if self.counts[self.lane] < WORD {
            let word = self.next_word()?;
            self.held[self.lane] |= word << self.counts[self.lane];
            self.counts[self.lane] += WORD;
        }
        Ok(())
    }

    /// Deflate means 258 by this symbol; here 16 bits follow it, as in Deflate64.
    fn longest(&mut self) -> usize {
        LEAST_MATCH + self.take(16) as usize
    }

    fn first_lane(&mut self) {
        self.lane = 0;
    }

    fn next_lane(&mut self) -> Result<(), CodecError> {
        self.refill()?;
        self.lane = (self.lane + 1) % LANES;
        Ok(())
    }
}

/// Deals bits to lanes, and notes when a reader takes words.
pub struct Writer {
    lanes: [Lane; LANES],
    /// The lane that takes each word.
    order: Vec<u8>,
    lane: usize,
}

#[derive(Default)]
struct Lane {
    words: Vec<u32>,
    held: u64,
    count: u32,
    /// Bits that a reader has at this point.
    readable: u32,
}

impl Writer {
    pub fn new() -> Self {
        let mut writer = Writer {
            lanes: std::array::from_fn(|_| Lane::default()),
            order: Vec::new(),
            lane: 0,
        };
        (0..LANES).for_each(|_| writer.next_lane());
        writer
    }

    pub fn lane(&self) -> usize {
        self.lane
    }

    pub fn put(&mut self, bits: u32, count: u32) {
        let lane = &mut self.lanes[self.lane];
        lane.held |= u64::from(bits) << lane.count;
        lane.count += count;
        lane.readable = lane.readable.saturating_sub(count);
        if lane.count >= WORD {
            lane.words.push(lane.held as u32);
            lane.held >>= WORD;
            lane.count -= WORD;
        }
    }

    pub fn refill(&mut self) {
        let lane = &mut self.lanes[self.lane];
        if lane.readable < WORD {
            lane.readable += WORD;
            self.order.push(self.lane as u8);
        }
    }

    pub fn first_lane(&mut self) {
        self.lane = 0;
    }

    pub fn next_lane(&mut self) {
        self.refill();
        self.lane = (self.lane + 1) % LANES;
    }

    /// The words in the order in which a reader takes them.
    pub fn finish(mut self) -> Vec<u8> {
        let mut words = self.lanes.each_mut().map(|lane| {
            lane.words.push(lane.held as u32);
            lane.words.iter()
        });
        let mut next = |lane: &u8| words[usize::from(*lane)].next().copied().unwrap_or(0);
        let ordered = self.order.iter().flat_map(|lane| next(lane).to_le_bytes());
        ordered.collect()
    }
}

fn too_short() -> CodecError {
    damaged("the stream ends before its last block")
}
