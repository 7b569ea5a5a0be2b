//! Moving elements between a chunk and the result: n-dimensional copies with strides or tables on either side.

use std::borrow::Cow;

/// How one axis walks through memory, in bytes.
#[derive(Clone, Debug)]
pub enum Walk<'a> {
    Even(isize),
    Table(Cow<'a, [isize]>),
}

/// One axis of a copy.
#[derive(Clone, Debug)]
pub struct CopyAxis<'a> {
    pub count: usize,
    pub src: Walk<'a>,
    pub dst: Walk<'a>,
}

impl Walk<'_> {
    #[inline]
    fn at(&self, k: usize) -> isize {
        match self {
            Walk::Even(step) => *step * k as isize,
            Walk::Table(table) => table[k],
        }
    }

    /// The same walk, with a borrowed table.
    pub fn borrowed(&self) -> Walk<'_> {
        match self {
            Walk::Even(step) => Walk::Even(*step),
            Walk::Table(table) => Walk::Table(Cow::Borrowed(table)),
        }
    }

    /// The least and the greatest offset that `count` steps reach.
    pub fn reach(&self, count: usize) -> (isize, isize) {
        match self {
            _ if count == 0 => (0, 0),
            Walk::Even(step) => {
                let last = *step * (count as isize - 1);
                (last.min(0), last.max(0))
            }
            Walk::Table(table) => {
                let used = &table[..count];
                (
                    used.iter().copied().min().unwrap_or(0),
                    used.iter().copied().max().unwrap_or(0),
                )
            }
        }
    }
}

/// An axis with constant steps on both sides.
#[derive(Clone, Copy, Debug)]
struct Even {
    count: usize,
    src: isize,
    dst: isize,
}

impl CopyAxis<'_> {
    fn even(&self) -> Option<Even> {
        match (&self.src, &self.dst) {
            (Walk::Even(src), Walk::Even(dst)) => Some(Even {
                count: self.count,
                src: *src,
                dst: *dst,
            }),
            _ => None,
        }
    }
}

/// The runs of at least `least` bytes that a copy is made of: where each starts, in the order of the destination's
/// steps, and their common length. `None` where they are shorter, or an axis is a table.
pub fn runs(
    axes: &[CopyAxis<'_>],
    src: *const u8,
    item: usize,
    least: usize,
) -> Option<(Vec<*const u8>, usize)> {
    let evens: Option<Vec<Even>> = axes.iter().map(CopyAxis::even).collect();
    let mut evens = simplify(evens?);
    let step = item as isize;
    let innermost = evens.pop_if(|axis| axis.src == step && axis.dst == step);
    let len = innermost.map_or(item, |axis| axis.count * item);
    if len < least {
        return None;
    }
    let mut starts = vec![src];
    for axis in evens {
        let along = |start: *const u8| {
            (0..axis.count as isize).map(move |k| start.wrapping_offset(k * axis.src))
        };
        starts = starts.into_iter().flat_map(along).collect();
    }
    Some((starts, len))
}

/// Copies `item`-byte elements along `axes`. Where destinations repeat, the last one (in the order of each axis) wins.
///
/// # Safety
/// Every offset that the axes reach from `src` must be readable for `item` bytes and from `dst` writable for `item`
/// bytes, the two must not overlap, and nobody else may touch the destination meanwhile.
pub unsafe fn copy(axes: &[CopyAxis<'_>], src: *const u8, dst: *mut u8, item: usize) {
    if axes.iter().any(|axis| axis.count == 0) {
        return;
    }
    let mut evens = Vec::with_capacity(axes.len());
    let mut tables = Vec::new();
    for axis in axes {
        match axis.even() {
            Some(even) => evens.push(even),
            None => tables.push(axis),
        }
    }
    let (evens, item) = widened(simplify(evens), item);
    let innermost = innermost_table(&mut tables, &evens);
    // SAFETY: the same offsets as the caller's axes reach, in another order of the axes.
    unsafe { walk_tables(&tables, &evens, innermost, src, dst, item) }
}

/// Takes out the table axis that the destination walks fastest, if it is one: it makes the best inner loop.
fn innermost_table<'a>(
    tables: &mut Vec<&'a CopyAxis<'a>>,
    evens: &[Even],
) -> Option<&'a CopyAxis<'a>> {
    let step = |axis: &CopyAxis<'_>| match axis.dst {
        Walk::Even(step) => step.unsigned_abs(),
        Walk::Table(_) => usize::MAX,
    };
    let fastest = (0..tables.len()).min_by_key(|&i| step(tables[i]))?;
    let faster_than_evens = evens
        .iter()
        .all(|even| step(tables[fastest]) < even.dst.unsigned_abs());
    (faster_than_evens || evens.is_empty()).then(|| tables.remove(fastest))
}

