//! Values of one bucket or server, each by as many requests as it takes.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use blazarr_core::io::{ByteRange, Stamp, resolve};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    GetOptions, GetResult, GetResultPayload, ListResult, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::buffers::Buffers;
use crate::config::{Config, Kind};
use crate::error::CloudError;
use crate::http::{MOST, Notices, most};
use crate::range::asked;
use crate::stamp::stamp_of;

type Result<T> = std::result::Result<T, CloudError>;

/// How often a body is asked for that ends early.
const TRIES: u32 = 3;

/// What a value is measured by before memory is had for all of it.
const FIRST_PIECE: usize = 1 << 20;

/// A value, or a part of one.
#[derive(Clone, Debug)]
pub struct Value {
    pub bytes: Bytes,
    pub version: UpdateVersion,
}

/// What makes requests, in one process.
#[derive(Debug)]
pub struct Client {
    store: Arc<dyn ObjectStore>,
    kind: Kind,
    prefix: String,
    permits: Semaphore,
    buffers: Arc<Buffers>,
    deadline: Duration,
    pub notices: Arc<Notices>,
}

impl Client {
    pub fn new(config: &Config) -> Result<Client> {
        let notices = Arc::new(Notices::default());
        Ok(Client {
            store: config.build(&notices)?,
            kind: config.kind()?,
            prefix: config.prefix.clone(),
            permits: Semaphore::new(config.requests.max(1)),
            buffers: Arc::default(),
            deadline: config.deadline,
            notices,
        })
    }

    /// A part of what is under `key`, all of which may have `most` bytes; `None` where there is nothing.
    pub async fn get(&self, key: &str, range: ByteRange, most: u64) -> Result<Option<Value>> {
        let path = self.path(key)?;
        let attempts = AtomicU32::new(0);
        let work = async {
            loop {
                let attempt = attempts.fetch_add(1, Ordering::Relaxed) + 1;
                match MOST.scope(most, self.once(&path, range)).await {
                    Err(CloudError::Cut { .. }) if attempt < TRIES => {}
                    Err(CloudError::Cut { .. }) => {
                        break Err(CloudError::Cut { attempts: attempt });
                    }
                    other => break other,
                }
            }
        };
        found(self.in_time(work, &attempts).await)
    }

    /// A value's bytes, and the stamp of the object where the server's versions can be relied on: those of web servers
    /// may differ from one machine of theirs to the next.
    pub fn stamped(&self, value: Value) -> (Bytes, Option<Stamp>) {
        let stamp = match self.kind {
            Kind::Web => None,
            Kind::S3 | Kind::Google | Kind::Azure => stamp_of(&value.version),
        };
        (value.bytes, stamp)
    }

    pub async fn put(&self, key: &str, bytes: Bytes, mode: PutMode) -> Result<UpdateVersion> {
        let path = self.path(key)?;
        let expects = !matches!(mode, PutMode::Overwrite);
        let work = async {
            let options = PutOptions::from(mode);
            let put = self
                .store
                .put_opts(&path, PutPayload::from_bytes(bytes), options);
            Ok(put.await?.into())
        };
        match self.in_time(work, &AtomicU32::new(1)).await {
            // What was to be replaced is gone.
            Err(CloudError::Missing) if expects => Err(CloudError::Conflict),
            other => other,
        }
    }

    pub async fn delete(&self, key: &str) -> Result<()> {
        let path = self.path(key)?;
        let work = async { Ok(self.store.delete(&path).await?) };
        found(self.in_time(work, &AtomicU32::new(1)).await).map(|_| ())
    }

    pub async fn head(&self, key: &str) -> Result<Option<ObjectMeta>> {
        let path = self.path(key)?;
        let work = async { Ok(self.store.head(&path).await?) };
        found(self.in_time(work, &AtomicU32::new(1)).await)
    }

    /// What lies directly in a folder.
    pub async fn children(&self, folder: &str) -> Result<ListResult> {
        let path = self.path(folder)?;
        Ok(self.store.list_with_delimiter(Some(&path)).await?)
    }

