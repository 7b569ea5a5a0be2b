//! The local folder and memory, as Python sees them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use blazarr_core::io::local::{Links, LocalStore as Local, Locking};
use blazarr_core::io::memory::MemoryStore as Memory;
use blazarr_core::io::{ByteRange, Condition, Request, Stamp};
use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::Store;
use crate::bytes::{Borrowed, to_python};
use crate::errors::detached;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<KeyStore>()?;
    module.add_class::<LocalStore>()?;
    module.add_class::<MemoryStore>()
}

/// A store that knows conditions, parts and listings.
#[pyclass(frozen, subclass, extends = Store, module = "blazarr._core")]
#[derive(Debug)]
pub struct KeyStore {
    inner: Arc<dyn blazarr_core::io::KeyStore>,
}

#[pyclass(frozen, extends = KeyStore, module = "blazarr._core")]
struct LocalStore;

#[pyclass(frozen, extends = KeyStore, module = "blazarr._core")]
struct MemoryStore;

pub fn initializer<C, S>(class: C, store: S) -> PyClassInitializer<C>
where
    C: PyClass<BaseType = KeyStore>,
    S: blazarr_core::io::KeyStore + 'static,
{
    let store = Arc::new(store);
    PyClassInitializer::from(Store {
        inner: store.clone(),
    })
    .add_subclass(KeyStore { inner: store })
    .add_subclass(class)
}

#[pymethods]
impl LocalStore {
    #[new]
    #[pyo3(signature = (root, *, fsync=false, locking="flock", links="follow"))]
    fn new(
        root: PathBuf,
        fsync: bool,
        locking: &str,
        links: &str,
    ) -> PyResult<PyClassInitializer<Self>> {
        let locking = match locking {
            "flock" => Locking::Flock,
            "none" => Locking::None,
            other => {
                let what = format!("locking is \"flock\" or \"none\", not {other:?}");
                return Err(PyValueError::new_err(what));
            }
        };
        let links = match links {
            "follow" => Links::Anywhere,
            "inside" => Links::Inside,
            other => {
                let what = format!("links is \"follow\" or \"inside\", not {other:?}");
                return Err(PyValueError::new_err(what));
            }
        };
        Ok(initializer(
            LocalStore,
            Local {
                root,
                fsync,
                locking,
                links,
            },
        ))
    }
}

#[pymethods]
impl MemoryStore {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        initializer(MemoryStore, Memory::new())
    }
}

/// Bytes, and the generation of the whole.
type Found = (Py<PyAny>, Py<PyBytes>);

#[pymethods]
impl KeyStore {
    /// The bytes from `start` (from the end where negative) up to `stop`, and the generation of the
    /// whole.
    #[pyo3(signature = (key, start=0, stop=None))]
    fn read(
        &self,
        py: Python<'_>,
        key: &str,
        start: i64,
        stop: Option<u64>,
    ) -> PyResult<Option<Found>> {
        let range = byte_range(start, stop);
        match detached(py, || self.inner.read(key, range))? {
            None => Ok(None),
            Some((data, stamp)) => Ok(Some((to_python(py, data)?, generation(py, stamp)))),
        }
    }

    /// The same for many keys, each with its start and stop.
    fn read_many(
        &self,
        py: Python<'_>,
        wanted: Vec<(String, i64, Option<u64>)>,
    ) -> PyResult<Vec<Option<Found>>> {
        let request = |(key, start, stop)| Request {
            key,
            range: byte_range(start, stop),
        };
        let requests: Vec<Request> = wanted.into_iter().map(request).collect();
        let found = detached(py, || self.inner.read_many(&requests))?;
        let to_python = |(data, stamp)| Ok((to_python(py, data)?, generation(py, stamp)));
        found
            .into_iter()
            .map(|value| value.map(to_python).transpose())
            .collect()
    }

    /// Writes where what is there is of the generation `expected`: None is any, empty is absent.
    #[pyo3(signature = (key, data, expected=None))]
    fn write(
        &self,
        py: Python<'_>,
        key: &str,
        data: &Bound<'_, PyAny>,
        expected: Option<&[u8]>,
    ) -> PyResult<Py<PyBytes>> {
        let (data, condition) = (Borrowed::new(data)?, condition(expected)?);
        let stamp = detached(py, || self.inner.write(key, data.as_ref(), condition))?;
        Ok(generation(py, stamp))
    }

    /// Deletes where what is there is of the generation `expected`; whether there was something.
    #[pyo3(signature = (key, expected=None))]
    fn delete(&self, py: Python<'_>, key: &str, expected: Option<&[u8]>) -> PyResult<bool> {
        let condition = condition(expected)?;
        detached(py, || self.inner.delete(key, condition))
    }

    fn delete_folder(&self, py: Python<'_>, folder: &str) -> PyResult<()> {
        detached(py, || self.inner.delete_folder(folder))
    }

    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        detached(py, || self.inner.size(key))
    }

    fn list(&self, py: Python<'_>, prefix: &str, start_after: &str) -> PyResult<Listing> {
        let inner = detached(py, || self.inner.list(prefix, start_after))?;
        Ok(Listing {
            inner: Mutex::new(inner),
        })
    }

    /// Names of keys and of folders directly in `folder`.
    fn children(&self, py: Python<'_>, folder: &str) -> PyResult<(Vec<String>, Vec<String>)> {
        let children = detached(py, || self.inner.children(folder))?;
        Ok((children.keys, children.folders))
    }
}

/// A listing under way.
#[pyclass(frozen, module = "blazarr._core")]
struct Listing {
    inner: Mutex<Box<dyn blazarr_core::io::Listing>>,
}

#[pymethods]
impl Listing {
    /// The next keys with their sizes; empty at the end.
    fn next_page(&self, py: Python<'_>, limit: usize) -> PyResult<Vec<(String, u64)>> {
        detached(py, || {
            self.inner
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next_page(limit)
        })
    }
}

pub fn byte_range(start: i64, stop: Option<u64>) -> ByteRange {
    match (u64::try_from(start), stop) {
        (Ok(0), None) => ByteRange::Whole,
        (Ok(offset), stop) => {
            let len = stop.unwrap_or(u64::MAX).saturating_sub(offset);
            ByteRange::Span { offset, len }
        }
        (Err(_), _) => ByteRange::Suffix(start.unsigned_abs()),
    }
}

fn generation(py: Python<'_>, Stamp(words): Stamp) -> Py<PyBytes> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    PyBytes::new(py, &bytes).unbind()
}

fn condition(expected: Option<&[u8]>) -> PyResult<Condition> {
    let Some(expected) = expected else {
        return Ok(Condition::Any);
    };
    if expected.is_empty() {
        return Ok(Condition::Absent);
    }
    let words: Vec<u64> = expected
        .chunks_exact(8)
        .filter_map(|word| word.try_into().ok().map(u64::from_le_bytes))
        .collect();
    match <[u64; 4]>::try_from(words) {
        Ok(words) if expected.len() == 32 => Ok(Condition::Is(Stamp(words))),
        _ => Err(PyValueError::new_err(
            "this generation is not one of this store's",
        )),
    }
}
