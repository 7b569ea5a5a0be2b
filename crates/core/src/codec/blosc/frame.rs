//! Reading a frame, block by block.

use std::ops::Range;

use super::header::{self, Header};
use super::{Filter, NAME, inner};
use crate::codec::support::{Scratch, with_scratch};
use crate::codec::{CodecError, planes};

thread_local! {
    static STREAMS: Scratch = const { Scratch::new(Vec::new()) };
}

/// A frame whose header was checked. Its blocks can be decoded in any order and by many threads.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    header: Header,
    src: &'a [u8],
}

impl<'a> Frame<'a> {
    /// What follows the frame is not looked at, as by other readers.
    pub fn parse(src: &'a [u8]) -> Result<Self, CodecError> {
        let frame = Frame::parse_start(src)?;
        frame.header.check_complete(src.len()).map(|()| frame)
    }

    /// The same of a frame whose end may be missing: blocks that reach into what is missing are errors.
    pub fn parse_start(src: &'a [u8]) -> Result<Self, CodecError> {
        let header = Header::parse(src)?;
        let src = &src[..header.encoded.min(src.len())];
        Ok(Frame { header, src })
    }

    pub fn decoded_len(&self) -> usize {
        self.header.decoded
    }

    pub fn blocks(&self) -> usize {
        self.header.blocks()
    }

    /// The decoded bytes that block `index` holds. All blocks but the last are equally long.
    pub fn block_range(&self, index: usize) -> Range<usize> {
        let start = index
            .saturating_mul(self.header.blocksize)
            .min(self.header.decoded);
        start..(start + self.header.blocksize).min(self.header.decoded)
    }

    /// Decodes one block, which fills `dst` exactly.
    pub fn decode_block(&self, index: usize, dst: &mut [u8]) -> Result<(), CodecError> {
        if dst.len() != self.block_range(index).len() {
            return Err(CodecError::corrupt(
                NAME,
                format!("block {index} has not {} bytes", dst.len()),
            ));
        }
        if self.header.stored {
            let at = header::SIZE + self.block_range(index).start;
            let Some(stored) = self.src.get(at..at + dst.len()) else {
                return Err(CodecError::corrupt(NAME, format!("nothing at offset {at}")));
            };
            dst.copy_from_slice(stored);
            return Ok(());
        }
        match self.header.filter {
            Filter::NoShuffle => self.decode_plain(index, dst),
            Filter::Shuffle | Filter::BitShuffle => self.decode_shuffled(index, dst),
        }
    }

    pub(super) fn decode(&self, dst: &mut [u8]) -> Result<(), CodecError> {
        if self.header.stored {
            dst.copy_from_slice(&self.src[header::SIZE..]);
            return Ok(());
        }
        let blocks = dst.chunks_mut(self.header.blocksize);
        blocks
            .enumerate()
            .try_for_each(|(index, block)| self.decode_block(index, block))
    }

    /// Decodes the blocks that `range` touches to their places in `chunk`.
    pub(super) fn decode_range(
        &self,
        range: Range<usize>,
        chunk: &mut [u8],
    ) -> Result<(), CodecError> {
        if range.is_empty() {
            return Ok(());
        }
        let blocks = range.start / self.header.blocksize..range.end.div_ceil(self.header.blocksize);
        for index in blocks {
            self.decode_block(index, &mut chunk[self.block_range(index)])?;
        }
        Ok(())
    }

    /// Checks that all streams lie in the frame and could be as long as they should, without
    /// decoding.
    pub(super) fn check_streams(&self) -> Result<(), CodecError> {
        if self.header.stored {
            return Ok(());
        }
        for index in 0..self.blocks() {
            let len = self.block_range(index).len();
            let mut streams = self.streams(index, len)?;
            for _ in 0..streams.count {
                inner::check_plausible(self.header.compressor, streams.next()?, streams.decoded)?;
            }
        }
        Ok(())
    }

