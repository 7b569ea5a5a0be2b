//! Writing for executors that gather and encode elsewhere: what a selection replaces of which chunk, and the keys
//! stored once all their chunks are back.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fetch::bytes_of;
use super::frames::Framing;
use super::rows::{Limit, Request, Row, Rows, Source, leaf};
use crate::arena::lease;
use crate::array::Array;
use crate::chunks::{self, Piece, Planned};
use crate::codec::chain;
use crate::codec::{BytesCodec, Size};
use crate::error::{Error, Result};
use crate::io::{Descriptor, Store};
use crate::plan::{Job, Plan};
use crate::pool::parallel_for;
use crate::selection::Selection;
use crate::target::Target;
use crate::view::View;
use crate::write::made::{Expected, Leaf, Made};
use crate::write::{Options, Writer};

/// What came back of one row.
#[derive(Clone, Debug)]
pub enum Outcome {
    Empty,
    /// The chunk's elements, in one part of the memory.
    Elements(Range<usize>),
    /// Its streams, and the checksum of what they decode to.
    Streams(Vec<Range<usize>>, u32),
}

/// How the executor encodes.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    /// How many steps of the chain, from its start, it does.
    pub steps: usize,
    pub framing: Option<Framing>,
}

/// Chunks of some keys on their way to the store.
#[derive(Debug)]
pub struct Chunks {
    pub rows: Rows,
    jobs: Jobs,
    /// The first row of each key, and behind them the number of rows.
    starts: Vec<usize>,
    waiting: Mutex<Waiting>,
}

/// What the keys are written for.
#[derive(Debug)]
enum Jobs {
    /// Jobs of a plan, from the one of this number on.
    Plan(Plan, usize),
    Pieces(Arc<Vec<Piece<'static>>>),
}

#[derive(Debug)]
struct Waiting {
    leaves: Vec<Option<Leaf>>,
    expected: Vec<Expected>,
    /// Of each key whether it is stored, and the first one that is not.
    stored: Vec<bool>,
    first: usize,
}

/// A key whose chunks are all there.
struct Complete {
    key: usize,
    leaves: Vec<Leaf>,
    expected: Vec<Expected>,
}

/// How storing went.
#[derive(Debug)]
pub struct Stored {
    /// Keys that still wait for chunks.
    pub waiting: usize,
    /// Rows that have to be made again, since another writer changed what they were made of.
    pub again: Vec<usize>,
}

impl Chunks {
    /// The chunks from job `first` on.
    pub fn new(
        array: &Array,
        store: &dyn Store,
        selection: &Selection,
        strides: &[isize],
        first: usize,
        limit: Limit,
    ) -> Result<Chunks> {
        selection.check(&array.shape)?;
        let plan = Plan::new(&array.grid, selection)?;
        let request = Request {
            array,
            store,
            missing_is_error: false,
            writing: true,
        };
        let rows = Rows::planned(request, &plan, strides, first, limit)?;
        Ok(Chunks::of(rows, Jobs::Plan(plan, first)))
    }

    /// The chunks of pieces that somebody else has planned, one key each.
    pub fn of_pieces(
        array: &Array,
        store: &dyn Store,
        pieces: Arc<Vec<Piece<'static>>>,
    ) -> Result<Chunks> {
        let rows = chunks::rows(array, store, &pieces, true)?;
        Ok(Chunks::of(rows, Jobs::Pieces(pieces)))
    }

    fn of(rows: Rows, jobs: Jobs) -> Chunks {
        let mut starts: Vec<usize> = Vec::with_capacity(rows.keys.len() + 1);
        for (number, row) in rows.rows.iter().enumerate() {
            while starts.len() <= row.key {
                starts.push(number);
            }
        }
        starts.resize(rows.keys.len() + 1, rows.rows.len());
        let mut leaves = Vec::new();
        leaves.resize_with(rows.rows.len(), || None);
        let waiting = Waiting {
            leaves,
            expected: vec![Expected::default(); rows.rows.len()],
            stored: vec![false; rows.keys.len()],
            first: 0,
        };
        Chunks {
            rows,
            jobs,
            starts,
            waiting: Mutex::new(waiting),
        }
    }