/// Sorts the axes so that the destination is walked in its own order, and merges those that are one run.
fn simplify(mut axes: Vec<Even>) -> Vec<Even> {
    axes.retain(|axis| axis.count > 1);
    axes.sort_by_key(|axis| std::cmp::Reverse((axis.dst.unsigned_abs(), axis.src.unsigned_abs())));
    let mut merged: Vec<Even> = Vec::with_capacity(axes.len());
    for axis in axes {
        match merged.last_mut() {
            Some(outer)
                if outer.src == axis.src * axis.count as isize
                    && outer.dst == axis.dst * axis.count as isize =>
            {
                *outer = Even {
                    count: outer.count * axis.count,
                    ..axis
                };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Takes an innermost run for one longer item: what is called for each row saves registers, and writing those waits
/// until rows before are on their way to memory.
fn widened(mut axes: Vec<Even>, item: usize) -> (Vec<Even>, usize) {
    let step = item as isize;
    match axes.pop_if(|axis| axis.src == step && axis.dst == step) {
        Some(run) => (axes, run.count * item),
        None => (axes, item),
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn walk_tables(
    tables: &[&CopyAxis<'_>],
    evens: &[Even],
    innermost: Option<&CopyAxis<'_>>,
    src: *const u8,
    dst: *mut u8,
    item: usize,
) {
    // SAFETY: offsets of the caller's axes only.
    unsafe {
        match (tables, innermost) {
            ([], None) => walk_evens(evens, src, dst, item),
            ([], Some(axis)) => walk_evens_over(evens, axis, src, dst, item),
            ([axis, rest @ ..], _) => {
                for k in 0..axis.count {
                    let (from, to) = (src.offset(axis.src.at(k)), dst.offset(axis.dst.at(k)));
                    walk_tables(rest, evens, innermost, from, to, item);
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn walk_evens_over(
    evens: &[Even],
    axis: &CopyAxis<'_>,
    src: *const u8,
    dst: *mut u8,
    item: usize,
) {
    // SAFETY: offsets of the caller's axes only.
    unsafe {
        match evens {
            [] => gather(axis, src, dst, item),
            [outer, inner @ ..] => {
                for k in 0..outer.count as isize {
                    walk_evens_over(
                        inner,
                        axis,
                        src.offset(k * outer.src),
                        dst.offset(k * outer.dst),
                        item,
                    );
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn gather(axis: &CopyAxis<'_>, src: *const u8, dst: *mut u8, item: usize) {
    // SAFETY: offsets of the caller's axis only.
    unsafe {
        match item {
            1 => gather_items::<u8>(axis, src, dst),
            2 => gather_items::<u16>(axis, src, dst),
            4 => gather_items::<u32>(axis, src, dst),
            8 => gather_items::<u64>(axis, src, dst),
            16 => gather_items::<u128>(axis, src, dst),
            32 => gather_items::<[u128; 2]>(axis, src, dst),
            64 => gather_items::<[u128; 4]>(axis, src, dst),
            _ => {
                for k in 0..axis.count {
                    let (from, to) = (src.offset(axis.src.at(k)), dst.offset(axis.dst.at(k)));
                    std::ptr::copy_nonoverlapping(from, to, item);
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy`], with items of `T`'s size.
unsafe fn gather_items<T: Copy>(axis: &CopyAxis<'_>, src: *const u8, dst: *mut u8) {
    for k in 0..axis.count {
        // SAFETY: offsets of the caller's axis only; unaligned accesses are used throughout.
        unsafe {
            let value = src.offset(axis.src.at(k)).cast::<T>().read_unaligned();
            dst.offset(axis.dst.at(k))
                .cast::<T>()
                .write_unaligned(value);
        }
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn walk_evens(axes: &[Even], src: *const u8, dst: *mut u8, item: usize) {
    // SAFETY: offsets of the caller's axes only.
    unsafe {
        match axes {
            [] => std::ptr::copy_nonoverlapping(src, dst, item),
            [axis] => copy_line(*axis, src, dst, item),
            [outer, inner] if crosses(outer, inner, item) => {
                copy_tiles(*outer, *inner, src, dst, item)
            }
            [outer, inner @ ..] => {
                for k in 0..outer.count as isize {
                    walk_evens(
                        inner,
                        src.offset(k * outer.src),
                        dst.offset(k * outer.dst),
                        item,
                    );
                }
            }
        }
    }
}

/// Whether the two innermost axes are walked one way in the source and the other way in the destination.
fn crosses(outer: &Even, inner: &Even, item: usize) -> bool {
    outer.src.unsigned_abs() < inner.src.unsigned_abs()
        && inner.src.unsigned_abs() != item
        && outer.src != 0
}

/// A transposing copy in square tiles, so that both sides stay in cache.
///
/// # Safety
/// As for [`copy`].
unsafe fn copy_tiles(outer: Even, inner: Even, src: *const u8, dst: *mut u8, item: usize) {
    const TILE: usize = 32;
    for o in (0..outer.count).step_by(TILE) {
        for i in (0..inner.count).step_by(TILE) {
            let tile = Even {
                count: TILE.min(inner.count - i),
                ..inner
            };
            for k in o..(o + TILE).min(outer.count) {
                let from = k as isize * outer.src + i as isize * inner.src;
                let to = k as isize * outer.dst + i as isize * inner.dst;
                // SAFETY: offsets of the caller's axes only.
                unsafe { copy_line(tile, src.offset(from), dst.offset(to), item) }
            }
        }
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn copy_line(axis: Even, src: *const u8, dst: *mut u8, item: usize) {
    // SAFETY: offsets of the caller's axis only.
    unsafe {
        match item {
            1 => copy_items::<u8>(axis, src, dst),
            2 => copy_items::<u16>(axis, src, dst),
            4 => copy_items::<u32>(axis, src, dst),
            8 => copy_items::<u64>(axis, src, dst),
            16 => copy_items::<u128>(axis, src, dst),
            32 => copy_items::<[u128; 2]>(axis, src, dst),
            64 => copy_items::<[u128; 4]>(axis, src, dst),
            _ => {
                for k in 0..axis.count as isize {
                    std::ptr::copy_nonoverlapping(
                        src.offset(k * axis.src),
                        dst.offset(k * axis.dst),
                        item,
                    );
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy`], with items of `T`'s size.
unsafe fn copy_items<T: Copy>(axis: Even, src: *const u8, dst: *mut u8) {
    let size = size_of::<T>() as isize;
    // SAFETY: offsets of the caller's axis only; unaligned accesses are used throughout.
    unsafe {
        if axis.src == 0 && axis.dst == size {
            let value = src.cast::<T>().read_unaligned();
            for k in 0..axis.count as isize {
                dst.offset(k * size).cast::<T>().write_unaligned(value);
            }
        } else if axis.dst == size {
            for k in 0..axis.count as isize {
                let value = src.offset(k * axis.src).cast::<T>().read_unaligned();
                dst.offset(k * size).cast::<T>().write_unaligned(value);
            }
        } else {
            for k in 0..axis.count as isize {
                let value = src.offset(k * axis.src).cast::<T>().read_unaligned();
                dst.offset(k * axis.dst).cast::<T>().write_unaligned(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Every element by itself, in the order of the axes.
    fn slow(axes: &[CopyAxis<'_>], src: &[u8], dst: &mut [u8], at: (isize, isize), item: usize) {
        match axes {
            [] => {
                let (s, d) = (at.0 as usize, at.1 as usize);
                dst[d..d + item].copy_from_slice(&src[s..s + item]);
            }
            [axis, rest @ ..] => {
                for k in 0..axis.count {
                    slow(
                        rest,
                        src,
                        dst,
                        (at.0 + axis.src.at(k), at.1 + axis.dst.at(k)),
                        item,
                    );
                }
            }
        }
    }

    fn next(seed: &mut u64) -> usize {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*seed >> 33) as usize
    }

    /// A random copy out of a C-ordered array of `shape` into an array whose axes are permuted.
    fn check(seed: u64) {
        let mut seed = seed;
        let item = [1, 2, 3, 4, 8, 16, 24, 32][next(&mut seed) % 8];
        let rank = 1 + next(&mut seed) % 5;
        let shape: Vec<usize> = (0..rank).map(|_| 1 + next(&mut seed) % 40 / rank).collect();
        let total: usize = shape.iter().product::<usize>() * item;
        let src: Vec<u8> = (0..total).map(|_| next(&mut seed) as u8).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        order.rotate_left(next(&mut seed) % rank);
        let strides = |order: &[usize]| {
            let mut strides = vec![0isize; rank];
            let mut step = item as isize;
            for &axis in order.iter().rev() {
                strides[axis] = step;
                step *= shape[axis] as isize;
            }
            strides
        };
        let natural: Vec<usize> = (0..rank).collect();
        let (from, to) = (strides(&natural), strides(&order));
        let mut base = 0;
        let axes: Vec<CopyAxis<'_>> = (0..rank)
            .map(|axis| {
                let n = shape[axis];
                match next(&mut seed) % 4 {
                    0 => CopyAxis {
                        count: n,
                        src: Walk::Even(from[axis]),
                        dst: Walk::Even(to[axis]),
                    },
                    1 => {
                        base += from[axis] * (n as isize - 1);
                        CopyAxis {
                            count: n,
                            src: Walk::Even(-from[axis]),
                            dst: Walk::Even(to[axis]),
                        }
                    }
                    2 => {
                        let table: Vec<isize> = (0..n)
                            .map(|_| from[axis] * (next(&mut seed) % n) as isize)
                            .collect();
                        CopyAxis {
                            count: n,
                            src: Walk::Table(table.into()),
                            dst: Walk::Even(to[axis]),
                        }
                    }
                    _ => {
                        let table: Vec<isize> = (0..n)
                            .map(|_| to[axis] * (next(&mut seed) % n) as isize)
                            .collect();
                        CopyAxis {
                            count: n,
                            src: Walk::Even(from[axis]),
                            dst: Walk::Table(table.into()),
                        }
                    }
                }
            })
            .collect();
        let mut want = vec![0u8; total];
        slow(&axes, &src, &mut want, (base, 0), item);
        let mut got = vec![0u8; total];
        // SAFETY: all tables and strides stay within the two arrays of `total` bytes.
        unsafe { copy(&axes, src.as_ptr().offset(base), got.as_mut_ptr(), item) };
        assert_eq!(got, want, "{axes:?} item {item}");
    }

    #[test]
    fn copies_equal_the_slow_way() {
        for seed in 0..3000 {
            check(seed);
        }
    }

    #[test]
    fn a_line_that_stands_still_fills() {
        let mut dst = [0u8; 12];
        let axis = CopyAxis {
            count: 3,
            src: Walk::Even(0),
            dst: Walk::Even(4),
        };
        // SAFETY: three items of four bytes.
        unsafe { copy(&[axis], [7u8, 0, 0, 1].as_ptr(), dst.as_mut_ptr(), 4) };
        assert_eq!(dst, [7, 0, 0, 1, 7, 0, 0, 1, 7, 0, 0, 1]);
    }
}
