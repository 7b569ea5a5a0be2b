//! What gzip, zlib and bare deflate share: libdeflate, with one decompressor and one compressor kept per thread.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use libdeflate_sys as ffi;

use super::support::{Room, check_size, decode_growing, no_memory, reserve, too_big};
use super::{CodecError, CodecErrorKind};

/// A match of 258 bytes takes at least 2 bits.
pub(super) const MAX_RATIO: usize = 1032;

/// The wrapper around the deflate stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Gzip,
    Zlib,
    Raw,
}

impl Format {
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Gzip => "gzip",
            Format::Zlib => "zlib",
            Format::Raw => "deflate",
        }
    }
}

struct Decompressor(NonNull<ffi::libdeflate_decompressor>);

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: allocated by libdeflate, owned by this value, freed once.
        unsafe { ffi::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

struct Compressor {
    level: i32,
    handle: NonNull<ffi::libdeflate_compressor>,
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: allocated by libdeflate, owned by this value, freed once.
        unsafe { ffi::libdeflate_free_compressor(self.handle.as_ptr()) }
    }
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor>> = const { RefCell::new(None) };
    static COMPRESSOR: RefCell<Option<Compressor>> = const { RefCell::new(None) };
}

pub(super) fn decode_exact(format: Format, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    // SAFETY: `dst` is valid for writes of its length.
    let written = unsafe { decode_into(format, src, dst.as_mut_ptr(), dst.len()) }?;
    check_size(format.name(), dst.len(), written)
}

pub(super) fn decode_bounded(
    format: Format,
    src: &[u8],
    max: usize,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let room = Room {
        claimed: declared_size(format, src),
        possible: src.len().saturating_mul(MAX_RATIO),
        allowed: max,
    };
    decode_growing(format.name(), out, room, |out| {
        // SAFETY: the vector's capacity is valid for writes, and what is counted as written was
        // initialised.
        unsafe {
            let written = decode_into(format, src, out.as_mut_ptr(), out.capacity())?;
            out.set_len(written);
        }
        Ok(())
    })
}

/// The length modulo 2^32 that gzip keeps at the end of a member; a hint and no more.
fn declared_size(format: Format, src: &[u8]) -> Option<usize> {
    let tail = src.last_chunk::<4>().filter(|_| format == Format::Gzip)?;
    usize::try_from(u32::from_le_bytes(*tail)).ok()
}

/// Decodes all members of `src` (zlib has one), giving the number of bytes written.
///
/// # Safety
/// `dst` must be valid for writes of `room` bytes.
unsafe fn decode_into(
    format: Format,
    src: &[u8],
    dst: *mut u8,
    room: usize,
) -> Result<usize, CodecError> {
    let (mut rest, mut written) = (src, 0);
    loop {
        // SAFETY: at most `room` bytes were written so far, so the rest of the room is still valid.
        let (used, made) =
            unsafe { decode_member(format, rest, dst.add(written), room - written) }?;
        rest = rest.get(used..).unwrap_or_default();
        written += made;
        if rest.is_empty() || is_ignored(format, rest) {
            return Ok(written);
        }
    }
}

/// Tape-era tools pad gzip files with zeros. A zlib stream says where it ends, and other readers of chunks do not look
/// behind it.
fn is_ignored(format: Format, rest: &[u8]) -> bool {
    format == Format::Zlib || rest.iter().all(|&byte| byte == 0)
}

