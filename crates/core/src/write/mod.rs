//! Running a plan the other way: gather, encode, store.
//!
//! Chunks that the selection covers are encoded without reading what is there; others are read, changed and written
//! back under the store's own guard against other writers.

#[cfg(unix)]
mod bands;
mod empty;
pub mod made;
mod shard;

use crate::arena::{Arena, lease, room};
use crate::array::Array;
use crate::codec::Size;
use crate::codec::chain;
use crate::codec::swap::swap_units;
use crate::error::{Error, Result};
use crate::grid::{Axis, byte_count};
use crate::io::{Edit, Object, Store, length};
use crate::place::{self, CopyAxis, Walk};
use crate::plan::Plan;
use crate::pool::{parallel_for, parallel_waits};
use crate::selection::Selection;
use crate::target::Target;
use crate::view::View;

use made::Made;

/// The most memory of chunks that wait to be stored.
const ROOM: usize = 256 << 20;

/// How a write is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub threads: usize,
    /// Whether chunks that hold nothing but the fill value are stored all the same.
    pub write_empty: bool,
}

/// Writes `value`, whose axes are the selection's picks, to `selection` of `array`. The value is only read.
pub fn write(
    array: &Array,
    store: &dyn Store,
    selection: &Selection,
    value: &View<'_>,
    options: Options,
) -> Result<()> {
    selection.check(&array.shape)?;
    let plan = Plan::new(&array.grid, selection)?;
    let writer = Writer {
        array,
        options,
        made: None,
    };
    let job = |n| {
        let mut arena = lease();
        plan.job(n, &mut arena.job);
        writer.job(&plan, store, value, &mut arena)
    };
    match waits(array, store) {
        at_once if at_once > options.threads => parallel_waits(plan.jobs(), at_once, &job),
        _ => parallel_for(plan.jobs(), options.threads, &job),
    }
}

/// How many chunks wait to be stored at a time, as far as memory is to be had for them.
fn waits(array: &Array, store: &dyn Store) -> usize {
    let bytes = byte_count(array.grid.iter().map(Axis::largest), array.item);
    // Each is there as elements and encoded.
    let most = ROOM / bytes.unwrap_or(usize::MAX).saturating_mul(2).max(1);
    store.writes_at_once().min(most)
}

/// What every job of one write shares.
#[derive(Debug)]
pub(crate) struct Writer<'w> {
    pub array: &'w Array,
    pub options: Options,
    /// Chunks that need no more than storing.
    pub made: Option<Made<'w>>,
}

