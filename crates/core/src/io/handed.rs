//! Bytes that somebody else fetched, and new ones that somebody else will store, as a store of one key.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use super::arrivals::Found;
use super::part::Parts;
use super::{Edit, Fetched, Object, Request, Store};
use crate::error::{Error, Result};

/// What is at hand of one key.
#[derive(Clone, Debug)]
pub enum AtHand {
    Absent,
    Whole(Bytes),
    /// Parts of a shard by offset, in order. Its size is not known: what lies at its end is given as if the shard were
    /// as long as could be.
    Parts(Vec<(u64, Bytes)>),
}

/// A store of one key, under whatever name; what is written stays in it until it is taken.
#[derive(Debug)]
pub struct Handed {
    at_hand: AtHand,
    made: Mutex<Option<Edit>>,
}

impl Handed {
    pub fn new(at_hand: AtHand) -> Handed {
        Handed {
            at_hand,
            made: Mutex::new(None),
        }
    }

    /// What a write made of the key.
    pub fn take(&self) -> Option<Edit> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.take()
    }
}

impl Store for Handed {
    fn get(&self, key: &str, _hint: usize, _buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        match &self.at_hand {
            AtHand::Absent => Ok(None),
            AtHand::Whole(bytes) => Ok(Some(Fetched::Shared(bytes.clone()))),
            AtHand::Parts(_) => Err(Error::Internal(format!(
                "all of {key:?} is wanted, but only parts of it are at hand"
            ))),
        }
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        Ok(match &self.at_hand {
            AtHand::Absent => None,
            AtHand::Whole(bytes) => Some(Box::new(Parts {
                key: key.to_owned(),
                size: bytes.len() as u64,
                parts: vec![(0, bytes)],
            })),
            AtHand::Parts(parts) => Some(Box::new(Parts {
                key: key.to_owned(),
                size: u64::MAX,
                parts: parts.iter().map(|(at, bytes)| (*at, &bytes[..])).collect(),
            })),
        })
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        let current = if wants_current { self.open(key)? } else { None };
        let made = edit(current.as_deref())?;
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
        Ok(None)
    }

    fn get_many(&self, requests: &[Request]) -> Result<Vec<Found>> {
        let what = format!("{} ranges were asked of bytes at hand", requests.len());
        Err(Error::Internal(what))
    }
}

/// Several keys at hand, as a store.
#[derive(Debug, Default)]
pub struct HandedKeys {
    keys: HashMap<String, Handed>,
}

impl HandedKeys {
    pub fn new(keys: impl IntoIterator<Item = (String, Handed)>) -> HandedKeys {
        HandedKeys {
            keys: keys.into_iter().collect(),
        }
    }

    /// What a write made of a key.
    pub fn take(&self, key: &str) -> Option<Edit> {
        self.keys.get(key)?.take()
    }
}

impl Store for HandedKeys {
    fn get(&self, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        match self.keys.get(key) {
            Some(handed) => handed.get(key, hint, buf),
            None => Ok(None),
        }
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        match self.keys.get(key) {
            Some(handed) => handed.open(key),
            None => Ok(None),
        }
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        let missing = || Error::Internal(format!("{key:?} is not at hand"));
        let handed = self.keys.get(key).ok_or_else(missing)?;
        handed.update(key, wants_current, edit)
    }
}
