//! Where there is no `flock`: writers of one key keep apart within this process only, and the new
//! content goes through a file of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::file::stamp;
use super::{beside, failed};
use crate::error::Result;
use crate::io::key::LOCK_SUFFIX;
use crate::io::keylock::KeyLock;
use crate::io::{Stamp, StoreError};

#[derive(Debug)]
pub(super) struct Slot {
    /// `None` once it has its place: an open file cannot be removed here.
    file: Option<File>,
    path: PathBuf,
    _lock: Option<KeyLock>,
}

impl Slot {
    /// A file beside the key while no other thread writes it; `None` where its folder is missing.
    pub(super) fn locked(target: &Path, key: &str) -> Result<Option<Slot>> {
        let lock = KeyLock::acquire(target.to_string_lossy().into_owned())?;
        let slot = Slot::unlocked(target, key)?;
        Ok(slot.map(|mut slot| {
            slot._lock = Some(lock);
            slot
        }))
    }

    /// A file of our own beside the key; `None` where its folder does not exist.
    pub(super) fn unlocked(target: &Path, key: &str) -> Result<Option<Slot>, StoreError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = beside(target, &format!(".{}.{n}{LOCK_SUFFIX}", process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Some(Slot {
                        file: Some(file),
                        path,
                        _lock: None,
                    }));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(failed(key, "write", e)),
            }
        }
    }

    /// Makes `data` the key's content.
    pub(super) fn commit(mut self, target: &Path, data: &[u8], fsync: bool) -> io::Result<Stamp> {
        let Some(mut file) = self.file.as_ref() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        file.write_all(data)?;
        if fsync {
            file.sync_data()?;
        }
        let stamp = stamp(&file.metadata()?);
        self.file = None;
        fs::rename(&self.path, target)?;
        Ok(stamp)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.file = None;
        // Gone already after a commit; errors have nowhere to go here.
        let _ = fs::remove_file(&self.path);
    }
}

/// Names are durable here with the files themselves.
pub(super) fn sync_parent(_path: &Path) -> io::Result<()> {
    Ok(())
}
