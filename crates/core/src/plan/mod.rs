//! The planner: which parts of which chunks a selection touches, and where they go.
//!
//! A plan is factored. Each axis of the result has its own short table of segments (one for each chunk, or tuple of
//! chunks, that it meets), and a job is one segment of every axis. A selection over a million chunks therefore plans
//! in the time of its axes, and any job can be had by its number.

mod even;

use self::even::Even;
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::selection::{Pick, Selection};

/// A selection cut along the borders of a chunk grid.
#[derive(Debug)]
pub struct Plan {
    rank: usize,
    consts: Vec<Const>,
    axes: Vec<Segments>,
    jobs: usize,
}

/// An array axis of which one index is taken.
#[derive(Clone, Copy, Debug)]
pub struct Const {
    pub axis: usize,
    pub chunk: u64,
    pub offset: u64,
}

/// The segments of one axis of the result.
#[derive(Debug)]
struct Segments {
    axes: Vec<usize>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Of chunks of one size. Nothing is kept for each segment: there may be billions.
    Even(Even),
    Strided {
        step: i64,
        /// The first index in the chunk, for each segment.
        starts: Vec<u64>,
        cuts: Cuts,
    },
    Indexed {
        /// Indices in the chunk, for each array axis, in the order of the segments.
        offsets: Vec<Vec<u64>>,
        /// Positions in the result, in the order of the segments; `None` where they are simply 0, 1, 2 ...
        places: Option<Vec<u64>>,
        cuts: Cuts,
    },
}

/// Segments, kept one by one.
#[derive(Debug, Default)]
struct Cuts {
    /// Chunk coordinates, one for each array axis of each segment.
    chunks: Vec<u64>,
    /// Where each segment starts in the order of the segments, and the end of the last.
    bounds: Vec<u64>,
}

/// What one job takes from its chunk along one axis of the result, and where it puts it.
#[derive(Debug)]
pub struct Part<'a> {
    pub axes: &'a [usize],
    pub take: Take<'a>,
    pub place: Place<'a>,
    pub count: u64,
}

/// Indices in the chunk.
#[derive(Debug)]
pub enum Take<'a> {
    Strided {
        start: u64,
        step: i64,
    },
    /// One slice for each array axis, all of the part's count.
    Indexed {
        offsets: &'a [Vec<u64>],
        from: usize,
    },
}

/// Positions in the result.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    From(u64),
    At(&'a [u64]),
}

/// One job, taken out of its plan.
#[derive(Debug, Default)]
pub struct Job {
    pub coords: Vec<u64>,
    segments: Vec<usize>,
}

impl Plan {
    /// Plans `selection`, which must have passed [`Selection::check`], over the grid.
    pub fn new(grid: &[Axis], selection: &Selection) -> Result<Plan> {
        let place = |&(axis, index): &(usize, u64)| {
            let chunk = grid[axis].chunk_of(index);
            Const {
                axis,
                chunk,
                offset: index - grid[axis].start(chunk),
            }
        };
        let consts = selection.consts.iter().map(place).collect();
        let axes: Vec<Segments> = selection
            .picks
            .iter()
            .map(|pick| Segments::new(grid, pick))
            .collect();
        let jobs = axes
            .iter()
            .try_fold(1usize, |jobs, axis| jobs.checked_mul(axis.len()));
        let jobs = jobs.ok_or_else(|| Error::Limit {
            what: "the number of chunks of this selection".into(),
            wanted: axes.iter().map(|axis| axis.len() as u128).product(),
            allowed: usize::MAX as u128,
            knob: "the machine's word size",
        })?;
        Ok(Plan {
            rank: grid.len(),
            consts,
            axes,
            jobs,
        })
    }

    /// How many jobs there are.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Array axes of which one index is taken.
    pub fn consts(&self) -> &[Const] {
        &self.consts
    }

    /// Sets `job` to the `number`th, in the order of the result.
    pub fn job(&self, number: usize, job: &mut Job) {
        job.coords.clear();
        job.coords.resize(self.rank, 0);
        job.segments.clear();
        job.segments.resize(self.axes.len(), 0);
        for constant in &self.consts {
            job.coords[constant.axis] = constant.chunk;
        }
        let mut rest = number;
        for (axis, slot) in self.axes.iter().zip(&mut job.segments).rev() {
            *slot = rest % axis.len();
            rest /= axis.len();
            for (n, &array_axis) in axis.axes.iter().enumerate() {
                job.coords[array_axis] = axis.chunk(*slot, n);
            }
        }
    }

    /// The parts of `job`, one for each axis of the result.
    pub fn parts<'a>(&'a self, job: &'a Job) -> impl Iterator<Item = Part<'a>> + 'a {
        self.axes
            .iter()
            .zip(&job.segments)
            .map(|(axis, &segment)| axis.part(segment))
    }

    /// Whether `job` takes every element of its chunk that lies in the array, in whatever order.
    pub fn covers(&self, grid: &[Axis], job: &Job) -> bool {
        let full = |axis: usize, count: u64| count == grid[axis].clipped(job.coords[axis]);
        let consts = self.consts.iter().all(|constant| full(constant.axis, 1));
        consts
            && self.parts(job).all(|part| match part.take {
                Take::Strided { .. } => full(part.axes[0], part.count),
                Take::Indexed { .. } => false,
            })
    }
}

