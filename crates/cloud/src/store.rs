//! A bucket or server as a store of the engine.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use blazarr_core::error::{Error, Result};
use blazarr_core::io::arrivals::{Arrivals, Asker, Found};
use blazarr_core::io::key::Key;
use blazarr_core::io::keylock::{Backoff, KeyLock};
use blazarr_core::io::part::InMemory;
use blazarr_core::io::{
    ByteRange, Children, Condition, Edit, Fetched, KeyStore, Listing, Object, Request, Stamp,
    Store, StoreError, length,
};
use blazarr_core::{fork, pool};
use bytes::Bytes;
use futures_util::future::join_all;
use object_store::path::Path;
use object_store::{PutMode, UpdateVersion};

use crate::asking::Questions;
use crate::client::{Client, Value};
use crate::config::Config;
use crate::error::CloudError;
use crate::listing::{PAGE, Pages};
use crate::runtime::wait;
use crate::stamp::stamp;

/// How many writes wait for their answers at a time: each has a thread, and others write to the server too.
const WRITES: usize = 32;

/// How often an edit is tried while other writers are faster.
const TRIES: usize = 100;

/// A bucket, container or web server. Its connections belong to one process: a forked child makes its own.
pub struct CloudStore {
    config: Config,
    name: Arc<str>,
    made: Mutex<Option<(u64, Arc<Client>)>>,
}

impl fmt::Debug for CloudStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Options may be secrets.
        write!(f, "CloudStore({:?})", self.name)
    }
}

impl CloudStore {
    pub fn new(config: Config) -> Result<CloudStore, CloudError> {
        let name = match config.prefix.as_str() {
            "" => config.url.clone(),
            prefix => format!("{}/{prefix}", config.url.trim_end_matches('/')),
        };
        let store = CloudStore {
            config,
            name: name.into(),
            made: Mutex::new(None),
        };
        let client = Arc::new(Client::new(&store.config)?);
        store.keep(&client);
        Ok(store)
    }

    fn client(&self) -> Result<Arc<Client>> {
        if let Some(client) = self.kept() {
            return Ok(client);
        }
        let client = Arc::new(Client::new(&self.config).map_err(|e| self.failed(e, ""))?);
        self.keep(&client);
        Ok(client)
    }

    fn kept(&self) -> Option<Arc<Client>> {
        let _no_fork = fork::guard();
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let (epoch, client) = made.as_ref()?;
        (*epoch == fork::epoch()).then(|| Arc::clone(client))
    }

    fn keep(&self, client: &Arc<Client>) {
        let _no_fork = fork::guard();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads of the parent may have held what its client would lock on its way out.
        mem::forget(made.replace((fork::epoch(), Arc::clone(client))));
    }

    fn failed(&self, error: CloudError, key: &str) -> Error {
        error.at(&self.name, key)
    }

    /// What `requests` ask for, in their order.
    fn fetch(&self, requests: &[Request]) -> Result<Vec<Option<Value>>> {
        for request in requests {
            Key::parse(&request.key)?;
        }
        let client = self.client()?;
        let (asker, wanted) = (Arc::clone(&client), requests.to_vec());
        let answers = wait(async move {
            let one = |request: Request| {
                let client = Arc::clone(&asker);
                tokio::spawn(async move { client.get(&request.key, request.range, u64::MAX).await })
            };
            let tasks = Tasks(wanted.into_iter().map(one).collect());
            tasks.answers().await
        })?;
        tell(&self.name, &client)?;
        answers
            .into_iter()
            .zip(requests)
            .map(|(answer, request)| answer.map_err(|e| self.failed(e, &request.key)))
            .collect()
    }

    fn value(&self, key: &str, range: ByteRange, most: u64) -> Result<Option<Value>> {
        let key = Key::parse(key)?.as_str().to_owned();
        let client = self.client()?;
        let (asker, asked) = (Arc::clone(&client), key.clone());
        let answer = wait(async move { asker.get(&asked, range, most).await })?;
        tell(&self.name, &client)?;
        answer.map_err(|e| self.failed(e, &key))
    }