impl Writer<'_> {
    /// One job of the outermost plan: `arena.job`.
    pub fn job(
        &self,
        plan: &Plan,
        store: &dyn Store,
        value: &View<'_>,
        arena: &mut Arena,
    ) -> Result<()> {
        let job = std::mem::take(&mut arena.job);
        let mut key = std::mem::take(&mut arena.key);
        self.array.key(&job.coords, &mut key);
        let out = value.part(plan.parts(&job));
        let (chain, grid) = (&self.array.chain, &self.array.grid[..]);
        let target = Target {
            chain,
            grid,
            plan,
            job: &job,
            out: &out,
            key: &key,
        };
        let done = self.stored(&target, store, arena);
        arena.job = job;
        arena.key = key;
        done
    }

    /// A chunk or shard that has a key of its own.
    pub fn stored(&self, target: &Target<'_>, store: &dyn Store, arena: &mut Arena) -> Result<()> {
        #[cfg(unix)]
        if self.stored_in_bands(target, store, arena)? {
            return Ok(());
        }
        let back = store.update(target.key, target.needs_old(), &mut |old| {
            let mut encoded = std::mem::take(&mut arena.encoded);
            let old = old.filter(|_| target.needs_old());
            match self.edit(target, 0, old, arena, &mut encoded) {
                Ok(true) => Ok(Edit::Put(encoded)),
                Ok(false) if old.is_some() && !store.deletes_conditionally() => {
                    self.empty(target, arena, &mut encoded)?;
                    Ok(Edit::Put(encoded))
                }
                Ok(false) => Ok(Edit::Delete),
                // Stores try again what was lost to another writer; this has to be made again first.
                Err(_) if self.made.is_some_and(Made::has_changed) => Ok(Edit::Keep),
                Err(error) => Err(error),
            }
        })?;
        arena.encoded = back.unwrap_or_default();
        Ok(())
    }

    /// Makes the new bytes of a chunk or shard in `encoded`; `false` where it is to be absent. `leaf` is the number of
    /// its first chunk among those that were made.
    fn edit(
        &self,
        target: &Target<'_>,
        leaf: usize,
        old: Option<&dyn Object>,
        arena: &mut Arena,
        encoded: &mut Vec<u8>,
    ) -> Result<bool> {
        match (&target.chain.shard, self.made) {
            (Some(sharding), _) => self.edit_shard(target, leaf, sharding, old, encoded),
            (None, Some(made)) => self.edit_made(made, target, leaf, old, arena, encoded),
            (None, None) => self.edit_leaf(target, old, arena, encoded),
        }
    }

    fn edit_leaf(
        &self,
        target: &Target<'_>,
        old: Option<&dyn Object>,
        arena: &mut Arena,
        encoded: &mut Vec<u8>,
    ) -> Result<bool> {
        if target.chain.steps.is_empty() {
            return self.edit_plain_chunk(target, old, arena, encoded);
        }
        self.edit_chunk(target, old, arena, encoded)
    }

    /// Without codecs the chunk is put together where its bytes are stored from.
    fn edit_plain_chunk(
        &self,
        target: &Target<'_>,
        old: Option<&dyn Object>,
        arena: &mut Arena,
        encoded: &mut Vec<u8>,
    ) -> Result<bool> {
        let shape = target.shape();
        let total = self.total(&shape)?;
        self.assemble(target, &shape, old, room(encoded, total)?, arena)?;
        encoded.truncate(total);
        let stored = self.options.write_empty || !is_all(encoded, &self.array.fill);
        swap_units(encoded, target.chain.swap);
        Ok(stored)
    }

    fn total(&self, shape: &[u64]) -> Result<usize> {
        byte_count(shape.iter().copied(), self.array.item).ok_or_else(|| {
            Error::Spec(format!("a chunk of shape {shape:?} does not fit in memory"))
        })
    }

    fn edit_chunk(
        &self,
        target: &Target<'_>,
        old: Option<&dyn Object>,
        arena: &mut Arena,
        encoded: &mut Vec<u8>,
    ) -> Result<bool> {
        let shape = target.shape();
        let total = self.total(&shape)?;
        let mut chunk = std::mem::take(&mut arena.chunk);
        let swap = target.chain.swap;
        let bytes = if swap == 0 && target.is_direct(&shape, self.array.item) {
            // SAFETY: the view is one run of `total` bytes, which its maker promised to be readable.
            unsafe { std::slice::from_raw_parts(target.out.base(), total) }
        } else {
            self.assemble(target, &shape, old, room(&mut chunk, total)?, arena)?;
            &chunk[..total]
        };
        let stored = self.options.write_empty || !is_all(bytes, &self.array.fill);
        if stored {
            let bytes = if swap == 0 {
                bytes
            } else {
                swapped(&mut chunk[..total], swap)
            };
            chain::encode(&target.chain.steps, bytes, encoded, &mut arena.back)
                .map_err(|e| e.at(target.key, &target.job.coords))?;
        }
        arena.chunk = chunk;
        Ok(stored)
    }

    /// The whole decoded chunk as it shall be: what was there (or the fill value) under what is written.
    fn assemble(
        &self,
        target: &Target<'_>,
        shape: &[u64],
        old: Option<&dyn Object>,
        chunk: &mut [u8],
        arena: &mut Arena,
    ) -> Result<()> {
        match old {
            Some(object) => self.decode_old(target, object, chunk, arena)?,
            None if target.is_whole() => {}
            None => self.fill(chunk),
        }
        let walk = target.walk(shape, self.array.item);
        let span = walk.span(self.array.item);
        if span.end > chunk.len() {
            return Err(Error::Internal(format!(
                "{span:?} reaches out of the chunk"
            )));
        }
        // SAFETY: the span was just checked against the chunk, and the view's maker promised the value.
        unsafe {
            let dst = chunk.as_mut_ptr().offset(walk.first);
            place::copy(
                &walk.from_view(target.out),
                target.out.base(),
                dst,
                self.array.item,
            );
        }
        Ok(())
    }

    fn decode_old(
        &self,
        target: &Target<'_>,
        object: &dyn Object,
        chunk: &mut [u8],
        arena: &mut Arena,
    ) -> Result<()> {
        let steps = &target.chain.steps;
        self.check_length(target, object)?;
        let stored = whole(object, &mut arena.fetched)?;
        let (front, back) = (&mut arena.front, &mut arena.back);
        chain::decode(
            steps,
            stored,
            Size::Exact(chunk.len()),
            front,
            back,
            Some(chunk),
        )
        .map_err(|e| e.at(target.key, &target.job.coords))?;
        swap_units(chunk, target.chain.swap);
        Ok(())
    }

    /// An error where all of a chunk or shard is longer than it can be.
    fn check_length(&self, target: &Target<'_>, object: &dyn Object) -> Result<()> {
        let max = target.chain.encoded_max(&target.shape(), self.array.item)?;
        length::checked(target.key, object.size(), max).map(drop)
    }

    fn fill(&self, chunk: &mut [u8]) {
        let (fill, item) = (&self.array.fill, self.array.item);
        let count = chunk.len() / item;
        let axis = CopyAxis {
            count,
            src: Walk::Even(0),
            dst: Walk::Even(item as isize),
        };
        // SAFETY: `count` items fit the chunk, and the source stands still on the fill value.
        unsafe { place::copy(&[axis], fill.as_ptr(), chunk.as_mut_ptr(), item) };
    }
}

