//! Arrays at the border: one call, one crossing, one release of the GIL.

use std::sync::Arc;

use blazarr_core::codec::BytesCodec;
use blazarr_core::error::Result;
use blazarr_core::read::pending::{Memory, Pending, start};
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::table::Table;
use blazarr_core::view::View;
use blazarr_core::{array, pool, read, write};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::buffers::Strided;
use crate::errors::{detached, to_py};
use crate::external::External;
use crate::selection;
use crate::stores::Store;

/// An array of one store, ready to be read, written and planned.
#[pyclass(frozen, module = "blazarr._core")]
#[derive(Debug)]
pub struct Array {
    pub inner: Arc<array::Array>,
    pub store: Arc<dyn blazarr_core::io::Store>,
}

#[pymethods]
impl Array {
    #[new]
    fn new(
        spec: &[u8],
        store: PyRef<'_, Store>,
        externals: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Array> {
        let mut steps: Vec<Arc<dyn BytesCodec>> = Vec::with_capacity(externals.len());
        for external in &externals {
            steps.push(Arc::new(External::new(external)?));
        }
        let inner = array::Array::parse(spec, &steps).map_err(to_py)?;
        Ok(Array {
            inner: Arc::new(inner),
            store: store.inner.clone(),
        })
    }

    /// Reads `selection` into `out`, an array of the selection's flat shape; gives the number of absent chunks.
    #[pyo3(signature = (selection, out, *, threads=None, missing_is_error=false))]
    fn read(
        &self,
        py: Python<'_>,
        selection: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        threads: Option<usize>,
        missing_is_error: bool,
    ) -> PyResult<u64> {
        let selection = selection::parse(selection)?;
        let buffer = Strided::writable(out, &counts(&selection), self.inner.item, "out")?;
        let options = read::Options {
            threads: threads.unwrap_or_else(pool::threads),
            missing_is_error,
        };
        detached(py, || {
            // SAFETY: the buffer is writable, is held for this call, and was checked to have the selection's shape.
            let view = unsafe { View::new(buffer.base(), buffer.strides()) };
            read::read(&self.inner, &*self.store, &selection, &view, options)
                .map(|report| report.missing)
        })
    }

    /// Begins to read `selection` into `out` and calls `done` at the end, from another thread, with None or an error.
    /// None where the store's answers have to be waited for.
    #[pyo3(signature = (selection, out, done, *, threads=None, missing_is_error=false))]
    fn start(
        &self,
        py: Python<'_>,
        selection: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        done: Py<PyAny>,
        threads: Option<usize>,
        missing_is_error: bool,
    ) -> PyResult<Option<Reading>> {
        let selection = selection::parse(selection)?;
        let buffer = Strided::writable(out, &counts(&selection), self.inner.item, "out")?;
        let options = read::Options {
            threads: threads.unwrap_or_else(pool::threads),
            missing_is_error,
        };
        // SAFETY: the buffer is writable, lives as long as the memory that is made of it, and was checked to have the
        // selection's shape.
        let out = unsafe { View::new(buffer.base(), buffer.strides()) };
        let memory = Memory {
            out,
            owner: Box::new(buffer) as Box<dyn Send + Sync>,
        };
        let done = Box::new(move |outcome: Result<read::Report>| {
            // Where the interpreter or the event loop has ended, nobody wants to know.
            let _ = Python::try_attach(|py| done.call1(py, (outcome.err().map(to_py),)));
        });
        let started = detached(py, || {
            start(&self.inner, &self.store, &selection, memory, options, done)
        })?;
        Ok(started.map(Reading))
    }

    /// Writes `value`, an array of the selection's flat shape, to `selection`.
    #[pyo3(signature = (selection, value, *, threads=None, write_empty=false))]
    fn write(
        &self,
        py: Python<'_>,
        selection: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        threads: Option<usize>,
        write_empty: bool,
    ) -> PyResult<()> {
        let selection = selection::parse(selection)?;
        let buffer = Strided::new(value, &counts(&selection), self.inner.item, "value")?;
        let options = write::Options {
            threads: threads.unwrap_or_else(pool::threads),
            write_empty,
        };
        detached(py, || {
            // SAFETY: the buffer is held for this call and has the selection's shape; a write only reads it.
            let view = unsafe { View::new(buffer.base(), buffer.strides()) };
            write::write(&self.inner, &*self.store, &selection, &view, options)
        })
    }

    /// The plan of `selection` as a table: columns by name, as bytes of native integers, for at most `limit` rows.
    #[pyo3(signature = (selection, limit=usize::MAX))]
    fn plan<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'_, PyAny>,
        limit: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let selection = selection::parse(selection)?;
        let table = detached(py, || Table::new(&self.inner, &selection, limit))?;
        let columns = PyDict::new(py);
        columns.set_item("key", &table.keys)?;
        columns.set_item("cut", table.cut)?;
        for (name, column) in [
            ("chunk", &table.chunk),
            ("inner", &table.inner),
            ("byte_offset", &table.byte_offset),
            ("byte_length", &table.byte_length),
            ("decoded_bytes", &table.decoded_bytes),
            ("take_start", &table.take_start),
            ("take_step", &table.take_step),
            ("take_count", &table.take_count),
            ("place_start", &table.place_start),
            ("place_count", &table.place_count),
        ] {
            let bytes: Vec<u8> = column.iter().flat_map(|n| n.to_ne_bytes()).collect();
            columns.set_item(name, PyBytes::new(py, &bytes))?;
        }
        for (name, column) in [("kind", &table.kind), ("whole", &table.whole)] {
            columns.set_item(name, PyBytes::new(py, column))?;
        }
        Ok(columns)
    }

    /// The key of the chunk (or shard) at `coords`.
    fn key(&self, coords: Vec<u64>) -> String {
        let mut key = String::new();
        self.inner.key(&coords, &mut key);
        key
    }
}

/// A read under way, given up when this goes.
#[pyclass(frozen, module = "blazarr._core")]
#[derive(Debug)]
struct Reading(Arc<Pending>);

#[pymethods]
impl Reading {
    /// Gives the read up, whose end nobody hears of then.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || {
            self.0.cancel();
            Ok(())
        })
    }
}

fn counts(selection: &Selection) -> Vec<u64> {
    selection.picks.iter().map(Pick::count).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Reading>()?;
    module.add_class::<Array>()
}
