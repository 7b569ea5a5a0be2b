//! The indexes of shards, read ahead.

use std::ops::Range;

use super::rows::Request;
use crate::arena::lease;
use crate::error::Result;
use crate::plan::{Job, Plan};
use crate::pool::{self, parallel_for};
use crate::target::{Inner, Target};
use crate::view::View;

/// Shards whose indexes are read side by side.
pub const AHEAD: usize = 64;

/// Reads the indexes of some jobs' shards side by side, so that the array has them when they are asked for one
/// after another. What goes wrong goes wrong again then.
pub fn read_indexes(request: Request<'_>, plan: &Plan, out: &View<'_>, jobs: Range<usize>) {
    let Some(sharding) = &request.array.chain.shard else {
        return;
    };
    // Stores that take batches give no stamps to know an index by.
    if request.writing || !request.array.chain.steps.is_empty() || request.store.batch().is_some() {
        return;
    }
    let read = |number: usize| -> Result<()> {
        let (mut job, mut key) = (Job::default(), String::new());
        plan.job(jobs.start + number, &mut job);
        request.array.key(&job.coords, &mut key);
        let Some(object) = request.store.open(&key)? else {
            return Ok(());
        };
        let out = out.part(plan.parts(&job));
        let target = Target {
            chain: &request.array.chain,
            grid: &request.array.grid,
            plan,
            job: &job,
            out: &out,
            key: &key,
        };
        let count = Inner::new(&target, sharding)?.grid.count()?;
        let index = || sharding.read_index(&*object, count, &key, &mut lease());
        request.array.indexes.get(&key, object.stamp(), index)?;
        Ok(())
    };
    let _ = parallel_for(jobs.len(), pool::threads(), &read);
}
