//! Where bytes lie: the store interface of the engine, the local folder and memory.

pub mod arrivals;
pub mod handed;
pub mod key;
pub mod keylock;
pub mod length;
pub mod local;
pub mod memory;
pub mod part;
pub mod readonly;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arrivals::{Arrivals, Asker, Found};
use bytes::Bytes;

use crate::error::{Error, Result};

/// Why a store could not do what it was asked.
#[derive(Debug)]
pub enum StoreError {
    /// The operating system said no.
    Io {
        key: String,
        op: &'static str,
        source: io::Error,
    },
    /// The store was opened for reading.
    ReadOnly { key: String },
    /// Another writer changed the key between reading and writing.
    Conflict { key: String },
    /// The object is shorter than the range asked for.
    Short {
        key: String,
        offset: u64,
        wanted: u64,
        size: u64,
    },
    /// Not a key: empty segment, `..`, leading slash, NUL, drive letter.
    BadKey { key: String, why: &'static str },
    /// The file system has no locks; see `locking`.
    NoLocks { key: String, source: io::Error },
    /// A server far away did not do what it was asked.
    Remote(Box<Remote>),
}

/// What went wrong with a server.
#[derive(Debug)]
pub struct Remote {
    /// The store's name.
    pub store: String,
    pub key: String,
    pub kind: RemoteKind,
    pub what: String,
    /// How often it was asked.
    pub attempts: Option<u32>,
    /// The time that was up.
    pub deadline: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteKind {
    /// It refuses access.
    Permission,
    /// It did not answer in time.
    Deadline,
    /// Anything else.
    Failed,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Io { key, op, source } => write!(f, "{op} {key:?}: {source}"),
            StoreError::ReadOnly { key } => {
                write!(f, "the store is read-only; cannot change {key:?}")
            }
            StoreError::Conflict { key } => write!(f, "{key:?} was changed by another writer"),
            StoreError::Short {
                key,
                offset,
                wanted,
                size,
            } => {
                write!(
                    f,
                    "{key:?} has {size} bytes, but {wanted} bytes at offset {offset} were wanted"
                )
            }
            StoreError::BadKey { key, why } => write!(f, "{key:?} is not a store key: {why}"),
            StoreError::NoLocks { key, source } => {
                write!(f, "{key:?} cannot be locked here ({source})")
            }
            StoreError::Remote(remote) => {
                write!(f, "{}: {:?}: {}", remote.store, remote.key, remote.what)
            }
        }
    }
}

impl std::error::Error for StoreError {}

/// What names a version of an object: equal stamps mean equal bytes (device, inode, time and size of a file; a
/// counter in memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(pub [u64; 4]);

/// An open file that others may read, or write, on their own.
#[cfg(unix)]
pub type Descriptor = std::os::fd::OwnedFd;
/// There are none here.
#[cfg(not(unix))]
pub type Descriptor = std::convert::Infallible;

/// An object held open, for several reads.
pub trait Object: Send + Sync {
    fn size(&self) -> u64;

    fn stamp(&self) -> Option<Stamp>;

    /// Fills `dst` from `offset` on; shorter is [`StoreError::Short`].
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError>;

    /// All bytes, where they lie in memory already.
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }

    /// The file that holds its bytes as they are, where there is one.
    fn descriptor(&self) -> Result<Option<Descriptor>, StoreError> {
        Ok(None)
    }

    /// Whether only parts of it are at hand, so that what lies between them cannot be read.
    fn has_gaps(&self) -> bool {
        false
    }
}

/// Bytes that a store handed out.
#[derive(Debug)]
pub enum Fetched {
    /// They are the whole content of the buffer passed in.
    Buffered,
    /// They lie in memory that the store keeps.
    Shared(bytes::Bytes),
}

/// What an edit makes of a key.
#[derive(Debug)]
pub enum Edit {
    Keep,
    Put(Vec<u8>),
    Delete,
}

/// One whole key or a part of it, for [`Store::get_many`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub key: String,
    pub range: ByteRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    Whole,
    Span { offset: u64, len: u64 },
    Suffix(u64),
}

