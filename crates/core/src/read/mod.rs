//! Running a plan: fetch, decode, place.

mod flow;
pub mod pending;
mod questions;
pub(crate) mod shard;
mod start;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::arena::{Arena, lease, room};
use crate::array::Array;
use crate::codec::chain::{self, DecodeError, Decoded};
use crate::codec::swap::swap_units;
use crate::codec::{CodecError, CodecErrorKind, Size};
use crate::error::{Error, Result};
use crate::grid::{Axis, byte_count};
use crate::io::{Fetched, Object, Store};
use crate::place;
use crate::plan::Plan;
use crate::pool::parallel_for;
use crate::selection::{Pick, Selection};
use crate::target::Target;
use crate::view::{ChunkWalk, View};

/// Work below this many decoded bytes is not worth waking another thread for.
pub(crate) const ALONE: usize = 128 << 10;

/// Runs of an uncompressed chunk from this length on are read straight into the result.
const RUN: usize = 64 << 10;
/// Uncompressed chunks up to this size are read by one call, which tells their size as well.
const SMALL: usize = 64 << 10;
/// What is read of an uncompressed chunk at once on the way through a buffer: it should stay in cache.
const BAND: usize = 512 << 10;

/// How a read is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub threads: usize,
    /// Whether an absent chunk is an error rather than the fill value.
    pub missing_is_error: bool,
}

/// What a read did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub jobs: u64,
    /// Chunks that were absent and filled.
    pub missing: u64,
}

/// Reads `selection` of `array` into `out`, whose axes are the selection's picks.
pub fn read(
    array: &Array,
    store: &dyn Store,
    selection: &Selection,
    out: &View<'_>,
    options: Options,
) -> Result<Report> {
    selection.check(&array.shape)?;
    let plan = Plan::new(&array.grid, selection)?;
    let reader = Reader::new(array, store, options);
    let threads = reader.threads(&plan, selection);
    match store.batch() {
        Some(window) => flow::read(&reader, &plan, out, window, threads)?,
        None => parallel_for(plan.jobs(), threads, &|n| {
            let mut arena = lease();
            plan.job(n, &mut arena.job);
            reader.job(&plan, out, &mut arena)
        })?,
    }
    Ok(Report {
        jobs: plan.jobs() as u64,
        missing: reader.missing.into_inner(),
    })
}

/// An uncompressed chunk in its object.
struct Plain<'p> {
    object: &'p dyn Object,
    offset: u64,
    swap: usize,
}

/// What every job of one read shares.
#[derive(Debug)]
pub struct Reader<'r> {
    pub array: &'r Array,
    pub store: &'r dyn Store,
    pub options: Options,
    missing: AtomicU64,
}

impl<'r> Reader<'r> {
    pub fn new(array: &'r Array, store: &'r dyn Store, options: Options) -> Reader<'r> {
        Reader {
            array,
            store,
            options,
            missing: AtomicU64::new(0),
        }
    }
}

