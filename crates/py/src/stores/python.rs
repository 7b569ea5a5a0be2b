//! A store written in Python, as the engine sees it.

use std::fmt;
use std::sync::Arc;

use blazarr_core::error::{Error, Result};
use blazarr_core::io::keylock::{Backoff, KeyLock};
use blazarr_core::io::{
    ByteRange, Edit, Fetched, Object, Request, Stamp, Store as CoreStore, StoreError, arrivals,
    resolve,
};
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice};

use super::Store;
use crate::bytes::Borrowed;
use crate::errors::from_py;
use crate::leaving;

/// How many requests go to Python together where the store does not say.
const BATCH: usize = 64;

/// How often an edit is tried while other writers are faster.
const TRIES: usize = 100;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStore>()
}

/// Lets the engine use an object that follows the protocol `blazarr.stores.Store`.
#[pyclass(frozen, extends = Store, module = "blazarr._core")]
struct PyStore;

#[pymethods]
impl PyStore {
    #[new]
    fn new(py: Python<'_>, object: Py<PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let capabilities = object.bind(py).getattr("capabilities")?;
        let conditional = capabilities.getattr("conditional")?.is_truthy()?;
        let batch = capabilities
            .getattr("batch")?
            .extract::<Option<usize>>()?
            .unwrap_or(BATCH);
        let inner = Arc::new(Adapter {
            object,
            conditional,
            batch: batch.max(1),
            writes: capabilities.getattr("writes")?.extract()?,
        });
        Ok(PyClassInitializer::from(Store { inner }).add_subclass(PyStore))
    }
}

struct Adapter {
    object: Py<PyAny>,
    conditional: bool,
    batch: usize,
    writes: usize,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyStore").finish_non_exhaustive()
    }
}

/// What Python gave for a key: its bytes, and the generation to name when it is replaced.
struct Found {
    data: Bytes,
    generation: Py<PyAny>,
}

impl Object for Found {
    fn size(&self) -> u64 {
        self.data.len() as u64
    }

    fn stamp(&self) -> Option<Stamp> {
        Python::attach(|py| stamp_of(self.generation.bind(py)))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        let wanted = dst.len() as u64;
        let (start, len) = resolve(
            ByteRange::Span {
                offset,
                len: wanted,
            },
            self.size(),
        );
        if len < wanted {
            return Err(StoreError::Short {
                key: String::new(),
                offset,
                wanted,
                size: self.size(),
            });
        }
        dst.copy_from_slice(&self.data[start as usize..(start + len) as usize]);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(&self.data)
    }
}

impl Adapter {
    fn fetch(&self, key: &str) -> Result<Option<Found>> {
        attached(|py| found(self.object.bind(py).call_method1("get", (key,))?))
    }

    /// Puts `new`, or deletes where there is none.
    fn send(&self, key: &str, new: Option<&[u8]>, expected: &Expected) -> Result<()> {
        attached(|py| {
            let object = self.object.bind(py);
            let expected = expected.to_python(py)?;
            match new {
                Some(data) => {
                    object.call_method1("put", (key, PyBytes::new(py, data), expected))?
                }
                None => object.call_method1("delete", (key, expected))?,
            };
            Ok(())
        })
    }

    /// One try. Whether it was this writer who was fast enough.
    fn try_edit(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Tried> {
        let current = if wants_current {
            self.fetch(key)?
        } else {
            None
        };
        let new = match edit(current.as_ref().map(|found| found as &dyn Object))? {
            Edit::Keep => return Ok(Tried::Done(None)),
            Edit::Put(data) => Some(data),
            Edit::Delete => None,
        };
        let expected = match current {
            _ if !(wants_current && self.conditional) => Expected::Any,
            None => Expected::Absent,
            Some(found) => Expected::Is(found.generation),
        };
        match self.send(key, new.as_deref(), &expected) {
            Err(error) if expected.is_condition() && is_conflict(&error) => Ok(Tried::Lost(error)),
            sent => sent.map(|()| Tried::Done(new)),
        }
    }
}

enum Tried {
    Done(Option<Vec<u8>>),
    Lost(Error),
}

impl CoreStore for Adapter {
    fn get(&self, key: &str, _hint: usize, _buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        Ok(self.fetch(key)?.map(|found| Fetched::Shared(found.data)))
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        Ok(self
            .fetch(key)?
            .map(|found| Box::new(found) as Box<dyn Object>))
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        // A store that cannot compare is at least safe from other threads of this process.
        let _lock = match self.conditional {
            true => None,
            false => Some(KeyLock::acquire(format!(
                "{:p}/{key}",
                self.object.as_ptr()
            ))?),
        };
        let mut pause = Backoff::default();
        for _ in 1..TRIES {
            match self.try_edit(key, wants_current, edit)? {
                Tried::Done(spare) => return Ok(spare),
                Tried::Lost(_) => pause.wait()?,
            }
        }
        match self.try_edit(key, wants_current, edit)? {
            Tried::Done(spare) => Ok(spare),
            Tried::Lost(error) => Err(error),
        }
    }