    fn put(&self, key: &str, bytes: Bytes, mode: PutMode) -> Result<UpdateVersion> {
        let key = Key::parse(key)?.as_str().to_owned();
        let (client, asked) = (self.client()?, key.clone());
        wait(async move { client.put(&asked, bytes, mode).await })?
            .map_err(|e| self.failed(e, &key))
    }

    fn remove(&self, key: &str) -> Result<()> {
        let key = Key::parse(key)?.as_str().to_owned();
        let (client, asked) = (self.client()?, key.clone());
        wait(async move { client.delete(&asked).await })?.map_err(|e| self.failed(e, &key))
    }

    /// The version and size of what is under `key`.
    fn present(&self, key: &str) -> Result<Option<(UpdateVersion, u64)>> {
        let key = Key::parse(key)?.as_str().to_owned();
        let (client, asked) = (self.client()?, key.clone());
        let meta = wait(async move { client.head(&asked).await })?;
        let meta = meta.map_err(|e| self.failed(e, &key))?;
        Ok(meta.map(|meta| {
            let version = UpdateVersion {
                e_tag: meta.e_tag,
                version: meta.version,
            };
            (version, meta.size)
        }))
    }

    /// What is under `key`, if it is what `condition` says.
    fn checked(&self, key: &str, condition: Condition) -> Result<Option<UpdateVersion>> {
        let present = self.present(key)?.map(|(version, _)| version);
        condition.check(key, present.as_ref().map(stamp))?;
        Ok(present)
    }

