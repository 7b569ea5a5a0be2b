//! Zstandard, with one decompressor and one compressor kept per thread.
//!
//! Decoding is always in one shot into the destination, which is its own window: a frame that asks for a huge window
//! allocates nothing.

use std::cell::RefCell;

use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{CCtx, CParameter, DCtx, ResetDirective, SafeResult, WriteBuf};

use super::support::{
    RETAINED, check_range, check_size, compressed_bound, decode_growing, no_memory, reserve,
};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "zstd";

/// A block of 128 KiB takes at least 4 bytes (its header and one byte that is repeated).
pub(super) const MAX_RATIO: usize = 1 << 15;

thread_local! {
    static DECODER: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    static ENCODER: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
}

#[derive(Clone, Copy, Debug)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    pub fn new(level: i32, checksum: bool) -> Result<Self, CodecError> {
        let allowed = zstd_safe::min_c_level()..=zstd_safe::max_c_level();
        check_range(NAME, "level", level, allowed)?;
        Ok(Zstd { level, checksum })
    }
}

impl BytesCodec for Zstd {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        compressed_bound(NAME, decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        check_size(NAME, dst.len(), decode(src, dst)?)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let cap = src.len().saturating_mul(MAX_RATIO);
        decode_growing(NAME, out, (declared_size(src), cap, max), |out| {
            decode(src, out).map(drop)
        })
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        reserve(NAME, out, zstd_safe::compress_bound(src.len()))?;
        encode(self.level, self.checksum, src, out)?
            .map(drop)
            .map_err(encode_error)
    }
}

/// Encodes into `dst`, giving the number of bytes written. The inner error is zstd's.
pub(super) fn encode<B: WriteBuf + ?Sized>(
    level: i32,
    checksum: bool,
    src: &[u8],
    dst: &mut B,
) -> Result<SafeResult, CodecError> {
    ENCODER.with_borrow_mut(|slot| {
        let context = match slot {
            Some(context) => context,
            None => slot.insert(CCtx::try_create().ok_or_else(|| no_memory(NAME, 0))?),
        };
        let done = encode_with(context, level, checksum, src, dst);
        if context.sizeof() > RETAINED {
            *slot = None;
        }
        Ok(done)
    })
}

fn encode_with<B: WriteBuf + ?Sized>(
    context: &mut CCtx<'_>,
    level: i32,
    checksum: bool,
    src: &[u8],
    dst: &mut B,
) -> SafeResult {
    context.set_parameter(CParameter::CompressionLevel(level))?;
    context.set_parameter(CParameter::ChecksumFlag(checksum))?;
    let done = context.compress2(dst, src);
    if done.is_err() {
        // A failure leaves the context in the middle of a frame.
        context.reset(ResetDirective::SessionOnly)?;
    }
    done
}

/// Decodes all frames of `src`, giving the number of bytes written.
pub(super) fn decode<B: WriteBuf + ?Sized>(src: &[u8], dst: &mut B) -> Result<usize, CodecError> {
    if src.is_empty() {
        return Err(CodecError::corrupt(
            NAME,
            "no bytes where a frame should be",
        ));
    }
    DECODER.with_borrow_mut(|slot| {
        let context = match slot {
            Some(context) => context,
            None => slot.insert(DCtx::try_create().ok_or_else(|| no_memory(NAME, 0))?),
        };
        context.decompress(dst, src).map_err(decode_error)
    })
}

/// What the first frame says about its content; a hint and no more.
fn declared_size(src: &[u8]) -> Option<usize> {
    let declared = zstd_safe::get_frame_content_size(src).ok().flatten()?;
    usize::try_from(declared).ok()
}

fn decode_error(code: usize) -> CodecError {
    let is = |kind| zstd_safe::is_error_kind(code, kind);
    let kind = if is(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) {
        CodecErrorKind::WrongSize
    } else if is(ZSTD_ErrorCode::ZSTD_error_checksum_wrong) {
        CodecErrorKind::Checksum
    } else if is(ZSTD_ErrorCode::ZSTD_error_dictionary_wrong) {
        CodecErrorKind::Unsupported
    } else {
        CodecErrorKind::Corrupt
    };
    CodecError::new(NAME, kind, zstd_safe::get_error_name(code))
}

fn encode_error(code: usize) -> CodecError {
    CodecError::new(
        NAME,
        CodecErrorKind::Encode,
        zstd_safe::get_error_name(code),
    )
}
