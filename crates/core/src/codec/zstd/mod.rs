//! Zstandard, with one decompressor and one compressor kept per thread.
//!
//! A whole chunk is decoded in one shot into the destination, which is its own window: a frame that
//! asks for a huge window allocates nothing.

mod decoder;
mod start;

use std::cell::RefCell;
use std::ops::Range;
use std::ptr::NonNull;

use zstd_safe::zstd_sys::{self as ffi, ZSTD_ErrorCode, ZSTD_ResetDirective, ZSTD_cParameter};
use zstd_safe::{ErrorCode, WriteBuf};

use self::decoder::Decoder;
use super::support::{
    RETAINED, Room, check_range, check_size, compressed_bound, decode_growing, no_memory, reserve,
};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "zstd";

/// A block of 128 KiB takes at least 4 bytes (its header and one byte that is repeated).
pub(super) const MAX_RATIO: usize = 1 << 15;

/// The most that zstd decodes at a time.
const BLOCK: usize = 128 << 10;

thread_local! {
    static DECODER: RefCell<Option<Decoder>> = const { RefCell::new(None) };
    static ENCODER: RefCell<Option<Encoder>> = const { RefCell::new(None) };
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
        let room = zstd_safe::compress_bound(src.len());
        reserve(NAME, out, room)?;
        // SAFETY: `room` bytes were reserved, and what is counted as written was initialised.
        unsafe {
            let written = encode_into(self.level, self.checksum, src, out.as_mut_ptr(), room)?;
            out.set_len(written.map_err(encode_error)?);
        }
        Ok(())
    }

    fn stops_early(&self) -> bool {
        !self.checksum
    }

    /// Stops within the block that has the last byte that is wanted, where zstd can; not where the frame has a checksum,
    /// which would be left out.
    fn decode_range(
        &self,
        src: &[u8],
        range: Range<usize>,
        chunk: &mut [u8],
    ) -> Result<bool, CodecError> {
        let one_frame = declared_size(src) == Some(chunk.len()) && !has_checksum(src);
        if !one_frame {
            return Ok(false);
        }
        with_decoder(|decoder| Ok(start::decode_start(decoder, src, range.end, chunk)))
    }
}

struct Encoder(NonNull<ffi::ZSTD_CCtx>);

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: allocated by zstd, owned by this value, freed once.
        unsafe { ffi::ZSTD_freeCCtx(self.0.as_ptr()) };
    }
}

impl Encoder {
    fn new() -> Result<Encoder, CodecError> {
        // SAFETY: no arguments; null means that there is no memory.
        let context = NonNull::new(unsafe { ffi::ZSTD_createCCtx() });
        context.map(Encoder).ok_or_else(|| no_memory(NAME, 0))
    }

    fn set(&mut self, parameter: ZSTD_cParameter, value: i32) -> Result<(), ErrorCode> {
        // SAFETY: the context is live; zstd checks parameter and value.
        checked(unsafe { ffi::ZSTD_CCtx_setParameter(self.0.as_ptr(), parameter, value) }).map(drop)
    }

    /// # Safety
    /// `dst` must be valid for writes of `room` bytes.
    unsafe fn encode(
        &mut self,
        level: i32,
        checksum: bool,
        src: &[u8],
        dst: *mut u8,
        room: usize,
    ) -> Result<usize, ErrorCode> {
        self.set(ZSTD_cParameter::ZSTD_c_compressionLevel, level)?;
        self.set(ZSTD_cParameter::ZSTD_c_checksumFlag, checksum.into())?;
        // zstd 1.5.7 cuts blocks by their content, for half a percent of size; it costs a tenth of the time, here and
        // again in every reader. 1 means not to.
        self.set(ZSTD_cParameter::ZSTD_c_experimentalParam20, 1)?;
        let context = self.0.as_ptr();
        // SAFETY: the context is live, `src` is valid for reads and `dst` for writes of the given lengths.
        let done = checked(unsafe {
            ffi::ZSTD_compress2(context, dst.cast(), room, src.as_ptr().cast(), src.len())
        });
        if done.is_err() {
            // A failure leaves the context in the middle of a frame.
            let directive = ZSTD_ResetDirective::ZSTD_reset_session_only;
            // SAFETY: the context is live.
            checked(unsafe { ffi::ZSTD_CCtx_reset(context, directive) })?;
        }
        done
    }

    fn size(&self) -> usize {
        // SAFETY: the context is live.
        unsafe { ffi::ZSTD_sizeof_CCtx(self.0.as_ptr()) }
    }
}

fn checked(code: usize) -> Result<usize, ErrorCode> {
    // SAFETY: a pure function of a number.
    match unsafe { ffi::ZSTD_isError(code) } {
        0 => Ok(code),
        _ => Err(code),
    }
}

/// Encodes into `dst`, giving the number of bytes written. The inner error is zstd's.
///
/// # Safety
/// `dst` must be valid for writes of `room` bytes.
pub(super) unsafe fn encode_into(
    level: i32,
    checksum: bool,
    src: &[u8],
    dst: *mut u8,
    room: usize,
) -> Result<Result<usize, ErrorCode>, CodecError> {
    ENCODER.with_borrow_mut(|slot| {
        let encoder = match slot {
            Some(encoder) => encoder,
            None => slot.insert(Encoder::new()?),
        };
        // SAFETY: the caller's promise.
        let done = unsafe { encoder.encode(level, checksum, src, dst, room) };
        if encoder.size() > RETAINED {
            *slot = None;
        }
        Ok(done)
    })
}

/// Decodes all frames of `src`, giving the number of bytes written.
pub(super) fn decode<B: WriteBuf + ?Sized>(src: &[u8], dst: &mut B) -> Result<usize, CodecError> {
    if src.is_empty() {
        return Err(CodecError::corrupt(
            NAME,
            "no bytes where a frame should be",
        ));
    }
    with_decoder(|decoder| decoder.decode(src, dst).map_err(decode_error))
}

/// Runs `work` with the thread's decompressor.
fn with_decoder<T>(
    work: impl FnOnce(&mut Decoder) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    DECODER.with_borrow_mut(|slot| {
        let decoder = match slot {
            Some(decoder) => decoder,
            None => slot.insert(Decoder::new()?),
        };
        work(decoder)
    })
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
