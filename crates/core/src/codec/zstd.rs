//! Zstandard, with one decompressor and one compressor kept per thread.
//!
//! A whole chunk is decoded in one shot into the destination, which is its own window: a frame that
//! asks for a huge window allocates nothing.

use std::cell::RefCell;
use std::ops::Range;

use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, SafeResult, WriteBuf,
};

use super::support::{
    RETAINED, Room, check_range, check_size, compressed_bound, decode_growing, no_memory, reserve,
};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "zstd";

/// A block of 128 KiB takes at least 4 bytes (its header and one byte that is repeated).
pub(super) const MAX_RATIO: usize = 1 << 15;

/// The bytes that are passed over at a time; they fit the nearest cache.
const SKIP: usize = 16 << 10;

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
        let room = Room {
            claimed: declared_size(src),
            possible: src.len().saturating_mul(MAX_RATIO),
            allowed: max,
        };
        decode_growing(NAME, out, room, |out| decode(src, out).map(drop))
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        reserve(NAME, out, zstd_safe::compress_bound(src.len()))?;
        encode(self.level, self.checksum, src, out)?
            .map(drop)
            .map_err(encode_error)
    }

    /// Stops after the last byte that is wanted, where the frame has no checksum that would be left
    /// out.
    fn decode_range(
        &self,
        src: &[u8],
        total: usize,
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<bool, CodecError> {
        check_size(NAME, dst.len(), range.len())?;
        let one_frame = declared_size(src) == Some(total) && !has_checksum(src);
        // Near the end, all in one shot is as fast and finds more damage.
        if !one_frame || range.end > total / 4 * 3 {
            return Ok(false);
        }
        with_decoder(|context| {
            let done = decode_part(context, src, range.start, dst);
            context
                .reset(ResetDirective::SessionOnly)
                .map_err(decode_error)?;
            done.map(|()| true)
        })
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
    with_decoder(|context| context.decompress(dst, src).map_err(decode_error))
}

/// Runs `work` with the thread's decompressor.
fn with_decoder<T>(
    work: impl FnOnce(&mut DCtx<'static>) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    DECODER.with_borrow_mut(|slot| {
        let context = match slot {
            Some(context) => context,
            None => slot.insert(new_decoder()?),
        };
        let done = work(context);
        if context.sizeof() > RETAINED {
            *slot = None;
        }
        done
    })
}

fn new_decoder() -> Result<DCtx<'static>, CodecError> {
    let mut context = DCtx::try_create().ok_or_else(|| no_memory(NAME, 0))?;
    // What decoding in parts keeps is at most the content's size, whatever window the frame asks
    // for.
    let largest = DParameter::WindowLogMax(if cfg!(target_pointer_width = "64") {
        31
    } else {
        30
    });
    context.set_parameter(largest).map_err(decode_error)?;
    Ok(context)
}

/// Decodes what comes after the first `skip` bytes until `dst` is full.
fn decode_part(
    context: &mut DCtx<'_>,
    src: &[u8],
    skip: usize,
    dst: &mut [u8],
) -> Result<(), CodecError> {
    let mut input = InBuffer::around(src);
    let mut skipped = [0; SKIP];
    let mut left = skip;
    while left > 0 {
        let room = left.min(SKIP);
        fill(context, &mut input, &mut skipped[..room])?;
        left -= room;
    }
    fill(context, &mut input, dst)
}

/// Decodes until `dst` is full.
fn fill(
    context: &mut DCtx<'_>,
    input: &mut InBuffer<'_>,
    dst: &mut [u8],
) -> Result<(), CodecError> {
    let mut output = OutBuffer::around(dst);
    while output.pos() < output.capacity() {
        let before = (input.pos(), output.pos());
        context
            .decompress_stream(&mut output, input)
            .map_err(decode_error)?;
        if (input.pos(), output.pos()) == before {
            return Err(CodecError::corrupt(NAME, "the frame ends before it should"));
        }
    }
    Ok(())
}

/// Whether the first frame ends with a checksum: a bit of the byte after the magic number.
fn has_checksum(src: &[u8]) -> bool {
    src.get(4).is_some_and(|descriptor| descriptor & 4 != 0)
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
