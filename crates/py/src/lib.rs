//! Registration of the border; nothing else.

mod array;
mod buffers;
mod bytes;
mod chunks;
mod codecs;
mod errors;
mod external;
mod leaving;
mod pieces;
mod pool;
mod selection;
mod stores;
mod wave;
mod wave_write;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OPTIMISED", !cfg!(debug_assertions))?;
    array::register(module)?;
    codecs::register(module)?;
    chunks::register(module)?;
    leaving::register(module)?;
    pool::register(module)?;
    stores::register(module)?;
    wave::register(module)?;
    wave_write::register(module)
}
