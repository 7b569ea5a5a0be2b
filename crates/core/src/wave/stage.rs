//! Gathering the encoded bytes of rows in memory that the executor lends.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::fetch::fetch;
use super::rows::{Row, Rows, Source, leaf};
use super::streams::{ALIGNMENT, FrameCodec, Planes, Stream};
use crate::arena::{Arena, lease, room};
use crate::array::Array;
use crate::codec::Size;
use crate::codec::chain::{self, Chain, DecodeError, Decoded};
use crate::error::{Error, Result};
use crate::io::{Descriptor, Object, Store, StoreError, length};
use crate::pool::parallel_for;

/// The executor's memory, handed out from its start.
#[derive(Debug)]
pub struct Room {
    base: *mut u8,
    len: usize,
    used: AtomicUsize,
}

// SAFETY: every part of the memory is handed out once, so threads never share any.
unsafe impl Sync for Room {}

impl Room {
    /// # Safety
    /// `base` must be valid for reads and writes of `len` bytes, by nobody else, while this lives.
    pub unsafe fn new(base: *mut u8, len: usize) -> Room {
        Room {
            base,
            len,
            used: AtomicUsize::new(0),
        }
    }

    /// A part of `len` bytes that begins `lead` bytes past a multiple of [`ALIGNMENT`], if it is left.
    fn take(&self, len: usize, lead: usize) -> Option<Range<usize>> {
        let start = |used: usize| used.next_multiple_of(ALIGNMENT).checked_add(lead);
        let end = |used: usize| start(used)?.checked_add(len).filter(|&end| end <= self.len);
        let order = Ordering::Relaxed;
        let used = self.used.fetch_update(order, order, end).ok()?;
        start(used).map(|start| start..start + len)
    }

    /// The bytes of a part that was taken.
    #[expect(clippy::mut_from_ref, reason = "parts are disjoint")]
    fn bytes(&self, range: &Range<usize>) -> &mut [u8] {
        // SAFETY: the range lies in the memory and was handed out once, to the caller.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(range.start), range.len()) }
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// How rows are to be staged.
#[derive(Clone, Copy, Debug)]
pub struct Order<'o> {
    pub rows: &'o [usize],
    /// For each whether it is to be decoded here.
    pub host: &'o [bool],
    /// Whether the executor reads files itself, where their bytes need nothing done before.
    pub direct: bool,
    /// How many steps of the chain, from its start, the device undoes.
    pub device_steps: usize,
    /// What the last of them is, where it is a compressor.
    pub frame: Option<FrameCodec>,
    /// The most streams that one row may have, and all of them.
    pub most_streams: usize,
    pub threads: usize,
    pub missing_is_error: bool,
}

/// What became of a row.
#[derive(Debug)]
pub enum Staged {
    /// There was no room; it has to come again.
    Deferred,
    Absent,
    /// It has to come again, to be decoded here.
    ForHost,
    /// Decoded to its elements.
    Decoded(Range<usize>),
    /// As the device's first step takes it, apart from a compressor.
    Plain(Range<usize>),
    /// The same, still to be read into its place from a file, from an offset on.
    InFile(Range<usize>, Descriptor, u64),
    /// A frame; its streams' offsets are in the memory.
    Frame(Vec<Stream>, Planes),
}

/// Stages `order.rows`; their outcomes, in that order.
pub fn stage(
    array: &Array,
    store: &dyn Store,
    rows: &Rows,
    order: Order<'_>,
    memory: &Room,
) -> Result<Vec<Staged>> {
    let stager = Stager {
        chain: leaf(&array.chain),
        store,
        rows,
        order,
        memory,
        streams: AtomicUsize::new(0),
    };
    let fetched = stager.fetch_all()?;
    let mut outcomes = Vec::new();
    outcomes.resize_with(order.rows.len(), || Mutex::new(Staged::Deferred));
    parallel_for(order.rows.len(), order.threads, &|n| {
        let fetched = fetched.as_ref().map(|fetched| fetched[n].clone());
        let staged = stager.row(n, fetched, &mut lease())?;
        if let Ok(mut slot) = outcomes[n].lock() {
            *slot = staged;
        }
        Ok(())
    })?;
    let finished = |slot: Mutex<Staged>| slot.into_inner().unwrap_or(Staged::Deferred);
    Ok(outcomes.into_iter().map(finished).collect())
}

struct Stager<'s> {
    chain: &'s Chain,
    store: &'s dyn Store,
    rows: &'s Rows,
    order: Order<'s>,
    memory: &'s Room,
    streams: AtomicUsize,
}

/// A row's encoded bytes before they are staged.
enum Stored<'b> {
    Absent,
    Bytes(&'b [u8]),
}

