//! The engine's errors as the classes of `blazarr.errors`, and the wall that panics do not pass.

use std::any::Any;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use blazarr_core::codec::{CodecError, CodecErrorKind};
use blazarr_core::error::{Error, Result};
use blazarr_core::io::{RemoteKind, StoreError};
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The Python exception for `err`. One that came from Python is that very exception.
pub fn to_py(err: Error) -> PyErr {
    Python::attach(|py| match err {
        Error::External(inner) => match inner.downcast::<PyErr>() {
            Ok(exception) => *exception,
            Err(other) => Report::new("StoreError", "store", other.to_string()).raise(py),
        },
        Error::Store(e) => from_store(py, e),
        Error::Codec {
            ref source,
            ref key,
            ref chunk,
        } => {
            let (class, kind) = codec_class(source);
            let report = Report::new(class, kind, err.to_string());
            let report = report.key(key).chunk(chunk).codec(&source.codec);
            with_cause(py, report, source)
        }
        Error::Shard { ref key, .. } => Report::new("CorruptError", "corrupt", err.to_string())
            .key(key)
            .raise(py),
        Error::Missing { ref key, ref chunk } => {
            let report = Report::new("ChunkMissingError", "chunk-missing", err.to_string());
            report.key(key).chunk(chunk).raise(py)
        }
        Error::Limit {
            wanted, allowed, ..
        } => {
            let report = Report::new("LimitError", "limit", err.to_string());
            report.size(wanted).limit(allowed).raise(py)
        }
        Error::OutOfMemory { bytes } => Report::new("LimitError", "memory", err.to_string())
            .size(bytes as u128)
            .raise(py),
        Error::Selection(what) => Report::new("SelectionError", "selection", what).raise(py),
        Error::Spec(what) => Report::new("MetadataError", "metadata", what).raise(py),
        Error::Internal(what) => Report::new("InternalError", "internal", what).raise(py),
    })
}

/// The engine's error that carries a Python exception.
pub fn from_py(err: PyErr) -> Error {
    Error::External(Box::new(err))
}

/// The exception for a codec that was run by itself, outside of any array.
pub fn from_codec(py: Python<'_>, source: &CodecError) -> PyErr {
    let (class, kind) = codec_class(source);
    let report = Report::new(class, kind, source.to_string()).codec(&source.codec);
    with_cause(py, report, source)
}

/// The exception for a codec's error. What a codec in Python raised stays itself where it is one of ours, or one that
/// says nothing of the codec; otherwise it is the cause.
fn with_cause(py: Python<'_>, report: Report<'_>, source: &CodecError) -> PyErr {
    let cause = source.cause.as_ref();
    let Some(raised) = cause.and_then(|cause| cause.0.downcast_ref::<PyErr>()) else {
        return report.raise(py);
    };
    let raised = raised.clone_ref(py);
    let ours = py
        .import("blazarr.errors")
        .and_then(|m| m.getattr("BlazarrError"));
    if ours.is_ok_and(|class| raised.matches(py, class).unwrap_or(false)) {
        return report.placed(py, raised);
    }
    if !raised.is_instance_of::<PyException>(py) || raised.is_instance_of::<PyMemoryError>(py) {
        return raised;
    }
    let error = report.raise(py);
    error.set_cause(py, Some(raised));
    error
}

/// Runs `body` with the interpreter's lock released; what goes wrong becomes an exception, panics
/// too.
pub fn detached<T: Send>(py: Python<'_>, body: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(body)));
    outcome
        .unwrap_or_else(|panic| Err(Error::Internal(panic_text(panic.as_ref()))))
        .map_err(to_py)
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panic: {}", text.unwrap_or("of unknown kind"))
}

fn codec_class(source: &CodecError) -> (&'static str, &'static str) {
    match source.kind {
        CodecErrorKind::Corrupt | CodecErrorKind::WrongSize => ("CorruptError", "corrupt"),
        CodecErrorKind::Checksum => ("CorruptError", "checksum"),
        CodecErrorKind::Unsupported => ("UnsupportedError", "unsupported"),
        CodecErrorKind::Config => ("MetadataError", "metadata"),
        CodecErrorKind::Encode => ("BlazarrError", "encode"),
        CodecErrorKind::Memory => ("LimitError", "memory"),
    }
}

