//! Chunks cut into blocks that are compressed one by one, for compressors that have no container of their own.
//!
//! All numbers are little-endian: the decoded length (8 bytes), the decoded length of a block (4), four zeros, the
//! encoded length of each block (4 each), zeros up to a multiple of 16, then each block followed by zeros up to a
//! multiple of 16. A block that is as long encoded as decoded is stored as it is.

use std::ops::Range;

use serde::Deserialize;

use super::deflate::{self, Format};
use super::gdeflate;
use super::support::{check_max, check_size, longer_by, resize, too_big};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "blocks";
const HEADER: usize = 16;
/// Where blocks begin, as every decoder for GPUs wants it.
pub const ALIGNMENT: usize = 16;
const MAX_BLOCK: usize = 16 << 20;

/// What compresses a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inner {
    Snappy,
    Deflate,
    Gdeflate,
    Ans,
    Bitcomp,
    Cascaded,
}

impl Inner {
    const ALL: [Inner; 6] = [
        Inner::Snappy,
        Inner::Deflate,
        Inner::Gdeflate,
        Inner::Ans,
        Inner::Bitcomp,
        Inner::Cascaded,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Inner::Snappy => "snappy",
            Inner::Deflate => "deflate",
            Inner::Gdeflate => "gdeflate",
            Inner::Ans => "ans",
            Inner::Bitcomp => "bitcomp",
            Inner::Cascaded => "cascaded",
        }
    }

    pub fn from_name(name: &str) -> Option<Inner> {
        Inner::ALL.into_iter().find(|inner| inner.name() == name)
    }

    /// Decodes one block into all of `dst`.
    pub fn decode(self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        match self {
            Inner::Deflate => deflate::decode_exact(Format::Raw, src, dst),
            Inner::Gdeflate => gdeflate::decode(src, dst),
            Inner::Snappy => match snap::raw::Decoder::new().decompress(src, dst) {
                Ok(made) if made == dst.len() => Ok(()),
                _ => Err(CodecError::corrupt("snappy", "a block is damaged")),
            },
            Inner::Ans | Inner::Bitcomp | Inner::Cascaded => Err(self.only_on_devices("decodes")),
        }
    }

    /// Encodes one block.
    pub fn encode(self, src: &[u8]) -> Result<Vec<u8>, CodecError> {
        match self {
            Inner::Deflate => {
                let mut out = Vec::new();
                deflate::encode(Format::Raw, LEVEL, src, &mut out)?;
                Ok(out)
            }
            Inner::Gdeflate => gdeflate::encode(LEVEL, src),
            Inner::Snappy => snap::raw::Encoder::new()
                .compress_vec(src)
                .map_err(|_| too_big("snappy", src.len())),
            Inner::Ans | Inner::Bitcomp | Inner::Cascaded => Err(self.only_on_devices("encodes")),
        }
    }

    fn only_on_devices(self, does: &str) -> CodecError {
        let what = format!("only a GPU {does} it; open the array with device=\"cuda\"");
        CodecError::new(self.name(), CodecErrorKind::Unsupported, what)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    inner: Inner,
    block: usize,
}

/// One block: where it is in the frame, and what it decodes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub encoded: Range<usize>,
    pub decoded: Range<usize>,
}

impl Block {
    pub fn is_stored(&self) -> bool {
        self.encoded.len() == self.decoded.len()
    }
}

impl Blocks {
    pub fn new(inner: Inner, block: usize) -> Result<Self, CodecError> {
        if block == 0 || block > MAX_BLOCK || !block.is_multiple_of(ALIGNMENT) {
            let what =
                format!("a block of {block} bytes is not a multiple of 16 of at most {MAX_BLOCK}");
            return Err(CodecError::new(NAME, CodecErrorKind::Config, what));
        }
        Ok(Blocks { inner, block })
    }

    fn decode_block(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        if src.len() == dst.len() {
            dst.copy_from_slice(src);
            return Ok(());
        }
        self.inner.decode(src, dst)
    }
}

const LEVEL: i32 = 6;

impl BytesCodec for Blocks {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        let blocks = decoded.max().div_ceil(self.block);
        let each = blocks.checked_mul(4 + ALIGNMENT);
        let extra = each.and_then(|n| n.checked_add(HEADER + ALIGNMENT));
        let extra = extra.ok_or_else(|| too_big(NAME, decoded.max()))?;
        longer_by(NAME, Size::AtMost(decoded.max()), extra)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        check_size(NAME, dst.len(), claimed(src)?)?;
        for block in blocks(src)? {
            self.decode_block(&src[block.encoded], &mut dst[block.decoded])?;
        }
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let size = claimed(src)?;
        check_max(NAME, max, size)?;
        blocks(src)?;
        resize(NAME, out, size)?;
        self.decode_exact(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        let encoded = src
            .chunks(self.block)
            .map(|block| self.inner.encode(block))
            .collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&[u8]> = encoded
            .iter()
            .zip(src.chunks(self.block))
            .map(|(encoded, plain)| match encoded.len() < plain.len() {
                true => &encoded[..],
                false => plain,
            })
            .collect();
        write(&parts, src.len(), self.block, out)
    }
}

