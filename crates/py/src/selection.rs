//! The normal form of a selection as Python gives it: `(consts, picks)`.

use std::sync::Arc;

use blazarr_core::selection::{Pick, Selection};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bytes;

/// A pick: `(axis, start, step, count)`, or `((axis, ...), (indices, ...))` with 64-bit indices.
struct PyPick(Pick);

impl<'a, 'py> FromPyObject<'a, 'py> for PyPick {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<PyPick> {
        let tuple = object.cast::<PyTuple>()?;
        if tuple.len() == 4 {
            let (axis, start, step, count) = tuple.extract()?;
            return Ok(PyPick(Pick::Strided {
                axis,
                start,
                step,
                count,
            }));
        }
        let (axes, arrays): (Vec<usize>, Vec<Bound<'py, PyAny>>) = tuple.extract()?;
        let indices = arrays.iter().map(indices).collect::<PyResult<Vec<_>>>()?;
        Ok(PyPick(Pick::Indexed { axes, indices }))
    }
}

fn indices(array: &Bound<'_, PyAny>) -> PyResult<Arc<[u64]>> {
    let shape = PyUntypedBuffer::get(array)?;
    if shape.item_size() != 8 || shape.dimensions() != 1 {
        let what = "indices must be one-dimensional arrays of 64-bit integers";
        return Err(PyIndexError::new_err(what));
    }
    let buffer = bytes::Borrowed::new(array)?;
    let (words, _) = buffer.as_ref().as_chunks::<8>();
    // Negative ones become too large for any axis, which the check of the selection reports.
    Ok(words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

/// Reads the tuple that `blazarr.indexing.Selection.core()` gives.
pub fn parse(selection: &Bound<'_, PyAny>) -> PyResult<Selection> {
    let (consts, picks): (Vec<(usize, u64)>, Vec<PyPick>) = selection.extract()?;
    Ok(Selection {
        consts,
        picks: picks.into_iter().map(|pick| pick.0).collect(),
    })
}
