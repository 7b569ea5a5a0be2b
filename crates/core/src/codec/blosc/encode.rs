//! Writing a frame as c-blosc 1.21 does, so that its readers and their block sizes fit.
//!
//! The frame is written from its start on without gaps, into memory that nothing has filled before: that would cost a
//! tenth of the time.

use std::mem::MaybeUninit;

use super::header::{self, Header, can_split};
use super::{Blosc, Compressor, Filter, NAME, inner};
use crate::codec::support::{Scratch, put, reserve, too_big, with_scratch};
use crate::codec::{CodecError, planes};

/// The first-level cache that block sizes are chosen for.
const L1: usize = 32 << 10;
const MIN_BUFFER: usize = 128;
const MAX_BLOCK: usize = (i32::MAX as usize - MAX_SPLIT_OVERHEAD) / 3;
const MAX_SPLIT_OVERHEAD: usize = 255 * 4;

thread_local! {
    static SHUFFLED: Scratch = const { Scratch::new(Vec::new()) };
}

pub(super) fn encode(codec: &Blosc, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    if src.len() > header::MAX_DECODED {
        return Err(too_big(NAME, src.len()));
    }
    let room = header::SIZE + src.len();
    reserve(NAME, out, room)?;
    let frame = &mut out.spare_capacity_mut()[..room];
    let mut header = plan(codec, src.len());
    let compressed = if header.stored {
        None
    } else {
        compress(codec, &header, src, frame)?
    };
    header.encoded = compressed.unwrap_or(room);
    if compressed.is_none() {
        header.stored = true;
        put(&mut frame[header::SIZE..], src);
    }
    put(&mut frame[..header::SIZE], &header.to_bytes());
    // SAFETY: the header was written, and behind it the blocks' places and streams or the source, without gaps.
    unsafe { out.set_len(header.encoded) };
    Ok(())
}

fn plan(codec: &Blosc, decoded: usize) -> Header {
    let blocksize = blocksize(codec, decoded);
    Header {
        compressor: codec.compressor,
        filter: codec.filter,
        stored: codec.level == 0 || decoded < MIN_BUFFER,
        split: splits(codec, blocksize),
        typesize: codec.typesize,
        decoded,
        blocksize,
        encoded: 0,
    }
}

/// Zstd gains nothing from split blocks; for the others old readers expect them.
fn splits(codec: &Blosc, blocksize: usize) -> bool {
    codec.compressor != Compressor::Zstd && can_split(codec.typesize, blocksize)
}

fn blocksize(codec: &Blosc, decoded: usize) -> usize {
    if decoded < codec.typesize {
        return 1;
    }
    let wanted = match codec.blocksize {
        0 if decoded < L1 => decoded,
        0 => block_for_cache(codec),
        forced => forced.clamp(MIN_BUFFER, MAX_BLOCK),
    };
    let wanted = if codec.level > 0 && splits(codec, wanted) {
        enlarged(codec, wanted)
    } else {
        wanted
    };
    let wanted = wanted.min(decoded);
    if wanted > codec.typesize {
        wanted / codec.typesize * codec.typesize
    } else {
        wanted
    }
}

fn block_for_cache(codec: &Blosc) -> usize {
    let strong = matches!(
        codec.compressor,
        Compressor::Lz4Hc | Compressor::Zlib | Compressor::Zstd
    );
    let base = if strong { 2 * L1 } else { L1 };
    match codec.level {
        0 => base / 4,
        1 => base / 2,
        2 => base,
        3 => base * 2,
        4 | 5 => base * 4,
        9 if strong => base * 16,
        _ => base * 8,
    }
}

/// Room for one cache-sized stream for each byte of the elements, within what a thread's caches
/// hold.
fn enlarged(codec: &Blosc, blocksize: usize) -> usize {
    (blocksize.min(1 << 18) * codec.typesize).clamp(1 << 16, 1 << 20)
}

/// Writes the blocks after the header, giving the frame's length, or nothing where storing is
/// shorter.
fn compress(
    codec: &Blosc,
    header: &Header,
    src: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Result<Option<usize>, CodecError> {
    let mut at = header::SIZE + 4 * header.blocks();
    for (index, block) in src.chunks(header.blocksize).enumerate() {
        let slot = header::SIZE + 4 * index;
        let Some(slot) = out.get_mut(slot..slot + 4) else {
            return Ok(None);
        };
        put(slot, &(at as u32).to_le_bytes());
        let written = shuffled(codec, block, |bytes| {
            let stream_len = block.len() / header.streams(block.len());
            compress_block(codec, bytes, stream_len, out, at)
        })?;
        let Some(end) = written else { return Ok(None) };
        at = end;
    }
    Ok(Some(at))
}

/// Writes the streams of a block from `at` on, giving where they end.
fn compress_block(
    codec: &Blosc,
    block: &[u8],
    stream_len: usize,
    out: &mut [MaybeUninit<u8>],
    mut at: usize,
) -> Result<Option<usize>, CodecError> {
    for stream in block.chunks_exact(stream_len) {
        let Some((slot, rest)) = out
            .get_mut(at..)
            .and_then(|rest| rest.split_at_mut_checked(4))
        else {
            return Ok(None);
        };
        // A stream as long as its content is taken for stored.
        let room = rest.len().min(stream.len() - 1);
        let len = match inner::compress(codec.compressor, codec.level, stream, &mut rest[..room])? {
            Some(len) => len,
            None => {
                let Some(room) = rest.get_mut(..stream.len()) else {
                    return Ok(None);
                };
                put(room, stream);
                stream.len()
            }
        };
        put(slot, &(len as u32).to_le_bytes());
        at += 4 + len;
    }
    Ok(Some(at))
}

/// Runs `work` over the block after the filter.
fn shuffled<T>(
    codec: &Blosc,
    block: &[u8],
    work: impl FnOnce(&[u8]) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    let size = codec.typesize;
    let elements = block.len() / size;
    let filtered = match codec.filter {
        Filter::NoShuffle => false,
        Filter::Shuffle => size > 1,
        Filter::BitShuffle => elements.is_multiple_of(8),
    };
    if !filtered {
        return work(block);
    }
    with_scratch(
        NAME,
        &SHUFFLED,
        block.len() + planes::bit_scratch(size),
        |scratch| {
            let (shuffled, bits) = scratch.split_at_mut(block.len());
            let (body, tail) = block.split_at(elements * size);
            let (to, rest) = shuffled.split_at_mut(body.len());
            match codec.filter {
                Filter::BitShuffle => planes::split_bits(body, size, bits, to),
                _ => planes::split_bytes(body, size, to),
            }
            rest.copy_from_slice(tail);
            work(shuffled)
        },
    )
}
