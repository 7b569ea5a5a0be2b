//! A plan as a table: one row for each chunk that is decoded, in columns.
//!
//! This is what `array.plan(selection)` shows and what other executors run. Columns and units are fixed by a test.

use crate::array::Array;
use crate::error::Result;
use crate::grid::byte_count;
use crate::plan::{Job, Part, Place, Plan, Take};
use crate::selection::Selection;
use crate::target::{Inner, Target};
use crate::view::View;

/// How a row's elements reach the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The decoded chunk is one run of the result.
    Direct = 0,
    /// Boxes with steps on both sides.
    Strided = 1,
    /// Tables of indices on either side.
    Gather = 2,
}

/// The columns. Those with several numbers a row are row by row, `rank` (array axes) or `result_rank` numbers each.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub rank: usize,
    pub result_rank: usize,
    /// The store key that holds the chunk.
    pub keys: Vec<String>,
    /// `rank` numbers: coordinates of what the key holds (the shard, where there are shards).
    pub chunk: Vec<i64>,
    /// `rank` numbers: coordinates of the inner chunk in its shard, -1 where there are no shards.
    pub inner: Vec<i64>,
    /// Bytes of the key to read: 0 and -1 for all of it, -1 and -1 where the shard's index says.
    pub byte_offset: Vec<i64>,
    pub byte_length: Vec<i64>,
    /// Bytes of the decoded chunk.
    pub decoded_bytes: Vec<i64>,
    /// `rank` numbers each: what is taken of the decoded chunk; a step of 0 stands for a table of indices.
    pub take_start: Vec<i64>,
    pub take_step: Vec<i64>,
    pub take_count: Vec<i64>,
    /// `result_rank` numbers each: where it goes; a start of -1 stands for a table of positions.
    pub place_start: Vec<i64>,
    pub place_count: Vec<i64>,
    pub kind: Vec<u8>,
    /// Whether all of the chunk that lies in the array is taken, so that a write need not read it.
    pub whole: Vec<u8>,
    /// Whether rows were left out because of the limit.
    pub cut: bool,
}

impl Table {
    /// The table of `selection`, at most `limit` rows of it.
    pub fn new(array: &Array, selection: &Selection, limit: usize) -> Result<Table> {
        selection.check(&array.shape)?;
        let plan = Plan::new(&array.grid, selection)?;
        let mut table = Table {
            rank: array.shape.len(),
            result_rank: selection.picks.len(),
            ..Table::default()
        };
        // SAFETY: this view is only asked for its strides; nothing is read or written through it.
        let out = unsafe { View::new(std::ptr::null_mut(), &c_strides(selection, array.item)) };
        let mut key = String::new();
        for number in 0..plan.jobs() {
            if table.keys.len() >= limit {
                table.cut = true;
                break;
            }
            let mut job = Job::default();
            plan.job(number, &mut job);
            array.key(&job.coords, &mut key);
            let out = out.part(plan.parts(&job));
            let (chain, grid) = (&array.chain, &array.grid[..]);
            let target = Target {
                chain,
                grid,
                plan: &plan,
                job: &job,
                out: &out,
                key: &key,
            };
            let places: Vec<i64> = plan.parts(&job).map(|part| place_start(&part)).collect();
            table.add(&target, array.item, &job.coords, &places, limit)?;
        }
        Ok(table)
    }

    /// Adds a chunk, or the inner chunks of a shard. `places` are where the target's own box starts in the result.
    fn add(
        &mut self,
        target: &Target<'_>,
        item: usize,
        chunk: &[u64],
        places: &[i64],
        limit: usize,
    ) -> Result<()> {
        let Some(sharding) = &target.chain.shard else {
            self.row(target, item, chunk, None, places);
            return Ok(());
        };
        let inner = Inner::new(target, sharding)?;
        for number in 0..inner.plan.jobs() {
            if self.keys.len() >= limit {
                self.cut = true;
                break;
            }
            let mut job = Job::default();
            inner.plan.job(number, &mut job);
            let out = target.out.part(inner.plan.parts(&job));
            let chunk_target = inner.target(sharding, &job, &out, target.key);
            let parts = inner.plan.parts(&job);
            let places: Vec<i64> = places
                .iter()
                .zip(parts)
                .map(|(&outer, part)| within(outer, place_start(&part)))
                .collect();
            match &sharding.chain.shard {
                Some(_) => self.add(&chunk_target, item, chunk, &places, limit)?,
                None => self.row(&chunk_target, item, chunk, Some(&job.coords), &places),
            }
        }
        Ok(())
    }

    fn row(
        &mut self,
        target: &Target<'_>,
        item: usize,
        chunk: &[u64],
        inner: Option<&[u64]>,
        places: &[i64],
    ) {
        let shape = target.shape();
        self.keys.push(target.key.to_owned());
        self.chunk.extend(chunk.iter().map(|&coord| coord as i64));
        match inner {
            Some(coords) => self.inner.extend(coords.iter().map(|&coord| coord as i64)),
            None => self.inner.extend(std::iter::repeat_n(-1, self.rank)),
        }
        self.byte_offset.push(if inner.is_some() { -1 } else { 0 });
        self.byte_length.push(-1);
        self.decoded_bytes
            .push(byte_count(shape.iter().copied(), item).map_or(-1, |n| n as i64));
        self.takes(target);
        self.place_start.extend_from_slice(places);
        self.place_count
            .extend(target.plan.parts(target.job).map(|part| part.count as i64));
        self.kind.push(kind(target, &shape, item) as u8);
        self.whole
            .push(u8::from(target.plan.covers(target.grid, target.job)));
    }

    fn takes(&mut self, target: &Target<'_>) {
        let mut takes = vec![(0, 1, 1); self.rank];
        for constant in target.plan.consts() {
            takes[constant.axis] = (constant.offset as i64, 1, 1);
        }
        for part in target.plan.parts(target.job) {
            for (n, &axis) in part.axes.iter().enumerate() {
                takes[axis] = match part.take {
                    Take::Strided { start, step } => (start as i64, step, part.count as i64),
                    Take::Indexed { offsets, from } => {
                        (offsets[n][from] as i64, 0, part.count as i64)
                    }
                };
            }
        }
        self.take_start.extend(takes.iter().map(|take| take.0));
        self.take_step.extend(takes.iter().map(|take| take.1));
        self.take_count.extend(takes.iter().map(|take| take.2));
    }
}

fn kind(target: &Target<'_>, shape: &[u64], item: usize) -> Kind {
    let tables = target.plan.parts(target.job).any(|part| {
        matches!(part.take, Take::Indexed { .. }) || matches!(part.place, Place::At(_))
    });
    match (target.is_direct(shape, item), tables) {
        (true, _) => Kind::Direct,
        (false, false) => Kind::Strided,
        (false, true) => Kind::Gather,
    }
}

fn place_start(part: &Part<'_>) -> i64 {
    match part.place {
        Place::From(start) => start as i64,
        Place::At(_) => -1,
    }
}

fn within(outer: i64, inner: i64) -> i64 {
    if outer < 0 || inner < 0 {
        -1
    } else {
        outer + inner
    }
}

/// The strides of a result in C order.
fn c_strides(selection: &Selection, item: usize) -> Vec<isize> {
    let mut strides = vec![0; selection.picks.len()];
    let mut step = item as isize;
    for (slot, pick) in strides.iter_mut().zip(&selection.picks).rev() {
        *slot = step;
        step = step.saturating_mul(pick.count() as isize);
    }
    strides
}