/// The frame of encoded blocks; those that are no shorter than their content must be that content.
pub fn write(
    parts: &[&[u8]],
    decoded: usize,
    block: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    out.clear();
    let padded: usize = parts.iter().map(|part| part.len() + ALIGNMENT).sum();
    out.try_reserve(HEADER + 4 * parts.len() + ALIGNMENT + padded)
        .map_err(|_| too_big(NAME, decoded))?;
    out.extend_from_slice(&(decoded as u64).to_le_bytes());
    let number = |n: usize| u32::try_from(n).map_err(|_| too_big(NAME, n));
    out.extend_from_slice(&number(block)?.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    for part in parts {
        out.extend_from_slice(&number(part.len())?.to_le_bytes());
    }
    out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
    for part in parts {
        out.extend_from_slice(part);
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
    }
    Ok(())
}

fn claimed(src: &[u8]) -> Result<usize, CodecError> {
    let size = src.first_chunk::<8>().map(|n| u64::from_le_bytes(*n));
    let size = size.and_then(|n| usize::try_from(n).ok());
    size.ok_or_else(|| CodecError::corrupt(NAME, "the frame ends within its header"))
}

/// The blocks of a frame, every one of them in it.
pub fn blocks(src: &[u8]) -> Result<Vec<Block>, CodecError> {
    let damaged = |what: &str| CodecError::corrupt(NAME, what);
    let decoded = claimed(src)?;
    let header = src.first_chunk::<HEADER>();
    let header = header.ok_or_else(|| damaged("the frame ends within its header"))?;
    let block = u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize;
    let sound = block > 0 && block <= MAX_BLOCK && block.is_multiple_of(ALIGNMENT);
    if !sound || header[12..] != [0; 4] {
        return Err(damaged("the header names no sound length of blocks"));
    }
    let count = decoded.div_ceil(block);
    // Every block has a length in the frame, so a lying header costs nothing.
    let table = count
        .checked_mul(4)
        .and_then(|n| src.get(HEADER..)?.get(..n));
    let table = table.ok_or_else(|| damaged("the frame ends within its lengths"))?;
    let mut at = (HEADER + table.len()).next_multiple_of(ALIGNMENT);
    let mut found = Vec::with_capacity(count);
    for (number, length) in table.chunks_exact(4).enumerate() {
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let start = number * block;
        let content = start..decoded.min(start + block);
        let end = at.checked_add(length).filter(|&end| end <= src.len());
        let end = end.ok_or_else(|| damaged("a block reaches out of the frame"))?;
        if length > content.len() || length == 0 {
            return Err(damaged("a block has a length that cannot be"));
        }
        found.push(Block {
            encoded: at..end,
            decoded: content,
        });
        at = end.next_multiple_of(ALIGNMENT);
    }
    if at != src.len() {
        return Err(damaged("the frame does not end with its last block"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn data(len: usize) -> Vec<u8> {
        (0..len).map(|k| (k / 7 % 50) as u8).collect()
    }

    #[test]
    fn blocks_come_back() {
        for inner in [Inner::Snappy, Inner::Deflate, Inner::Gdeflate] {
            for (len, block) in [(0, 64), (1, 64), (63, 64), (64, 64), (65, 64), (5000, 512)] {
                let codec = Blocks::new(inner, block).unwrap();
                let (data, mut out) = (data(len), Vec::new());
                codec.encode(&data, &mut out).unwrap();
                assert!(out.len() <= codec.encoded_size(Size::Exact(len)).unwrap().max());
                let (mut exact, mut bounded) = (vec![1; len], Vec::new());
                codec.decode_exact(&out, &mut exact).unwrap();
                codec.decode_bounded(&out, len, &mut bounded).unwrap();
                assert_eq!((&exact, &bounded), (&data, &data));
                for end in 0..out.len() {
                    assert!(codec.decode_exact(&out[..end], &mut exact).is_err());
                }
            }
        }
    }

    #[test]
    fn what_only_a_device_decodes_says_so() {
        let codec = Blocks::new(Inner::Ans, 64).unwrap();
        let mut frame = Vec::new();
        write(&[&[1, 2, 3]], 64, 64, &mut frame).unwrap();
        let error = codec.decode_exact(&frame, &mut [0; 64]).unwrap_err();
        assert_eq!(error.kind, CodecErrorKind::Unsupported);
        assert!(codec.encode(&[0; 64], &mut frame).is_err());
    }

    #[test]
    fn lengths_of_blocks_are_checked() {
        for block in [0, 8, 100, MAX_BLOCK + 16] {
            assert!(Blocks::new(Inner::Snappy, block).is_err());
        }
    }
}
