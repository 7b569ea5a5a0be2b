//! Chunks that an executor elsewhere (a GPU) has gathered or encoded already.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Writer, whole};
use crate::arena::Arena;
use crate::codec::chain::{self, Sharding};
use crate::error::{Error, Result};
use crate::io::{Object, StoreError};
use crate::plan::Job;
use crate::target::{Inner, Target};
use crate::view::View;

/// What was made of one chunk.
#[derive(Debug)]
pub enum Leaf {
    /// It is stored already.
    Stored,
    /// Nothing is to be stored: it holds the fill value throughout.
    Empty,
    /// The elements that are written, at their places in the decoded chunk; between them is anything.
    Elements(Vec<u8>),
    /// The chunk after the first steps of its chain.
    Encoded(Vec<u8>),
}

/// What has to be stored of a chunk, still encoded, where a new one was made of it: else another writer was faster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    #[default]
    Anything,
    Nothing,
    Bytes(Arc<Vec<u8>>),
}

impl Expected {
    fn is(&self, old: Option<&dyn Object>, arena: &mut Arena) -> Result<bool> {
        Ok(match (self, old) {
            (Expected::Anything, _) | (Expected::Nothing, None) => true,
            (Expected::Bytes(bytes), Some(old)) => {
                old.size() == bytes.len() as u64 && whole(old, &mut arena.fetched)? == &bytes[..]
            }
            _ => false,
        })
    }
}

/// The chunks of one key, in the order in which its plan walks them.
#[derive(Clone, Copy, Debug)]
pub struct Made<'m> {
    pub leaves: &'m [Leaf],
    /// For each what it replaces.
    pub expected: &'m [Expected],
    /// Becomes true where something else is there.
    pub changed: &'m AtomicBool,
    /// How many steps encoded chunks have behind them.
    pub steps: usize,
}

impl Made<'_> {
    pub fn has_changed(self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }
}

impl Writer<'_> {
    /// Makes the new bytes of the chunk whose number is `leaf`; `false` where it is to be absent.
    pub fn edit_made(
        &self,
        made: Made<'_>,
        target: &Target<'_>,
        leaf: usize,
        old: Option<&dyn Object>,
        arena: &mut Arena,
        encoded: &mut Vec<u8>,
    ) -> Result<bool> {
        let missing = || Error::Internal(format!("chunk {leaf} of {:?} was not made", target.key));
        let expected = made.expected.get(leaf).ok_or_else(missing)?;
        if !expected.is(old, arena)? {
            made.changed.store(true, Ordering::Relaxed);
            return Err(Error::Store(StoreError::Conflict {
                key: target.key.to_owned(),
            }));
        }
        match made.leaves.get(leaf).ok_or_else(missing)? {
            Leaf::Stored => Err(missing()),
            Leaf::Empty => Ok(false),
            Leaf::Encoded(bytes) => {
                let rest = target.chain.steps.get(made.steps..).ok_or_else(missing)?;
                chain::encode(rest, bytes, encoded, &mut arena.back)
                    .map_err(|e| e.at(target.key, &target.job.coords))?;
                Ok(true)
            }
            Leaf::Elements(bytes) => {
                let shape = target.shape();
                if bytes.len() != self.total(&shape)? {
                    return Err(missing());
                }
                let walk = target.walk(&shape, self.array.item);
                let base = bytes.as_ptr().cast_mut().wrapping_offset(walk.first);
                let axes = walk.axes.into_iter().map(|(_, walk)| walk).collect();
                // SAFETY: the walk stays in a chunk of this shape, which the bytes are, and a write only reads them.
                let out = unsafe { View::walking(base, axes) };
                let target = Target {
                    out: &out,
                    ..*target
                };
                self.edit_leaf(&target, old, arena, encoded)
            }
        }
    }
}

/// The numbers of the first chunks of all inner jobs, of which the first is `leaf`.
pub fn first_leaves(
    target: &Target<'_>,
    sharding: &Sharding,
    inner: &Inner,
    leaf: usize,
) -> Result<Vec<usize>> {
    if sharding.chain.shard.is_none() {
        return Ok((leaf..leaf.saturating_add(inner.plan.jobs())).collect());
    }
    let mut next = leaf;
    let mut firsts = Vec::new();
    let mut job = Job::default();
    for number in 0..inner.plan.jobs() {
        inner.plan.job(number, &mut job);
        let out = target.out.part(inner.plan.parts(&job));
        firsts.push(next);
        next = next.saturating_add(count(&inner.target(sharding, &job, &out, target.key))?);
    }
    Ok(firsts)
}

/// How many chunks a job has, at the innermost level.
fn count(target: &Target<'_>) -> Result<usize> {
    let Some(sharding) = &target.chain.shard else {
        return Ok(1);
    };
    let inner = Inner::new(target, sharding)?;
    if sharding.chain.shard.is_none() {
        return Ok(inner.plan.jobs());
    }
    let (mut total, mut job) = (0usize, Job::default());
    for number in 0..inner.plan.jobs() {
        inner.plan.job(number, &mut job);
        let out = target.out.part(inner.plan.parts(&job));
        total = total.saturating_add(count(&inner.target(sharding, &job, &out, target.key))?);
    }
    Ok(total)
}
