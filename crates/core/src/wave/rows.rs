//! What a selection takes of which chunk, row by row, in numbers that a kernel can follow.

use std::sync::Arc;

use super::indexes::{AHEAD, read_indexes};
use crate::arena::{lease, room};
use crate::array::Array;
use crate::codec::chain::{Chain, Sharding};
use crate::error::{Error, Result};
use crate::grid::byte_count;
use crate::io::part::{InMemory, Window};
use crate::io::{Fetched, Object, Stamp, Store};
use crate::place::Walk;
use crate::plan::{Job, Plan};
use crate::read::shard::{check_entry, decode_shard};
use crate::selection::Selection;
use crate::target::{Inner, Target};
use crate::view::View;

/// Rows are made for whole jobs until one of these is reached.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub rows: usize,
    /// Of tables of indices and of shards that had to be decoded whole.
    pub bytes: usize,
}

/// Where a row's encoded bytes are.
#[derive(Clone, Debug)]
pub enum Source {
    Absent,
    /// All that is under a key, by its number.
    Key(usize),
    /// A part of it.
    Part {
        key: usize,
        offset: u64,
        len: u64,
    },
    /// A part of a shard that was decoded whole.
    Held {
        shard: usize,
        offset: u64,
        len: u64,
    },
}

/// One chunk.
#[derive(Clone, Debug)]
pub struct Row {
    pub source: Source,
    /// The number of its key.
    pub key: usize,
    /// In the grid of its key, or in that of the innermost shard.
    pub coords: Box<[u64]>,
    pub shape: Box<[u64]>,
    pub decoded: usize,
    /// The first element: in the decoded chunk, and in the result, in bytes.
    pub src: i64,
    pub dst: i64,
    /// How much of the chunk the selection takes, where it is to be written.
    pub cover: Cover,
}

/// How much of a chunk a write replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Cover {
    #[default]
    Part = 0,
    /// All that lies in the array, of a chunk that reaches over its end.
    Inside = 1,
    Whole = 2,
}

/// Some rows of a selection.
#[derive(Debug, Default)]
pub struct Rows {
    pub rows: Vec<Row>,
    pub keys: Vec<String>,
    /// Of each key whether it is a shard that is not there.
    pub missing: Vec<bool>,
    /// Of each key the version in which parts of it were found, where stores tell versions apart.
    pub stamps: Vec<Option<Stamp>>,
    pub held: Vec<Arc<Vec<u8>>>,
    /// Axes that each row has in the columns below; at least 1.
    pub rank: usize,
    pub counts: Vec<i64>,
    /// Steps in bytes; where there is a table, its place in `tables`, else -1.
    pub src_steps: Vec<i64>,
    pub src_tables: Vec<i64>,
    pub dst_steps: Vec<i64>,
    pub dst_tables: Vec<i64>,
    pub tables: Vec<i64>,
    /// The job that comes after these rows, and how many there are.
    pub next: usize,
    pub jobs: usize,
}

/// What is to be read, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    pub array: &'r Array,
    pub store: &'r dyn Store,
    pub missing_is_error: bool,
    /// Whether the rows are to be written, so that nothing is looked up.
    pub writing: bool,
}

