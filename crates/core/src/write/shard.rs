//! Writing shards: changed inner chunks are encoded, the others are copied as they are, and the whole is stored once.

use std::sync::{Mutex, PoisonError};

use super::made::first_leaves;
use super::{Writer, whole};
use crate::arena::{lease, room};
use crate::codec::chain::{self, Sharding};
use crate::error::{Error, Result};
use crate::io::Object;
use crate::io::part::InMemory;
use crate::plan::Job;
use crate::pool::parallel_for;
use crate::read::shard::{check_entry, decode_shard};
use crate::shard::{Index, InnerGrid};
use crate::target::{Inner, Target};

/// What becomes of one inner chunk.
#[derive(Debug, Default)]
enum Slot {
    #[default]
    Absent,
    /// Copied from the old shard.
    Kept {
        offset: u64,
        len: u64,
    },
    New(Vec<u8>),
}

/// A shard as it was.
struct Old<'o> {
    object: &'o dyn Object,
    index: Index,
}

impl Writer<'_> {
    /// Makes the new bytes of a shard in `encoded`; `false` where all its inner chunks are absent.
    pub fn edit_shard(
        &self,
        target: &Target<'_>,
        leaf: usize,
        sharding: &Sharding,
        old: Option<&dyn Object>,
        encoded: &mut Vec<u8>,
    ) -> Result<bool> {
        match old {
            Some(object) if !target.chain.steps.is_empty() => {
                let mut arena = lease();
                self.check_length(target, object)?;
                let stored = whole(object, &mut arena.fetched)?;
                let decoded = decode_shard(target, self.array.item, stored)?;
                let old = InMemory::new(target.key, &decoded);
                self.edit_plain_shard(target, leaf, sharding, Some(&old), encoded)?
            }
            _ => self.edit_plain_shard(target, leaf, sharding, old, encoded)?,
        };
        if encoded.is_empty() {
            return Ok(false);
        }
        if !target.chain.steps.is_empty() {
            let mut arena = lease();
            let arena = &mut *arena;
            std::mem::swap(encoded, &mut arena.front);
            chain::encode(&target.chain.steps, &arena.front, encoded, &mut arena.back)
                .map_err(|e| e.at(target.key, &target.job.coords))?;
        }
        Ok(true)
    }

    /// The shard before the codecs that follow sharding; empty where no inner chunk is left.
    fn edit_plain_shard(
        &self,
        target: &Target<'_>,
        leaf: usize,
        sharding: &Sharding,
        old: Option<&dyn Object>,
        encoded: &mut Vec<u8>,
    ) -> Result<()> {
        let inner = Inner::new(target, sharding)?;
        let count = inner.grid.count()?;
        let old = match old {
            Some(object) => {
                let index = sharding.read_index(object, count, target.key, &mut lease())?;
                Some(Old { object, index })
            }
            None => None,
        };
        let max = sharding
            .chain
            .encoded_max(&sharding.chunks, self.array.item)?;
        let mut slots = kept_slots(target.key, &inner.grid, max as u64, old.as_ref())?;
        let leaves = match self.made {
            Some(_) => first_leaves(target, sharding, &inner, leaf)?,
            None => Vec::new(),
        };
        self.encode_inner(target, sharding, &inner, &leaves, old.as_ref(), &mut slots)?;
        encoded.clear();
        if slots.iter().all(|slot| matches!(slot, Slot::Absent)) {
            return Ok(());
        }
        let places = sharding.layout.places(inner.grid.counts())?;
        assemble(target.key, sharding, &slots, &places, old.as_ref(), encoded)
    }

    /// Encodes the inner chunks that the job touches into their slots.
    fn encode_inner(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        inner: &Inner,
        leaves: &[usize],
        old: Option<&Old<'_>>,
        slots: &mut [Slot],
    ) -> Result<()> {
        let slots = Mutex::new(slots);
        parallel_for(inner.plan.jobs(), self.options.threads, &|number| {
            let mut job = Job::default();
            inner.plan.job(number, &mut job);
            let out = target.out.part(inner.plan.parts(&job));
            let chunk = inner.target(sharding, &job, &out, target.key);
            let at = inner.grid.linear(&job.coords);
            let leaf = leaves.get(number).copied().unwrap_or(0);
            let before = old
                .filter(|_| !chunk.is_whole())
                .and_then(|old| Some((old, old.index.entry(at)?)));
            let mut bytes = Vec::new();
            let mut arena = lease();
            let stored = match before {
                None => self.edit(&chunk, leaf, None, &mut arena, &mut bytes)?,
                Some((old, (offset, len))) => {
                    let mut fetched = Vec::new();
                    let stored = match old.object.in_memory() {
                        Some(all) => &all[offset as usize..(offset + len) as usize],
                        None => {
                            let stored = room(&mut fetched, len as usize)?;
                            old.object.read_at(offset, stored)?;
                            stored
                        }
                    };
                    let old = InMemory::new(target.key, stored);
                    self.edit(&chunk, leaf, Some(&old), &mut arena, &mut bytes)?
                }
            };
            let slot = if stored {
                Slot::New(bytes)
            } else {
                Slot::Absent
            };
            slots.lock().unwrap_or_else(PoisonError::into_inner)[at] = slot;
            Ok(())
        })
    }
}

