//! The caller's memory, seen along the axes of a (flat) selection.

use std::borrow::Cow;

use crate::place::{CopyAxis, Walk};
use crate::plan::{Part, Place, Take};

/// A pointer into an array of the caller's and how each axis of the selection walks from it, in bytes.
///
/// Whoever makes one promises that every element it reaches is valid memory of the array's item size, for as long
/// as the view lives, and that no two jobs of a plan are given the same element to write.
#[derive(Clone, Debug)]
pub struct View<'a> {
    base: *mut u8,
    axes: Vec<Walk<'a>>,
}

// SAFETY: a view is a pointer with offsets; what may be done with it, and by whom, is promised by its maker (above).
unsafe impl Send for View<'_> {}
// SAFETY: as for Send.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// # Safety
    /// Every element that `axes` reach within the selection's counts must be valid memory while the view lives, and
    /// writable where the view is written to.
    pub unsafe fn new(base: *mut u8, strides: &[isize]) -> View<'a> {
        View {
            base,
            axes: strides.iter().map(|&step| Walk::Even(step)).collect(),
        }
    }

    /// # Safety
    /// As for [`View::new`].
    pub unsafe fn walking(base: *mut u8, axes: Vec<Walk<'a>>) -> View<'a> {
        View { base, axes }
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// What one job's parts are given of this view.
    pub fn part<'p>(&'p self, parts: impl Iterator<Item = Part<'p>>) -> View<'p> {
        let mut base = self.base;
        let mut axes = Vec::with_capacity(self.axes.len());
        for (walk, part) in self.axes.iter().zip(parts) {
            axes.push(match (walk, part.place) {
                (Walk::Even(step), Place::From(first)) => {
                    base = base.wrapping_offset(step * first as isize);
                    Walk::Even(*step)
                }
                (Walk::Even(step), Place::At(places)) => {
                    Walk::Table(places.iter().map(|&p| step * p as isize).collect())
                }
                (Walk::Table(table), Place::From(first)) => Walk::Table(Cow::Borrowed(
                    &table[first as usize..(first + part.count) as usize],
                )),
                (Walk::Table(table), Place::At(places)) => {
                    Walk::Table(places.iter().map(|&p| table[p as usize]).collect())
                }
            });
        }
        View { base, axes }
    }

    /// The same view with tables of its own.
    pub fn owned<'o>(&self) -> View<'o> {
        let own = |walk: &Walk<'_>| match walk {
            Walk::Even(step) => Walk::Even(*step),
            Walk::Table(table) => Walk::Table(Cow::Owned(table.to_vec())),
        };
        View {
            base: self.base,
            axes: self.axes.iter().map(own).collect(),
        }
    }

    /// Whether the view is one run in C order over `counts`, so that a chunk can be decoded straight into it.
    pub fn is_run(&self, counts: &[u64], item: usize) -> bool {
        let mut step = item as isize;
        for (walk, &count) in self.axes.iter().zip(counts).rev() {
            match walk {
                Walk::Even(_) if count == 1 => {}
                Walk::Even(have) if *have == step => {}
                _ => return false,
            }
            step = step.saturating_mul(count as isize);
        }
        true
    }

    /// How each axis walks.
    pub fn axes(&self) -> &[Walk<'a>] {
        &self.axes
    }
}

/// How a chunk's elements are walked for one job: the offset of the first, and each part's walk.
#[derive(Clone, Debug)]
pub struct ChunkWalk {
    pub first: isize,
    pub axes: Vec<(usize, Walk<'static>)>,
}

impl ChunkWalk {
    /// `strides` are the chunk's, in bytes, along the logical axes; `consts` are fixed indices in the chunk.
    pub fn new<'p>(
        strides: &[isize],
        consts: impl Iterator<Item = (usize, u64)>,
        parts: impl Iterator<Item = Part<'p>>,
    ) -> ChunkWalk {
        let mut first: isize = consts
            .map(|(axis, offset)| strides[axis] * offset as isize)
            .sum();
        let axes = parts
            .map(|part| {
                let walk = match part.take {
                    Take::Strided { start, step } => {
                        let stride = strides[part.axes[0]];
                        first += stride * start as isize;
                        Walk::Even(stride * step as isize)
                    }
                    Take::Indexed { offsets, from } => {
                        let used = from..from + part.count as usize;
                        let mut table = vec![0isize; part.count as usize];
                        for (&axis, offsets) in part.axes.iter().zip(offsets) {
                            for (sum, &offset) in table.iter_mut().zip(&offsets[used.clone()]) {
                                *sum += strides[axis] * offset as isize;
                            }
                        }
                        Walk::Table(table.into())
                    }
                };
                (part.count as usize, walk)
            })
            .collect();
        ChunkWalk { first, axes }
    }

