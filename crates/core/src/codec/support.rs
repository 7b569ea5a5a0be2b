//! What several codecs share: bounds, buffers and their errors.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::thread::LocalKey;

use super::{CodecError, CodecErrorKind, Size};

/// The most memory that a thread keeps for its next call, for each kind of scratch.
pub(super) const RETAINED: usize = 64 << 20;

/// The bound on what a compressor makes of `decoded` bytes.
///
/// Formats with frames, blocks or members let an encoder add any number of empty ones, so no finite
/// bound is exact. Real encoders stay far below this one: stored blocks cost 3 bytes in 1 KiB (zstd
/// flushed at every KiB), 5 bytes in 16 KiB (deflate), 1 in 255 (lz4) or 1 in 32 (blosclz); zlib's
/// own bound for its oddest settings is an eighth and a 64th; frame and member headers are 32 bytes
/// or so, and 64 KiB leaves room for long names in gzip headers.
pub(super) fn compressed_bound(codec: &str, decoded: Size) -> Result<Size, CodecError> {
    let n = decoded.max();
    let slack = n / 4 + (64 << 10);
    n.checked_add(slack)
        .map(Size::AtMost)
        .ok_or_else(|| too_big(codec, n))
}

/// `decoded` made longer by a fixed number of bytes.
pub(super) fn longer_by(codec: &str, decoded: Size, extra: usize) -> Result<Size, CodecError> {
    let add = |n: usize| n.checked_add(extra).ok_or_else(|| too_big(codec, n));
    Ok(match decoded {
        Size::Exact(n) => Size::Exact(add(n)?),
        Size::AtMost(n) => Size::AtMost(add(n)?),
    })
}

/// Empties `out` and makes room for `n` bytes in it.
pub(super) fn reserve(codec: &str, out: &mut Vec<u8>, n: usize) -> Result<(), CodecError> {
    out.clear();
    out.try_reserve_exact(n).map_err(|_| no_memory(codec, n))
}

/// Makes `out` exactly `n` bytes long, of whatever content.
pub(super) fn resize(codec: &str, out: &mut Vec<u8>, n: usize) -> Result<(), CodecError> {
    let missing = n.saturating_sub(out.len());
    out.try_reserve_exact(missing)
        .map_err(|_| no_memory(codec, n))?;
    out.resize(n, 0);
    Ok(())
}

/// Fills all of `dst`, which must be as long as `src`.
pub(super) fn put(dst: &mut [MaybeUninit<u8>], src: &[u8]) {
    assert_eq!(dst.len(), src.len());
    // SAFETY: both are as long as the source, and a mutable slice overlaps nothing.
    unsafe { std::ptr::copy_nonoverlapping(src.as_ptr(), dst.as_mut_ptr().cast(), src.len()) };
}

/// Memory that a thread keeps for its next call.
pub(super) type Scratch = RefCell<Vec<u8>>;

/// Runs `work` with `len` bytes of scratch memory of whatever content.
pub(super) fn with_scratch<T>(
    codec: &str,
    local: &'static LocalKey<Scratch>,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    local.with_borrow_mut(|kept| {
        if kept.len() < len {
            kept.clear();
            resize(codec, kept, len)?;
        }
        let done = work(&mut kept[..len]);
        if kept.len() > RETAINED {
            *kept = Vec::new();
        }
        done
    })
}

/// Replaces `out` by `parts`, one after another.
pub(super) fn concat(codec: &str, out: &mut Vec<u8>, parts: &[&[u8]]) -> Result<(), CodecError> {
    reserve(codec, out, parts.iter().map(|part| part.len()).sum())?;
    parts.iter().for_each(|part| out.extend_from_slice(part));
    Ok(())
}

/// Copies `src` over `dst`, which it has to fill.
pub(super) fn copy_exact(codec: &str, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    check_size(codec, dst.len(), src.len())?;
    dst.copy_from_slice(src);
    Ok(())
}

/// How long decoded data of unknown length may be.
pub(super) struct Room {
    /// What the stream claims: a hint and no more.
    pub claimed: Option<usize>,
    /// What a stream of its length can make at the most.
    pub possible: usize,
    /// What the caller allows.
    pub allowed: usize,
}

/// Replaces `out` by what `decode` puts into its capacity.
///
/// Memory is not touched before it is written, so a generous capacity costs address space only; a
/// claim that was too small costs a second try.
pub(super) fn decode_growing(
    codec: &str,
    out: &mut Vec<u8>,
    room: Room,
    decode: impl Fn(&mut Vec<u8>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let most = room.possible.min(room.allowed);
    let first = room.claimed.unwrap_or(most).min(most);
    reserve(codec, out, first)?;
    let mut done = decode(out);
    let too_small = |e: &CodecError| e.kind == CodecErrorKind::WrongSize;
    if first < most && done.as_ref().is_err_and(too_small) {
        reserve(codec, out, most)?;
        done = decode(out);
    }
    done.and_then(|()| check_max(codec, room.allowed, out.len()))
}

/// Rejects a decoded length other than the one the metadata wants.
pub(super) fn check_size(codec: &str, wanted: usize, got: usize) -> Result<(), CodecError> {
    if wanted == got {
        Ok(())
    } else {
        Err(wrong_size(codec, wanted, got))
    }
}

/// Rejects a decoded length above `max`.
pub(super) fn check_max(codec: &str, max: usize, got: usize) -> Result<(), CodecError> {
    if got <= max {
        Ok(())
    } else {
        Err(too_long(codec, max))
    }
}

fn wrong_size(codec: &str, wanted: usize, got: usize) -> CodecError {
    let what = format!("decoded to {got} bytes where {wanted} were expected");
    CodecError::new(codec, CodecErrorKind::WrongSize, what)
}

fn too_long(codec: &str, max: usize) -> CodecError {
    CodecError::new(
        codec,
        CodecErrorKind::WrongSize,
        format!("decodes to more than {max} bytes"),
    )
}

pub(super) fn no_memory(codec: &str, n: usize) -> CodecError {
    CodecError::new(
        codec,
        CodecErrorKind::Memory,
        format!("could not allocate {n} bytes"),
    )
}

pub(super) fn too_big(codec: &str, n: usize) -> CodecError {
    CodecError::new(
        codec,
        CodecErrorKind::Encode,
        format!("{n} bytes are too many for this codec"),
    )
}

/// Rejects a configuration member outside of `allowed`.
pub(super) fn check_range<T: PartialOrd + std::fmt::Display>(
    codec: &str,
    member: &str,
    value: T,
    allowed: std::ops::RangeInclusive<T>,
) -> Result<T, CodecError> {
    if allowed.contains(&value) {
        return Ok(value);
    }
    let what = format!(
        "{member} must be from {} to {}, not {value}",
        allowed.start(),
        allowed.end()
    );
    Err(CodecError::new(codec, CodecErrorKind::Config, what))
}
