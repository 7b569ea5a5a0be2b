//! nvCOMP's native container, as its high-level interface writes it: read, never written.
//!
//! Little-endian: magic (4 bytes), major and minor version, format (2), length of the data (8), decoded length (8),
//! number of blocks (8); then, in 6 at once and in 5 after 16 bytes, the decoded length of a block (8) and where the data
//! begins (4). Straight before the data stand the offsets of all blocks in it and then their lengths (8 bytes each).
//! Derived from what nvCOMP 5.3 and 6.0 write on the CPU; containers with checksums are not known.

use super::blocks::{Block, Inner};
use super::support::{check_max, check_size, compressed_bound, resize};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "nvcomp";
const MAGIC_5: u32 = 0x5291_1326;
const MAGIC_6: u32 = 0x5291_1327;
const HEADER: usize = 60;
const MAX_BLOCK: u64 = 1 << 32;

#[derive(Clone, Copy, Debug)]
pub struct Native {
    pub inner: Inner,
}

impl BytesCodec for Native {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        compressed_bound(NAME, decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let blocks = blocks(src)?;
        check_size(NAME, dst.len(), decoded(&blocks))?;
        for block in blocks {
            self.inner
                .decode(&src[block.encoded], &mut dst[block.decoded])?;
        }
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let size = decoded(&blocks(src)?);
        check_max(NAME, max, size)?;
        resize(NAME, out, size)?;
        self.decode_exact(src, out)
    }

    fn encode(&self, _src: &[u8], _out: &mut Vec<u8>) -> Result<(), CodecError> {
        let what = "nvCOMP's container is read, not written; use blazarr's own codecs";
        Err(CodecError::new(NAME, CodecErrorKind::Unsupported, what))
    }
}

fn decoded(blocks: &[Block]) -> usize {
    blocks.last().map_or(0, |block| block.decoded.end)
}

fn number(src: &[u8], at: usize) -> Option<u64> {
    let bytes = src.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The blocks of a container, every one of them in it.
pub fn blocks(src: &[u8]) -> Result<Vec<Block>, CodecError> {
    parse(src).ok_or_else(|| CodecError::corrupt(NAME, "this is no container that is known"))
}

fn parse(src: &[u8]) -> Option<Vec<Block>> {
    let header = src.first_chunk::<HEADER>()?;
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let at = match word(0) {
        MAGIC_5 => 48,
        MAGIC_6 => 32,
        _ => return None,
    };
    let (decoded, count, block) = (number(src, 16)?, number(src, 24)?, number(src, at)?);
    let data = usize::try_from(word(at + 8)).ok()?;
    if block == 0 || block > MAX_BLOCK || decoded.div_ceil(block) != count {
        return None;
    }
    // Both tables lie in the container, so a lying header costs nothing.
    let count = usize::try_from(count).ok()?;
    let tables = data.checked_sub(count.checked_mul(16)?)?;
    if tables < HEADER || data > src.len() {
        return None;
    }
    let end = data.checked_add(usize::try_from(number(src, 8)?).ok()?)?;
    let mut found = Vec::with_capacity(count);
    let mut free = data;
    for index in 0..count {
        let offset = usize::try_from(number(src, tables + 8 * index)?).ok()?;
        let length = usize::try_from(number(src, tables + 8 * (count + index))?).ok()?;
        let start = data.checked_add(offset)?;
        let stop = start.checked_add(length)?;
        if start < free || stop > end.min(src.len()) || length == 0 {
            return None;
        }
        let first = block.checked_mul(index as u64)?;
        let last = decoded.min(first.checked_add(block)?);
        found.push(Block {
            encoded: start..stop,
            decoded: usize::try_from(first).ok()?..usize::try_from(last).ok()?,
        });
        free = stop;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn container(major: u8, lengths: &[u64], block: u64, decoded: u64) -> Vec<u8> {
        let offsets: Vec<u64> = lengths
            .iter()
            .scan(0, |at, length| {
                let start = *at;
                *at += length.next_multiple_of(8);
                Some(start)
            })
            .collect();
        let size: u64 = lengths.iter().map(|n| n.next_multiple_of(8)).sum();
        let data = 72 + 16 * lengths.len() as u64;
        let magic = if major == 5 { MAGIC_5 } else { MAGIC_6 };
        let mut out = magic.to_le_bytes().to_vec();
        out.extend([major, 0, 0, 0]);
        let mut words = vec![size, decoded, lengths.len() as u64];
        if major == 5 {
            words.extend([1, 0, block, data, 0]);
        } else {
            words.extend([block, data, 1 << 32, 0, 0]);
        }
        for word in words {
            out.extend(word.to_le_bytes());
        }
        for word in offsets.iter().chain(lengths) {
            out.extend(word.to_le_bytes());
        }
        out.resize((data + size) as usize, 9);
        out
    }

    #[test]
    fn a_container_is_taken_apart() {
        for major in [5, 6] {
            let src = container(major, &[1284, 65794, 1045], 65536, 140_000);
            let found = blocks(&src).unwrap();
            assert_eq!(found.len(), 3);
            assert_eq!(found[1].encoded, 72 + 48 + 1288..72 + 48 + 1288 + 65794);
            assert_eq!(found[2].decoded, 131_072..140_000);
        }
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let src = container(6, &[100, 200], 256, 300);
        assert!(blocks(&src).is_ok());
        for end in 0..src.len() - 8 {
            assert!(blocks(&src[..end]).is_err(), "{end}");
        }
        for at in [0, 16, 24, 32, 40, 72, 80, 88, 96] {
            let mut damaged = src.clone();
            damaged[at + 3] ^= 0x40;
            assert!(blocks(&damaged).is_err(), "{at}");
        }
    }
}
