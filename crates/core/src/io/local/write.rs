//! Writing and deleting: the old content or the new, whatever happens.

use std::fs;
use std::io;
use std::path::Path;

use super::file::LocalObject;
use super::slot::{Slot, sync_parent};
use super::{LocalStore, Locking, document_stamp, failed, is_digested, is_missing};
use crate::error::{Error, Result};
#[cfg(unix)]
use crate::io::Descriptor;
use crate::io::{ByteRange, Condition, Edit, Object, Stamp, StoreError};

/// How often a folder that somebody else deletes again is made for one write.
const FOLDER_TRIES: usize = 16;

impl LocalStore {
    /// Makes of the present content what `edit` says, under the lock.
    pub(super) fn edit_current(
        &self,
        key: &str,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        let target = self.path(key)?;
        let slot = self.slot(&target, key)?;
        let current = LocalObject::open(&target, key)?;
        match edit(current.as_ref().map(|object| object as &dyn Object))? {
            Edit::Keep => Ok(None),
            Edit::Put(data) => {
                self.commit(slot, &target, key, &data)?;
                Ok(Some(data))
            }
            Edit::Delete => {
                self.unlink(&target, key)?;
                Ok(None)
            }
        }
    }

    /// Carries out an edit that did not look at the present content.
    pub(super) fn replace(&self, key: &str, edit: Edit) -> Result<Option<Vec<u8>>> {
        match edit {
            Edit::Keep => Ok(None),
            Edit::Put(data) => {
                self.write_if(key, &data, Condition::Any)?;
                Ok(Some(data))
            }
            Edit::Delete => self.delete_if(key, Condition::Any).map(|_| None),
        }
    }

    pub(super) fn write_if(&self, key: &str, data: &[u8], condition: Condition) -> Result<Stamp> {
        let target = self.path(key)?;
        let slot = match condition {
            Condition::Any => self.slot_unread(&target, key)?,
            _ => self.slot(&target, key)?,
        };
        self.check(&target, key, condition)?;
        self.commit(slot, &target, key, data)
    }

    /// Makes what `fill` writes into an empty file the key's content.
    #[cfg(unix)]
    pub(super) fn fill_file(
        &self,
        key: &str,
        fill: &mut dyn FnMut(Descriptor) -> Result<()>,
    ) -> Result<()> {
        let target = self.path(key)?;
        let slot = self.slot_unread(&target, key)?;
        let failed = |e| failed(key, "write", e);
        fill(slot.emptied().map_err(failed)?)?;
        slot.complete(&target, self.fsync).map_err(failed)?;
        Ok(())
    }

    pub(super) fn delete_if(&self, key: &str, condition: Condition) -> Result<bool> {
        let target = self.path(key)?;
        if condition == Condition::Any && !exists(&target, key)? {
            return Ok(false);
        }
        let slot = match self.locking {
            Locking::None => None,
            Locking::Flock => match Slot::locked(&target, key) {
                Err(Error::Store(StoreError::NoLocks { .. })) if condition == Condition::Any => {
                    None
                }
                slot => slot?,
            },
        };
        self.check(&target, key, condition)?;
        let deleted = self.unlink(&target, key);
        drop(slot);
        deleted
    }

    /// The file to write into; folders are made where they are missing.
    fn slot(&self, target: &Path, key: &str) -> Result<Slot> {
        with_folder(target, key, self.fsync, || match self.locking {
            Locking::Flock => Slot::locked(target, key),
            Locking::None => Ok(Slot::unlocked(target, key)?),
        })
    }

    /// The same where nothing was read, so that there is nothing that a lock would protect.
    fn slot_unread(&self, target: &Path, key: &str) -> Result<Slot> {
        match self.slot(target, key) {
            Err(Error::Store(StoreError::NoLocks { .. })) => {
                with_folder(target, key, self.fsync, || Ok(Slot::unlocked(target, key)?))
            }
            slot => slot,
        }
    }

    fn commit(&self, slot: Slot, target: &Path, key: &str, data: &[u8]) -> Result<Stamp> {
        Ok(slot
            .commit(target, data, self.fsync)
            .map_err(|e| failed(key, "write", e))?)
    }

    fn unlink(&self, target: &Path, key: &str) -> Result<bool> {
        match fs::remove_file(target) {
            Ok(()) if self.fsync => sync_parent(target).map_err(|e| failed(key, "delete", e))?,
            Ok(()) => {}
            Err(e) if is_missing(&e) => return Ok(false),
            Err(e) => return Err(failed(key, "delete", e).into()),
        }
        Ok(true)
    }

    fn check(&self, target: &Path, key: &str, condition: Condition) -> Result<()> {
        if condition == Condition::Any {
            return Ok(());
        }
        let present = match LocalObject::open(target, key)? {
            Some(object) if is_digested(key, object.size()) => {
                Some(document_stamp(&object.read(ByteRange::Whole)?))
            }
            object => object.map(|object| object.stamp),
        };
        Ok(condition.check(key, present)?)
    }
}

/// What `open` gives, after making the folder of `target` where it gives nothing for want of it.
fn with_folder(
    target: &Path,
    key: &str,
    fsync: bool,
    mut open: impl FnMut() -> Result<Option<Slot>>,
) -> Result<Slot> {
    for _ in 0..FOLDER_TRIES {
        if let Some(slot) = open()? {
            return Ok(slot);
        }
        if let Some(folder) = target.parent() {
            make_folder(folder, fsync).map_err(|e| failed(key, "make the folder of", e))?;
        }
    }
    Err(failed(key, "make the folder of", io::ErrorKind::NotFound.into()).into())
}

fn make_folder(folder: &Path, fsync: bool) -> io::Result<()> {
    match fs::create_dir(folder) {
        Ok(()) if fsync => sync_parent(folder),
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => match folder.parent() {
            Some(parent) => make_folder(parent, fsync).and_then(|()| make_folder(folder, fsync)),
            None => Err(e),
        },
        Err(e) => Err(e),
    }
}

fn exists(target: &Path, key: &str) -> Result<bool, StoreError> {
    match fs::symlink_metadata(target) {
        Ok(_) => Ok(true),
        Err(e) if is_missing(&e) => Ok(false),
        Err(e) => Err(failed(key, "look at", e)),
    }
}
