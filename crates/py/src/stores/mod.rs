//! Stores at the border: the native ones, and any Python object that follows the protocol.

mod native;
mod python;

use std::sync::Arc;

use pyo3::prelude::*;

/// What the engine reads from and writes to.
#[pyclass(frozen, subclass, module = "blazarr._core")]
#[derive(Debug)]
pub struct Store {
    pub inner: Arc<dyn blazarr_core::io::Store>,
}

#[pymethods]
impl Store {
    fn __repr__(&self) -> String {
        format!("<{:?}>", self.inner)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Store>()?;
    native::register(module)?;
    python::register(module)
}