    /// The bytes of the chunk between the first and the last that the walk touches.
    pub fn span(&self, item: usize) -> std::ops::Range<usize> {
        let (mut low, mut high) = (self.first, self.first);
        for (count, walk) in &self.axes {
            let (least, most) = walk.reach(*count);
            low += least;
            high += most;
        }
        low.max(0) as usize..high.max(0) as usize + item
    }

    /// Whether the walk is one run of the chunk and of `view` alike.
    pub fn is_run(&self, view: &View<'_>, item: usize) -> bool {
        let mut step = item as isize;
        for ((count, src), dst) in self.axes.iter().zip(&view.axes).rev() {
            match (src, dst) {
                (Walk::Even(_), Walk::Even(_)) if *count == 1 => {}
                (Walk::Even(src), Walk::Even(dst)) if *src == step && *dst == step => {}
                _ => return false,
            }
            step = step.saturating_mul(*count as isize);
        }
        true
    }

    /// Whether the walk, and `view`, go through the chunk by even steps from its start towards its end.
    pub fn is_forward(&self, view: &View<'_>) -> bool {
        let even = |walk: &Walk<'_>| matches!(walk, Walk::Even(_));
        let forward = |walk: &Walk<'_>| matches!(walk, Walk::Even(step) if *step > 0);
        self.axes.iter().all(|(_, walk)| forward(walk)) && view.axes.iter().all(even)
    }

    /// The parts of at most `most` bytes of the chunk, as far as one axis allows, that the walk falls into along the
    /// axis that the chunk walks slowest; `None` where it is that short, or cannot be cut.
    pub fn cuts<'v>(
        &self,
        view: &View<'v>,
        item: usize,
        most: usize,
    ) -> Option<impl Iterator<Item = (ChunkWalk, View<'v>)>> {
        if self.span(item).len() <= most {
            return None;
        }
        let (axis, step) = self.slowest(view)?;
        let (count, rows) = (self.count(axis), (most / step).max(1));
        let part = move |from| self.cut(view, axis, from, rows.min(count - from));
        (rows < count).then(|| (0..count).step_by(rows).map(part))
    }

    /// The axis that the chunk walks slowest, with its step, where the walk can be cut along it.
    fn slowest(&self, view: &View<'_>) -> Option<(usize, usize)> {
        let even = |n: &usize| {
            let (count, src) = &self.axes[*n];
            match (src, &view.axes[*n]) {
                (Walk::Even(step), Walk::Even(_)) if *count > 1 => Some((*n, step.unsigned_abs())),
                _ => None,
            }
        };
        (0..self.axes.len())
            .filter_map(|n| even(&n))
            .max_by_key(|(_, step)| *step)
    }

    /// The part of the walk, and of `view`, that has `count` steps of axis `n` from the `from`th on. Both sides must
    /// be even along it.
    pub fn cut<'v>(
        &self,
        view: &View<'v>,
        n: usize,
        from: usize,
        count: usize,
    ) -> (ChunkWalk, View<'v>) {
        let (mut walk, mut view) = (self.clone(), view.clone());
        if let (Walk::Even(src), Walk::Even(dst)) = (&self.axes[n].1, &view.axes[n]) {
            walk.first += src * from as isize;
            walk.axes[n].0 = count;
            view.base = view.base.wrapping_offset(dst * from as isize);
        }
        (walk, view)
    }

    /// How many steps axis `n` has.
    pub fn count(&self, n: usize) -> usize {
        self.axes[n].0
    }

    /// The axes of a copy from the chunk to `view`.
    pub fn to_view<'v>(&'v self, view: &'v View<'v>) -> Vec<CopyAxis<'v>> {
        let pair = self.axes.iter().zip(view.axes());
        pair.map(|((count, src), dst)| CopyAxis {
            count: *count,
            src: src.borrowed(),
            dst: dst.borrowed(),
        })
        .collect()
    }

    /// The axes of a copy from `view` to the chunk.
    pub fn from_view<'v>(&'v self, view: &'v View<'v>) -> Vec<CopyAxis<'v>> {
        let pair = self.axes.iter().zip(view.axes());
        pair.map(|((count, dst), src)| CopyAxis {
            count: *count,
            src: src.borrowed(),
            dst: dst.borrowed(),
        })
        .collect()
    }
}

/// The byte strides, along the logical axes, of a chunk of `shape` that is stored in `order`.
pub fn chunk_strides(shape: &[u64], order: Option<&[usize]>, item: usize) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut step = item as isize;
    for stored in (0..shape.len()).rev() {
        let axis = order.map_or(stored, |order| order[stored]);
        strides[axis] = step;
        step *= shape[axis] as isize;
    }
    strides
}
