//! Bytes on their way through the border, without a copy where they are many.

use std::ffi::{c_int, c_void};

use bytes::Bytes;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// Up to here a copy into `bytes` costs less than two objects around the original.
const SMALL: usize = 16 << 10;

/// `bytes`, or a read-only `memoryview` of what Rust keeps.
pub fn to_python(py: Python<'_>, data: Bytes) -> PyResult<Py<PyAny>> {
    if data.len() <= SMALL {
        return Ok(PyBytes::new(py, &data).into_any().unbind());
    }
    let owner = Bound::new(py, Shared(data))?;
    Ok(PyMemoryView::from(owner.as_any())?.into_any().unbind())
}

/// The bytes of any Python object that has contiguous ones, kept alive and unmoved.
pub struct Borrowed(PyUntypedBuffer);

impl Borrowed {
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyTypeError::new_err("data must be contiguous bytes"));
        }
        Ok(Borrowed(buffer))
    }
}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        match self.0.len_bytes() {
            0 => &[],
            // SAFETY: a contiguous buffer holds this many bytes for as long as it is exported. That
            // its owner does not change them meanwhile is the caller's affair, as in all of Python.
            len => unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), len) },
        }
    }
}

/// Bytes that Rust keeps, for Python to look at.
#[pyclass(frozen, module = "blazarr._core")]
struct Shared(Bytes);

#[pymethods]
impl Shared {
    /// SAFETY: called by the interpreter with a valid `view`, or null.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("these bytes are read-only"));
        }
        let data = &slf.get().0;
        let len = ffi::Py_ssize_t::try_from(data.len())?;
        let address = data.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: `view` is valid, and the object that holds the bytes becomes the view's owner.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), address, len, 1, flags) };
        if filled == 0 {
            Ok(())
        } else {
            Err(PyErr::fetch(slf.py()))
        }
    }
}