/// A shard on the way down to its inner chunks.
enum Found<'f> {
    Absent,
    /// What is open lies `at` bytes into the key.
    Open(&'f dyn Object, u64),
    Held(usize, &'f [u8], u64),
}

impl Rows {
    /// The rows of `selection` from job `first` on; `strides` are the result's, in bytes.
    pub fn new(
        request: Request<'_>,
        selection: &Selection,
        strides: &[isize],
        first: usize,
        limit: Limit,
    ) -> Result<Rows> {
        selection.check(&request.array.shape)?;
        let plan = Plan::new(&request.array.grid, selection)?;
        Rows::planned(request, &plan, strides, first, limit)
    }

    /// No rows yet, of so many axes.
    pub fn empty(rank: usize) -> Rows {
        Rows {
            rank: rank.max(1),
            ..Rows::default()
        }
    }

    /// Adds the rows of one key.
    pub fn add(&mut self, request: Request<'_>, target: &Target<'_>) -> Result<()> {
        self.keys.push(target.key.to_owned());
        self.missing.push(false);
        self.stamps.push(None);
        self.stored(request, target)
    }

    /// Adds a row that takes all of a chunk, and puts it `dst` bytes into the result.
    pub fn add_whole(&mut self, row: Row, item: usize, dst: i64) {
        self.counts.push((row.decoded / item) as i64);
        self.src_steps.push(item as i64);
        self.dst_steps.push(item as i64);
        self.src_tables.push(-1);
        self.dst_tables.push(-1);
        self.rows.push(Row { src: 0, dst, ..row });
        self.pad(self.counts.len() - 1, self.rank - 1);
    }

    /// The same where the selection was planned.
    pub fn planned(
        request: Request<'_>,
        plan: &Plan,
        strides: &[isize],
        first: usize,
        limit: Limit,
    ) -> Result<Rows> {
        let array = request.array;
        let mut rows = Rows {
            jobs: plan.jobs(),
            next: first,
            ..Rows::empty(strides.len())
        };
        // SAFETY: this view is only asked for its strides; nothing is read or written through it.
        let out = unsafe { View::new(std::ptr::null_mut(), strides) };
        let mut job = Job::default();
        let goes_on = |rows: &Rows| {
            rows.next == first || (rows.rows.len() < limit.rows && rows.bytes() < limit.bytes)
        };
        while rows.next < plan.jobs() && goes_on(&rows) {
            if (rows.next - first).is_multiple_of(AHEAD) {
                let ahead = rows.next..plan.jobs().min(rows.next.saturating_add(AHEAD));
                read_indexes(request, plan, &out, ahead);
            }
            plan.job(rows.next, &mut job);
            let mut key = String::new();
            array.key(&job.coords, &mut key);
            let out = out.part(plan.parts(&job));
            let target = Target {
                chain: &array.chain,
                grid: &array.grid,
                plan,
                job: &job,
                out: &out,
                key: &key,
            };
            rows.add(request, &target)?;
            rows.next += 1;
        }
        Ok(rows)
    }

    fn bytes(&self) -> usize {
        let held: usize = self.held.iter().map(|shard| shard.len()).sum();
        held.saturating_add(8 * self.tables.len())
    }

    fn key(&self) -> usize {
        self.keys.len() - 1
    }

    /// A chunk or shard that has a key of its own.
    fn stored(&mut self, request: Request<'_>, target: &Target<'_>) -> Result<()> {
        let Some(sharding) = &target.chain.shard else {
            return self.row(request, target, Source::Key(self.key()));
        };
        if request.writing {
            return self.shard(request, target, sharding, &Found::Absent);
        }
        if !target.chain.steps.is_empty() {
            let max = target
                .chain
                .encoded_max(&target.shape(), request.array.item)?;
            let mut buffer = Vec::new();
            let fetched = request.store.get(target.key, max, &mut buffer)?;
            return match fetched {
                None => self.no_shard(request, target, sharding),
                Some(Fetched::Buffered) => self.encoded_shard(request, target, sharding, &buffer),
                Some(Fetched::Shared(bytes)) => {
                    self.encoded_shard(request, target, sharding, &bytes)
                }
            };
        }
        match request.store.open(target.key)? {
            None => self.no_shard(request, target, sharding),
            Some(object) => {
                if let Some(stamp) = self.stamps.last_mut() {
                    *stamp = object.stamp();
                }
                self.shard(request, target, sharding, &Found::Open(&*object, 0))
            }
        }
    }

    fn no_shard(
        &mut self,
        request: Request<'_>,
        target: &Target<'_>,
        sharding: &Sharding,
    ) -> Result<()> {
        if let Some(missing) = self.missing.last_mut() {
            *missing = true;
        }
        self.shard(request, target, sharding, &Found::Absent)
    }

    /// A shard with codecs after it: it is decoded and held.
    fn encoded_shard(
        &mut self,
        request: Request<'_>,
        target: &Target<'_>,
        sharding: &Sharding,
        stored: &[u8],
    ) -> Result<()> {
        let shard = Arc::new(decode_shard(target, request.array.item, stored)?);
        self.held.push(shard.clone());
        let found = Found::Held(self.held.len() - 1, &shard, 0);
        self.shard(request, target, sharding, &found)
    }

    /// The inner chunks of a shard that are wanted.
    fn shard(
        &mut self,
        request: Request<'_>,
        target: &Target<'_>,
        sharding: &Sharding,
        found: &Found<'_>,
    ) -> Result<()> {
        let inner = Inner::new(target, sharding)?;
        let count = inner.grid.count()?;
        let read = |object: &dyn Object| {
            request.array.indexes.get(target.key, object.stamp(), || {
                sharding.read_index(object, count, target.key, &mut lease())
            })
        };
        let (index, size) = match found {
            Found::Absent => (None, 0),
            Found::Open(object, _) => (Some(read(*object)?), object.size()),
            Found::Held(_, bytes, _) => (
                Some(read(&InMemory::new(target.key, bytes))?),
                bytes.len() as u64,
            ),
        };
        let max = sharding
            .chain
            .encoded_max(&sharding.chunks, request.array.item)? as u64;
        let mut job = Job::default();
        for number in 0..inner.plan.jobs() {
            inner.plan.job(number, &mut job);
            let out = target.out.part(inner.plan.parts(&job));
            let chunk = inner.target(sharding, &job, &out, target.key);
            let entry = index
                .as_ref()
                .and_then(|index| index.entry(inner.grid.linear(&job.coords)));
            if let Some(entry) = entry {
                check_entry(target.key, &job.coords, entry, size, max)?;
            }
            self.inner(request, &chunk, found, entry)?;
        }
        Ok(())
    }

    /// An inner chunk, or a shard in a shard.
    fn inner(
        &mut self,
        request: Request<'_>,
        chunk: &Target<'_>,
        found: &Found<'_>,
        entry: Option<(u64, u64)>,
    ) -> Result<()> {
        let Some(nested) = &chunk.chain.shard else {
            let source = self.part(found, entry);
            return self.row(request, chunk, source);
        };
        let encoded = !chunk.chain.steps.is_empty();
        match (found, entry) {
            (Found::Absent, _) | (_, None) => self.shard(request, chunk, nested, &Found::Absent),
            (Found::Open(object, at), Some((start, len))) => {
                let object = &Window::new(chunk.key, *object, start, len);
                if !encoded {
                    let found = Found::Open(object, at + start);
                    return self.shard(request, chunk, nested, &found);
                }
                let mut buffer = Vec::new();
                let stored = room(&mut buffer, len as usize)?;
                object.read_at(0, stored)?;
                self.encoded_shard(request, chunk, nested, stored)
            }
            (Found::Held(shard, bytes, at), Some((start, len))) => {
                let bytes = &bytes[start as usize..(start + len) as usize];
                match encoded {
                    true => self.encoded_shard(request, chunk, nested, bytes),
                    false => {
                        let found = Found::Held(*shard, bytes, at + start);
                        self.shard(request, chunk, nested, &found)
                    }
                }
            }
        }
    }

    fn part(&self, found: &Found<'_>, entry: Option<(u64, u64)>) -> Source {
        match (found, entry) {
            (Found::Absent, _) | (_, None) => Source::Absent,
            (Found::Open(_, at), Some((offset, len))) => Source::Part {
                key: self.key(),
                offset: at + offset,
                len,
            },
            (Found::Held(shard, _, at), Some((offset, len))) => Source::Held {
                shard: *shard,
                offset: at + offset,
                len,
            },
        }
    }

    fn row(&mut self, request: Request<'_>, target: &Target<'_>, source: Source) -> Result<()> {
        if matches!(source, Source::Absent) && request.missing_is_error {
            return Err(Error::Missing {
                key: target.key.to_owned(),
                chunk: target.job.coords.clone(),
            });
        }
        let (shape, item) = (target.shape(), request.array.item);
        let too_long = || Error::Spec(format!("a chunk of shape {shape:?} does not fit in memory"));
        let decoded = byte_count(shape.iter().copied(), item).ok_or_else(too_long)?;
        let walk = target.walk(&shape, item);
        let span = walk.span(item);
        if span.end > decoded {
            return Err(Error::Internal(format!(
                "{span:?} reaches out of the decoded chunk"
            )));
        }
        let axes = walk.axes.iter().zip(target.out.axes());
        self.axes(axes.map(|((count, src), dst)| (*count, src, dst)));
        let cover = match request.writing {
            true if !target.is_covered() => Cover::Part,
            true if target.clipped() != shape => Cover::Inside,
            true => Cover::Whole,
            false => Cover::Part,
        };
        self.rows.push(Row {
            source,
            cover,
            key: self.key(),
            coords: target.job.coords.clone().into(),
            decoded,
            src: walk.first as i64,
            dst: target.out.base() as i64,
            shape: shape.into(),
        });
        Ok(())
    }

    /// Adds a row's axes, those that the result walks fastest last, and joined where both sides are one run.
    fn axes<'w>(&mut self, axes: impl Iterator<Item = (usize, &'w Walk<'w>, &'w Walk<'w>)>) {
        let mut axes: Vec<_> = axes.collect();
        let step = |walk: &Walk<'_>| match walk {
            Walk::Even(step) => step.unsigned_abs(),
            Walk::Table(_) => usize::MAX,
        };
        axes.sort_by_key(|(_, _, dst)| std::cmp::Reverse(step(dst)));
        let first = self.counts.len();
        for (count, src, dst) in axes {
            if self.joined(first, count, src, dst) {
                continue;
            }
            let (src_step, src_table) = self.walk(src);
            let (dst_step, dst_table) = self.walk(dst);
            self.counts.push(count as i64);
            self.src_steps.push(src_step);
            self.src_tables.push(src_table);
            self.dst_steps.push(dst_step);
            self.dst_tables.push(dst_table);
        }
        let missing = first + self.rank - self.counts.len();
        self.pad(first, missing);
    }

    /// Joins an axis to the one before, if it goes on where that one steps.
    fn joined(&mut self, first: usize, count: usize, src: &Walk<'_>, dst: &Walk<'_>) -> bool {
        let (Walk::Even(src), Walk::Even(dst)) = (src, dst) else {
            return false;
        };
        if count == 1 {
            return true;
        }
        let last = self.counts.len();
        if last == first || self.src_tables[last - 1] >= 0 || self.dst_tables[last - 1] >= 0 {
            return false;
        }
        let (src, dst, count) = (*src as i64, *dst as i64, count as i64);
        if self.src_steps[last - 1] != src * count || self.dst_steps[last - 1] != dst * count {
            return false;
        }
        self.counts[last - 1] *= count;
        self.src_steps[last - 1] = src;
        self.dst_steps[last - 1] = dst;
        true
    }

    fn walk(&mut self, walk: &Walk<'_>) -> (i64, i64) {
        match walk {
            Walk::Even(step) => (*step as i64, -1),
            Walk::Table(table) => {
                let at = self.tables.len() as i64;
                self.tables
                    .extend(table.iter().map(|&offset| offset as i64));
                (0, at)
            }
        }
    }

    /// Fills a row up with axes of one element, in front of the others.
    fn pad(&mut self, at: usize, missing: usize) {
        for (column, value) in [
            (&mut self.counts, 1),
            (&mut self.src_steps, 0),
            (&mut self.src_tables, -1),
            (&mut self.dst_steps, 0),
            (&mut self.dst_tables, -1),
        ] {
            column.splice(at..at, std::iter::repeat_n(value, missing));
        }
    }
}

/// The chain of the chunks that are decoded: the innermost of nested shards.
pub fn leaf(chain: &Chain) -> &Chain {
    match &chain.shard {
        Some(sharding) => leaf(&sharding.chain),
        None => chain,
    }
}
