//! Stores at the border: the native ones, and any Python object that follows the protocol.

#[cfg(feature = "cloud")]
mod cloud;
mod native;
mod python;

use std::sync::Arc;

use blazarr_core::io::key::Key;
use blazarr_core::io::readonly::ReadOnly;
use pyo3::prelude::*;

use crate::errors::to_py;

/// What the engine reads from and writes to.
#[pyclass(frozen, subclass, module = "blazarr._core")]
#[derive(Debug)]
pub struct Store {
    pub inner: Arc<dyn blazarr_core::io::Store>,
}

#[pymethods]
impl Store {
    /// The same store, refusing every change.
    fn as_read_only(&self) -> Store {
        Store {
            inner: Arc::new(ReadOnly(self.inner.clone())),
        }
    }

    fn __repr__(&self) -> String {
        format!("<{:?}>", self.inner)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Store>()?;
    module.add_function(wrap_pyfunction!(parse_key, module)?)?;
    module.add_function(wrap_pyfunction!(parse_folder, module)?)?;
    native::register(module)?;
    #[cfg(feature = "cloud")]
    cloud::register(module)?;
    python::register(module)
}

/// The key itself; an error where it could leave the store.
#[pyfunction]
fn parse_key(key: &str) -> PyResult<&str> {
    Key::parse(key)
        .map(Key::as_str)
        .map_err(|e| to_py(e.into()))
}

/// What the keys in a folder begin with; an error where it could leave the store.
#[pyfunction]
fn parse_folder(folder: &str) -> PyResult<String> {
    Key::folder_prefix(folder).map_err(|e| to_py(e.into()))
}
