//! Files opened for reading.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::{failed, is_missing};
use crate::error::{Error, Result};
#[cfg(unix)]
use crate::io::Descriptor;
use crate::io::{ByteRange, Object, Stamp, StoreError, length, resolve};

/// What is reserved at most before a file's size is known: of some codecs' data no bound is known that means much.
const EAGER: usize = 64 << 20;

/// Room for a small file whose size is not known.
const SMALL: usize = 8 << 10;

/// Opens `path`, or `None` where it does not exist. A named pipe in place of a file must not hold
/// us up, hence non-blocking.
pub(super) fn open(path: &Path, key: &str) -> Result<Option<File>, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(failed(key, "open", e)),
    }
}

/// Appends the file's content to `buf`; `false` where it is a folder, which is no object and holds
/// no bytes. `hint` is the size expected at most; it spares the question for the true one.
pub(super) fn read_bounded(file: &File, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<bool> {
    // One byte more, so that the end of a file as long as expected is seen without growing.
    reserve(buf, hint.clamp(SMALL, EAGER).saturating_add(1))?;
    loop {
        match read_some(file, buf) {
            Ok(0) => return Ok(true),
            // There was room for more than came; where no more is expected, the end is not asked for.
            Ok(_) if buf.len() < buf.capacity() => {
                if buf.len() == hint {
                    return Ok(true);
                }
            }
            Ok(_) => grow(file, key, hint, buf)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::IsADirectory => return Ok(false),
            Err(e) => return Err(failed(key, "read", e).into()),
        }
    }
}

fn grow(file: &File, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<()> {
    let size = file
        .metadata()
        .map_err(|e| failed(key, "look at", e))?
        .len();
    let wanted = length::checked(key, size.max(buf.len() as u64 + SMALL as u64), hint)?;
    reserve(buf, (wanted - buf.len()).saturating_add(1))
}

fn reserve(buf: &mut Vec<u8>, more: usize) -> Result<()> {
    buf.try_reserve_exact(more)
        .map_err(|_| Error::OutOfMemory { bytes: more })
}

/// Reads once into the buffer's free space.
#[cfg(unix)]
fn read_some(file: &File, buf: &mut Vec<u8>) -> io::Result<usize> {
    use std::os::fd::AsRawFd;
    let free = buf.spare_capacity_mut();
    // SAFETY: the kernel writes at most `free.len()` bytes there.
    let n = unsafe { libc::read(file.as_raw_fd(), free.as_mut_ptr().cast(), free.len()) };
    let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the first `n` bytes of the free space have just been written.
    unsafe { buf.set_len(buf.len() + n) };
    Ok(n)
}

#[cfg(not(unix))]
fn read_some(mut file: &File, buf: &mut Vec<u8>) -> io::Result<usize> {
    let old = buf.len();
    buf.resize(buf.capacity(), 0);
    let read = io::Read::read(&mut file, &mut buf[old..]);
    buf.truncate(old + *read.as_ref().unwrap_or(&0));
    read
}

/// A file held open.
#[derive(Debug)]
pub(super) struct LocalObject {
    file: File,
    key: String,
    size: u64,
    pub(super) stamp: Stamp,
}

impl LocalObject {
    pub(super) fn open(path: &Path, key: &str) -> Result<Option<Self>, StoreError> {
        let Some(file) = open(path, key)? else {
            return Ok(None);
        };
        let meta = file.metadata().map_err(|e| failed(key, "look at", e))?;
        if meta.is_dir() {
            return Ok(None);
        }
        let (size, stamp) = (meta.len(), stamp(&meta));
        Ok(Some(LocalObject {
            file,
            key: key.to_owned(),
            size,
            stamp,
        }))
    }

    pub(super) fn read(&self, range: ByteRange) -> Result<Vec<u8>> {
        let (offset, len) = resolve(range, self.size);
        let mut bytes = Vec::new();
        let len = usize::try_from(len).map_err(|_| Error::OutOfMemory { bytes: usize::MAX })?;
        bytes
            .try_reserve_exact(len)
            .map_err(|_| Error::OutOfMemory { bytes: len })?;
        bytes.resize(len, 0);
        self.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }
}

impl Object for LocalObject {
    fn size(&self) -> u64 {
        self.size
    }

    fn stamp(&self) -> Option<Stamp> {
        Some(self.stamp)
    }

    #[cfg(unix)]
    fn descriptor(&self) -> Result<Option<Descriptor>, StoreError> {
        let own = self.file.try_clone();
        own.map(|file| Some(file.into()))
            .map_err(|e| failed(&self.key, "open", e))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        read_exact_at(&self.file, dst, offset).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => StoreError::Short {
                key: self.key.clone(),
                offset,
                wanted: dst.len() as u64,
                size: self.size,
            },
            _ => failed(&self.key, "read", e),
        })
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, dst: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, dst, offset)
}

#[cfg(not(unix))]
fn read_exact_at(file: &File, mut dst: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !dst.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_read(file, dst, offset)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        dst = &mut dst[n..];
        offset += n as u64;
    }
    Ok(())
}

/// Every write makes another file, and sets its time to the nanosecond: within a tick of the file
/// system's own clock an inode may be freed and used again.
#[cfg(unix)]
pub(super) fn stamp(meta: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let time = meta
        .mtime()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(meta.mtime_nsec());
    Stamp([meta.dev(), meta.ino(), time as u64, meta.size()])
}

#[cfg(not(unix))]
pub(super) fn stamp(meta: &Metadata) -> Stamp {
    let since = meta
        .modified()
        .ok()
        .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    Stamp([0, 0, since.map_or(0, |t| t.as_nanos() as u64), meta.len()])
}