impl Segments {
    fn new(grid: &[Axis], pick: &Pick) -> Segments {
        match pick {
            Pick::Strided {
                axis,
                start,
                step,
                count,
            } => Segments::strided(&grid[*axis], *axis, *start, *step, *count),
            Pick::Indexed { axes, indices } => {
                let grid: Vec<&Axis> = axes.iter().map(|&axis| &grid[axis]).collect();
                let indices: Vec<&[u64]> = indices.iter().map(|indices| &indices[..]).collect();
                Segments::indexed(&grid, axes.clone(), &indices)
            }
        }
    }

    fn strided(grid: &Axis, axis: usize, start: u64, step: i64, count: u64) -> Segments {
        let kind = match *grid {
            Axis::Regular { size, .. } if count > 0 => Kind::Even(Even {
                size,
                start,
                step,
                count,
            }),
            _ => cut_strided(grid, start, step, count),
        };
        Segments {
            axes: vec![axis],
            kind,
        }
    }

    fn indexed(grid: &[&Axis], axes: Vec<usize>, indices: &[&[u64]]) -> Segments {
        let count = indices[0].len();
        let chunk_of = |axis: usize, i: usize| grid[axis].chunk_of(indices[axis][i]);
        let keys = chunk_keys(grid, indices);
        let order = if keys.is_sorted() {
            None
        } else {
            Some(stable_order(&keys))
        };
        let at = |k: usize| order.as_ref().map_or(k, |order| order[k] as usize);
        let mut cuts = Cuts::default();
        for k in 0..count {
            if k == 0 || keys[at(k)] != keys[at(k - 1)] {
                cuts.bounds.push(k as u64);
                cuts.chunks
                    .extend((0..grid.len()).map(|axis| chunk_of(axis, at(k))));
            }
        }
        cuts.bounds.push(count as u64);
        let offset = |axis: usize, i: usize| indices[axis][i] - grid[axis].start(chunk_of(axis, i));
        let offsets = (0..grid.len())
            .map(|axis| (0..count).map(|k| offset(axis, at(k))).collect())
            .collect();
        Segments {
            axes,
            kind: Kind::Indexed {
                offsets,
                places: order,
                cuts,
            },
        }
    }

    /// How many segments there are, or the largest number that a word can say.
    fn len(&self) -> usize {
        match &self.kind {
            Kind::Even(even) => even.len(),
            Kind::Strided { cuts, .. } | Kind::Indexed { cuts, .. } => cuts.len(),
        }
    }

    /// The chunk of `segment` along the `n`th of the array's axes.
    fn chunk(&self, segment: usize, n: usize) -> u64 {
        match &self.kind {
            Kind::Even(even) => even.chunk(segment),
            Kind::Strided { cuts, .. } | Kind::Indexed { cuts, .. } => {
                cuts.chunks[segment * self.axes.len() + n]
            }
        }
    }

    fn part(&self, segment: usize) -> Part<'_> {
        let (take, from, to) = match &self.kind {
            Kind::Even(even) => {
                let (from, to) = (even.bound(segment), even.bound(segment + 1));
                let (start, step) = (even.index(from) % even.size, even.step);
                (Take::Strided { start, step }, from, to)
            }
            Kind::Strided { step, starts, cuts } => {
                let (start, step) = (starts[segment], *step);
                let (from, to) = cuts.span(segment);
                (Take::Strided { start, step }, from, to)
            }
            Kind::Indexed { offsets, cuts, .. } => {
                let (from, to) = cuts.span(segment);
                let first = from as usize;
                (
                    Take::Indexed {
                        offsets,
                        from: first,
                    },
                    from,
                    to,
                )
            }
        };
        let place = match &self.kind {
            Kind::Indexed {
                places: Some(places),
                ..
            } => Place::At(&places[from as usize..to as usize]),
            _ => Place::From(from),
        };
        Part {
            axes: &self.axes,
            take,
            place,
            count: to - from,
        }
    }
}

impl Cuts {
    fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    fn span(&self, segment: usize) -> (u64, u64) {
        (self.bounds[segment], self.bounds[segment + 1])
    }
}

/// Segments of chunks of many sizes.
fn cut_strided(grid: &Axis, start: u64, step: i64, count: u64) -> Kind {
    let (mut starts, mut cuts) = (Vec::new(), Cuts::default());
    cuts.bounds.push(0);
    let (mut done, mut index) = (0, start);
    while done < count {
        let chunk = grid.chunk_of(index);
        let offset = index - grid.start(chunk);
        let room = if step > 0 {
            grid.size(chunk) - 1 - offset
        } else {
            offset
        };
        let here = (room / step.unsigned_abs() + 1).min(count - done);
        cuts.chunks.push(chunk);
        starts.push(offset);
        done += here;
        cuts.bounds.push(done);
        // Past the last element this may leave the axis, and is not looked at again.
        index = index.wrapping_add_signed(step.wrapping_mul(here as i64));
    }
    Kind::Strided { step, starts, cuts }
}

