//! Memory of large bodies, used again: each page of fresh memory costs the system about as much as a copy.

use std::mem;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

/// The most bytes that are kept while nobody uses them.
const KEEP: usize = 64 << 20;
/// Smaller bodies are not worth it.
const LEAST: usize = 1 << 20;

/// Buffers that nobody uses.
#[derive(Debug, Default)]
pub struct Buffers {
    idle: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// An empty buffer, with room for `size` bytes where one is at hand.
    pub fn take(&self, size: u64) -> Vec<u8> {
        // Never wait: a fork may have left this lock held for ever.
        let Ok(mut idle) = self.idle.try_lock() else {
            return Vec::new();
        };
        let fits = |buffer: &Vec<u8>| buffer.capacity() as u64 >= size;
        match idle.iter().position(fits) {
            Some(place) if size >= LEAST as u64 => idle.swap_remove(place),
            _ => Vec::new(),
        }
    }

    /// The bytes of a buffer, which comes back once nobody uses them.
    pub fn lend(self: &Arc<Self>, data: Vec<u8>) -> Bytes {
        match data.capacity() < LEAST {
            true => Bytes::from(data),
            false => Bytes::from_owner(Lent {
                data,
                home: Arc::clone(self),
            }),
        }
    }

    fn give_back(&self, mut data: Vec<u8>) {
        let Ok(mut idle) = self.idle.try_lock() else {
            return;
        };
        let kept: usize = idle.iter().map(Vec::capacity).sum();
        if kept.saturating_add(data.capacity()) <= KEEP {
            data.clear();
            idle.push(data);
        }
    }
}

struct Lent {
    data: Vec<u8>,
    home: Arc<Buffers>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.home.give_back(mem::take(&mut self.data));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back() {
        let buffers = Arc::new(Buffers::default());
        assert_eq!(buffers.take(2 << 20).capacity(), 0);
        let lent = buffers.lend(vec![7; 2 << 20]);
        assert_eq!(lent.len(), 2 << 20);
        let place = lent.as_ptr();
        let part = lent.slice(5..9);
        drop(lent);
        assert_eq!(buffers.take(2 << 20).capacity(), 0);
        assert_eq!(&part[..], [7; 4]);
        drop(part);
        assert_eq!(buffers.take(3 << 20).capacity(), 0);
        let again = buffers.take(2 << 20);
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
    }

    #[test]
    fn no_more_is_kept_than_said() {
        let buffers = Arc::new(Buffers::default());
        let lent: Vec<Bytes> = (0..5).map(|_| buffers.lend(vec![0; KEEP / 4])).collect();
        drop(lent);
        let taken = (0..5).filter(|_| buffers.take(LEAST as u64).capacity() > 0);
        assert_eq!(taken.count(), 4);
    }
}
