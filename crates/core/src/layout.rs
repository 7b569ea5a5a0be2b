//! In which order a new shard's inner chunks follow each other. Readers find them in any.

use serde::Deserialize;

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// The last axis fastest.
    #[default]
    C,
    /// The first axis fastest.
    F,
    /// Z-order: what is near in all axes is near in the shard.
    Morton,
}

impl Layout {
    /// The places in the index, C order, of a shard with `counts` inner chunks along its axes, in this order.
    pub fn places(self, counts: &[u64]) -> Result<Vec<usize>> {
        let total = counts.iter().product::<u64>() as usize;
        let mut places = Vec::new();
        places
            .try_reserve_exact(total)
            .map_err(|_| Error::OutOfMemory {
                bytes: total.saturating_mul(size_of::<usize>()),
            })?;
        places.extend(0..total);
        match self {
            Layout::C => {}
            Layout::F => places.sort_by_cached_key(|&at| number(at, counts, fortran)),
            Layout::Morton => places.sort_by_cached_key(|&at| number(at, counts, morton)),
        }
        Ok(places)
    }
}

/// The number of the inner chunk at place `at` of the index in another order.
fn number(at: usize, counts: &[u64], of: fn(&[u64], &[u64]) -> u64) -> u64 {
    let mut coords = vec![0; counts.len()];
    let mut rest = at as u64;
    for (coord, count) in coords.iter_mut().zip(counts).rev() {
        *coord = rest % count;
        rest /= count;
    }
    of(&coords, counts)
}

fn fortran(coords: &[u64], counts: &[u64]) -> u64 {
    let pairs = coords.iter().zip(counts);
    pairs.rev().fold(0, |n, (coord, count)| n * count + coord)
}

/// The coordinates' bits in turn, from the lowest, the first axis first; an axis has as many as its count needs. That is
/// what zarr-python's order is, and as many bits altogether as the number of inner chunks has, and one more an axis.
fn morton(coords: &[u64], counts: &[u64]) -> u64 {
    let (mut code, mut place) = (0, 0);
    for bit in 0..u64::BITS {
        for (coord, count) in coords.iter().zip(counts) {
            let used = u64::BITS - (count - 1).leading_zeros();
            if bit < used && place < u64::BITS {
                code |= (coord >> bit & 1) << place;
                place += 1;
            }
        }
    }
    code
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn orders_are_as_zarr_python_has_them() {
        let order = |layout: Layout| layout.places(&[3, 2]).unwrap();
        assert_eq!(order(Layout::C), [0, 1, 2, 3, 4, 5]);
        assert_eq!(order(Layout::F), [0, 2, 4, 1, 3, 5]);
        // (0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)
        assert_eq!(order(Layout::Morton), [0, 2, 1, 3, 4, 5]);
    }
}
