//! Listings, page by page.

use std::sync::{Arc, Mutex, PoisonError};

use blazarr_core::error::Result;
use blazarr_core::io::key::Key;
use blazarr_core::io::{Listing, Page};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::ObjectMeta;
use object_store::path::Path;

use crate::client::Client;
use crate::error::CloudError;
use crate::runtime::wait;

/// Keys that are looked at, or deleted, at once.
pub const PAGE: usize = 1000;

type Found = BoxStream<'static, object_store::Result<ObjectMeta>>;

/// The keys that begin with a prefix and come after another, in order.
pub struct Pages {
    client: Arc<Client>,
    name: Arc<str>,
    prefix: String,
    after: String,
    /// Not there once it is over. Streams are not for several threads at a time.
    found: Mutex<Option<Found>>,
}

impl Pages {
    pub fn new(client: Arc<Client>, name: &Arc<str>, prefix: &str, after: &str) -> Result<Pages> {
        let folder = Key::folder_of(prefix)?;
        let found = client.list(folder, after.trim_end_matches('/'));
        let found = found.map_err(|e| e.at(name, prefix))?;
        Ok(Pages {
            client,
            name: Arc::clone(name),
            prefix: prefix.to_owned(),
            after: after.to_owned(),
            found: Mutex::new(Some(found)),
        })
    }

    pub fn next_paths(&mut self, limit: usize) -> Result<Vec<Path>> {
        let objects = self.next_objects(limit)?;
        Ok(objects.into_iter().map(|meta| meta.location).collect())
    }

    fn next_objects(&mut self, limit: usize) -> Result<Vec<ObjectMeta>> {
        let mut objects = Vec::new();
        while objects.len() < limit
            && let Some(mut found) = self.stream().take()
        {
            let missing = limit - objects.len();
            let (some, rest) = wait(async move {
                let some: Vec<_> = found.by_ref().take(missing).collect().await;
                (some, found)
            })?;
            // A stream that has ended must not be asked again.
            *self.stream() = (some.len() == missing).then_some(rest);
            for meta in some {
                let meta = meta.map_err(|e| CloudError::from(e).at(&self.name, &self.prefix))?;
                if self.key(&meta).is_some() {
                    objects.push(meta);
                }
            }
        }
        Ok(objects)
    }

    fn stream(&mut self) -> &mut Option<Found> {
        self.found.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn key<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        let key = self.client.key(&meta.location)?;
        (key.starts_with(&self.prefix) && key > self.after.as_str()).then_some(key)
    }
}

impl Listing for Pages {
    fn next_page(&mut self, limit: usize) -> Result<Page> {
        let objects = self.next_objects(limit)?;
        let entry = |meta: &ObjectMeta| Some((self.key(meta)?.to_owned(), meta.size));
        Ok(objects.iter().filter_map(entry).collect())
    }
}
