//! The blocks of one big frame, decoded by several threads.

use std::sync::{Mutex, PoisonError};

use super::NAME;
use super::frame::Frame;
use crate::codec::CodecError;
use crate::error::Error;
use crate::pool;

/// Below this many decoded bytes one thread is as fast as several.
const LEAST: usize = 4 << 20;
/// Runs of blocks for each thread: enough that one slow run does not hold up the others.
const RUNS: usize = 4;

/// A run of blocks: the number of the first, and where they go.
type Run<'d> = Mutex<(usize, &'d mut [u8])>;

/// Decodes all of `frame` into `dst`, by several threads where that pays.
pub(super) fn decode(frame: &Frame<'_>, dst: &mut [u8]) -> Result<(), CodecError> {
    let threads = pool::threads();
    if threads < 2 || dst.len() < LEAST || frame.blocks() < 2 {
        return frame.decode(dst);
    }
    let per_run = frame.blocks().div_ceil(threads * RUNS);
    let bytes = per_run * frame.block_range(0).len();
    let runs: Vec<Run<'_>> = dst
        .chunks_mut(bytes)
        .enumerate()
        .map(|(n, part)| Mutex::new((n * per_run, part)))
        .collect();
    let failed = Mutex::new(None);
    let done = pool::parallel_for(runs.len(), threads, &|n| {
        let mut run = runs[n].lock().unwrap_or_else(PoisonError::into_inner);
        decode_run(frame, run.0, run.1).map_err(|e| {
            let stop = Error::Internal(e.to_string());
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
            stop
        })
    });
    match (
        failed.into_inner().unwrap_or_else(PoisonError::into_inner),
        done,
    ) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(stopped)) => {
            // An interrupt is no fault of the frame's: it belongs to the read that this is a part of.
            let error = CodecError::corrupt(NAME, "decoding was stopped");
            Err(match pool::fail(stopped) {
                Some(Error::External(cause)) => error.caused_by(cause),
                _ => error,
            })
        }
    }
}

fn decode_run(frame: &Frame<'_>, first: usize, dst: &mut [u8]) -> Result<(), CodecError> {
    let blocks = dst.chunks_mut(frame.block_range(0).len());
    blocks
        .enumerate()
        .try_for_each(|(n, block)| frame.decode_block(first + n, block))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Blosc, Compressor, Filter};
    use super::*;
    use crate::codec::BytesCodec;

    #[test]
    fn a_big_frame_decodes_as_it_would_in_one_thread() {
        let data: Vec<u8> = (0..(LEAST as u32 / 4 + 1000))
            .flat_map(|i| (i / 3).to_le_bytes())
            .collect();
        let codec = Blosc::new(Compressor::Lz4, 5, Filter::Shuffle, 4, 0).unwrap();
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded).unwrap();
        let mut decoded = vec![0; data.len()];
        codec.decode_exact(&encoded, &mut decoded).unwrap();
        assert!(decoded == data);
        let middle = encoded.len() / 2;
        encoded.truncate(middle);
        assert!(codec.decode_exact(&encoded, &mut decoded).is_err());
    }
}
