//! Bytes at hand and parts of objects, as objects: inner chunks and shards within shards.

use super::{Object, Stamp, StoreError};

/// Bytes at hand as an object. The key is that of the object they come from.
#[derive(Clone, Copy, Debug)]
pub struct InMemory<'a> {
    key: &'a str,
    bytes: &'a [u8],
}

impl<'a> InMemory<'a> {
    pub fn new(key: &'a str, bytes: &'a [u8]) -> Self {
        InMemory { key, bytes }
    }
}

impl Object for InMemory<'_> {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn stamp(&self) -> Option<Stamp> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        let start = usize::try_from(offset).ok();
        let wanted = start.and_then(|start| self.bytes.get(start..start.checked_add(dst.len())?));
        let Some(bytes) = wanted else {
            return Err(short(self.key, offset, dst.len(), self.size()));
        };
        dst.copy_from_slice(bytes);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self.bytes)
    }
}

/// A part of an object as an object.
pub struct Window<'a> {
    key: &'a str,
    object: &'a dyn Object,
    start: u64,
    len: u64,
}

impl<'a> Window<'a> {
    /// The `len` bytes of `object` from `start` on, which must lie in it.
    pub fn new(key: &'a str, object: &'a dyn Object, start: u64, len: u64) -> Self {
        Window {
            key,
            object,
            start,
            len,
        }
    }
}

impl std::fmt::Debug for Window<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Window({} bytes at {} of {:?})",
            self.len, self.start, self.key
        )
    }
}

impl Object for Window<'_> {
    fn size(&self) -> u64 {
        self.len
    }

    fn stamp(&self) -> Option<Stamp> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        match offset.checked_add(dst.len() as u64) {
            Some(end) if end <= self.len => self.object.read_at(self.start + offset, dst),
            _ => Err(short(self.key, offset, dst.len(), self.len)),
        }
    }

    fn in_memory(&self) -> Option<&[u8]> {
        let all = self.object.in_memory()?;
        all.get(self.start as usize..(self.start + self.len) as usize)
    }
}

/// An object of which parts are at hand, in order.
#[derive(Debug)]
pub struct Parts<'a> {
    pub key: String,
    pub size: u64,
    pub parts: Vec<(u64, &'a [u8])>,
}

impl Object for Parts<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn stamp(&self) -> Option<Stamp> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        let after = self.parts.partition_point(|(start, _)| *start <= offset);
        let found = after.checked_sub(1).and_then(|n| {
            let (start, bytes) = self.parts[n];
            let from = usize::try_from(offset - start).ok()?;
            bytes.get(from..from.checked_add(dst.len())?)
        });
        let Some(bytes) = found else {
            let end = |(start, bytes): &(u64, &[u8])| start + bytes.len() as u64;
            let size = self.parts.last().map_or(0, end);
            return Err(short(&self.key, offset, dst.len(), size));
        };
        dst.copy_from_slice(bytes);
        Ok(())
    }

    fn has_gaps(&self) -> bool {
        self.in_memory().is_none()
    }

    fn in_memory(&self) -> Option<&[u8]> {
        match self.parts[..] {
            [(0, bytes)] if bytes.len() as u64 == self.size => Some(bytes),
            _ => None,
        }
    }
}

fn short(key: &str, offset: u64, wanted: usize, size: u64) -> StoreError {
    StoreError::Short {
        key: key.to_owned(),
        offset,
        wanted: wanted as u64,
        size,
    }
}
