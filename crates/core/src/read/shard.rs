//! Reading shards: index, inner chunks, nested shards.

use std::ops::Range;

use super::{Reader, check_size};
use crate::arena::{Arena, lease, room};
use crate::codec::Size;
use crate::codec::chain::{self, Decoded, Sharding};
use crate::error::{Error, Result};
use crate::io::part::{InMemory, Window};
use crate::io::{Fetched, Object};
use crate::plan::Job;
use crate::pool::parallel_for;
use crate::shard::Index;
use crate::target::{Inner, Target};

/// Inner chunks nearer than this are fetched in one read; a local read call costs about as much as copying this much.
const GAP: u64 = 16 << 10;
/// The most that one read of several inner chunks takes.
const GROUP: u64 = 1 << 20;

/// An inner chunk that is wanted: where it lies, and its number in the plan.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    pub offset: u64,
    pub len: u64,
    pub number: usize,
}

/// Inner chunks of a shard by their numbers in the plan, and whether those that are absent are filled at once.
#[derive(Debug)]
pub struct Sought<N> {
    pub numbers: N,
    pub fills: bool,
}

impl Reader<'_> {
    /// A shard that has a key of its own, and whether that is there.
    pub fn stored_shard(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        arena: &mut Arena,
    ) -> Result<bool> {
        if !target.chain.steps.is_empty() {
            return self.stored_encoded_shard(target, sharding, arena);
        }
        match self.store.open(target.key)? {
            None => self.absent(target).map(|()| false),
            Some(object) => self.shard(target, sharding, &*object).map(|()| true),
        }
    }

    /// A shard with codecs after it, which must be decoded before its index can be read.
    fn stored_encoded_shard(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        arena: &mut Arena,
    ) -> Result<bool> {
        let max = target.chain.encoded_max(&target.shape(), self.array.item)?;
        let shard = match self.store.get(target.key, max, &mut arena.fetched)? {
            None => return self.absent(target).map(|()| false),
            Some(Fetched::Buffered) => decode_shard(target, self.array.item, &arena.fetched)?,
            Some(Fetched::Shared(bytes)) => decode_shard(target, self.array.item, &bytes)?,
        };
        self.shard(target, sharding, &InMemory::new(target.key, &shard))
            .map(|()| true)
    }

    /// What is wanted of the inner chunks of the shard `object`.
    pub fn shard(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        object: &dyn Object,
    ) -> Result<()> {
        let inner = Inner::new(target, sharding)?;
        let count = inner.grid.count()?;
        let index = self.array.indexes.get(target.key, object.stamp(), || {
            sharding.read_index(object, count, target.key, &mut lease())
        })?;
        let sought = Sought {
            numbers: 0..inner.plan.jobs(),
            fills: true,
        };
        let wanted = self.locate(target, sharding, &inner, &index, object.size(), sought)?;
        self.located_chunks(target, sharding, &inner, object, &wanted)
    }

    /// The wanted inner chunks, once it is known where they lie.
    pub fn located_chunks(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        inner: &Inner,
        object: &dyn Object,
        wanted: &[Located],
    ) -> Result<()> {
        let groups = match object.has_gaps() {
            true => (0..wanted.len()).map(|n| n..n + 1).collect(),
            false => group(wanted, self.options.threads),
        };
        let threads = if wanted.len() < 2 {
            1
        } else {
            self.options.threads
        };
        parallel_for(groups.len(), threads, &|n| {
            self.group(target, sharding, inner, object, &wanted[groups[n].clone()])
        })
    }

    /// Where the inner chunks that are sought lie, by offset.
    pub fn locate(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        inner: &Inner,
        index: &Index,
        size: u64,
        sought: Sought<impl IntoIterator<Item = usize>>,
    ) -> Result<Vec<Located>> {
        let max = sharding
            .chain
            .encoded_max(&sharding.chunks, self.array.item)? as u64;
        let mut wanted = Vec::new();
        let mut job = Job::default();
        for number in sought.numbers {
            inner.plan.job(number, &mut job);
            match index.entry(inner.grid.linear(&job.coords)) {
                Some((offset, len)) => {
                    check_entry(target.key, &job.coords, (offset, len), size, max)?;
                    wanted.push(Located {
                        offset,
                        len,
                        number,
                    });
                }
                None if !sought.fills => {}
                None => {
                    let out = target.out.part(inner.plan.parts(&job));
                    let absent = inner.target(sharding, &job, &out, target.key);
                    self.fill_absent(&absent);
                }
            }
        }
        wanted.sort_by_key(|located| located.offset);
        Ok(wanted)
    }

    /// Inner chunks that lie near each other.
    fn group(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        inner: &Inner,
        object: &dyn Object,
        wanted: &[Located],
    ) -> Result<()> {
        let mut arena = lease();
        let mut fetched = std::mem::take(&mut arena.fetched);
        let start = wanted.first().map_or(0, |located| located.offset);
        let end = wanted
            .iter()
            .map(|located| located.offset + located.len)
            .max()
            .unwrap_or(start);
        let plain = sharding.chain.steps.is_empty();
        let bytes = match object.in_memory() {
            _ if plain && wanted.len() == 1 => &[],
            Some(all) => &all[start as usize..end as usize],
            None => {
                let bytes = room(&mut fetched, (end - start) as usize)?;
                object.read_at(start, bytes)?;
                &*bytes
            }
        };
        let mut job = Job::default();
        for located in wanted {
            inner.plan.job(located.number, &mut job);
            let out = target.out.part(inner.plan.parts(&job));
            let chunk = inner.target(sharding, &job, &out, target.key);
            if bytes.is_empty() {
                self.inner_alone(&chunk, object, located, &mut arena)?;
            } else {
                let at = (located.offset - start) as usize;
                self.inner_chunk(&chunk, &bytes[at..at + located.len as usize], &mut arena)?;
            }
        }
        arena.fetched = fetched;
        Ok(())
    }

    /// One inner chunk that need not be read whole.
    fn inner_alone(
        &self,
        chunk: &Target<'_>,
        object: &dyn Object,
        located: &Located,
        arena: &mut Arena,
    ) -> Result<()> {
        if let Some(sharding) = &chunk.chain.shard {
            return self.shard(
                chunk,
                sharding,
                &Window::new(chunk.key, object, located.offset, located.len),
            );
        }
        let shape = chunk.shape();
        let total = self.total(&shape)?;
        check_size(chunk, located.len, total)?;
        self.plain_chunk(chunk, &shape, total, object, located.offset, arena)
    }

    /// A chunk or nested shard whose bytes are at hand.
    pub fn inner_chunk(&self, chunk: &Target<'_>, stored: &[u8], arena: &mut Arena) -> Result<()> {
        match &chunk.chain.shard {
            Some(sharding) if chunk.chain.steps.is_empty() => {
                self.shard(chunk, sharding, &InMemory::new(chunk.key, stored))
            }
            Some(sharding) => {
                let shard = decode_shard(chunk, self.array.item, stored)?;
                self.shard(chunk, sharding, &InMemory::new(chunk.key, &shard))
            }
            None => {
                let shape = chunk.shape();
                let walk = chunk.walk_unless_direct(&shape, self.array.item);
                self.chunk(chunk, walk.as_ref(), self.total(&shape)?, stored, arena)
            }
        }
    }
}

