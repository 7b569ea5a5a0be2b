//! The pool's settings, how calling threads learn of Ctrl-C, and how users learn of what is no error.

use std::ffi::CString;

use blazarr_core::error::Result;
use blazarr_core::pool;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::errors::from_py;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    pool::set_interrupt_check(check_signals);
    pool::set_warner(warn);
    module.add_function(wrap_pyfunction!(threads, module)?)?;
    module.add_function(wrap_pyfunction!(set_threads, module)?)
}

/// How many threads work at once in this process.
#[pyfunction]
fn threads() -> usize {
    pool::threads()
}

/// Sets how many threads work at once in this process; None is one for each processor.
#[pyfunction]
#[pyo3(signature = (n=None))]
fn set_threads(n: Option<usize>) {
    pool::set_threads(n.unwrap_or(0));
}

fn check_signals() -> Result<()> {
    // Python runs signal handlers in its main thread alone: others need not wait for its lock.
    if !may_be_main_thread() {
        return Ok(());
    }
    Python::try_attach(|py| py.check_signals())
        .unwrap_or(Ok(()))
        .map_err(from_py)
}

fn warn(text: &str) -> Result<()> {
    let text = CString::new(text).unwrap_or_default();
    Python::try_attach(|py| PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1))
        .unwrap_or(Ok(()))
        .map_err(from_py)
}

#[cfg(target_os = "linux")]
pub fn may_be_main_thread() -> bool {
    // SAFETY: both calls only return a number.
    unsafe { libc::gettid() == libc::getpid() }
}

#[cfg(not(target_os = "linux"))]
pub fn may_be_main_thread() -> bool {
    true
}