/// All bytes of an object whose length was checked: where they lie, or read into `buffer`.
fn whole<'b>(object: &'b dyn Object, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
    if let Some(bytes) = object.in_memory() {
        return Ok(bytes);
    }
    let size =
        usize::try_from(object.size()).map_err(|_| Error::OutOfMemory { bytes: usize::MAX })?;
    let bytes = room(buffer, size)?;
    object.read_at(0, bytes)?;
    Ok(bytes)
}

fn swapped(chunk: &mut [u8], unit: usize) -> &[u8] {
    swap_units(chunk, unit);
    chunk
}

/// Whether `bytes` are nothing but repetitions of `item`, bit for bit.
fn is_all(bytes: &[u8], item: &[u8]) -> bool {
    bytes.starts_with(item) && bytes[item.len()..] == bytes[..bytes.len() - item.len()]
}

impl Target<'_> {
    /// Whether the job replaces all of the chunk that lies in the array.
    pub fn is_covered(&self) -> bool {
        self.plan.covers(self.grid, self.job)
    }

    /// Whether the job replaces every element, those behind the array's end too.
    pub fn is_whole(&self) -> bool {
        self.is_covered() && self.clipped() == self.shape()
    }

    /// Whether something of what is stored under the key is kept. Of a shard that is what lies behind the array's end, from
    /// when the array was larger.
    pub fn needs_old(&self) -> bool {
        match self.chain.shard {
            Some(_) => !self.is_whole(),
            None => !self.is_covered(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_all;

    #[test]
    fn all_fill_is_told_bit_for_bit() {
        assert!(is_all(&[1, 2, 1, 2, 1, 2], &[1, 2]));
        assert!(!is_all(&[1, 2, 1, 2, 1, 3], &[1, 2]));
        assert!(!is_all(&[1, 3], &[1, 2]));
        assert!(is_all(&[1, 2], &[1, 2]));
        assert!(!is_all(&(-0.0f32).to_ne_bytes(), &0.0f32.to_ne_bytes()));
    }
}