    /// Everything below a folder whose path is greater than `after`, in order.
    pub fn list(
        &self,
        folder: &str,
        after: &str,
    ) -> Result<BoxStream<'static, object_store::Result<ObjectMeta>>> {
        let path = self.path(folder)?;
        Ok(match after {
            "" => self.store.list(Some(&path)),
            _ => self.store.list_with_offset(Some(&path), &self.path(after)?),
        })
    }

    /// Deletes many keys.
    pub async fn delete_many(&self, keys: Vec<Path>) -> Result<()> {
        let keys = futures_util::stream::iter(keys.into_iter().map(Ok)).boxed();
        let mut deleted = self.store.delete_stream(keys);
        while let Some(outcome) = deleted.next().await {
            found(outcome.map_err(CloudError::from))?;
        }
        Ok(())
    }

    /// The key that an object's path means; `None` where it lies elsewhere.
    pub fn key<'p>(&self, path: &'p Path) -> Option<&'p str> {
        let path = path.as_ref();
        match self.prefix.as_str() {
            "" => Some(path),
            prefix => path.strip_prefix(prefix)?.strip_prefix('/'),
        }
    }

    fn path(&self, key: &str) -> Result<Path> {
        let full = match (self.prefix.as_str(), key) {
            ("", key) => key.to_owned(),
            (prefix, "") => prefix.to_owned(),
            (prefix, key) => format!("{prefix}/{key}"),
        };
        Path::parse(&full).map_err(|e| CloudError::Config(e.to_string()))
    }

    /// Runs `work` when it is its turn; it has as long as the deadline says from then on.
    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T>>,
        attempts: &AtomicU32,
    ) -> Result<T> {
        // Never closed.
        let _permit = self.permits.acquire().await.ok();
        match timeout(self.deadline, work).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CloudError::Late {
                deadline: self.deadline,
                attempts: attempts.load(Ordering::Relaxed),
            }),
        }
    }

    async fn once(&self, path: &Path, range: ByteRange) -> Result<Value> {
        // Azure does not count from the end, and nobody gives nothing.
        let unusual = match range {
            ByteRange::Suffix(len) => len == 0 || self.kind == Kind::Azure,
            ByteRange::Span { len, .. } => len == 0,
            ByteRange::Whole => false,
        };
        if unusual {
            return self.measured(path, range).await;
        }
        match self.request(path, range).await {
            // Some servers answer oddly to what lies behind the end.
            Err(CloudError::Beyond | CloudError::Odd(_)) if range != ByteRange::Whole => {
                self.measured(path, range).await
            }
            other => other,
        }
    }

    /// A part of which it has to be known where it lies.
    async fn measured(&self, path: &Path, range: ByteRange) -> Result<Value> {
        let meta = self.store.head(path).await?;
        let (offset, len) = resolve(range, meta.size);
        if len == 0 {
            return Ok(Value {
                bytes: Bytes::new(),
                version: version(&meta),
            });
        }
        self.request(path, ByteRange::Span { offset, len }).await
    }

    async fn request(&self, path: &Path, range: ByteRange) -> Result<Value> {
        let options = GetOptions {
            range: asked(range),
            ..GetOptions::default()
        };
        let answer = self.store.get_opts(path, options).await?;
        let version = version(&answer.meta);
        if range == ByteRange::Whole && answer.meta.size > most() {
            return Err(CloudError::TooLong { allowed: most() });
        }
        let bytes = body(answer, &self.buffers).await?;
        Ok(Value { bytes, version })
    }
}

/// All of a body, if it is as long as its head says; what comes after that is not waited for.
async fn body(answer: GetResult, buffers: &Arc<Buffers>) -> Result<Bytes> {
    let size = answer.range.end.saturating_sub(answer.range.start);
    let cut = || CloudError::Cut { attempts: 1 };
    let GetResultPayload::Stream(mut stream) = answer.payload;
    let mut collected = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| cut())?;
        if collected.is_empty() && piece.len() as u64 == size {
            return Ok(piece);
        }
        if collected.len() as u64 + piece.len() as u64 > size {
            return Err(CloudError::TooLong { allowed: size });
        }
        if collected.is_empty() {
            collected = buffers.take(size);
        }
        reserve(&mut collected, piece.len(), size)?;
        collected.extend_from_slice(&piece);
    }
    match collected.len() as u64 == size {
        true => Ok(buffers.lend(collected)),
        false => Err(cut()),
    }
}

/// Makes room for `more` bytes: what a head says is believed once a part of it has come.
fn reserve(collected: &mut Vec<u8>, more: usize, size: u64) -> Result<()> {
    let no_room = |_| CloudError::NoRoom { size };
    if collected.len() + more <= collected.capacity() {
        return Ok(());
    }
    let whole = usize::try_from(size).map_err(|_| CloudError::NoRoom { size })?;
    let room = match collected.len() < FIRST_PIECE {
        true => whole.min(2 * FIRST_PIECE),
        false => whole,
    };
    collected
        .try_reserve_exact(room.saturating_sub(collected.len()).max(more))
        .map_err(no_room)
}

fn version(meta: &ObjectMeta) -> UpdateVersion {
    UpdateVersion {
        e_tag: meta.e_tag.clone(),
        version: meta.version.clone(),
    }
}

/// What is missing as `None`.
fn found<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(CloudError::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}