    /// What is stored of the chunks of `numbers`, to be decoded whole, each `to` bytes into the executor's memory. A new
    /// chunk made of one is stored only if that is still there.
    pub fn old(
        &self,
        array: &Array,
        store: &dyn Store,
        numbers: &[usize],
        to: &[i64],
    ) -> Result<Rows> {
        let mut old = Rows::empty(1);
        for (&number, &to) in numbers.iter().zip(to) {
            let (row, bytes) = self.old_row(array, store, number)?;
            let expected = match &bytes {
                Some(bytes) => Expected::Bytes(bytes.clone()),
                None => Expected::Nothing,
            };
            self.lock().expected[number] = expected;
            old.keys.push(self.rows.keys[row.key].clone());
            old.missing.push(false);
            old.stamps.push(None);
            let source = match bytes {
                Some(bytes) => {
                    let len = bytes.len() as u64;
                    old.held.push(bytes);
                    let (shard, offset) = (old.held.len() - 1, 0);
                    Source::Held { shard, offset, len }
                }
                None => Source::Absent,
            };
            let key = old.keys.len() - 1;
            old.add_whole(Row { source, key, ..row }, array.item, to);
        }
        Ok(old)
    }

    fn old_row(
        &self,
        array: &Array,
        store: &dyn Store,
        number: usize,
    ) -> Result<(Row, Option<Arc<Vec<u8>>>)> {
        let outside = || Error::Internal(format!("there is no row {number}"));
        let key = self.rows.rows.get(number).ok_or_else(outside)?.key;
        let request = Request {
            array,
            store,
            missing_is_error: false,
            writing: false,
        };
        let mut found = Rows::empty(self.rows.rank);
        self.with_target(array, key, |target| found.add(request, target))?;
        let at = number - self.starts[key];
        let row = found.rows.get(at).ok_or_else(outside)?;
        let steps = &leaf(&array.chain).steps;
        let max = after(steps, row.decoded)?;
        let bytes = bytes_of(store, &found, &[at], max)?.pop().flatten();
        let row = Row { key, ..row.clone() };
        Ok((row, bytes.map(|bytes| Arc::new(Vec::from(bytes)))))
    }

