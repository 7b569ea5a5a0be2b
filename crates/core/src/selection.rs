//! The normal form of a selection: what each axis of the result asks of the array.

use std::sync::Arc;

use crate::error::{Error, Result};

/// One axis of the (flat) result.
#[derive(Clone, Debug)]
pub enum Pick {
    /// `count` indices of one array axis, `step` apart; the step may be negative but not zero.
    Strided {
        axis: usize,
        start: u64,
        step: i64,
        count: u64,
    },
    /// Given indices. One array axis: orthogonal; several, of one length: joint points.
    Indexed {
        axes: Vec<usize>,
        indices: Vec<Arc<[u64]>>,
    },
}

impl Pick {
    pub fn count(&self) -> u64 {
        match self {
            Pick::Strided { count, .. } => *count,
            Pick::Indexed { indices, .. } => indices.first().map_or(0, |i| i.len() as u64),
        }
    }
}

/// Which elements, and where they go: array axes that are constant, and the picks of the result's axes in order.
#[derive(Clone, Debug)]
pub struct Selection {
    pub consts: Vec<(usize, u64)>,
    pub picks: Vec<Pick>,
}

impl Selection {
    /// The whole of an array of this shape.
    pub fn all(shape: &[u64]) -> Selection {
        let pick = |(axis, &count): (usize, &u64)| Pick::Strided {
            axis,
            start: 0,
            step: 1,
            count,
        };
        Selection {
            consts: Vec::new(),
            picks: shape.iter().enumerate().map(pick).collect(),
        }
    }

    /// Checks that every array axis is used exactly once and every index lies in `shape`.
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        let mut used = vec![false; shape.len()];
        let mut extent_of = |axis: usize| -> Result<u64> {
            match used.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(wrong(format!(
                        "axis {axis} is used twice or does not exist"
                    )));
                }
            }
            Ok(shape[axis])
        };
        for &(axis, index) in &self.consts {
            check_index(axis, index, extent_of(axis)?)?;
        }
        for pick in &self.picks {
            match pick {
                Pick::Strided {
                    axis,
                    start,
                    step,
                    count,
                } => {
                    check_strided(*axis, *start, *step, *count, extent_of(*axis)?)?;
                }
                Pick::Indexed { axes, indices } => {
                    check_joint(axes, indices)?;
                    for (&axis, indices) in axes.iter().zip(indices) {
                        check_indices(axis, indices, extent_of(axis)?)?;
                    }
                }
            }
        }
        match used.iter().position(|seen| !seen) {
            Some(axis) => Err(wrong(format!("axis {axis} is not selected"))),
            None => Ok(()),
        }
    }
}

fn wrong(what: String) -> Error {
    Error::Selection(what)
}

fn check_index(axis: usize, index: u64, extent: u64) -> Result<()> {
    if index < extent {
        return Ok(());
    }
    Err(wrong(format!(
        "index {index} is out of bounds for axis {axis} with size {extent}"
    )))
}

fn check_strided(axis: usize, start: u64, step: i64, count: u64, extent: u64) -> Result<()> {
    if step == 0 {
        return Err(wrong(format!("the step of axis {axis} is zero")));
    }
    if count == 0 {
        return Ok(());
    }
    check_index(axis, start, extent)?;
    let last = i128::from(start) + i128::from(step) * i128::from(count - 1);
    match u64::try_from(last) {
        Ok(last) => check_index(axis, last, extent),
        Err(_) => Err(wrong(format!(
            "index {last} is out of bounds for axis {axis} with size {extent}"
        ))),
    }
}

fn check_joint(axes: &[usize], indices: &[Arc<[u64]>]) -> Result<()> {
    let same = indices
        .windows(2)
        .all(|pair| pair[0].len() == pair[1].len());
    if axes.is_empty() || axes.len() != indices.len() || !same {
        return Err(wrong(
            "joint indices must be one array of one length for each axis".into(),
        ));
    }
    Ok(())
}

fn check_indices(axis: usize, indices: &[u64], extent: u64) -> Result<()> {
    match indices.iter().max() {
        Some(&max) => check_index(axis, max, extent),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn strided(axis: usize, start: u64, step: i64, count: u64) -> Pick {
        Pick::Strided {
            axis,
            start,
            step,
            count,
        }
    }

    #[test]
    fn bounds_are_checked_at_both_ends() {
        let ok = |pick| {
            Selection {
                consts: vec![],
                picks: vec![pick],
            }
            .check(&[10])
        };
        assert!(ok(strided(0, 9, -3, 4)).is_ok());
        assert!(ok(strided(0, 9, -3, 5)).is_err());
        assert!(ok(strided(0, 0, 3, 5)).is_err());
        assert!(ok(strided(0, 0, 0, 1)).is_err());
        assert!(ok(strided(0, 99, 1, 0)).is_ok());
        assert!(ok(strided(0, 1, i64::MAX, 3)).is_err());
        assert!(
            ok(Pick::Indexed {
                axes: vec![0],
                indices: vec![vec![3, 10].into()]
            })
            .is_err()
        );
    }

    #[test]
    fn every_axis_is_used_once() {
        let twice = Selection {
            consts: vec![(0, 1)],
            picks: vec![strided(0, 0, 1, 2)],
        };
        assert!(twice.check(&[4]).is_err());
        let missing = Selection {
            consts: vec![(0, 1)],
            picks: vec![],
        };
        assert!(missing.check(&[4, 4]).is_err());
        assert!(Selection::all(&[4, 0]).check(&[4, 0]).is_ok());
    }

    #[test]
    fn joint_indices_have_one_length() {
        let uneven = Pick::Indexed {
            axes: vec![0, 1],
            indices: vec![vec![0].into(), vec![0, 1].into()],
        };
        assert!(
            Selection {
                consts: vec![],
                picks: vec![uneven]
            }
            .check(&[4, 4])
            .is_err()
        );
    }
}