/// Keys and bytes. Calls block; the engine makes them from its own threads and never while it holds a lock of
/// Python's.
pub trait Store: Send + Sync + fmt::Debug {
    /// All bytes of `key`, or `None` where it does not exist. `hint` is the size expected at most; the content of
    /// `buf` is replaced (its capacity is reused) when the answer is [`Fetched::Buffered`].
    fn get(&self, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<Option<Fetched>>;

    /// Opens `key` for several reads.
    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>>;

    /// Replaces what is under `key` by what `edit` makes of it, atomically: readers see the old bytes or the new, a
    /// failure or kill leaves the old, and no other update of this key comes between. `edit` is given the present
    /// object where `wants_current` (else `None`), and may be called again when another writer was faster. The buffer
    /// comes back for reuse where the store does not keep it.
    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>>;

    /// Replaces what is under `key` by what `fill` writes into an empty file, as atomically as [`Store::update`]; `false`
    /// where the store has no files.
    fn replace_file(
        &self,
        _key: &str,
        _fill: &mut dyn FnMut(Descriptor) -> Result<()>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Whether [`Store::update`] deletes nothing but what it has shown.
    fn deletes_conditionally(&self) -> bool {
        true
    }

    /// `Some(n)` where requests are better made `n` at a time through [`Store::get_many`] (Python and network stores)
    /// than one by one from the decoding threads.
    fn batch(&self) -> Option<usize> {
        None
    }

    /// How many writes may well wait for an answer at a time, where these are more than threads that work.
    fn writes_at_once(&self) -> usize {
        1
    }

    /// Asks for many reads whose answers come in one by one; `None` where [`Store::get_many`] has to do.
    fn asker(&self, _arrivals: &Arc<Arrivals>) -> Result<Option<Box<dyn Asker>>> {
        Ok(None)
    }

    /// Many reads at once, answers in order; only where [`Store::batch`] says so.
    fn get_many(&self, _requests: &[Request]) -> Result<Vec<Found>> {
        Err(Error::Internal(
            "this store does not take requests in batches".to_owned(),
        ))
    }
}

/// What has to be under a key for a write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Any,
    Absent,
    Is(Stamp),
}

impl Condition {
    /// An error where `current` is not what was expected.
    pub fn check(self, key: &str, current: Option<Stamp>) -> Result<(), StoreError> {
        match (self, current) {
            (Condition::Any, _) | (Condition::Absent, None) => Ok(()),
            (Condition::Is(expected), Some(present)) if expected == present => Ok(()),
            _ => Err(StoreError::Conflict {
                key: key.to_owned(),
            }),
        }
    }
}

/// What lies directly in a folder: names of keys, and names of folders that hold further keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Children {
    pub keys: Vec<String>,
    pub folders: Vec<String>,
}

/// A part of a listing, in the order of the keys, each with its size. The listing is over when it is empty.
pub type Page = Vec<(String, u64)>;

/// A listing under way.
pub trait Listing: Send + Sync {
    fn next_page(&mut self, limit: usize) -> Result<Page>;
}

/// What a store's own users need beyond reading and writing chunks: conditions, parts, listings.
pub trait KeyStore: Store {
    /// The bytes of `range`, cut off at the object's end, and the stamp of the whole object.
    fn read(&self, key: &str, range: ByteRange) -> Result<Option<(Bytes, Stamp)>>;

    /// The same for many, in their order.
    fn read_many(&self, requests: &[Request]) -> Result<Vec<Option<(Bytes, Stamp)>>> {
        requests
            .iter()
            .map(|request| self.read(&request.key, request.range))
            .collect()
    }

    fn write(&self, key: &str, data: &[u8], condition: Condition) -> Result<Stamp>;

    /// Whether there was something to delete.
    fn delete(&self, key: &str, condition: Condition) -> Result<bool>;

    /// Deletes every key below the folder.
    fn delete_folder(&self, folder: &str) -> Result<()>;

    fn size(&self, key: &str) -> Result<Option<u64>>;

    /// Keys that begin with `prefix` and come after `start_after`.
    fn list(&self, prefix: &str, start_after: &str) -> Result<Box<dyn Listing>>;

    fn children(&self, folder: &str) -> Result<Children>;
}

/// Where `range` lies in an object of `size` bytes, as offset and length.
pub fn resolve(range: ByteRange, size: u64) -> (u64, u64) {
    match range {
        ByteRange::Whole => (0, size),
        ByteRange::Span { offset, len } => {
            let start = offset.min(size);
            (start, len.min(size - start))
        }
        ByteRange::Suffix(len) => (size - len.min(size), len.min(size)),
    }
}
