//! Arrays of Python's, held for one call.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The memory of an array, checked to fit a selection.
pub struct Strided(PyUntypedBuffer);

impl Strided {
    /// The memory of `array`, which must have `counts` elements along its axes, of `item` bytes each. `what` is the
    /// argument's name.
    pub fn new(
        array: &Bound<'_, PyAny>,
        counts: &[u64],
        item: usize,
        what: &str,
    ) -> PyResult<Strided> {
        // An array without axes has no shape in the buffer protocol, which pyo3 takes for an error.
        let one_axis;
        let (array, counts) = if counts.is_empty() {
            one_axis = array.call_method1("reshape", (1,))?;
            (&one_axis, &[1][..])
        } else {
            (array, counts)
        };
        let buffer = PyUntypedBuffer::get(array)?;
        let same = |(&have, &want): (&usize, &u64)| have as u64 == want;
        let fits = buffer.shape().len() == counts.len()
            && buffer.shape().iter().zip(counts).all(same)
            && buffer.item_size() == item;
        if fits {
            return Ok(Strided(buffer));
        }
        Err(PyValueError::new_err(format!(
            "{what} has shape {:?} with items of {} bytes, but the selection has shape {counts:?} \
             with items of {item} bytes",
            buffer.shape(),
            buffer.item_size()
        )))
    }

    /// The same, refused where it is read-only.
    pub fn writable(
        array: &Bound<'_, PyAny>,
        counts: &[u64],
        item: usize,
        what: &str,
    ) -> PyResult<Strided> {
        let buffer = Strided::new(array, counts, item, what)?;
        match buffer.0.readonly() {
            false => Ok(buffer),
            true => Err(PyValueError::new_err(format!("{what} is read-only"))),
        }
    }

    pub fn base(&self) -> *mut u8 {
        self.0.buf_ptr().cast()
    }

    pub fn strides(&self) -> &[isize] {
        self.0.strides()
    }
}