impl Stager<'_> {
    /// The bytes of all rows at once, from stores that like it so.
    fn fetch_all(&self) -> Result<Option<Vec<Option<Bytes>>>> {
        let Some(batch) = self.store.batch() else {
            return Ok(None);
        };
        fetch(self.store, self.rows, self.order.rows, batch).map(Some)
    }

    fn row(&self, n: usize, fetched: Option<Option<Bytes>>, arena: &mut Arena) -> Result<Staged> {
        let row = &self.rows.rows[self.order.rows[n]];
        if self.order.host[n] {
            let mut buffer = std::mem::take(&mut arena.fetched);
            let staged = match self.stored(row, fetched.as_ref(), &mut buffer)? {
                Stored::Absent => self.absent(row),
                Stored::Bytes(stored) => self.decoded(row, stored, arena),
            };
            arena.fetched = buffer;
            return staged;
        }
        if self.order.direct
            && let Some(staged) = self.in_file(row)?
        {
            return Ok(staged);
        }
        let found = match &fetched {
            Some(None) if !matches!(row.source, Source::Held { .. }) => return self.absent(row),
            Some(Some(bytes)) => self.copied(bytes),
            _ => self.read(row)?,
        };
        match found {
            Place::Absent => self.absent(row),
            Place::NoRoom => Ok(Staged::Deferred),
            Place::At(range) => self.encoded(row, range, arena),
        }
    }

    fn absent(&self, row: &Row) -> Result<Staged> {
        match self.order.missing_is_error {
            true => Err(Error::Missing {
                key: self.rows.keys[row.key].clone(),
                chunk: row.coords.to_vec(),
            }),
            false => Ok(Staged::Absent),
        }
    }

    /// The encoded bytes of a row that is decoded here.
    fn stored<'b>(
        &'b self,
        row: &Row,
        fetched: Option<&'b Option<Bytes>>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Stored<'b>> {
        if let Source::Held { shard, offset, len } = row.source {
            let (start, end) = (offset as usize, (offset + len) as usize);
            return Ok(Stored::Bytes(&self.rows.held[shard][start..end]));
        }
        if let Some(fetched) = fetched {
            return Ok(match fetched {
                Some(bytes) => Stored::Bytes(bytes),
                None => Stored::Absent,
            });
        }
        let (range, key) = match row.source {
            Source::Key(key) => (None, key),
            Source::Part { key, offset, len } => (Some((offset, len)), key),
            Source::Absent | Source::Held { .. } => return Ok(Stored::Absent),
        };
        let Some(object) = open(self.store, self.rows, key)? else {
            return Ok(Stored::Absent);
        };
        let (offset, len) = range.unwrap_or((0, object.size()));
        let len = self.length(row, len)?;
        object.read_at(offset, room(buffer, len)?)?;
        Ok(Stored::Bytes(&buffer[..len]))
    }

    /// A row whose encoded bytes the executor reads from their file; `None` where that can't be.
    fn in_file(&self, row: &Row) -> Result<Option<Staged>> {
        let (key, range) = match row.source {
            Source::Key(key) => (key, None),
            Source::Part { key, offset, len } => (key, Some((offset, len))),
            Source::Absent | Source::Held { .. } => return Ok(None),
        };
        let Some(object) = open(self.store, self.rows, key)? else {
            return self.absent(row).map(Some);
        };
        let Some(file) = object.descriptor()? else {
            return Ok(None);
        };
        let (offset, len) = range.unwrap_or((0, object.size()));
        let sizes = chain::sizes(&self.chain.steps, Size::Exact(row.decoded))
            .map_err(|e| self.at(row, e.into()))?;
        let due = sizes.last().copied().unwrap_or(Size::Exact(row.decoded));
        match (usize::try_from(len), due) {
            (Ok(len), Size::Exact(due)) if len == due => Ok(Some(match self.memory.take(len, 0) {
                Some(range) => Staged::InFile(range, file, offset),
                None => Staged::Deferred,
            })),
            // Another length is an error, which the chain names.
            _ => Ok(Some(Staged::ForHost)),
        }
    }

    /// Decodes a row to its elements.
    fn decoded(&self, row: &Row, stored: &[u8], arena: &mut Arena) -> Result<Staged> {
        let Some(range) = self.memory.take(row.decoded, 0) else {
            return Ok(Staged::Deferred);
        };
        let dst = self.memory.bytes(&range);
        chain::decode(
            &self.chain.steps,
            stored,
            Size::Exact(row.decoded),
            &mut arena.front,
            &mut arena.back,
            Some(dst),
        )
        .map_err(|e| self.at(row, e))?;
        Ok(Staged::Decoded(range))
    }

    fn at(&self, row: &Row, error: DecodeError) -> Error {
        error.at(&self.rows.keys[row.key], &row.coords)
    }

    /// How many bytes are read of a row that has `len`.
    fn length(&self, row: &Row, len: u64) -> Result<usize> {
        let sizes = chain::sizes(&self.chain.steps, Size::Exact(row.decoded));
        let sizes = sizes.map_err(|e| self.at(row, e.into()))?;
        let max = sizes.last().map_or(row.decoded, |size| size.max());
        length::checked(&self.rows.keys[row.key], len, max)
    }

    fn lead(&self) -> usize {
        self.order.frame.map_or(0, FrameCodec::lead)
    }

    fn copied(&self, bytes: &[u8]) -> Place {
        let Some(range) = self.memory.take(bytes.len(), self.lead()) else {
            return Place::NoRoom;
        };
        self.memory.bytes(&range).copy_from_slice(bytes);
        Place::At(range)
    }

    /// Reads a row's encoded bytes straight into the memory.
    fn read(&self, row: &Row) -> Result<Place> {
        let (key, range) = match row.source {
            Source::Key(key) => (key, None),
            Source::Part { key, offset, len } => (key, Some((offset, len))),
            Source::Absent => return Ok(Place::Absent),
            Source::Held { shard, offset, len } => {
                let (start, end) = (offset as usize, (offset + len) as usize);
                return Ok(self.copied(&self.rows.held[shard][start..end]));
            }
        };
        let Some(object) = open(self.store, self.rows, key)? else {
            return Ok(Place::Absent);
        };
        let (offset, len) = range.unwrap_or((0, object.size()));
        let len = self.length(row, len)?;
        let Some(range) = self.memory.take(len, self.lead()) else {
            return Ok(Place::NoRoom);
        };
        object.read_at(offset, self.memory.bytes(&range))?;
        Ok(Place::At(range))
    }

    /// Undoes what the device does not, and takes the frame apart.
    fn encoded(&self, row: &Row, range: Range<usize>, arena: &mut Arena) -> Result<Staged> {
        let steps = &self.chain.steps;
        let (device, host) = steps.split_at(self.order.device_steps.min(steps.len()));
        let sizes =
            chain::sizes(device, Size::Exact(row.decoded)).map_err(|e| self.at(row, e.into()))?;
        let total = sizes.last().copied().unwrap_or(Size::Exact(row.decoded));
        let src = self.memory.bytes(&range);
        let (front, back) = (&mut arena.front, &mut arena.back);
        let decoded = chain::decode(host, src, Size::AtMost(total.max()), front, back, None);
        let bytes = match decoded {
            Ok(Decoded::Source(inner)) => range.start + inner.start..range.start + inner.end,
            Ok(Decoded::Front(inner)) => match self.copied(&front[inner]) {
                Place::At(range) => range,
                _ => return Ok(Staged::ForHost),
            },
            Ok(Decoded::Back(inner)) => match self.copied(&back[inner]) {
                Place::At(range) => range,
                _ => return Ok(Staged::ForHost),
            },
            Ok(Decoded::Destination) => return Err(Error::Internal("decoded to nowhere".into())),
            Err(e) => return Err(self.at(row, e)),
        };
        let before = match self.order.frame {
            Some(_) if sizes.len() > 1 => sizes[sizes.len() - 2],
            Some(_) => Size::Exact(row.decoded),
            None => total,
        };
        let Size::Exact(expected) = before else {
            return Ok(Staged::ForHost);
        };
        match self.order.frame {
            None if bytes.len() == expected && bytes.start.is_multiple_of(ALIGNMENT) => {
                Ok(Staged::Plain(bytes))
            }
            // A wrong size is an error that the chain names; misaligned bytes are rare.
            None => Ok(Staged::ForHost),
            Some(codec) => self.frame(codec, bytes, expected),
        }
    }

    fn frame(&self, codec: FrameCodec, bytes: Range<usize>, decoded: usize) -> Result<Staged> {
        let Some(mut frame) = codec.parse(self.memory.bytes(&bytes), decoded) else {
            return Ok(Staged::ForHost);
        };
        let count = frame.streams.len();
        if count > self.order.most_streams {
            return Ok(Staged::ForHost);
        }
        if self.streams.fetch_add(count, Ordering::Relaxed) + count > self.order.most_streams {
            return Ok(Staged::Deferred);
        }
        for stream in &mut frame.streams {
            stream.offset += bytes.start;
            if !self.align(stream) {
                return Ok(Staged::ForHost);
            }
        }
        Ok(Staged::Frame(frame.streams, frame.planes))
    }

    /// Moves a stream that does not begin where its decoder wants it.
    fn align(&self, stream: &mut Stream) -> bool {
        if stream.offset.is_multiple_of(stream.format.alignment()) {
            return true;
        }
        let from = stream.offset..stream.offset + stream.len;
        match self.memory.take(stream.len, 0) {
            Some(range) => {
                let bytes = self.memory.bytes(&from);
                self.memory.bytes(&range).copy_from_slice(bytes);
                stream.offset = range.start;
                true
            }
            None => false,
        }
    }
}

/// A key of rows, in the version in which parts of it were found.
pub fn open<'s>(
    store: &'s dyn Store,
    rows: &Rows,
    key: usize,
) -> Result<Option<Box<dyn Object + 's>>> {
    let object = store.open(&rows.keys[key])?;
    let found = object.as_ref().and_then(|object| object.stamp());
    match rows.stamps.get(key).copied().flatten() {
        Some(due) if found != Some(due) => Err(Error::Store(StoreError::Conflict {
            key: rows.keys[key].clone(),
        })),
        _ => Ok(object),
    }
}

/// Where bytes were put.
enum Place {
    Absent,
    NoRoom,
    At(Range<usize>),
}
