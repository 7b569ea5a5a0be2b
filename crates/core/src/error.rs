//! The error of the engine, one enum above the codecs' and the stores' own.

use std::fmt;

use crate::codec::CodecError;
use crate::io::StoreError;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong while a plan was made or run. The border turns each variant into one Python exception.
#[derive(Debug)]
pub enum Error {
    /// The bytes under `key` do not decode to what the metadata says.
    Codec {
        key: String,
        chunk: Vec<u64>,
        source: CodecError,
    },
    /// A shard's index, or what it points at, is wrong.
    Shard { key: String, what: String },
    /// The store failed.
    Store(StoreError),
    /// A chunk is absent and the caller asked for an error.
    Missing { key: String, chunk: Vec<u64> },
    /// More memory or more parts than the limits allow.
    Limit {
        what: String,
        wanted: u128,
        allowed: u128,
        knob: &'static str,
    },
    /// Memory could not be had.
    OutOfMemory { bytes: usize },
    /// A selection does not fit the array.
    Selection(String),
    /// The array's description is inconsistent.
    Spec(String),
    /// Somebody else's error (a Python exception) carried through unchanged.
    External(Box<dyn std::error::Error + Send + Sync>),
    /// A fault of this library.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Codec { key, chunk, source } => {
                write!(f, "chunk {chunk:?} (key {key:?}): {source}")
            }
            Error::Shard { key, what } => write!(f, "shard {key:?}: {what}"),
            Error::Store(e) => e.fmt(f),
            Error::Missing { key, chunk } => write!(f, "chunk {chunk:?} (key {key:?}) is missing"),
            Error::Limit {
                what,
                wanted,
                allowed,
                knob,
            } => {
                write!(
                    f,
                    "{what} needs {wanted}, more than the {allowed} allowed by {knob}"
                )
            }
            Error::OutOfMemory { bytes } => write!(f, "could not allocate {bytes} bytes"),
            Error::Selection(what) | Error::Spec(what) => f.write_str(what),
            Error::External(e) => e.fmt(f),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Codec { source, .. } => Some(source),
            Error::Store(e) => Some(e),
            _ => None,
        }
    }
}

impl From<StoreError> for Error {
    fn from(e: StoreError) -> Self {
        Error::Store(e)
    }
}
