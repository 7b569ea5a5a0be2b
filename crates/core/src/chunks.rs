//! Chunks one by one, each with its own key, shape and selection: for callers that have planned already.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use crate::arena::lease;
use crate::array::{Array, check_shards};
use crate::codec::chain::Sharding;
use crate::error::{Error, Result};
use crate::grid::{Axis, byte_count};
use crate::io::handed::Handed;
use crate::io::memory::MemoryStore;
use crate::io::part::InMemory;
use crate::io::{ByteRange, Store};
use crate::plan::{Job, Plan};
use crate::pool::parallel_for;
use crate::read::shard::Sought;
use crate::read::{ALONE, Options, Reader};
use crate::selection::{Pick, Selection};
use crate::target::{Inner, Target};
use crate::view::View;
use crate::wave::rows::{Request, Rows};
use crate::write::{self, Writer};

/// One chunk, what is wanted of it, and where that lies in the caller's memory.
#[derive(Debug)]
pub struct Piece<'p> {
    pub key: String,
    /// The chunk's stored shape.
    pub shape: Arc<[u64]>,
    /// Indices in the chunk.
    pub selection: Selection,
    /// The caller's memory, along the selection's picks.
    pub view: View<'p>,
    /// Whether the selection reaches the end of what lies in the array, along every axis.
    pub reaches_end: bool,
}

/// Where the chunks' bytes come from and go to.
#[derive(Clone, Copy, Debug)]
pub enum Source<'s> {
    Store(&'s dyn Store),
    /// One for each piece.
    Handed(&'s [Handed]),
}

impl<'s> Source<'s> {
    fn store(self, n: usize) -> &'s dyn Store {
        match self {
            Source::Store(store) => store,
            Source::Handed(handed) => &handed[n],
        }
    }
}