fn from_store(py: Python<'_>, error: StoreError) -> PyErr {
    let message = error.to_string();
    match error {
        StoreError::Io { key, source, .. } => {
            let (class, kind) = io_class(source.kind());
            let raised = Report::new(class, kind, message).key(&key).raise(py);
            raised.set_cause(py, Some(os_error(source)));
            raised
        }
        StoreError::NoLocks { key, source } => {
            let advice = "if nobody else writes there, open the store with locking=\"none\"";
            let report = Report::new("StoreError", "no-locks", format!("{message}; {advice}"));
            let raised = report.key(&key).raise(py);
            raised.set_cause(py, Some(os_error(source)));
            raised
        }
        StoreError::ReadOnly { key } => Report::new("ReadOnlyError", "read-only", message)
            .key(&key)
            .raise(py),
        StoreError::Conflict { key } => Report::new("ConflictError", "conflict", message)
            .key(&key)
            .raise(py),
        StoreError::Short { key, offset, .. } => Report::new("CorruptError", "corrupt", message)
            .key(&key)
            .offset(offset)
            .raise(py),
        StoreError::BadKey { key, .. } => Report::new("BlazarrError", "key", message)
            .key(&key)
            .raise(py),
        StoreError::Remote(remote) => {
            let kind = match remote.kind {
                RemoteKind::Permission => "permission",
                RemoteKind::Deadline => "deadline",
                RemoteKind::Failed => "store",
            };
            let mut report = Report::new("StoreError", kind, message).key(&remote.key);
            report.store = Some(&remote.store);
            report.attempts = remote.attempts;
            report.deadline = remote.deadline;
            report.raise(py)
        }
    }
}

/// The exception that Python itself would raise, with its errno and of its class.
fn os_error(source: io::Error) -> PyErr {
    match source.raw_os_error() {
        Some(errno) => PyOSError::new_err((errno, source.to_string())),
        None => PyErr::from(source),
    }
}

fn io_class(kind: ErrorKind) -> (&'static str, &'static str) {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ("StoreError", "storage-full"),
        ErrorKind::PermissionDenied => ("StoreError", "permission"),
        ErrorKind::ReadOnlyFilesystem => ("ReadOnlyError", "read-only"),
        _ => ("StoreError", "store"),
    }
}

/// An exception in the making: its class, and the fields that name the place.
struct Report<'a> {
    class: &'static str,
    kind: &'static str,
    message: String,
    store: Option<&'a str>,
    key: Option<&'a str>,
    chunk: Option<&'a [u64]>,
    codec: Option<&'a str>,
    offset: Option<u64>,
    size: Option<u128>,
    limit: Option<u128>,
    attempts: Option<u32>,
    deadline: Option<Duration>,
}

impl<'a> Report<'a> {
    fn new(class: &'static str, kind: &'static str, message: String) -> Self {
        Report {
            class,
            kind,
            message,
            store: None,
            key: None,
            chunk: None,
            codec: None,
            offset: None,
            size: None,
            limit: None,
            attempts: None,
            deadline: None,
        }
    }

    fn key(mut self, key: &'a str) -> Self {
        // A memory object does not know its key.
        self.key = (!key.is_empty()).then_some(key);
        self
    }

    fn chunk(mut self, chunk: &'a [u64]) -> Self {
        self.chunk = Some(chunk);
        self
    }

    fn codec(mut self, codec: &'a str) -> Self {
        self.codec = Some(codec);
        self
    }

    fn offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    fn size(mut self, size: u128) -> Self {
        self.size = Some(size);
        self
    }

    fn limit(mut self, limit: u128) -> Self {
        self.limit = Some(limit);
        self
    }

    /// An exception of ours, which is told the place where it was raised.
    fn placed(&self, py: Python<'_>, raised: PyErr) -> PyErr {
        let chunk = self.chunk.map(|chunk| PyTuple::new(py, chunk)).transpose();
        let told = chunk.and_then(|chunk| {
            let place = (self.key, chunk, self.codec);
            raised.value(py).call_method1("locate_chunk", place)
        });
        told.err().unwrap_or(raised)
    }

    fn raise(self, py: Python<'_>) -> PyErr {
        self.build(py).unwrap_or_else(|e| e)
    }

    fn build(self, py: Python<'_>) -> PyResult<PyErr> {
        let fields = PyDict::new(py);
        fields.set_item("kind", self.kind)?;
        set(&fields, "store", self.store)?;
        set(&fields, "key", self.key)?;
        set(
            &fields,
            "chunk",
            self.chunk
                .map(|chunk| PyTuple::new(py, chunk))
                .transpose()?,
        )?;
        set(&fields, "codec", self.codec)?;
        set(&fields, "offset", self.offset)?;
        set(&fields, "size", self.size)?;
        set(&fields, "limit", self.limit)?;
        set(&fields, "attempts", self.attempts)?;
        let deadline = self.deadline.map(|deadline| deadline.as_secs_f64());
        set(&fields, "deadline", deadline)?;
        let class = py.import("blazarr.errors")?.getattr(self.class)?;
        Ok(PyErr::from_value(
            class.call((self.message,), Some(&fields))?,
        ))
    }
}

fn set<'py>(
    fields: &Bound<'py, PyDict>,
    name: &str,
    value: Option<impl IntoPyObject<'py>>,
) -> PyResult<()> {
    value.map_or(Ok(()), |value| fields.set_item(name, value))
}
