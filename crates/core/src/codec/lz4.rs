//! LZ4 in numcodecs' layout: the decoded length in 4 bytes, then one block.

use std::ffi::{c_char, c_int};
use std::ops::Range;

use super::support::{check_max, check_range, check_size, compressed_bound, reserve, too_big};
use super::{BytesCodec, CodecError, Size};

const NAME: &str = "lz4";
const HEADER: usize = 4;

/// A length byte stands for at most 255 bytes.
pub(super) const MAX_RATIO: usize = 255;

unsafe extern "C" {
    /// Of the library that `lz4_sys` builds, which does not name this function.
    fn LZ4_decompress_safe_partial(
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        wanted: c_int,
        room: c_int,
    ) -> c_int;
}

#[derive(Clone, Copy, Debug)]
pub struct Lz4 {
    acceleration: i32,
}

impl Lz4 {
    pub fn new(acceleration: i32) -> Result<Self, CodecError> {
        check_range(NAME, "acceleration", acceleration, 0..=i32::MAX)?;
        Ok(Lz4 { acceleration })
    }
}

impl BytesCodec for Lz4 {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        compressed_bound(NAME, decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let (size, block) = split(src)?;
        check_size(NAME, dst.len(), size)?;
        // SAFETY: `dst` is valid for writes of its length.
        unsafe { decode_block(block, dst.as_mut_ptr(), size) }
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let (size, block) = split(src)?;
        check_max(NAME, max, size)?;
        reserve(NAME, out, size)?;
        // SAFETY: `size` bytes were reserved, and success means that all of them were written.
        unsafe {
            decode_block(block, out.as_mut_ptr(), size)?;
            out.set_len(size);
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        let len = c_int::try_from(src.len()).map_err(|_| too_big(NAME, src.len()))?;
        // SAFETY: a pure function; 0 means that the input is too long.
        let bound = unsafe { lz4_sys::LZ4_compressBound(len) };
        if bound <= 0 {
            return Err(too_big(NAME, src.len()));
        }
        reserve(NAME, out, HEADER + bound.unsigned_abs() as usize)?;
        out.extend_from_slice(&len.to_le_bytes());
        // SAFETY: `src` is valid for reads of `len` bytes, and `bound` bytes after the header were
        // reserved.
        let written = unsafe {
            let dst = out.as_mut_ptr().add(HEADER).cast::<c_char>();
            lz4_sys::LZ4_compress_fast(src.as_ptr().cast(), dst, len, bound, self.acceleration)
        };
        if written <= 0 {
            return Err(too_big(NAME, src.len()));
        }
        // SAFETY: the header and `written` bytes after it were initialised.
        unsafe { out.set_len(HEADER + written.unsigned_abs() as usize) };
        Ok(())
    }

    fn stops_early(&self) -> bool {
        true
    }

    /// Stops after the last byte that is wanted.
    fn decode_range(
        &self,
        src: &[u8],
        range: Range<usize>,
        chunk: &mut [u8],
    ) -> Result<bool, CodecError> {
        let len = |n: usize| c_int::try_from(n).map_err(|_| too_big(NAME, n));
        let Some((header, block)) = src.split_first_chunk::<HEADER>() else {
            return Ok(false);
        };
        // To the end, all of it finds more damage.
        if u32::from_le_bytes(*header) as usize != chunk.len() || range.end >= chunk.len() {
            return Ok(false);
        }
        let (from, to) = (block.as_ptr().cast(), chunk.as_mut_ptr().cast());
        let (block, end, room) = (len(block.len())?, len(range.end)?, len(chunk.len())?);
        // SAFETY: the lengths are those of the slices, and the wanted one is below the second's.
        let made = unsafe { LZ4_decompress_safe_partial(from, to, block, end, room) };
        Ok(made >= end)
    }
}

/// The declared length, checked for plausibility, and the block.
fn split(src: &[u8]) -> Result<(usize, &[u8]), CodecError> {
    let Some((header, block)) = src.split_first_chunk::<HEADER>() else {
        return Err(CodecError::corrupt(
            NAME,
            "shorter than its header of 4 bytes",
        ));
    };
    let declared = u32::from_le_bytes(*header) as usize;
    if declared > block.len().saturating_mul(MAX_RATIO) {
        let what = format!(
            "the header promises {declared} bytes, more than {} bytes can hold",
            block.len()
        );
        return Err(CodecError::corrupt(NAME, what));
    }
    Ok((declared, block))
}

/// Decodes one bare block that makes exactly `size` bytes.
///
/// # Safety
/// `dst` must be valid for writes of `size` bytes.
pub(super) unsafe fn decode_block(
    block: &[u8],
    dst: *mut u8,
    size: usize,
) -> Result<(), CodecError> {
    let (Ok(block_len), Ok(room)) = (c_int::try_from(block.len()), c_int::try_from(size)) else {
        return Err(CodecError::corrupt(NAME, "a block of more than 2 GiB"));
    };
    // SAFETY: `block` is valid for reads and `dst` for writes of the given lengths;
    // LZ4_decompress_safe checks both.
    let written =
        unsafe { lz4_sys::LZ4_decompress_safe(block.as_ptr().cast(), dst.cast(), block_len, room) };
    if written == room {
        return Ok(());
    }
    Err(CodecError::corrupt(
        NAME,
        format!("the block does not decode to {size} bytes"),
    ))
}