    /// One try; whether it was this writer who was fast enough.
    fn try_edit(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<()> {
        let current = match wants_current {
            true => self.value(key, ByteRange::Whole, u64::MAX)?,
            false => None,
        };
        let object = current
            .as_ref()
            .map(|value| InMemory::new(key, &value.bytes));
        let new = edit(object.as_ref().map(|object| object as &dyn Object))?;
        let mode = match current {
            _ if !(wants_current && self.config.conditional) => PutMode::Overwrite,
            None => PutMode::Create,
            Some(value) => PutMode::Update(value.version),
        };
        match new {
            Edit::Keep => Ok(()),
            Edit::Put(data) => self.put(key, data.into(), mode).map(drop),
            Edit::Delete => match mode {
                PutMode::Create => Ok(()),
                PutMode::Update(version) => {
                    self.checked(key, Condition::Is(stamp(&version)))?;
                    self.remove(key)
                }
                PutMode::Overwrite => self.remove(key),
            },
        }
    }
}

/// Tells the user what a client noticed of its server.
pub fn tell(name: &str, client: &Client) -> Result<()> {
    if !client.notices.take_whole_values() {
        return Ok(());
    }
    pool::warn(&format!(
        "{name} has no range requests: values are fetched whole where a part is wanted"
    ))
}

/// Requests under way, which end with this.
struct Tasks(Vec<tokio::task::JoinHandle<Result<Option<Value>, CloudError>>>);

impl Tasks {
    async fn answers(mut self) -> Vec<Result<Option<Value>, CloudError>> {
        let answers = join_all(self.0.iter_mut()).await;
        let lost = |e: tokio::task::JoinError| CloudError::Config(e.to_string());
        answers
            .into_iter()
            .map(|answer| answer.map_err(lost).flatten())
            .collect()
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

impl Store for CloudStore {
    fn get(&self, key: &str, hint: usize, _buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        let value = self.value(key, ByteRange::Whole, length::allowed(hint))?;
        Ok(value.map(|value| Fetched::Shared(value.bytes)))
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        let value = self.value(key, ByteRange::Whole, u64::MAX)?;
        let client = self.client()?;
        let whole = |(bytes, stamp)| Box::new(Whole { bytes, stamp }) as Box<dyn Object>;
        Ok(value.map(|value| whole(client.stamped(value))))
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        // Where the server does not compare, other threads of this process at least do not come between.
        let _lock = match self.config.conditional {
            true => None,
            false => Some(KeyLock::acquire(format!("{}/{key}", self.name))?),
        };
        let mut pause = Backoff::default();
        for _ in 1..TRIES {
            match self.try_edit(key, wants_current, edit) {
                Err(Error::Store(StoreError::Conflict { .. })) if wants_current => pause.wait()?,
                done => return done.map(|()| None),
            }
        }
        self.try_edit(key, wants_current, edit).map(|()| None)
    }

    fn deletes_conditionally(&self) -> bool {
        // object_store has no conditions for it. Where there are none at all, the lock keeps our own writers apart.
        !self.config.conditional
    }

    fn batch(&self) -> Option<usize> {
        Some(self.config.requests.saturating_mul(4).max(1))
    }

    fn writes_at_once(&self) -> usize {
        self.config.requests.min(WRITES)
    }

    fn asker(&self, arrivals: &Arc<Arrivals>) -> Result<Option<Box<dyn Asker>>> {
        let questions = Questions::new(&self.name, self.client()?, arrivals);
        Ok(Some(Box::new(questions)))
    }

    fn get_many(&self, requests: &[Request]) -> Result<Vec<Found>> {
        let (client, values) = (self.client()?, self.fetch(requests)?);
        let stamped = |value: Value| client.stamped(value);
        Ok(values.into_iter().map(|value| value.map(stamped)).collect())
    }
}

impl KeyStore for CloudStore {
    fn read(&self, key: &str, range: ByteRange) -> Result<Option<(Bytes, Stamp)>> {
        let value = self.value(key, range, u64::MAX)?;
        Ok(value.map(|value| (value.bytes, stamp(&value.version))))
    }

    fn read_many(&self, requests: &[Request]) -> Result<Vec<Option<(Bytes, Stamp)>>> {
        let stamped = |value: Value| (value.bytes, stamp(&value.version));
        let values = self.fetch(requests)?;
        Ok(values.into_iter().map(|value| value.map(stamped)).collect())
    }

    fn write(&self, key: &str, data: &[u8], condition: Condition) -> Result<Stamp> {
        let mode = match condition {
            Condition::Any => PutMode::Overwrite,
            Condition::Absent if self.config.conditional => PutMode::Create,
            // A stamp names a version without being it; the server compares once more.
            _ => match self.checked(key, condition)? {
                Some(version) if self.config.conditional => PutMode::Update(version),
                _ => PutMode::Overwrite,
            },
        };
        let version = self.put(key, Bytes::copy_from_slice(data), mode)?;
        Ok(stamp(&version))
    }

    fn delete(&self, key: &str, condition: Condition) -> Result<bool> {
        let was_there = self.checked(key, condition)?.is_some();
        if was_there {
            self.remove(key)?;
        }
        Ok(was_there)
    }

    fn delete_folder(&self, folder: &str) -> Result<()> {
        let mut pages = Pages::new(self.client()?, &self.name, &Key::folder_prefix(folder)?, "")?;
        loop {
            let paths: Vec<Path> = pages.next_paths(PAGE)?;
            if paths.is_empty() {
                return Ok(());
            }
            let client = self.client()?;
            wait(async move { client.delete_many(paths).await })?
                .map_err(|e| self.failed(e, folder))?;
        }
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.present(key)?.map(|(_, size)| size))
    }

    fn list(&self, prefix: &str, start_after: &str) -> Result<Box<dyn Listing>> {
        let pages = Pages::new(self.client()?, &self.name, prefix, start_after)?;
        Ok(Box::new(pages))
    }

    fn children(&self, folder: &str) -> Result<Children> {
        let prefix = Key::folder_prefix(folder)?;
        let (client, place) = (self.client()?, prefix.trim_end_matches('/').to_owned());
        let asker = Arc::clone(&client);
        let found = wait(async move { asker.children(&place).await })?
            .map_err(|e| self.failed(e, folder))?;
        let name = |path: &Path| {
            let name = client
                .key(path)?
                .strip_prefix(&prefix)?
                .trim_end_matches('/');
            Some(name.to_owned())
        };
        let mut children = Children {
            keys: found
                .objects
                .iter()
                .filter_map(|meta| name(&meta.location))
                .collect(),
            folders: found.common_prefixes.iter().filter_map(name).collect(),
        };
        children.keys.sort_unstable();
        children.folders.sort_unstable();
        Ok(children)
    }
}

/// A whole value.
struct Whole {
    bytes: Bytes,
    stamp: Option<Stamp>,
}

impl Object for Whole {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<(), StoreError> {
        InMemory::new("", &self.bytes).read_at(offset, dst)
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }
}
