//! Shards: the index of the inner chunks, and the inner grid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::arena::{Arena, room};
use crate::codec::Size;
use crate::codec::chain::{self, Decoded, Sharding};
use crate::error::{Error, Result};
use crate::grid::{Axis, byte_count};
use crate::io::{Object, Stamp};

/// The most bytes that cached indexes of one array take.
const CACHE_BYTES: usize = 32 << 20;
const ABSENT: u64 = u64::MAX;

/// Where each inner chunk of a shard lies: offset and length, in C order of the stored axes.
#[derive(Debug, Default)]
pub struct Index {
    entries: Vec<(u64, u64)>,
}

impl Index {
    /// The offset and length of an inner chunk, or `None` where it is absent.
    pub fn entry(&self, inner: usize) -> Option<(u64, u64)> {
        self.entries
            .get(inner)
            .copied()
            .filter(|&entry| entry != (ABSENT, ABSENT))
    }

    fn bytes(&self) -> usize {
        self.entries.len() * 16
    }
}

/// The inner grid of one shard, along its stored axes.
#[derive(Debug)]
pub struct InnerGrid {
    pub axes: Vec<Axis>,
    /// Inner chunks along each axis in the index, which counts those past the array's end too.
    counts: Vec<u64>,
}

impl InnerGrid {
    /// `shape` is the shard's and `clipped` the part of it in the array, both along the stored axes.
    pub fn new(sharding: &Sharding, shape: &[u64], clipped: &[u64]) -> InnerGrid {
        let axes = clipped.iter().zip(&sharding.chunks);
        InnerGrid {
            axes: axes
                .map(|(&extent, &size)| Axis::Regular { extent, size })
                .collect(),
            counts: shape
                .iter()
                .zip(&sharding.chunks)
                .map(|(shape, size)| shape / size)
                .collect(),
        }
    }

    /// How many inner chunks the index has.
    pub fn count(&self) -> Result<usize> {
        byte_count(self.counts.iter().copied(), 1)
            .filter(|&n| n <= isize::MAX as usize / 16)
            .ok_or_else(|| Error::Spec("the shard has more inner chunks than memory".into()))
    }

    /// How many inner chunks lie in the array.
    pub fn present(&self) -> u64 {
        self.axes.iter().map(Axis::count).product()
    }

    /// Inner chunks along each stored axis.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The place of an inner chunk in the index.
    pub fn linear(&self, coords: &[u64]) -> usize {
        coords
            .iter()
            .zip(&self.counts)
            .fold(0, |at, (&coord, &count)| {
                at * count as usize + coord as usize
            })
    }

    /// The inner chunk at a place in the index.
    pub fn coords(&self, place: usize) -> Vec<u64> {
        let mut rest = place as u64;
        let mut coords = vec![0; self.counts.len()];
        for (coord, &count) in coords.iter_mut().zip(&self.counts).rev() {
            *coord = rest % count;
            rest /= count;
        }
        coords
    }
}

impl Sharding {
    /// The stored length of the index of `inner` chunks.
    pub fn index_size(&self, inner: usize) -> Result<usize> {
        let mut size = Size::Exact(inner * 16);
        for step in &self.index_steps {
            size = step
                .encoded_size(size)
                .map_err(|e| Error::Spec(e.to_string()))?;
        }
        match size {
            Size::Exact(n) => Ok(n),
            Size::AtMost(_) => Err(Error::Spec(
                "a shard's index needs codecs whose output has a fixed size".into(),
            )),
        }
    }

    /// Reads and checks the index of the shard `object`.
    pub fn read_index(
        &self,
        object: &dyn Object,
        inner: usize,
        key: &str,
        arena: &mut Arena,
    ) -> Result<Index> {
        let size = self.index_size(inner)?;
        let spare = object
            .size()
            .checked_sub(size as u64)
            .ok_or_else(|| Error::Shard {
                key: key.to_owned(),
                what: format!(
                    "{} bytes are too few for its index of {size} bytes",
                    object.size()
                ),
            })?;
        let offset = if self.at_end { spare } else { 0 };
        object.read_at(offset, room(&mut arena.fetched, size)?)?;
        self.decode_index(
            &arena.fetched[..size],
            inner,
            key,
            &mut arena.front,
            &mut arena.back,
        )
    }

