//! One chunk, and what a job wants of it.

use crate::codec::chain::{Chain, Sharding};
use crate::error::Result;
use crate::grid::Axis;
use crate::plan::{Job, Plan, Take};
use crate::selection::{Pick, Selection};
use crate::shard::{Index, InnerGrid};
use crate::view::{ChunkWalk, View, chunk_strides};

/// One chunk, at whatever level of sharding, and what is wanted of it.
#[derive(Debug)]
pub struct Target<'t> {
    pub chain: &'t Chain,
    pub grid: &'t [Axis],
    pub plan: &'t Plan,
    pub job: &'t Job,
    pub out: &'t View<'t>,
    pub key: &'t str,
}

impl Target<'_> {
    /// The chunk's stored shape, along the logical axes of its grid.
    pub fn shape(&self) -> Vec<u64> {
        self.grid
            .iter()
            .zip(&self.job.coords)
            .map(|(axis, &coord)| axis.size(coord))
            .collect()
    }

    /// The part of it that lies in the array.
    pub fn clipped(&self) -> Vec<u64> {
        self.grid
            .iter()
            .zip(&self.job.coords)
            .map(|(axis, &coord)| axis.clipped(coord))
            .collect()
    }

    /// How the wanted elements lie in the decoded chunk.
    pub fn walk(&self, shape: &[u64], item: usize) -> ChunkWalk {
        let strides = chunk_strides(shape, self.chain.order.as_deref(), item);
        let consts = self
            .plan
            .consts()
            .iter()
            .map(|constant| (constant.axis, constant.offset));
        ChunkWalk::new(&strides, consts, self.plan.parts(self.job))
    }

    /// The walk, or `None` where the decoded chunk can be written to the result as it is.
    pub fn walk_unless_direct(&self, shape: &[u64], item: usize) -> Option<ChunkWalk> {
        (!self.is_direct(shape, item)).then(|| self.walk(shape, item))
    }

    /// The same selection within the chunk, along its stored axes.
    pub fn inner_selection(&self) -> Selection {
        let stored = |axis: usize| match &self.chain.order {
            Some(order) => order
                .iter()
                .position(|&logical| logical == axis)
                .unwrap_or(axis),
            None => axis,
        };
        let consts = self
            .plan
            .consts()
            .iter()
            .map(|c| (stored(c.axis), c.offset))
            .collect();
        let picks = self.plan.parts(self.job).map(|part| match part.take {
            Take::Strided { start, step } => Pick::Strided {
                axis: stored(part.axes[0]),
                start,
                step,
                count: part.count,
            },
            Take::Indexed { offsets, from } => Pick::Indexed {
                axes: part.axes.iter().map(|&axis| stored(axis)).collect(),
                indices: offsets
                    .iter()
                    .map(|o| o[from..from + part.count as usize].into())
                    .collect(),
            },
        });
        Selection {
            consts,
            picks: picks.collect(),
        }
    }

    /// Reorders sizes along the logical axes to the stored ones.
    pub fn stored(&self, sizes: &[u64]) -> Vec<u64> {
        match &self.chain.order {
            Some(order) => order.iter().map(|&axis| sizes[axis]).collect(),
            None => sizes.to_vec(),
        }
    }

    /// Whether the decoded chunk can be written to the result as it is.
    pub fn is_direct(&self, shape: &[u64], item: usize) -> bool {
        let whole = self.plan.parts(self.job).all(|part| match part.take {
            Take::Strided { step, .. } => step == 1 && part.count == shape[part.axes[0]],
            Take::Indexed { .. } => false,
        });
        let counts: Vec<u64> = self.plan.parts(self.job).map(|part| part.count).collect();
        let in_order = self
            .plan
            .parts(self.job)
            .map(|part| part.axes[0])
            .is_sorted();
        whole
            && in_order
            && self.chain.order.is_none()
            && self
                .plan
                .consts()
                .iter()
                .all(|constant| shape[constant.axis] == 1)
            && self.out.is_run(&counts, item)
    }
}

/// The inner chunks of one shard that a job wants.
#[derive(Debug)]
pub struct Inner {
    pub grid: InnerGrid,
    pub plan: Plan,
}

impl Inner {
    pub fn new(target: &Target<'_>, sharding: &Sharding) -> Result<Inner> {
        let shape = target.stored(&target.shape());
        let clipped = target.stored(&target.clipped());
        let grid = InnerGrid::new(sharding, &shape, &clipped);
        let plan = Plan::new(&grid.axes, &target.inner_selection())?;
        Ok(Inner { grid, plan })
    }

    /// Whether every inner chunk that is wanted has a place in the shard.
    pub fn is_all_there(&self, index: &Index) -> bool {
        let mut job = Job::default();
        (0..self.plan.jobs()).all(|number| {
            self.plan.job(number, &mut job);
            index.entry(self.grid.linear(&job.coords)).is_some()
        })
    }

    /// One inner chunk as a target of its own.
    pub fn target<'t>(
        &'t self,
        sharding: &'t Sharding,
        job: &'t Job,
        out: &'t View<'t>,
        key: &'t str,
    ) -> Target<'t> {
        Target {
            chain: &sharding.chain,
            grid: &self.grid.axes,
            plan: &self.plan,
            job,
            out,
            key,
        }
    }
}
