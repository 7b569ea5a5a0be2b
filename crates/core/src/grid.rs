//! Chunk grids: where an index lies, along one axis at a time.

use std::sync::Arc;

use serde::Deserialize;

use crate::error::{Error, Result};

/// How one axis of an array is cut into chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Chunks of one size; the last one may reach past the extent.
    Regular { extent: u64, size: u64 },
    /// Chunks between given edges; `edges[0]` is 0 and the last edge is the extent or more.
    Rectilinear { extent: u64, edges: Arc<[u64]> },
}

/// An axis as the array's description gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AxisSpec {
    Regular { size: u64 },
    Rectilinear { edges: Vec<u64> },
}

impl Axis {
    pub fn new(extent: u64, spec: AxisSpec) -> Result<Axis> {
        match spec {
            // A zero-length axis may come with chunk size 0; it has no chunks either way.
            AxisSpec::Regular { size: 0 } if extent == 0 => Ok(Axis::Regular { extent, size: 1 }),
            AxisSpec::Regular { size: 0 } => Err(Error::Spec("a chunk cannot have size 0".into())),
            AxisSpec::Regular { size } => Ok(Axis::Regular { extent, size }),
            AxisSpec::Rectilinear { edges } => {
                let rising = edges.windows(2).all(|pair| pair[0] < pair[1]);
                let covers = edges.last().is_some_and(|&last| last >= extent);
                if edges.first() != Some(&0) || !rising || !covers {
                    return Err(Error::Spec(format!(
                        "chunk edges must start at 0, rise, and reach the extent {extent}"
                    )));
                }
                Ok(Axis::Rectilinear {
                    extent,
                    edges: edges.into(),
                })
            }
        }
    }

    pub fn extent(&self) -> u64 {
        match self {
            Axis::Regular { extent, .. } | Axis::Rectilinear { extent, .. } => *extent,
        }
    }

    /// The number of chunks that hold a part of the array.
    pub fn count(&self) -> u64 {
        match self {
            Axis::Regular { extent, size } => extent.div_ceil(*size),
            Axis::Rectilinear { extent: 0, .. } => 0,
            Axis::Rectilinear { extent, .. } => self.chunk_of(extent - 1) + 1,
        }
    }

    /// The chunk that holds index `i`.
    pub fn chunk_of(&self, i: u64) -> u64 {
        match self {
            Axis::Regular { size, .. } => i / size,
            Axis::Rectilinear { edges, .. } => edges.partition_point(|&edge| edge <= i) as u64 - 1,
        }
    }

    /// Where chunk `chunk` starts.
    pub fn start(&self, chunk: u64) -> u64 {
        match self {
            Axis::Regular { size, .. } => chunk * size,
            Axis::Rectilinear { edges, .. } => edges[chunk as usize],
        }
    }

    /// The stored length of chunk `chunk`, which may reach past the extent.
    pub fn size(&self, chunk: u64) -> u64 {
        match self {
            Axis::Regular { size, .. } => *size,
            Axis::Rectilinear { edges, .. } => edges[chunk as usize + 1] - edges[chunk as usize],
        }
    }

    /// The part of chunk `chunk` that lies in the array.
    pub fn clipped(&self, chunk: u64) -> u64 {
        self.size(chunk)
            .min(self.extent().saturating_sub(self.start(chunk)))
    }

    /// The longest chunk.
    pub fn largest(&self) -> u64 {
        match self {
            Axis::Regular { size, .. } => *size,
            Axis::Rectilinear { edges, .. } => edges
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .max()
                .unwrap_or(0),
        }
    }
}

/// The product of `shape` and `item`, where it fits.
pub fn byte_count(shape: impl IntoIterator<Item = u64>, item: usize) -> Option<usize> {
    let mut bytes = item as u64;
    for n in shape {
        bytes = bytes.checked_mul(n)?;
    }
    usize::try_from(bytes)
        .ok()
        .filter(|&n| n <= isize::MAX as usize)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn regular_axes_count_and_clip() {
        let axis = Axis::new(10, AxisSpec::Regular { size: 4 }).unwrap();
        assert_eq!(axis.count(), 3);
        assert_eq!(
            (
                axis.chunk_of(7),
                axis.start(2),
                axis.size(2),
                axis.clipped(2)
            ),
            (1, 8, 4, 2)
        );
    }

    #[test]
    fn rectilinear_axes_count_and_clip() {
        let axis = Axis::new(
            10,
            AxisSpec::Rectilinear {
                edges: vec![0, 3, 9, 12],
            },
        )
        .unwrap();
        assert_eq!(axis.count(), 3);
        assert_eq!(
            (axis.chunk_of(2), axis.chunk_of(3), axis.chunk_of(9)),
            (0, 1, 2)
        );
        assert_eq!((axis.size(2), axis.clipped(2), axis.largest()), (3, 1, 6));
    }

    #[test]
    fn a_rectilinear_axis_longer_than_its_array_has_only_the_chunks_in_it() {
        let axis = Axis::new(
            3,
            AxisSpec::Rectilinear {
                edges: vec![0, 3, 9],
            },
        )
        .unwrap();
        assert_eq!(axis.count(), 1);
    }

    #[test]
    fn wrong_axes_are_refused() {
        assert!(Axis::new(4, AxisSpec::Regular { size: 0 }).is_err());
        assert!(Axis::new(0, AxisSpec::Regular { size: 0 }).is_ok());
        for edges in [vec![], vec![1, 4], vec![0, 2, 2, 4], vec![0, 3]] {
            assert!(Axis::new(4, AxisSpec::Rectilinear { edges }).is_err());
        }
    }

    #[test]
    fn byte_counts_do_not_wrap() {
        assert_eq!(byte_count([3, 4], 2), Some(24));
        assert_eq!(byte_count([1 << 40, 1 << 40], 2), None);
        assert_eq!(byte_count([u64::MAX], 1), None);
    }
}
