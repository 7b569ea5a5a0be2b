//! Blosc 1: a buffer cut into blocks, each shuffled and then compressed by one of several
//! compressors.
//!
//! Decoder and encoder are our own, over the same compression libraries as the codecs of those
//! names: no global state, every offset and length checked, contexts and scratch kept per thread,
//! and only the blocks decoded that are needed.

mod blosclz;
mod encode;
mod frame;
mod header;
mod inner;
pub mod layout;
mod parallel;
use std::ops::Range;

use serde::Deserialize;

pub use self::frame::Frame;
use super::support::{check_max, check_range, check_size, compressed_bound, resize};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "blosc";

/// The compressor of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compressor {
    BloscLz,
    Lz4,
    Lz4Hc,
    Snappy,
    Zlib,
    Zstd,
}

/// What happens to a block before it is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    NoShuffle,
    Shuffle,
    BitShuffle,
}

#[derive(Clone, Copy, Debug)]
pub struct Blosc {
    compressor: Compressor,
    level: u8,
    filter: Filter,
    typesize: usize,
    blocksize: usize,
}

impl Blosc {
    /// `blocksize` 0 lets the encoder choose.
    pub fn new(
        compressor: Compressor,
        level: u8,
        filter: Filter,
        typesize: usize,
        blocksize: usize,
    ) -> Result<Self, CodecError> {
        check_range(NAME, "clevel", level, 0..=9)?;
        check_range(NAME, "typesize", typesize, 1..=i32::MAX as usize)?;
        check_range(NAME, "blocksize", blocksize, 0..=i32::MAX as usize)?;
        // Larger elements than the format can express are bytes to it.
        let typesize = if typesize > header::MAX_TYPESIZE {
            1
        } else {
            typesize
        };
        Ok(Blosc {
            compressor,
            level,
            filter,
            typesize,
            blocksize,
        })
    }
}

impl BytesCodec for Blosc {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        compressed_bound(NAME, decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let frame = Frame::parse(src)?;
        check_size(NAME, dst.len(), frame.decoded_len())?;
        parallel::decode(&frame, dst)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let frame = Frame::parse(src)?;
        check_max(NAME, max, frame.decoded_len())?;
        frame.check_streams()?;
        resize(NAME, out, frame.decoded_len())?;
        frame.decode(out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        encode::encode(self, src, out)
    }

    fn stops_early(&self) -> bool {
        true
    }

    fn decode_range(
        &self,
        src: &[u8],
        range: Range<usize>,
        chunk: &mut [u8],
    ) -> Result<bool, CodecError> {
        let frame = Frame::parse_start(src)?;
        check_size(NAME, chunk.len(), frame.decoded_len())?;
        if range.end > chunk.len() {
            let what = format!("cannot take bytes {range:?} of {}", chunk.len());
            return Err(CodecError::new(NAME, CodecErrorKind::WrongSize, what));
        }
        frame.decode_range(range, chunk).map(|()| true)
    }
}