    pub(super) fn streams(
        &self,
        index: usize,
        block_len: usize,
    ) -> Result<Streams<'a>, CodecError> {
        let count = self.header.streams(block_len);
        if !block_len.is_multiple_of(count) {
            return Err(CodecError::corrupt(
                NAME,
                "a block holds no whole number of elements",
            ));
        }
        let mut start = Streams {
            src: self.src,
            at: header::SIZE + 4 * index,
            count,
            decoded: block_len / count,
        };
        start.at = start.number()?;
        Ok(start)
    }

    fn decode_plain(&self, index: usize, dst: &mut [u8]) -> Result<(), CodecError> {
        let mut streams = self.streams(index, dst.len())?;
        for room in dst.chunks_exact_mut(streams.decoded) {
            let stream = streams.next()?;
            if stream.len() == room.len() {
                room.copy_from_slice(stream);
            } else {
                inner::decompress(self.header.compressor, stream, room)?;
            }
        }
        Ok(())
    }

    fn decode_shuffled(&self, index: usize, dst: &mut [u8]) -> Result<(), CodecError> {
        let (size, len) = (self.header.typesize, dst.len());
        let mut streams = self.streams(index, len)?;
        with_scratch(NAME, &STREAMS, len + planes::bit_scratch(size), |scratch| {
            let (room, bits) = scratch.split_at_mut(len);
            let mut parts: [&[u8]; header::MAX_SPLITS] = [&[]; header::MAX_SPLITS];
            for (part, room) in parts.iter_mut().zip(room.chunks_exact_mut(streams.decoded)) {
                *part = self.stream_bytes(streams.next()?, room)?;
            }
            let (whole, elements) = (parts[0], len / size);
            if streams.count > 1 {
                self.unshuffle(|j| parts[j], &[], bits, dst);
            } else {
                let (body, tail) = whole.split_at(elements * size);
                self.unshuffle(|j| &body[j * elements..][..elements], tail, bits, dst);
            }
            Ok(())
        })
    }

    /// A stream's bytes, decoded into `room` unless they are stored.
    fn stream_bytes<'r>(
        &self,
        stream: &'r [u8],
        room: &'r mut [u8],
    ) -> Result<&'r [u8], CodecError> {
        if stream.len() == room.len() {
            return Ok(stream);
        }
        inner::decompress(self.header.compressor, stream, room)?;
        Ok(room)
    }

    /// Undoes the filter. `tail` is what followed the last whole element, and was left alone.
    fn unshuffle<'p>(
        &self,
        plane: impl Fn(usize) -> &'p [u8],
        tail: &[u8],
        bits: &mut [u8],
        dst: &mut [u8],
    ) {
        let (body, rest) = dst.split_at_mut(dst.len() - tail.len());
        rest.copy_from_slice(tail);
        let size = self.header.typesize;
        let elements = body.len() / size;
        match self.header.filter {
            Filter::Shuffle => planes::join_bytes(size, plane, body),
            Filter::BitShuffle if elements.is_multiple_of(8) => {
                planes::join_bits(size, plane, bits, body);
            }
            // Bits of a number of elements that does not fill bytes are left alone.
            _ => (0..size).for_each(|j| body[j * elements..][..elements].copy_from_slice(plane(j))),
        }
    }
}

/// Walks the streams of a block.
pub(super) struct Streams<'a> {
    src: &'a [u8],
    pub at: usize,
    pub count: usize,
    /// The length of each stream when decoded.
    pub decoded: usize,
}

impl<'a> Streams<'a> {
    pub fn next(&mut self) -> Result<&'a [u8], CodecError> {
        let len = self.number()?;
        let rest = self.src.get(self.at..).unwrap_or_default();
        let Some(stream) = rest.get(..len) else {
            let what = format!("a stream of {len} bytes where {} are left", rest.len());
            return Err(CodecError::corrupt(NAME, what));
        };
        if len > longest_stream(self.decoded) {
            let what = format!("a stream of {len} bytes for {} decoded ones", self.decoded);
            return Err(CodecError::corrupt(NAME, what));
        }
        self.at += len;
        Ok(stream)
    }

    fn number(&mut self) -> Result<usize, CodecError> {
        let bytes = self
            .src
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<4>());
        let Some(bytes) = bytes else {
            return Err(CodecError::corrupt(
                NAME,
                format!("nothing at offset {}", self.at),
            ));
        };
        self.at += 4;
        Ok(u32::from_le_bytes(*bytes) as usize)
    }
}

/// What does not become shorter is stored, but for snappy, which may add this much. Streams are
/// held to it so that blocks that share one long stream cannot make a small frame slow to read.
fn longest_stream(decoded: usize) -> usize {
    decoded + decoded / 6 + 32
}