/// Checks an index entry against the shard's size and the longest possible encoding.
pub fn check_entry(
    key: &str,
    inner: &[u64],
    (offset, len): (u64, u64),
    size: u64,
    max: u64,
) -> Result<()> {
    let wrong = |why: String| Error::Shard {
        key: key.to_owned(),
        what: format!("the index entry of inner chunk {inner:?} ({len} bytes at {offset}) {why}"),
    };
    match offset.checked_add(len) {
        Some(end) if end <= size && len <= max => Ok(()),
        Some(end) if end <= size => Err(wrong(format!(
            "is longer than any encoding of it ({max} bytes)"
        ))),
        _ => Err(wrong(format!("points outside the shard of {size} bytes"))),
    }
}

/// Cuts `wanted`, which is sorted by offset, into runs that are read at once.
fn group(wanted: &[Located], threads: usize) -> Vec<Range<usize>> {
    let bytes: u64 = wanted.iter().map(|located| located.len).sum();
    let most = GROUP.min(bytes / (4 * threads.max(1) as u64));
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (n, located) in wanted.iter().enumerate() {
        let end = located.offset + located.len;
        match groups.last_mut() {
            Some(group)
                if near(&wanted[n - 1], located, GAP) && end.saturating_sub(start) <= most =>
            {
                group.end = n + 1
            }
            _ => {
                start = located.offset;
                groups.push(n..n + 1);
            }
        }
    }
    groups
}

/// Whether two inner chunks lie within `gap` bytes of each other.
pub fn near(before: &Located, after: &Located, gap: u64) -> bool {
    after.offset <= (before.offset + before.len).saturating_add(gap)
}

/// Undoes the codecs that follow sharding.
pub fn decode_shard(target: &Target<'_>, item: usize, stored: &[u8]) -> Result<Vec<u8>> {
    let max = target.chain.unstepped_max(&target.shape(), item)?;
    let (mut front, mut back) = (Vec::new(), Vec::new());
    let decoded = chain::decode(
        &target.chain.steps,
        stored,
        Size::AtMost(max),
        &mut front,
        &mut back,
        None,
    );
    Ok(
        match decoded.map_err(|e| e.at(target.key, &target.job.coords))? {
            Decoded::Source(range) => stored[range].to_vec(),
            Decoded::Front(range) => keep(front, range),
            Decoded::Back(range) => keep(back, range),
            Decoded::Destination => Vec::new(),
        },
    )
}

fn keep(mut buffer: Vec<u8>, range: Range<usize>) -> Vec<u8> {
    buffer.truncate(range.end);
    buffer.drain(..range.start);
    buffer
}