    /// The job of a key. Chunks that were made have memory of their own: the target's view is never looked through.
    fn with_target<T>(
        &self,
        array: &Array,
        key: usize,
        with: impl FnOnce(&Target<'_>) -> Result<T>,
    ) -> Result<T> {
        let (plan, number) = match &self.jobs {
            Jobs::Plan(plan, first) => (plan, first + key),
            Jobs::Pieces(pieces) => return with(&Planned::new(array, &pieces[key])?.target()),
        };
        let mut job = Job::default();
        plan.job(number, &mut job);
        // SAFETY: nothing is read or written through this view.
        let value = unsafe { View::new(std::ptr::null_mut(), &vec![0; self.rows.rank]) };
        let out = value.part(plan.parts(&job));
        with(&Target {
            chain: &array.chain,
            grid: &array.grid,
            plan,
            job: &job,
            out: &out,
            key: &self.rows.keys[key],
        })
    }

    /// Takes what came back of `rows` over from `memory`. Gives the rows whose streams are not what every decoder reads.
    pub fn absorb(
        &self,
        array: &Array,
        memory: &[u8],
        rows: &[usize],
        outcomes: &[Outcome],
        encoding: Encoding,
        threads: usize,
    ) -> Result<Vec<usize>> {
        let refused = Mutex::new(Vec::new());
        parallel_for(rows.len(), threads, &|n| {
            let (row, outcome) = (rows[n], &outcomes[n]);
            match self.leaf(array, memory, row, outcome, encoding)? {
                Some(leaf) => self.lock().leaves[row] = Some(leaf),
                None => refused
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(row),
            }
            Ok(())
        })?;
        Ok(refused.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leaf(
        &self,
        array: &Array,
        memory: &[u8],
        row: usize,
        outcome: &Outcome,
        encoding: Encoding,
    ) -> Result<Option<Leaf>> {
        let outside = || Error::Internal("a chunk lies outside of the memory".into());
        let part = |range: &Range<usize>| memory.get(range.clone()).ok_or_else(outside);
        match outcome {
            Outcome::Empty => Ok(Some(Leaf::Empty)),
            Outcome::Elements(range) => {
                let (bytes, mut own) = (part(range)?, Vec::new());
                own.try_reserve_exact(bytes.len())
                    .map_err(|_| Error::OutOfMemory { bytes: bytes.len() })?;
                own.extend_from_slice(bytes);
                Ok(Some(Leaf::Elements(own)))
            }
            Outcome::Streams(ranges, check) => {
                let streams = ranges.iter().map(part).collect::<Result<Vec<_>>>()?;
                let framing = encoding.framing.ok_or_else(outside)?;
                let content = self.content(array, row, encoding.steps)?;
                Ok(framing.wrap(&streams, content, *check).map(Leaf::Encoded))
            }
        }
    }

    /// Bytes of a chunk between its filters and its compressor, the last of `steps`.
    fn content(&self, array: &Array, row: usize, steps: usize) -> Result<usize> {
        let all = &leaf(&array.chain).steps;
        let filters = all.get(..steps.saturating_sub(1)).unwrap_or_default();
        after(filters, self.rows.rows[row].decoded)
    }

    /// Lets `fill` write the file of a row that is all of its key; `false` where the store has no files.
    pub fn replace_file(
        &self,
        store: &dyn Store,
        row: usize,
        fill: &mut dyn FnMut(Descriptor) -> Result<()>,
    ) -> Result<bool> {
        let key = self.rows.rows[row].key;
        if self.starts[key + 1] - self.starts[key] != 1 {
            return Ok(false);
        }
        let done = store.replace_file(&self.rows.keys[key], fill)?;
        if done {
            self.lock().leaves[row] = Some(Leaf::Stored);
        }
        Ok(done)
    }

    /// Stores the next keys, in their order, whose chunks are all there.
    pub fn store(
        &self,
        array: &Array,
        store: &dyn Store,
        steps: usize,
        options: Options,
    ) -> Result<Stored> {
        let complete = self.complete();
        let mut lost: Vec<AtomicBool> = Vec::new();
        lost.resize_with(complete.len(), AtomicBool::default);
        parallel_for(complete.len(), options.threads, &|n| {
            let Complete {
                key,
                leaves,
                expected,
            } = &complete[n];
            if matches!(leaves[..], [Leaf::Stored]) {
                return Ok(());
            }
            let made = Made {
                leaves,
                expected,
                changed: &lost[n],
                steps,
            };
            let writer = Writer {
                array,
                options,
                made: Some(made),
            };
            self.with_target(array, *key, |target| {
                writer.stored(target, store, &mut lease())
            })
        })?;
        let mut again = Vec::new();
        for (key, lost) in complete.into_iter().zip(lost) {
            if lost.into_inner() {
                self.put_back(key, &mut again);
            }
        }
        let waiting = self.lock().stored.iter().filter(|&&stored| !stored).count();
        Ok(Stored { waiting, again })
    }

    /// Lets a key wait once more, for the chunks that were made of others.
    fn put_back(&self, key: Complete, again: &mut Vec<usize>) {
        let mut waiting = self.lock();
        waiting.stored[key.key] = false;
        waiting.first = waiting.first.min(key.key);
        let chunks = key.leaves.into_iter().zip(key.expected);
        for (row, (leaf, expected)) in (self.starts[key.key]..).zip(chunks) {
            if expected == Expected::Anything {
                waiting.leaves[row] = Some(leaf);
            } else {
                again.push(row);
            }
        }
    }

    /// Takes the chunks of the next keys that are complete.
    fn complete(&self) -> Vec<Complete> {
        let mut waiting = self.lock();
        let waiting = &mut *waiting;
        let mut complete = Vec::new();
        while let Some(&stored) = waiting.stored.get(waiting.first) {
            let key = waiting.first;
            let range = self.starts[key]..self.starts[key + 1];
            if !stored {
                let leaves = &mut waiting.leaves[range.clone()];
                if leaves.iter().any(Option::is_none) {
                    break;
                }
                complete.push(Complete {
                    key,
                    leaves: leaves.iter_mut().filter_map(Option::take).collect(),
                    expected: waiting.expected[range]
                        .iter_mut()
                        .map(std::mem::take)
                        .collect(),
                });
                waiting.stored[key] = true;
            }
            waiting.first += 1;
        }
        complete
    }
}

/// The most bytes that some steps make of so many.
fn after(steps: &[Arc<dyn BytesCodec>], decoded: usize) -> Result<usize> {
    let sizes =
        chain::sizes(steps, Size::Exact(decoded)).map_err(|e| Error::Spec(e.to_string()))?;
    Ok(sizes.last().map_or(decoded, |size| size.max()))
}
