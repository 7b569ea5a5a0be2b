//! The compressors of a frame's streams.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use zstd_safe::zstd_sys::ZSTD_ErrorCode;

use super::{Compressor, NAME, blosclz};
use crate::codec::deflate::{self, Format};
use crate::codec::support::{Scratch, put, too_big, with_scratch};
use crate::codec::{CodecError, CodecErrorKind, lz4, zstd};

/// Decompresses a stream that makes exactly `dst`.
pub(super) fn decompress(
    compressor: Compressor,
    src: &[u8],
    dst: &mut [u8],
) -> Result<(), CodecError> {
    let done = match compressor {
        Compressor::BloscLz => blosclz::decompress(src, dst).ok_or_else(|| damaged("blosclz")),
        // SAFETY: `dst` is valid for writes of its length.
        Compressor::Lz4 | Compressor::Lz4Hc => unsafe {
            lz4::decode_block(src, dst.as_mut_ptr(), dst.len())
        },
        Compressor::Snappy => snappy(src, dst),
        Compressor::Zlib => deflate::decode_exact(Format::Zlib, src, dst),
        Compressor::Zstd => zstd::decode(src, dst).and_then(|made| {
            if made == dst.len() {
                Ok(())
            } else {
                Err(damaged("zstd"))
            }
        }),
    };
    // What is a wrong size to the inner compressor is a broken promise of the frame.
    done.map_err(|e| match e.kind {
        CodecErrorKind::Memory | CodecErrorKind::Checksum => CodecError::new(NAME, e.kind, e.what),
        _ => CodecError::corrupt(NAME, format!("in a block: {e}")),
    })
}

fn snappy(src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    let made = snap::raw::Decoder::new().decompress(src, dst);
    if made == Ok(dst.len()) {
        Ok(())
    } else {
        Err(damaged("snappy"))
    }
}

fn damaged(compressor: &str) -> CodecError {
    CodecError::corrupt(compressor, "the stream is damaged")
}

/// Rejects a stream that is too short for what it should make, so that a lying header costs
/// nothing.
pub(super) fn check_plausible(
    compressor: Compressor,
    src: &[u8],
    decoded: usize,
) -> Result<(), CodecError> {
    let ratio = match compressor {
        Compressor::BloscLz => blosclz::MAX_RATIO,
        Compressor::Lz4 | Compressor::Lz4Hc => lz4::MAX_RATIO,
        // A copy of 64 bytes takes 3.
        Compressor::Snappy => 64,
        Compressor::Zlib => deflate::MAX_RATIO,
        Compressor::Zstd => zstd::MAX_RATIO,
    };
    if decoded <= src.len().saturating_mul(ratio) {
        return Ok(());
    }
    let what = format!(
        "a stream of {} bytes cannot make {decoded} bytes",
        src.len()
    );
    Err(CodecError::corrupt(NAME, what))
}

thread_local! {
    /// For compressors that are not C's and want memory that was filled before.
    static COMPRESSED: Scratch = const { Scratch::new(Vec::new()) };
}

/// Compresses `src` into `dst`, whose first bytes are then filled: gives how many, or nothing where it does not fit.
pub(super) fn compress(
    compressor: Compressor,
    level: u8,
    src: &[u8],
    dst: &mut [MaybeUninit<u8>],
) -> Result<Option<usize>, CodecError> {
    let (to, room) = (dst.as_mut_ptr().cast::<u8>(), dst.len());
    match compressor {
        Compressor::BloscLz => by_scratch(room, dst, |to| Ok(blosclz::compress(level, src, to))),
        Compressor::Lz4 | Compressor::Lz4Hc => compress_lz4(compressor, level, src, dst),
        Compressor::Snappy => {
            let bound = snap::raw::max_compress_len(src.len());
            by_scratch(bound, dst, |to| {
                let done = snap::raw::Encoder::new().compress(src, to);
                done.map(Some).map_err(|_| too_big(NAME, src.len()))
            })
        }
        // SAFETY: `to` is valid for writes of `room` bytes.
        Compressor::Zlib => unsafe {
            deflate::encode_into(Format::Zlib, i32::from(level), src, to, room)
        },
        Compressor::Zstd => compress_zstd(level, src, dst),
    }
}

/// Compresses into scratch memory of `room` bytes, and moves what came out to `dst` where it fits.
fn by_scratch(
    room: usize,
    dst: &mut [MaybeUninit<u8>],
    work: impl FnOnce(&mut [u8]) -> Result<Option<usize>, CodecError>,
) -> Result<Option<usize>, CodecError> {
    with_scratch(NAME, &COMPRESSED, room, |scratch| {
        let Some(made) = work(scratch)? else {
            return Ok(None);
        };
        let Some(dst) = dst.get_mut(..made) else {
            return Ok(None);
        };
        put(dst, &scratch[..made]);
        Ok(Some(made))
    })
}

fn compress_lz4(
    compressor: Compressor,
    level: u8,
    src: &[u8],
    dst: &mut [MaybeUninit<u8>],
) -> Result<Option<usize>, CodecError> {
    let len = |n: usize| c_int::try_from(n).map_err(|_| too_big(NAME, n));
    let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
    let (level, src_len, room) = (c_int::from(level), len(src.len())?, len(dst.len())?);
    // SAFETY: `src` is valid for reads and `dst` for writes of the given lengths.
    let written = unsafe {
        match compressor {
            Compressor::Lz4Hc => lz4_sys::LZ4_compress_HC(from, to, src_len, room, level),
            _ => lz4_sys::LZ4_compress_fast(from, to, src_len, room, 10 - level),
        }
    };
    Ok(usize::try_from(written).ok().filter(|&written| written > 0))
}

/// Blosc's levels on zstd's scale.
fn compress_zstd(
    level: u8,
    src: &[u8],
    dst: &mut [MaybeUninit<u8>],
) -> Result<Option<usize>, CodecError> {
    let level = if level < 9 {
        i32::from(level) * 2 - 1
    } else {
        zstd_safe::max_c_level()
    };
    let too_small = ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall;
    // SAFETY: `dst` is valid for writes of its length.
    match unsafe { zstd::encode_into(level, false, src, dst.as_mut_ptr().cast(), dst.len()) }? {
        Ok(written) => Ok(Some(written)),
        Err(code) if zstd_safe::is_error_kind(code, too_small) => Ok(None),
        Err(code) => {
            let what = zstd_safe::get_error_name(code);
            Err(CodecError::new(NAME, CodecErrorKind::Encode, what))
        }
    }
}
