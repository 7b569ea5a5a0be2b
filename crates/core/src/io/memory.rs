//! A store in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use super::key::Key;
use super::{
    ByteRange, Children, Condition, Edit, Fetched, KeyStore, Listing, Object, Page, Stamp, Store,
    StoreError, resolve,
};
use crate::error::{Error, Result};
use crate::fork;

/// No two writes of a process have the same number, hence no two contents the same stamp.
static WRITES: AtomicU64 = AtomicU64::new(1);

/// Keys and bytes in memory, shared by everyone who holds it.
#[derive(Clone, Default)]
pub struct MemoryStore {
    entries: Arc<RwLock<Entries>>,
}

type Entries = BTreeMap<String, Entry>;

#[derive(Clone)]
struct Entry {
    bytes: Bytes,
    stamp: Stamp,
}

impl Entry {
    fn new(bytes: Bytes) -> Self {
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        Entry {
            bytes,
            stamp: Stamp([0, 0, 0, number]),
        }
    }
}

impl Object for Entry {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn stamp(&self) -> Option<Stamp> {
        Some(self.stamp)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        let (start, len) = resolve(
            ByteRange::Span {
                offset,
                len: dst.len() as u64,
            },
            self.size(),
        );
        if len < dst.len() as u64 {
            let wanted = dst.len() as u64;
            return Err(StoreError::Short {
                key: String::new(),
                offset,
                wanted,
                size: self.size(),
            });
        }
        dst.copy_from_slice(&self.bytes[start as usize..(start + len) as usize]);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        let key = Key::parse(key)?;
        Ok(self.look(|entries| entries.get(key.as_str()).cloned()))
    }

    /// Puts `new` (or nothing) under `key` where the condition holds. What was there before comes
    /// back, to be dropped outside of the locks.
    fn swap(&self, key: &str, new: Option<Entry>, condition: Condition) -> Result<Option<Entry>> {
        let key = Key::parse(key)?.as_str();
        Ok(self.change(|entries| {
            condition.check(key, entries.get(key).map(|entry| entry.stamp))?;
            Ok::<_, StoreError>(match new {
                Some(entry) => entries.insert(key.to_owned(), entry),
                None => entries.remove(key),
            })
        })?)
    }

    fn look<T>(&self, body: impl FnOnce(&Entries) -> T) -> T {
        let _no_fork = fork::guard();
        body(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, body: impl FnOnce(&mut Entries) -> T) -> T {
        let _no_fork = fork::guard();
        body(&mut self.entries.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &str, _hint: usize, _buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        Ok(self.entry(key)?.map(|entry| Fetched::Shared(entry.bytes)))
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        Ok(self
            .entry(key)?
            .map(|entry| Box::new(entry) as Box<dyn Object>))
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        loop {
            let current = if wants_current {
                self.entry(key)?
            } else {
                None
            };
            let condition = match &current {
                _ if !wants_current => Condition::Any,
                None => Condition::Absent,
                Some(entry) => Condition::Is(entry.stamp),
            };
            let (new, spare) = match edit(current.as_ref().map(|entry| entry as &dyn Object))? {
                Edit::Keep => return Ok(None),
                Edit::Delete => (None, None),
                Edit::Put(data) => kept(data),
            };
            match self.swap(key, new, condition) {
                Err(Error::Store(StoreError::Conflict { .. })) => {}
                done => return done.map(|_| spare),
            }
        }
    }
}

/// The bytes to keep. A buffer much larger than its content is copied from and given back.
fn kept(data: Vec<u8>) -> (Option<Entry>, Option<Vec<u8>>) {
    if data.capacity() - data.len() > data.len() / 8 {
        (Some(Entry::new(Bytes::copy_from_slice(&data))), Some(data))
    } else {
        (Some(Entry::new(Bytes::from(data))), None)
    }
}

impl KeyStore for MemoryStore {
    fn read(&self, key: &str, range: ByteRange) -> Result<Option<(Bytes, Stamp)>> {
        Ok(self.entry(key)?.map(|entry| {
            let (start, len) = resolve(range, entry.size());
            (
                entry.bytes.slice(start as usize..(start + len) as usize),
                entry.stamp,
            )
        }))
    }

    fn write(&self, key: &str, data: &[u8], condition: Condition) -> Result<Stamp> {
        let entry = Entry::new(Bytes::copy_from_slice(data));
        let stamp = entry.stamp;
        self.swap(key, Some(entry), condition)?;
        Ok(stamp)
    }

    fn delete(&self, key: &str, condition: Condition) -> Result<bool> {
        Ok(self.swap(key, None, condition)?.is_some())
    }

    fn delete_folder(&self, folder: &str) -> Result<()> {
        let prefix = Key::folder_prefix(folder)?;
        let removed = self.change(|entries| {
            let mut below = entries.split_off(&prefix);
            let rest = below.iter().find(|(key, _)| !key.starts_with(&prefix));
            if let Some(first) = rest.map(|(key, _)| key.clone()) {
                entries.append(&mut below.split_off(&first));
            }
            below
        });
        drop(removed);
        Ok(())
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.entry(key)?.map(|entry| entry.size()))
    }

    fn list(&self, prefix: &str, start_after: &str) -> Result<Box<dyn Listing>> {
        Key::folder_of(prefix)?;
        let after = (!start_after.is_empty()).then(|| start_after.to_owned());
        Ok(Box::new(MemoryListing {
            store: self.clone(),
            prefix: prefix.to_owned(),
            after,
        }))
    }

    fn children(&self, folder: &str) -> Result<Children> {
        let prefix = Key::folder_prefix(folder)?;
        Ok(self.look(|entries| {
            let mut children = Children::default();
            let mut after: Option<String> = None;
            loop {
                let next = below(entries, &prefix, after.as_deref()).next();
                let Some((key, _)) = next else {
                    return children;
                };
                let name = &key[prefix.len()..];
                after = Some(match name.split_once('/') {
                    None => {
                        children.keys.push(name.to_owned());
                        key.clone()
                    }
                    Some((folder, _)) => {
                        children.folders.push(folder.to_owned());
                        format!("{prefix}{folder}/{}", char::MAX)
                    }
                });
            }
        }))
    }
}

struct MemoryListing {
    store: MemoryStore,
    prefix: String,
    after: Option<String>,
}

impl Listing for MemoryListing {
    fn next_page(&mut self, limit: usize) -> Result<Page> {
        let page: Page = self.store.look(|entries| {
            let keys = below(entries, &self.prefix, self.after.as_deref());
            keys.take(limit)
                .map(|(key, entry)| (key.clone(), entry.size()))
                .collect()
        });
        if let Some((last, _)) = page.last() {
            self.after = Some(last.clone());
        }
        Ok(page)
    }
}

/// Entries that begin with `prefix` and come after `after`.
fn below<'e, 'p>(
    entries: &'e Entries,
    prefix: &'p str,
    after: Option<&'p str>,
) -> impl Iterator<Item = (&'e String, &'e Entry)> + use<'e, 'p> {
    let start = match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    };
    let range = entries.range::<str, _>((start, Bound::Unbounded));
    range.take_while(move |(key, _)| key.starts_with(prefix))
}