impl Reader<'_> {
    /// How many threads the work of this plan is worth.
    fn threads(&self, plan: &Plan, selection: &Selection) -> usize {
        let wanted: u64 = selection
            .picks
            .iter()
            .map(Pick::count)
            .fold(1, u64::saturating_mul);
        let chunk = byte_count(self.array.grid.iter().map(Axis::largest), 1).unwrap_or(usize::MAX);
        let touched = match self.array.chain.shard {
            Some(_) => usize::try_from(wanted).unwrap_or(usize::MAX),
            None => chunk.saturating_mul(plan.jobs()),
        };
        if touched.saturating_mul(self.array.item) < ALONE {
            1
        } else {
            self.options.threads
        }
    }

    /// One job of the outermost plan: `arena.job`.
    fn job(&self, plan: &Plan, out: &View<'_>, arena: &mut Arena) -> Result<()> {
        let job = std::mem::take(&mut arena.job);
        let mut key = std::mem::take(&mut arena.key);
        self.array.key(&job.coords, &mut key);
        let out = out.part(plan.parts(&job));
        let target = Target {
            chain: &self.array.chain,
            grid: &self.array.grid,
            plan,
            job: &job,
            out: &out,
            key: &key,
        };
        let done = self.stored(&target, arena);
        arena.job = job;
        arena.key = key;
        done.map(drop)
    }

    /// A chunk or shard that has a key of its own, and whether that is there.
    pub fn stored(&self, target: &Target<'_>, arena: &mut Arena) -> Result<bool> {
        match &target.chain.shard {
            Some(sharding) => self.stored_shard(target, sharding, arena),
            None => self.stored_chunk(target, arena),
        }
    }

    fn stored_chunk(&self, target: &Target<'_>, arena: &mut Arena) -> Result<bool> {
        let shape = target.shape();
        let total = self.total(&shape)?;
        if target.chain.steps.is_empty() {
            return self.stored_plain_chunk(target, &shape, total, arena);
        }
        let walk = target.walk_unless_direct(&shape, self.array.item);
        let walk = walk.as_ref();
        if let Some(walk) = walk
            && let Some(found) = self.stored_start(target, walk, total, arena)?
        {
            return Ok(found);
        }
        let max = target.chain.encoded_max(&shape, self.array.item)?;
        let mut fetched = std::mem::take(&mut arena.fetched);
        let done = match self.store.get(target.key, max, &mut fetched)? {
            None => self.absent(target).map(|()| false),
            Some(Fetched::Buffered) => self
                .chunk(target, walk, total, &fetched, arena)
                .map(|()| true),
            Some(Fetched::Shared(bytes)) => self
                .chunk(target, walk, total, &bytes, arena)
                .map(|()| true),
        };
        arena.fetched = fetched;
        done
    }

    /// An uncompressed chunk: read straight to where it belongs, and no more of it than is wanted.
    fn stored_plain_chunk(
        &self,
        target: &Target<'_>,
        shape: &[u64],
        total: usize,
        arena: &mut Arena,
    ) -> Result<bool> {
        if total <= SMALL
            && target.chain.swap == 0
            && let Some(walk) = target.walk_unless_direct(shape, self.array.item)
            && walk.span(self.array.item).len() == total
        {
            return self.stored_small_chunk(target, &walk, total, arena);
        }
        let Some(object) = self.store.open(target.key)? else {
            return self.absent(target).map(|()| false);
        };
        check_size(target, object.size(), total)?;
        self.plain_chunk(target, shape, total, &*object, 0, arena)
            .map(|()| true)
    }

    /// A small uncompressed chunk that is wanted from its first byte to its last.
    fn stored_small_chunk(
        &self,
        target: &Target<'_>,
        walk: &ChunkWalk,
        total: usize,
        arena: &mut Arena,
    ) -> Result<bool> {
        let place = |chunk: &[u8]| {
            check_size(target, chunk.len() as u64, total)?;
            self.place(target.out, walk, chunk, 0).map(|()| true)
        };
        match self.store.get(target.key, total, &mut arena.fetched)? {
            None => self.absent(target).map(|()| false),
            Some(Fetched::Buffered) => place(&arena.fetched),
            Some(Fetched::Shared(chunk)) => place(&chunk),
        }
    }

    /// An uncompressed chunk at `offset` of `object`, whose length was checked.
    fn plain_chunk(
        &self,
        target: &Target<'_>,
        shape: &[u64],
        total: usize,
        object: &dyn Object,
        offset: u64,
        arena: &mut Arena,
    ) -> Result<()> {
        let (item, swap) = (self.array.item, target.chain.swap);
        if target.is_direct(shape, item) {
            // SAFETY: the view is one run of `total` bytes that belongs to this job alone.
            let dst = unsafe { std::slice::from_raw_parts_mut(target.out.base(), total) };
            object.read_at(offset, dst)?;
            swap_units(dst, swap);
            return Ok(());
        }
        let walk = target.walk(shape, item);
        let start = offset as usize;
        if let Some(stored) = object.in_memory().filter(|_| swap == 0) {
            let chunk = stored.get(start..start + total).unwrap_or_default();
            return self.place(target.out, &walk, chunk, 0);
        }
        let plain = Plain {
            object,
            offset,
            swap,
        };
        self.plain_box(&plain, &walk, target.out, arena)
    }

    /// What `walk` touches of an uncompressed chunk: runs go straight to the result, the rest through bands that stay
    /// in cache.
    fn plain_box(
        &self,
        plain: &Plain<'_>,
        walk: &ChunkWalk,
        out: &View<'_>,
        arena: &mut Arena,
    ) -> Result<()> {
        let span = walk.span(self.array.item);
        let start = plain.offset + span.start as u64;
        if span.len() >= RUN && walk.is_run(out, self.array.item) {
            // SAFETY: the view is one run of as many bytes, which belong to this job alone.
            let dst = unsafe { std::slice::from_raw_parts_mut(out.base(), span.len()) };
            plain.object.read_at(start, dst)?;
            swap_units(dst, plain.swap);
            return Ok(());
        }
        if let Some(mut parts) = walk.cuts(out, self.array.item, BAND) {
            return parts.try_for_each(|(walk, out)| self.plain_box(plain, &walk, &out, arena));
        }
        let bytes = room(&mut arena.front, span.len())?;
        plain.object.read_at(start, bytes)?;
        swap_units(bytes, plain.swap);
        self.place(out, walk, &arena.front[..span.len()], span.start)
    }

    /// Decodes the chunk `stored` and places what is wanted of it; without a walk it is decoded to where it belongs.
    pub fn chunk(
        &self,
        target: &Target<'_>,
        walk: Option<&ChunkWalk>,
        total: usize,
        stored: &[u8],
        arena: &mut Arena,
    ) -> Result<()> {
        let (item, swap) = (self.array.item, target.chain.swap);
        let at = |e: DecodeError| e.at(target.key, &target.job.coords);
        let (front, back) = (&mut arena.front, &mut arena.back);
        let Some(walk) = walk else {
            // SAFETY: the view is one run of `total` bytes that belongs to this job alone.
            let dst = unsafe { std::slice::from_raw_parts_mut(target.out.base(), total) };
            chain::decode(
                &target.chain.steps,
                stored,
                Size::Exact(total),
                front,
                back,
                Some(dst),
            )
            .map_err(at)?;
            swap_units(dst, swap);
            return Ok(());
        };
        let span = walk.span(item);
        if span.len() < total
            && chain::decode_span(&target.chain.steps, stored, total, span.clone(), front)
                .map_err(at)?
        {
            swap_units(&mut front[span], swap);
            return self.place(target.out, walk, &front[..total], 0);
        }
        let decoded = chain::decode(
            &target.chain.steps,
            stored,
            Size::Exact(total),
            front,
            back,
            None,
        )
        .map_err(at)?;
        let bytes = match decoded {
            Decoded::Front(range) => &mut front[range],
            Decoded::Back(range) => &mut back[range],
            Decoded::Source(range) if swap == 0 => {
                return self.place(target.out, walk, &stored[range], 0);
            }
            Decoded::Source(range) => {
                let copy = room(front, total)?;
                copy.copy_from_slice(&stored[range]);
                copy
            }
            Decoded::Destination => return Err(Error::Internal("decoded to nowhere".into())),
        };
        swap_units(bytes, swap);
        self.place(target.out, walk, bytes, 0)
    }

    /// Copies what `walk` touches of a chunk into the result; `bytes` start at byte `from` of the chunk.
    fn place(&self, out: &View<'_>, walk: &ChunkWalk, bytes: &[u8], from: usize) -> Result<()> {
        let span = walk.span(self.array.item);
        if span.start < from || span.end > from + bytes.len() {
            return Err(Error::Internal(format!(
                "{span:?} reaches out of the decoded chunk"
            )));
        }
        let first = walk.first - from as isize;
        // SAFETY: the span was just checked against the chunk, and the view's maker promised the result.
        unsafe {
            let src = bytes.as_ptr().offset(first);
            place::copy(&walk.to_view(out), src, out.base(), self.array.item);
        }
        Ok(())
    }

    /// A key that does not exist.
    pub fn absent(&self, target: &Target<'_>) -> Result<()> {
        if self.options.missing_is_error {
            return Err(Error::Missing {
                key: target.key.to_owned(),
                chunk: target.job.coords.clone(),
            });
        }
        self.fill_absent(target);
        Ok(())
    }

    /// Gives an absent chunk's elements the fill value. A shard's index says for certain that an inner chunk was
    /// never written, so this alone is no reason for an error.
    pub fn fill_absent(&self, target: &Target<'_>) {
        self.missing.fetch_add(1, Ordering::Relaxed);
        self.fill(target);
    }

    fn fill(&self, target: &Target<'_>) {
        let walks = target.out.axes().iter().zip(target.plan.parts(target.job));
        let axes: Vec<place::CopyAxis<'_>> = walks
            .map(|(walk, part)| place::CopyAxis {
                count: part.count as usize,
                src: place::Walk::Even(0),
                dst: walk.borrowed(),
            })
            .collect();
        // SAFETY: the source stands still on the fill value, and the view's maker promised the result.
        unsafe {
            place::copy(
                &axes,
                self.array.fill.as_ptr(),
                target.out.base(),
                self.array.item,
            )
        };
    }

    pub fn total(&self, shape: &[u64]) -> Result<usize> {
        byte_count(shape.iter().copied(), self.array.item).ok_or_else(|| {
            Error::Spec(format!("a chunk of shape {shape:?} does not fit in memory"))
        })
    }
}

/// An uncompressed chunk must have just its size.
fn check_size(target: &Target<'_>, stored: u64, total: usize) -> Result<()> {
    if stored == total as u64 {
        return Ok(());
    }
    let what = format!("{stored} bytes are stored, but the chunk has {total}");
    let error = CodecError::new("bytes", CodecErrorKind::WrongSize, what);
    Err(DecodeError::from(error).at(target.key, &target.job.coords))
}