/// A number for the chunk of each point: equal for equal chunks, and in a fixed order.
fn chunk_keys(grid: &[&Axis], indices: &[&[u64]]) -> Vec<u64> {
    let total = grid
        .iter()
        .try_fold(1u64, |n, axis| n.checked_mul(axis.count().max(1)));
    if total.is_none() {
        return ranked_keys(grid, indices);
    }
    let mut keys = vec![0u64; indices[0].len()];
    for (axis, indices) in grid.iter().zip(indices) {
        let count = axis.count();
        for (key, &index) in keys.iter_mut().zip(*indices) {
            *key = *key * count + axis.chunk_of(index);
        }
    }
    keys
}

/// The same where the number of chunks does not fit a word: ranks among the tuples that occur.
fn ranked_keys(grid: &[&Axis], indices: &[&[u64]]) -> Vec<u64> {
    let tuple = |i: usize| {
        grid.iter()
            .zip(indices)
            .map(move |(axis, indices)| axis.chunk_of(indices[i]))
    };
    let mut order: Vec<usize> = (0..indices[0].len()).collect();
    order.sort_by(|&a, &b| tuple(a).cmp(tuple(b)));
    let mut keys = vec![0; order.len()];
    let mut rank = 0;
    for k in 1..order.len() {
        rank += u64::from(tuple(order[k]).ne(tuple(order[k - 1])));
        keys[order[k]] = rank;
    }
    keys
}

/// Positions sorted by key; equal keys keep their order, so that the last of two writes to one element wins.
fn stable_order(keys: &[u64]) -> Vec<u64> {
    let (Some(&min), Some(&max)) = (keys.iter().min(), keys.iter().max()) else {
        return Vec::new();
    };
    if max - min <= 4 * keys.len() as u64 {
        return counting_order(keys, min, (max - min) as usize + 1);
    }
    let mut order: Vec<u64> = (0..keys.len() as u64).collect();
    order.sort_by_key(|&i| keys[i as usize]);
    order
}

fn counting_order(keys: &[u64], min: u64, kinds: usize) -> Vec<u64> {
    let mut next = vec![0usize; kinds + 1];
    for key in keys {
        next[(key - min) as usize + 1] += 1;
    }
    for k in 0..kinds {
        next[k + 1] += next[k];
    }
    let mut order = vec![0; keys.len()];
    for (i, key) in keys.iter().enumerate() {
        let slot = &mut next[(key - min) as usize];
        order[*slot] = i as u64;
        *slot += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::grid::AxisSpec;

    /// What a segment is, in numbers.
    fn facts(segments: &Segments, segment: usize) -> (u64, u64, i64, u64, u64) {
        let part = segments.part(segment);
        let (Take::Strided { start, step }, Place::From(place)) = (part.take, part.place) else {
            unreachable!("not strided")
        };
        let chunk = segments.chunk(segment, 0);
        (chunk, start, step, place, part.count)
    }

    #[test]
    fn chunks_of_one_size_are_cut_as_chunks_of_many_are() {
        const EXTENT: u64 = 23;
        for size in 1..8 {
            let grid = Axis::new(EXTENT, AxisSpec::Regular { size }).unwrap();
            for (start, step) in (0..EXTENT).flat_map(|i| (1..12).map(move |step| (i, step))) {
                for (start, step) in [(start, step), (EXTENT - 1 - start, -step)] {
                    let in_axis = |count: &u64| {
                        let last = start as i64 + step * (*count as i64 - 1);
                        (0..EXTENT as i64).contains(&last)
                    };
                    for count in (1..=EXTENT).take_while(in_axis) {
                        let even = Segments::strided(&grid, 0, start, step, count);
                        let kind = cut_strided(&grid, start, step, count);
                        let cut = Segments {
                            axes: vec![0],
                            kind,
                        };
                        assert!(matches!(even.kind, Kind::Even(_)));
                        assert_eq!(even.len(), cut.len());
                        for segment in 0..cut.len() {
                            assert_eq!(facts(&even, segment), facts(&cut, segment));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn billions_of_chunks_take_no_memory() {
        let extent = u64::MAX - 1;
        let grid = [Axis::new(extent, AxisSpec::Regular { size: 3 }).unwrap()];
        let pick = |start, step, count| Selection {
            consts: vec![],
            picks: vec![Pick::Strided {
                axis: 0,
                start,
                step,
                count,
            }],
        };
        let plan = Plan::new(&grid, &pick(extent - 1, -1, extent)).unwrap();
        assert_eq!(plan.jobs() as u64, extent.div_ceil(3));
        let mut job = Job::default();
        plan.job(plan.jobs() - 1, &mut job);
        let part = plan.parts(&job).next().unwrap();
        assert_eq!((job.coords[0], part.count), (0, 3));
        plan.job(0, &mut job);
        assert_eq!(plan.parts(&job).next().unwrap().count, (extent - 1) % 3 + 1);
    }
}
