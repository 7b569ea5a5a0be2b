//! The file that the next content of a key is written into, and renamed over the key when it is
//! complete.
//!
//! With locking it is the key's lock file as well. Lock, unfinished write and leftover are one
//! file: a killed writer's is found unlocked and used again by the next.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::file::stamp;
use super::{beside, failed};
use crate::error::Result;
use crate::io::key::LOCK_SUFFIX;
use crate::io::keylock::Backoff;
use crate::io::{Descriptor, Stamp, StoreError};

#[derive(Debug)]
pub(super) struct Slot {
    file: File,
    path: PathBuf,
    /// Whether the file is still at its path, to be removed.
    present: bool,
    /// Whether a killed writer left something in it.
    leftover: bool,
}

impl Slot {
    /// The key's lock file, once nobody else holds it; `None` where its folder does not exist.
    pub(super) fn locked(target: &Path, key: &str) -> Result<Option<Slot>> {
        let path = beside(target, LOCK_SUFFIX);
        let mut pause = Backoff::default();
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(failed(key, "lock", e).into()),
            };
            match try_lock(&file, key) {
                Ok(true) => {}
                Ok(false) => {
                    pause.wait()?;
                    continue;
                }
                Err(error) => {
                    // Where nothing can be locked the file is of no use to anybody.
                    if matches!(size_if_at(&file, &path), Ok(Some(0))) {
                        let _ = fs::remove_file(&path);
                    }
                    return Err(error.into());
                }
            }
            // Whoever held it may have renamed it over the key, or removed it.
            if let Some(size) = size_if_at(&file, &path).map_err(|e| failed(key, "lock", e))? {
                return Ok(Some(Slot {
                    file,
                    path,
                    present: true,
                    leftover: size > 0,
                }));
            }
        }
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
                        file,
                        path,
                        present: true,
                        leftover: false,
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
        if self.leftover {
            self.file.set_len(0)?;
        }
        self.file.write_all(data)?;
        self.complete(target, fsync)
    }

    /// The empty file, for somebody else to write into.
    pub(super) fn emptied(&self) -> io::Result<Descriptor> {
        self.file.set_len(0)?;
        Ok(self.file.try_clone()?.into())
    }

    /// Makes what was written into the file the key's content.
    pub(super) fn complete(mut self, target: &Path, fsync: bool) -> io::Result<Stamp> {
        match self.file.set_modified(SystemTime::now()) {
            // Another user's leftover: its time is the kernel's, to a few milliseconds.
            Err(e) if self.leftover && e.kind() == io::ErrorKind::PermissionDenied => {}
            set => set?,
        }
        if fsync {
            self.file.sync_data()?;
        }
        self.present = size_if_at(&self.file, &self.path)?.is_some();
        if !self.present {
            // Somebody deleted the folder; what may lie at the path now is another writer's.
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "its unfinished file was deleted while it was written",
            ));
        }
        fs::rename(&self.path, target)?;
        self.present = false;
        if fsync {
            sync_parent(target)?;
        }
        Ok(stamp(&self.file.metadata()?))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Errors have nowhere to go here, and an empty file left behind is used again.
        let ours = self.present && matches!(size_if_at(&self.file, &self.path), Ok(Some(_)));
        if ours && fs::remove_file(&self.path).is_err() {
            let _ = self.file.set_len(0);
        }
        // Closing is not enough where a child that was forked meanwhile has the file as well.
        // SAFETY: the descriptor is open.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Whether the lock is ours now.
fn try_lock(file: &File, key: &str) -> Result<bool, StoreError> {
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(true);
        }
        let source = io::Error::last_os_error();
        match source.raw_os_error() {
            Some(libc::EWOULDBLOCK) => return Ok(false),
            Some(libc::EINTR) => {}
            Some(libc::ENOLCK | libc::ENOTSUP | libc::ENOSYS | libc::EINVAL) => {
                return Err(StoreError::NoLocks {
                    key: key.to_owned(),
                    source,
                });
            }
            _ => return Err(failed(key, "lock", source)),
        }
    }
}

/// The file's size, where it is an ordinary file and the one at `path`.
fn size_if_at(file: &File, path: &Path) -> io::Result<Option<u64>> {
    let held = file.metadata()?;
    if !held.is_file() {
        return Err(io::Error::other("the lock file is not an ordinary file"));
    }
    match fs::symlink_metadata(path) {
        Ok(there) if (there.dev(), there.ino()) == (held.dev(), held.ino()) => Ok(Some(held.len())),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Makes the names in the folder of `path` survive a power loss.
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
