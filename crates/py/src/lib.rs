//! Registration of the border; nothing else.

mod errors;
mod pool;
mod stores;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OPTIMISED", !cfg!(debug_assertions))?;
    pool::register(module)?;
    stores::register(module)
}
