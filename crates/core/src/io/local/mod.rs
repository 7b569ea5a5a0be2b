//! A folder of files: every key is a path below the root.
//!
//! Paths are resolved at each call, so a folder that is moved or replaced is found again under its
//! name. A key whose parent is missing, or is a file, is missing, and so is one that is a folder;
//! whatever else the system refuses is an error.

#[cfg(not(unix))]
#[path = "slot_other.rs"]
mod slot;
#[cfg(unix)]
mod slot;

mod file;
mod links;
mod walk;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use self::file::LocalObject;
pub use self::links::Links;
use self::walk::Walk;
use super::key::Key;
use super::{
    ByteRange, Children, Condition, Edit, Fetched, KeyStore, Listing, Object, Stamp, Store,
    StoreError, resolve,
};
use crate::error::Result;
#[cfg(unix)]
use crate::io::Descriptor;

/// How writers of one key keep out of each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// Through a lock file beside the key.
    Flock,
    /// Not at all: for file systems without locks, where one writer at a time is the user's promise.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalStore {
    pub root: PathBuf,
    /// Whether a write returns only after it is on the disk.
    pub fsync: bool,
    pub locking: Locking,
    pub links: Links,
}

impl LocalStore {
    pub fn new(root: PathBuf) -> Self {
        LocalStore {
            root,
            fsync: false,
            locking: Locking::Flock,
            links: Links::Anywhere,
        }
    }

    fn path(&self, key: &str) -> Result<PathBuf, StoreError> {
        self.below(Key::parse(key)?.as_str())
    }

    fn folder(&self, folder: &str) -> Result<PathBuf, StoreError> {
        self.below(Key::parse_folder(folder)?)
    }

    fn below(&self, key: &str) -> Result<PathBuf, StoreError> {
        let path = self.root.join(key);
        self.links.check(&self.root, &path, key)?;
        Ok(path)
    }

    fn open_object(&self, key: &str) -> Result<Option<LocalObject>, StoreError> {
        LocalObject::open(&self.path(key)?, key)
    }
}

impl Store for LocalStore {
    fn get(&self, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        let Some(file) = file::open(&self.path(key)?, key)? else {
            return Ok(None);
        };
        buf.clear();
        let read = file::read_bounded(&file, key, hint, buf)?;
        Ok(read.then_some(Fetched::Buffered))
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        Ok(self
            .open_object(key)?
            .map(|object| Box::new(object) as Box<dyn Object>))
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        if wants_current {
            self.edit_current(key, edit)
        } else {
            self.replace(key, edit(None)?)
        }
    }

    #[cfg(unix)]
    fn replace_file(
        &self,
        key: &str,
        fill: &mut dyn FnMut(Descriptor) -> Result<()>,
    ) -> Result<bool> {
        self.fill_file(key, fill).map(|()| true)
    }
}

impl KeyStore for LocalStore {
    fn read(&self, key: &str, range: ByteRange) -> Result<Option<(Bytes, Stamp)>> {
        let Some(object) = self.open_object(key)? else {
            return Ok(None);
        };
        if !is_digested(key, object.size()) {
            return Ok(Some((Bytes::from(object.read(range)?), object.stamp)));
        }
        let bytes = Bytes::from(object.read(ByteRange::Whole)?);
        let stamp = document_stamp(&bytes);
        let (start, len) = resolve(range, bytes.len() as u64);
        Ok(Some((
            bytes.slice(start as usize..(start + len) as usize),
            stamp,
        )))
    }

    fn write(&self, key: &str, data: &[u8], condition: Condition) -> Result<Stamp> {
        let written = self.write_if(key, data, condition)?;
        Ok(if is_digested(key, data.len() as u64) {
            document_stamp(data)
        } else {
            written
        })
    }

    fn delete(&self, key: &str, condition: Condition) -> Result<bool> {
        self.delete_if(key, condition)
    }

    fn delete_folder(&self, folder: &str) -> Result<()> {
        match fs::remove_dir_all(self.folder(folder)?) {
            Err(e) if !is_missing(&e) => Err(failed(folder, "delete", e).into()),
            _ => Ok(()),
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        match fs::metadata(self.path(key)?) {
            Ok(meta) if meta.is_file() => Ok(Some(meta.len())),
            Ok(_) => Ok(None),
            Err(e) if is_missing(&e) => Ok(None),
            Err(e) => Err(failed(key, "look at", e).into()),
        }
    }

    fn list(&self, prefix: &str, start_after: &str) -> Result<Box<dyn Listing>> {
        Ok(Box::new(Walk::new(
            &self.root,
            self.links,
            prefix,
            start_after,
        )?))
    }

    fn children(&self, folder: &str) -> Result<Children> {
        walk::children(&self.folder(folder)?, folder, &|path| {
            self.links.allow(&self.root, path)
        })
    }
}

/// A document's stamp is a digest of its bytes. A file's own (inode, time) would do only where the
/// file system keeps time finely, and a metadata update that is lost does more harm than a second
/// look at a few thousand bytes costs.
fn document_stamp(bytes: &[u8]) -> Stamp {
    use std::hash::{DefaultHasher, Hasher};
    let digest = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        hasher.write(bytes);
        hasher.finish()
    };
    Stamp([bytes.len() as u64, digest(0), digest(1), digest(2)])
}

/// Whether the stamp is a digest, for which all is read whatever part is asked for. No document is
/// as large as the limit.
fn is_digested(key: &str, size: u64) -> bool {
    size <= 64 << 20 && Key::parse(key).is_ok_and(Key::is_document)
}

/// Missing, and not merely out of reach.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn failed(key: &str, op: &'static str, source: io::Error) -> StoreError {
    StoreError::Io {
        key: key.to_owned(),
        op,
        source,
    }
}

/// The lock file of a key's file.
fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
