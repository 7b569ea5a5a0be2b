//! Zlib.

use super::deflate::{self, Format};
use super::support::{check_range, compressed_bound};
use super::{BytesCodec, CodecError, Size};

const FORMAT: Format = Format::Zlib;

#[derive(Clone, Copy, Debug)]
pub struct Zlib {
    level: i32,
}

impl Zlib {
    pub fn new(level: i32) -> Result<Self, CodecError> {
        check_range(FORMAT.name(), "level", level, -1..=9)?;
        // -1 is zlib's name for its default.
        Ok(Zlib {
            level: if level < 0 { 6 } else { level },
        })
    }
}

impl BytesCodec for Zlib {
    fn name(&self) -> &str {
        FORMAT.name()
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        compressed_bound(FORMAT.name(), decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        deflate::decode_exact(FORMAT, src, dst)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        deflate::decode_bounded(FORMAT, src, max, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        deflate::encode(FORMAT, self.level, src, out)
    }
}