/// Reads every piece; which of the chunks were there.
pub fn read(
    array: &Array,
    source: Source<'_>,
    pieces: &[Piece<'_>],
    threads: usize,
) -> Result<Vec<bool>> {
    let mut present = Vec::new();
    present.resize_with(pieces.len(), || AtomicBool::new(true));
    let options = Options {
        threads,
        missing_is_error: false,
    };
    parallel_for(pieces.len(), worth(array, pieces, threads), &|n| {
        let piece = Planned::new(array, &pieces[n])?;
        let reader = Reader::new(array, source.store(n), options);
        let found = reader.stored(&piece.target(), &mut lease())?;
        present[n].store(found, Ordering::Relaxed);
        Ok(())
    })?;
    Ok(present.into_iter().map(AtomicBool::into_inner).collect())
}

/// Writes every piece.
pub fn write(
    array: &Array,
    source: Source<'_>,
    pieces: &[Piece<'_>],
    options: write::Options,
) -> Result<()> {
    let writer = Writer {
        array,
        options,
        made: None,
    };
    parallel_for(pieces.len(), worth(array, pieces, options.threads), &|n| {
        let piece = Planned::new(array, &pieces[n])?;
        writer.stored(&piece.target(), source.store(n), &mut lease())
    })
}

/// The pieces as rows, for an executor that decodes (or encodes) elsewhere; views are only asked for their offsets.
pub fn rows(array: &Array, store: &dyn Store, pieces: &[Piece<'_>], writing: bool) -> Result<Rows> {
    let rank = pieces.iter().map(|piece| piece.selection.picks.len()).max();
    let mut rows = Rows::empty(rank.unwrap_or(0));
    let request = Request {
        array,
        store,
        missing_is_error: false,
        writing,
    };
    for piece in pieces {
        rows.add(request, &Planned::new(array, piece)?.target())?;
    }
    Ok(rows)
}

/// Whether a selection names an element twice, of which the last counts: executors elsewhere know no order.
pub fn repeats(pieces: &[Piece<'_>]) -> bool {
    let picks = pieces.iter().flat_map(|piece| &piece.selection.picks);
    picks
        .filter_map(|pick| match pick {
            Pick::Indexed { indices, .. } => Some(indices),
            Pick::Strided { .. } => None,
        })
        .any(|indices| {
            let count = indices.first().map_or(0, |index| index.len());
            let point = |n: usize| indices.iter().map(|index| index[n]).collect::<Vec<_>>();
            let mut seen = HashSet::with_capacity(count);
            !(0..count).all(|n| seen.insert(point(n)))
        })
}

/// Whether writing `piece` needs what is there now.
pub fn changes_part(array: &Array, piece: &Piece<'_>) -> Result<bool> {
    Ok(Planned::new(array, piece)?.target().needs_old())
}

/// Where the index of the shard `piece` lies; `None` where all of the key has to be fetched: it is no shard, or one
/// inside other codecs, or every inner chunk is wanted.
pub fn index_range(array: &Array, piece: &Piece<'_>) -> Result<Option<ByteRange>> {
    let Some(sharding) = array.chain.shard.as_ref() else {
        return Ok(None);
    };
    if !array.chain.steps.is_empty() {
        return Ok(None);
    }
    let planned = Planned::new(array, piece)?;
    let inner = Inner::new(&planned.target(), sharding)?;
    let count = inner.grid.count()?;
    if inner.plan.jobs() >= count {
        return Ok(None);
    }
    let len = sharding.index_size(count)? as u64;
    Ok(Some(match sharding.at_end {
        true => ByteRange::Suffix(len),
        false => ByteRange::Span { offset: 0, len },
    }))
}

/// Where the wanted inner chunks of the shard `piece` lie, by its index: offset and length. Absent ones are filled where
/// `fills`.
pub fn inner_ranges(
    array: &Array,
    piece: &Piece<'_>,
    index: &Bytes,
    fills: bool,
) -> Result<Vec<(u64, u64)>> {
    let planned = Planned::new(array, piece)?;
    let (target, sharding) = (planned.target(), sharding(array)?);
    let inner = Inner::new(&target, sharding)?;
    let count = inner.grid.count()?;
    let index = sharding.read_index(
        &InMemory::new(&piece.key, index),
        count,
        &piece.key,
        &mut lease(),
    )?;
    let nowhere = MemoryStore::new();
    let options = Options {
        threads: 1,
        missing_is_error: false,
    };
    let reader = Reader::new(array, &nowhere, options);
    let sought = Sought {
        numbers: 0..inner.plan.jobs(),
        fills,
    };
    let wanted = reader.locate(&target, sharding, &inner, &index, u64::MAX, sought)?;
    Ok(wanted.iter().map(|at| (at.offset, at.len)).collect())
}

/// Where an index of `len` bytes stands in a shard of unknown size.
pub fn index_offset(array: &Array, len: usize) -> Result<u64> {
    Ok(match sharding(array)?.at_end {
        true => u64::MAX - len as u64,
        false => 0,
    })
}

fn sharding(array: &Array) -> Result<&Sharding> {
    let missing = || Error::Internal("an index was asked of an array without shards".into());
    array.chain.shard.as_deref().ok_or_else(missing)
}

/// How many threads the work is worth.
fn worth(array: &Array, pieces: &[Piece<'_>], threads: usize) -> usize {
    let Some(first) = pieces.first() else {
        return 1;
    };
    let chunk = match &array.chain.shard {
        Some(_) => byte_count(first.selection.picks.iter().map(Pick::count), array.item),
        None => byte_count(first.shape.iter().copied(), array.item),
    };
    let bytes = chunk.and_then(|bytes| bytes.checked_mul(pieces.len()));
    if bytes.is_some_and(|bytes| bytes < ALONE) {
        return 1;
    }
    threads
}

/// A piece as the only job of a plan over its chunk.
pub(crate) struct Planned<'p> {
    array: &'p Array,
    piece: &'p Piece<'p>,
    grid: Vec<Axis>,
    plan: Plan,
    job: Job,
}

impl<'p> Planned<'p> {
    pub(crate) fn new(array: &'p Array, piece: &'p Piece<'p>) -> Result<Planned<'p>> {
        let (shape, selection) = (&piece.shape, &piece.selection);
        selection.check(shape)?;
        if byte_count(shape.iter().copied(), array.item).is_none_or(|n| n > array.max_chunk_bytes) {
            let what = format!("a chunk of shape {shape:?} is longer than the array's chunks");
            return Err(Error::Spec(what));
        }
        let mut extents = shape.to_vec();
        // A shard keeps what lies beyond the array's end, as zarr-python's do.
        let keeps_rest = array.chain.shard.is_some() && array.chain.steps.is_empty();
        if piece.reaches_end && !keeps_rest {
            shrink(&mut extents, selection);
        }
        let axes = shape.iter().zip(extents);
        let grid: Vec<Axis> = axes
            .map(|(&size, extent)| Axis::Regular { extent, size })
            .collect();
        if shape.contains(&0) || shape.len() != array.shape.len() {
            let what = format!("a chunk of shape {shape:?} does not fit the array");
            return Err(Error::Spec(what));
        }
        check_shards(&array.chain, &grid, 0)?;
        let plan = Plan::new(&grid, selection)?;
        if plan.jobs() != 1 {
            let what = "the selection of a chunk is empty, or reaches out of it".to_owned();
            return Err(Error::Selection(what));
        }
        let mut job = Job::default();
        plan.job(0, &mut job);
        Ok(Planned {
            array,
            piece,
            grid,
            plan,
            job,
        })
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target {
            chain: &self.array.chain,
            grid: &self.grid,
            plan: &self.plan,
            job: &self.job,
            out: &self.piece.view,
            key: &self.piece.key,
        }
    }
}

/// Makes extents as long as the selection reaches.
fn shrink(extents: &mut [u64], selection: &Selection) {
    for &(axis, index) in &selection.consts {
        extents[axis] = index + 1;
    }
    for pick in &selection.picks {
        match pick {
            Pick::Strided {
                axis,
                start,
                step,
                count,
            } => {
                let last = start.wrapping_add_signed(step.wrapping_mul(*count as i64 - 1));
                extents[*axis] = last.max(*start) + 1;
            }
            Pick::Indexed { axes, indices } => {
                for (&axis, indices) in axes.iter().zip(indices) {
                    extents[axis] = indices.iter().max().map_or(0, |&last| last + 1);
                }
            }
        }
    }
}