/// Every inner chunk as it was, its entry checked: none is longer than `max`.
fn kept_slots(key: &str, grid: &InnerGrid, max: u64, old: Option<&Old<'_>>) -> Result<Vec<Slot>> {
    let (count, mut slots) = (grid.count()?, Vec::new());
    let bytes = count.saturating_mul(size_of::<Slot>());
    slots
        .try_reserve_exact(count)
        .map_err(|_| Error::OutOfMemory { bytes })?;
    slots.resize_with(count, Slot::default);
    let Some(old) = old else { return Ok(slots) };
    for (at, slot) in slots.iter_mut().enumerate() {
        if let Some((offset, len)) = old.index.entry(at) {
            let coords = grid.coords(at);
            check_entry(key, &coords, (offset, len), old.object.size(), max)?;
            *slot = Slot::Kept { offset, len };
        }
    }
    Ok(slots)
}

/// Lays the inner chunks out one after another, in the order of `places`, with the index where it belongs.
fn assemble(
    key: &str,
    sharding: &Sharding,
    slots: &[Slot],
    places: &[usize],
    old: Option<&Old<'_>>,
    encoded: &mut Vec<u8>,
) -> Result<()> {
    let index_size = sharding.index_size(slots.len())?;
    let first = if sharding.at_end {
        0
    } else {
        index_size as u64
    };
    let mut end = first;
    let mut entries = vec![None; slots.len()];
    for &at in places {
        let len = match &slots[at] {
            Slot::Absent => continue,
            Slot::Kept { len, .. } => *len,
            Slot::New(bytes) => bytes.len() as u64,
        };
        entries[at] = Some((end, len));
        end = end.checked_add(len).ok_or_else(|| too_long(key))?;
    }
    let (mut index, mut spare) = (Vec::new(), Vec::new());
    sharding.encode_index(&entries, &mut index, &mut spare)?;
    let total = usize::try_from(end)
        .ok()
        .and_then(|n| n.checked_add(index_size))
        .ok_or_else(|| too_long(key))?;
    encoded
        .try_reserve_exact(total)
        .map_err(|_| Error::OutOfMemory { bytes: total })?;
    if !sharding.at_end {
        encoded.extend_from_slice(&index);
    }
    for &at in places {
        append(&slots[at], old, encoded)?;
    }
    if sharding.at_end {
        encoded.extend_from_slice(&index);
    }
    Ok(())
}

fn append(slot: &Slot, old: Option<&Old<'_>>, encoded: &mut Vec<u8>) -> Result<()> {
    match (slot, old) {
        (Slot::New(bytes), _) => encoded.extend_from_slice(bytes),
        (Slot::Kept { offset, len }, Some(old)) => {
            let start = encoded.len();
            encoded.resize(start + *len as usize, 0);
            old.object.read_at(*offset, &mut encoded[start..])?;
        }
        _ => {}
    }
    Ok(())
}

fn too_long(key: &str) -> Error {
    Error::Shard {
        key: key.to_owned(),
        what: "it would be longer than memory".into(),
    }
}
