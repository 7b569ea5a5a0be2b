//! Chunks that an executor elsewhere (a GPU) has gathered or encoded already.

use super::Writer;
use crate::arena::Arena;
use crate::codec::chain::{self, Sharding};
use crate::error::{Error, Result};
use crate::io::Object;
use crate::plan::Job;
use crate::target::{Inner, Target};
use crate::view::View;

/// What was made of one chunk.
#[derive(Debug)]
pub enum Leaf {
    /// Nothing is to be stored: it holds the fill value throughout.
    Empty,
    /// The elements that are written, at their places in the decoded chunk; between them is anything.
    Elements(Vec<u8>),
    /// The chunk after the first steps of its chain.
    Encoded(Vec<u8>),
}

/// The chunks of one key, in the order in which its plan walks them.
#[derive(Clone, Copy, Debug)]
pub struct Made<'m> {
    pub leaves: &'m [Leaf],
    /// How many steps encoded chunks have behind them.
    pub steps: usize,
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
        match made.leaves.get(leaf).ok_or_else(missing)? {
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