    fn batch(&self) -> Option<usize> {
        Some(self.batch)
    }

    fn writes_at_once(&self) -> usize {
        self.writes
    }

    fn get_many(&self, requests: &[Request]) -> Result<Vec<arrivals::Found>> {
        attached(|py| {
            let keys: Vec<&str> = requests
                .iter()
                .map(|request| request.key.as_str())
                .collect();
            let ranges = requests.iter().map(|request| py_range(py, request.range));
            let ranges = ranges.collect::<PyResult<Vec<_>>>()?;
            let answers = self
                .object
                .bind(py)
                .call_method1("get_many", (keys, ranges))?;
            let mut data = Vec::with_capacity(requests.len());
            for answer in answers.try_iter()? {
                data.push(found(answer?)?.map(|found| {
                    let stamp = stamp_of(found.generation.bind(py));
                    (found.data, stamp)
                }));
            }
            if data.len() != requests.len() {
                let (got, asked) = (data.len(), requests.len());
                let what = format!("get_many gave {got} answers to {asked} requests");
                return Err(pyo3::exceptions::PyValueError::new_err(what));
            }
            Ok(data)
        })
    }
}

/// What has to be there for a put or delete.
enum Expected {
    Any,
    Absent,
    Is(Py<PyAny>),
}

impl Expected {
    fn is_condition(&self) -> bool {
        !matches!(self, Expected::Any)
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = match self {
            Expected::Is(generation) => return Ok(generation.bind(py).clone()),
            Expected::Any => "ANY",
            Expected::Absent => "ABSENT",
        };
        py.import("blazarr.stores")?.getattr(name)
    }
}

fn attached<T>(body: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    leaving::attached(body).map_err(from_py)
}

/// `None`, or the pair of bytes and generation that `get` returned.
fn found(answer: Bound<'_, PyAny>) -> PyResult<Option<Found>> {
    if answer.is_none() {
        return Ok(None);
    }
    let (data, generation): (Bound<'_, PyAny>, Py<PyAny>) = answer.extract()?;
    Ok(Some(Found {
        data: Bytes::from_owner(Borrowed::new(&data)?),
        generation,
    }))
}

/// A generation in the engine's fixed size. Where it is nothing but itself (`object()`), the store tells no versions apart.
fn stamp_of(generation: &Bound<'_, PyAny>) -> Option<Stamp> {
    if generation
        .get_type()
        .is(generation.py().get_type::<PyAny>())
    {
        return None;
    }
    if let Ok(bytes) = generation.cast::<PyBytes>()
        && let ([a, b, c, d], []) = bytes.as_bytes().as_chunks::<8>()
    {
        return Some(Stamp([a, b, c, d].map(|word| u64::from_le_bytes(*word))));
    }
    if let Ok(number) = generation.extract::<u64>() {
        return Some(Stamp([0, 0, 1, number]));
    }
    let hash = generation.hash().ok()?;
    Some(Stamp([0, 0, 2, hash as u64]))
}

/// The slice of the object's bytes that `range` is.
fn py_range(py: Python<'_>, range: ByteRange) -> PyResult<Option<Bound<'_, PyAny>>> {
    let slice = py.get_type::<PySlice>();
    Ok(Some(match range {
        ByteRange::Whole => return Ok(None),
        ByteRange::Span { offset, len } => slice.call1((offset, offset.saturating_add(len)))?,
        ByteRange::Suffix(len) => slice.call1((-i128::from(len), py.None()))?,
    }))
}

fn is_conflict(error: &Error) -> bool {
    let Error::External(inner) = error else {
        return false;
    };
    let Some(exception) = inner.downcast_ref::<PyErr>() else {
        return false;
    };
    leaving::attached(|py| {
        let class = py
            .import("blazarr.errors")
            .and_then(|m| m.getattr("ConflictError"));
        class.is_ok_and(|class| exception.matches(py, class).unwrap_or(false))
    })
}
