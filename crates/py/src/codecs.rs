//! Single codecs, for Python code that has bytes and no array.

use std::sync::Arc;

use blazarr_core::codec::step::StepSpec;
use blazarr_core::codec::{BytesCodec, CodecError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bytes::Borrowed;
use crate::errors::{detached, from_codec};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(codec_encode, module)?)?;
    module.add_function(wrap_pyfunction!(codec_decode, module)?)
}

/// Encodes `data` by the native step that `step` describes.
#[pyfunction]
fn codec_encode<'py>(
    py: Python<'py>,
    step: &str,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (codec, data) = (build(py, step)?, Borrowed::new(data)?);
    run(py, |out| codec.encode(data.as_ref(), out))
}

/// Decodes `data`, to exactly `size` bytes where that is given, and to at most `limit`.
#[pyfunction]
#[pyo3(signature = (step, data, size=None, limit=None))]
fn codec_decode<'py>(
    py: Python<'py>,
    step: &str,
    data: &Bound<'py, PyAny>,
    size: Option<usize>,
    limit: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (codec, data) = (build(py, step)?, Borrowed::new(data)?);
    let limit = limit.unwrap_or(isize::MAX as usize);
    let Some(size) = size else {
        return run(py, |out| codec.decode_bounded(data.as_ref(), limit, out));
    };
    if size > limit {
        return Err(PyValueError::new_err("size is above limit"));
    }
    PyBytes::new_with(py, size, |dst| {
        let done = detached(py, || Ok(codec.decode_exact(data.as_ref(), dst)))?;
        done.map_err(|e| from_codec(py, &e))
    })
}

fn build(py: Python<'_>, step: &str) -> PyResult<Arc<dyn BytesCodec>> {
    let codec = StepSpec::parse(step).and_then(|spec| spec.build());
    codec.map_err(|e| from_codec(py, &e))
}

fn run<'py>(
    py: Python<'py>,
    work: impl FnOnce(&mut Vec<u8>) -> Result<(), CodecError> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::new();
    let done = detached(py, || Ok(work(&mut out)))?;
    done.map_err(|e| from_codec(py, &e))?;
    PyBytes::new_with(py, out.len(), |copy| {
        copy.copy_from_slice(&out);
        Ok(())
    })
}
