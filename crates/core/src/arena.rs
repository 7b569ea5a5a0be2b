//! Scratch memory, kept by each thread and reused from chunk to chunk.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use crate::error::{Error, Result};
use crate::plan::Job;

/// Buffers larger than this are given back after the chunk that needed them.
const KEEP: usize = 64 << 20;

/// What one job works with.
#[derive(Debug, Default)]
pub struct Arena {
    /// Encoded bytes as the store gave them.
    pub fetched: Vec<u8>,
    /// Outputs of codec steps, used in turn.
    pub front: Vec<u8>,
    pub back: Vec<u8>,
    /// A decoded chunk that is being changed.
    pub chunk: Vec<u8>,
    /// Encoded bytes on their way to the store.
    pub encoded: Vec<u8>,
    pub key: String,
    pub job: Job,
}

thread_local! {
    // Boxed, so that a lease moves a pointer and not the arena.
    #[allow(clippy::vec_box)]
    static IDLE: RefCell<Vec<Box<Arena>>> = const { RefCell::new(Vec::new()) };
}

/// An arena of this thread, back in its place when dropped. Jobs nest (a shard's job runs its inner chunks' jobs), so
/// a thread may hold several.
#[derive(Debug)]
pub struct Lease(Option<Box<Arena>>);

pub fn lease() -> Lease {
    let idle = IDLE.with(|idle| idle.try_borrow_mut().ok().and_then(|mut idle| idle.pop()));
    Lease(Some(idle.unwrap_or_default()))
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(mut arena) = self.0.take() {
            let Arena {
                fetched,
                front,
                back,
                chunk,
                encoded,
                ..
            } = &mut *arena;
            for buffer in [fetched, front, back, chunk, encoded] {
                if buffer.capacity() > KEEP {
                    *buffer = Vec::new();
                }
            }
            // While a thread ends its arenas are gone already; then there is nothing to put back.
            let _ = IDLE.try_with(|idle| idle.borrow_mut().push(arena));
        }
    }
}

impl Deref for Lease {
    type Target = Arena;

    fn deref(&self) -> &Arena {
        match &self.0 {
            Some(arena) => arena,
            None => unreachable!("a lease holds its arena until it is dropped"),
        }
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Arena {
        match &mut self.0 {
            Some(arena) => arena,
            None => unreachable!("a lease holds its arena until it is dropped"),
        }
    }
}

/// The first `len` bytes of `buffer`, which grows when it must; old content stays where it is.
pub fn room(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if buffer.len() < len {
        let more = len - buffer.len();
        buffer
            .try_reserve_exact(more)
            .map_err(|_| Error::OutOfMemory { bytes: len })?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}