    /// Decodes an index of `inner` entries.
    fn decode_index(
        &self,
        stored: &[u8],
        inner: usize,
        key: &str,
        front: &mut Vec<u8>,
        back: &mut Vec<u8>,
    ) -> Result<Index> {
        let at = chain::decode(
            &self.index_steps,
            stored,
            Size::Exact(inner * 16),
            front,
            back,
            None,
        )
        .map_err(|e| match e {
            chain::DecodeError::Codec(e) => Error::Shard {
                key: key.to_owned(),
                what: format!("its index is damaged: {e}"),
            },
            chain::DecodeError::Other(e) => e,
        })?;
        let bytes = match &at {
            Decoded::Source(range) => &stored[range.clone()],
            Decoded::Front(range) => &front[range.clone()],
            Decoded::Back(range) => &back[range.clone()],
            Decoded::Destination => &[],
        };
        let (words, _) = bytes.as_chunks::<8>();
        let word = |bytes: &[u8; 8]| match self.index_swap {
            true => u64::from_be_bytes(*bytes),
            false => u64::from_le_bytes(*bytes),
        };
        let (pairs, _) = words.as_chunks::<2>();
        Ok(Index {
            entries: pairs
                .iter()
                .map(|[offset, len]| (word(offset), word(len)))
                .collect(),
        })
    }

    /// Encodes the entries of an index into `out`.
    pub fn encode_index(
        &self,
        entries: &[Option<(u64, u64)>],
        out: &mut Vec<u8>,
        spare: &mut Vec<u8>,
    ) -> Result<()> {
        let mut plain = Vec::new();
        plain
            .try_reserve_exact(entries.len() * 16)
            .map_err(|_| Error::OutOfMemory {
                bytes: entries.len() * 16,
            })?;
        for entry in entries {
            let (offset, len) = entry.unwrap_or((ABSENT, ABSENT));
            for word in [offset, len] {
                plain.extend(if self.index_swap {
                    word.to_be_bytes()
                } else {
                    word.to_le_bytes()
                });
            }
        }
        chain::encode(&self.index_steps, &plain, out, spare).map_err(|e| e.at("", &[]))
    }
}

/// Indexes that were read, by key and version of the shard.
#[derive(Debug, Default)]
pub struct IndexCache {
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    bytes: usize,
    indexes: HashMap<String, (Stamp, Arc<Index>)>,
}

impl IndexCache {
    /// The cached index of this version of `key`, or the one that `read` gives.
    pub fn get(
        &self,
        key: &str,
        stamp: Option<Stamp>,
        read: impl FnOnce() -> Result<Index>,
    ) -> Result<Arc<Index>> {
        let Some(stamp) = stamp else {
            return read().map(Arc::new);
        };
        match self.known(key) {
            Some((known, index)) if known == stamp => return Ok(index),
            _ => {}
        }
        let index = Arc::new(read()?);
        self.keep(key, stamp, &index);
        Ok(index)
    }

    /// The cached index of some version of `key`.
    pub fn known(&self, key: &str) -> Option<(Stamp, Arc<Index>)> {
        // Never wait: a fork may have left this lock held for ever, and reading again is cheap.
        self.state.try_lock().ok()?.indexes.get(key).cloned()
    }

    /// Caches the index of this version of `key`.
    pub fn keep(&self, key: &str, stamp: Stamp, index: &Arc<Index>) {
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        if state.bytes + index.bytes() > CACHE_BYTES {
            state.indexes.clear();
            state.bytes = 0;
        }
        let bytes = index.bytes();
        let old = state
            .indexes
            .insert(key.to_owned(), (stamp, Arc::clone(index)));
        state.bytes = state.bytes + bytes - old.map_or(0, |(_, old)| old.bytes());
    }
}