/// Decodes one member, giving the bytes read and written.
///
/// # Safety
/// `dst` must be valid for writes of `room` bytes.
unsafe fn decode_member(
    format: Format,
    src: &[u8],
    dst: *mut u8,
    room: usize,
) -> Result<(usize, usize), CodecError> {
    let run = match format {
        Format::Gzip => ffi::libdeflate_gzip_decompress_ex,
        Format::Zlib => ffi::libdeflate_zlib_decompress_ex,
        Format::Raw => ffi::libdeflate_deflate_decompress_ex,
    };
    let (mut used, mut made) = (0, 0);
    let result = DECOMPRESSOR.with_borrow_mut(|slot| {
        let handle = decompressor(format, slot)?;
        // SAFETY: the handle is live, `src` is valid for reads and `dst` for writes of the given
        // lengths.
        Ok(unsafe {
            run(
                handle,
                src.as_ptr().cast(),
                src.len(),
                dst.cast::<c_void>(),
                room,
                &mut used,
                &mut made,
            )
        })
    })?;
    match result {
        ffi::libdeflate_result_LIBDEFLATE_SUCCESS => Ok((used, made)),
        ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => {
            let what = format!("decodes to more than the {room} bytes that were left");
            Err(CodecError::new(
                format.name(),
                CodecErrorKind::WrongSize,
                what,
            ))
        }
        _ => Err(CodecError::corrupt(
            format.name(),
            "the stream is damaged, cut off or fails its checksum",
        )),
    }
}

fn decompressor(
    format: Format,
    slot: &mut Option<Decompressor>,
) -> Result<*mut ffi::libdeflate_decompressor, CodecError> {
    if let Some(kept) = slot {
        return Ok(kept.0.as_ptr());
    }
    // SAFETY: no arguments; null means that there is no memory.
    let handle = NonNull::new(unsafe { ffi::libdeflate_alloc_decompressor() });
    let handle = handle.ok_or_else(|| no_memory(format.name(), 0))?;
    Ok(slot.insert(Decompressor(handle)).0.as_ptr())
}

pub(super) fn encode(
    format: Format,
    level: i32,
    src: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let bound = match format {
        Format::Gzip => ffi::libdeflate_gzip_compress_bound,
        Format::Zlib => ffi::libdeflate_zlib_compress_bound,
        Format::Raw => ffi::libdeflate_deflate_compress_bound,
    };
    // SAFETY: without a compressor the function tells a bound for all levels.
    let room = unsafe { bound(std::ptr::null_mut(), src.len()) };
    reserve(format.name(), out, room)?;
    // SAFETY: `room` bytes were reserved, and what is counted as written was initialised.
    unsafe {
        let written = encode_into(format, level, src, out.as_mut_ptr(), room)?;
        out.set_len(written.ok_or_else(|| too_big(format.name(), src.len()))?);
    }
    Ok(())
}

/// Encodes into `dst` if it fits there, giving the number of bytes written.
///
/// # Safety
/// `dst` must be valid for writes of `room` bytes.
pub(super) unsafe fn encode_into(
    format: Format,
    level: i32,
    src: &[u8],
    dst: *mut u8,
    room: usize,
) -> Result<Option<usize>, CodecError> {
    let run = match format {
        Format::Gzip => ffi::libdeflate_gzip_compress,
        Format::Zlib => ffi::libdeflate_zlib_compress,
        Format::Raw => ffi::libdeflate_deflate_compress,
    };
    COMPRESSOR.with_borrow_mut(|slot| {
        let handle = compressor(format, level, slot)?;
        // SAFETY: the handle is live, `src` is valid for reads and `dst` for writes of the given
        // lengths.
        let written = unsafe { run(handle, src.as_ptr().cast(), src.len(), dst.cast(), room) };
        Ok(Some(written).filter(|&written| written > 0))
    })
}

/// The thread's compressor, made anew where it was for another level.
fn compressor(
    format: Format,
    level: i32,
    slot: &mut Option<Compressor>,
) -> Result<*mut ffi::libdeflate_compressor, CodecError> {
    if let Some(kept) = slot.as_ref().filter(|kept| kept.level == level) {
        return Ok(kept.handle.as_ptr());
    }
    // SAFETY: null means a level out of range or no memory.
    let handle = NonNull::new(unsafe { ffi::libdeflate_alloc_compressor(level) });
    let handle = handle.ok_or_else(|| no_memory(format.name(), 0))?;
    Ok(slot.insert(Compressor { level, handle }).handle.as_ptr())
}
