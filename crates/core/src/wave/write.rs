//! Writing for executors that gather and encode elsewhere: what a selection replaces of which chunk, and the keys
//! stored once all their chunks are back.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::frames::Framing;
use super::rows::{Limit, Request, Rows};
use crate::arena::lease;
use crate::array::Array;
use crate::error::{Error, Result};
use crate::io::Store;
use crate::plan::Plan;
use crate::pool::parallel_for;
use crate::selection::Selection;
use crate::view::View;
use crate::write::made::{Leaf, Made};
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
    plan: Plan,
    /// The job of the first key.
    first: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    leaves: Vec<Option<Leaf>>,
    /// Keys, and the rows of them, that were stored.
    keys: usize,
    rows: usize,
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
        let mut leaves = Vec::new();
        leaves.resize_with(rows.rows.len(), || None);
        Ok(Chunks {
            rows,
            plan,
            first,
            waiting: Mutex::new(Waiting {
                leaves,
                keys: 0,
                rows: 0,
            }),
        })
    }

    /// Takes what came back of `rows` over from `memory`. Gives the rows whose streams are not what every decoder reads.
    pub fn absorb(
        &self,
        memory: &[u8],
        rows: &[usize],
        outcomes: &[Outcome],
        encoding: Encoding,
        threads: usize,
    ) -> Result<Vec<usize>> {
        let refused = Mutex::new(Vec::new());
        parallel_for(rows.len(), threads, &|n| {
            let (row, outcome) = (rows[n], &outcomes[n]);
            match self.leaf(memory, row, outcome, encoding)? {
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leaf(
        &self,
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
                // Filters keep the length: what the streams decode to is as long as the chunk.
                let decoded = self.rows.rows[row].decoded;
                Ok(framing.wrap(&streams, decoded, *check).map(Leaf::Encoded))
            }
        }
    }

    /// Stores the keys, in their order, whose chunks are all there. Gives how many keys are still waiting.
    pub fn store(
        &self,
        array: &Array,
        store: &dyn Store,
        steps: usize,
        options: Options,
    ) -> Result<usize> {
        let (first, keys) = self.complete();
        parallel_for(keys.len(), options.threads, &|n| {
            let made = Made {
                leaves: &keys[n],
                steps,
            };
            let writer = Writer {
                array,
                options,
                made: Some(made),
            };
            // SAFETY: chunks that were made have memory of their own; this view is never looked through.
            let value = unsafe { View::new(std::ptr::null_mut(), &vec![0; self.rows.rank]) };
            let mut arena = lease();
            self.plan.job(self.first + first + n, &mut arena.job);
            writer.job(&self.plan, store, &value, &mut arena)
        })?;
        Ok(self.rows.keys.len() - first - keys.len())
    }

    /// Takes the chunks of the next keys that are complete: the number of the first, and for each its chunks.
    fn complete(&self) -> (usize, Vec<Vec<Leaf>>) {
        let mut waiting = self.lock();
        let (first, mut keys) = (waiting.keys, Vec::new());
        while waiting.keys < self.rows.keys.len() {
            let (key, start) = (waiting.keys, waiting.rows);
            let rest = &self.rows.rows[start..];
            let end = start + rest.iter().take_while(|row| row.key == key).count();
            let leaves = &mut waiting.leaves[start..end];
            if leaves.iter().any(Option::is_none) {
                break;
            }
            keys.push(leaves.iter_mut().filter_map(Option::take).collect());
            waiting.keys += 1;
            waiting.rows = end;
        }
        (first, keys)
    }
}
