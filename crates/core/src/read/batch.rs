//! Reading from stores that are better asked for many things at once: Python's and the network's.

use std::sync::Arc;

use bytes::Bytes;

use super::Reader;
use super::shard::{Located, near};
use crate::arena::{Arena, lease};
use crate::codec::chain::Sharding;
use crate::error::{Error, Result};
use crate::io::part::{InMemory, Parts};
use crate::io::{ByteRange, Request};
use crate::plan::{Job, Plan};
use crate::pool::parallel_for;
use crate::shard::Index;
use crate::target::{Inner, Target};
use crate::view::View;

/// Inner chunks nearer than this are fetched in one request.
const GAP: u64 = 1 << 20;
/// The most that one request of several inner chunks takes.
const GROUP: u64 = 16 << 20;

/// Runs `plan` in waves of `batch` keys.
pub fn read(reader: &Reader<'_>, plan: &Plan, out: &View<'_>, batch: usize) -> Result<()> {
    let batch = batch.max(1);
    for start in (0..plan.jobs()).step_by(batch) {
        let wave = Wave::new(reader, plan, out, start..plan.jobs().min(start + batch));
        match &reader.array.chain.shard {
            Some(sharding) if reader.array.chain.steps.is_empty() => wave.shards(sharding)?,
            _ => wave.chunks()?,
        }
    }
    Ok(())
}

/// Some jobs of a plan, with their keys.
struct Wave<'w> {
    reader: &'w Reader<'w>,
    plan: &'w Plan,
    jobs: Vec<Job>,
    outs: Vec<View<'w>>,
    keys: Vec<String>,
}

impl<'w> Wave<'w> {
    fn new(
        reader: &'w Reader<'w>,
        plan: &'w Plan,
        out: &'w View<'w>,
        numbers: std::ops::Range<usize>,
    ) -> Wave<'w> {
        let mut wave = Wave {
            reader,
            plan,
            jobs: Vec::new(),
            outs: Vec::new(),
            keys: Vec::new(),
        };
        for number in numbers {
            let (mut job, mut key) = (Job::default(), String::new());
            plan.job(number, &mut job);
            reader.array.key(&job.coords, &mut key);
            wave.outs.push(out.part(plan.parts(&job)).owned());
            wave.jobs.push(job);
            wave.keys.push(key);
        }
        wave
    }

    fn target(&self, n: usize) -> Target<'_> {
        Target {
            chain: &self.reader.array.chain,
            grid: &self.reader.array.grid,
            plan: self.plan,
            job: &self.jobs[n],
            out: &self.outs[n],
            key: &self.keys[n],
        }
    }

    fn fetch(&self, range: impl Fn(usize) -> ByteRange) -> Result<Vec<Option<Bytes>>> {
        let request = |(n, key): (usize, &String)| Request {
            key: key.clone(),
            range: range(n),
        };
        let requests: Vec<Request> = self.keys.iter().enumerate().map(request).collect();
        ask(self.reader, &requests)
    }

    /// Whole keys: chunks, or shards that must be decoded before they can be read.
    fn chunks(&self) -> Result<()> {
        let fetched = self.fetch(|_| ByteRange::Whole)?;
        parallel_for(self.jobs.len(), self.reader.options.threads, &|n| {
            let (target, mut arena) = (self.target(n), lease());
            match &fetched[n] {
                None => self.reader.absent(&target),
                Some(bytes) => self.reader.inner_chunk(&target, bytes, &mut arena),
            }
        })
    }

    /// Shards: first their indexes, then the inner chunks that are wanted.
    fn shards(&self, sharding: &Sharding) -> Result<()> {
        let mut inners = Vec::with_capacity(self.jobs.len());
        for n in 0..self.jobs.len() {
            inners.push(Inner::new(&self.target(n), sharding)?);
        }
        let indexes = self.indexes(sharding, &inners)?;
        let mut requests = Vec::new();
        let mut shards = Vec::new();
        for (n, index) in indexes.iter().enumerate() {
            let target = self.target(n);
            let Some(index) = index else {
                self.reader.absent(&target)?;
                continue;
            };
            let wanted = self
                .reader
                .locate(&target, sharding, &inners[n], index, u64::MAX)?;
            let first = requests.len();
            requests.extend(spans(&wanted).map(|range| Request {
                key: self.keys[n].clone(),
                range,
            }));
            shards.push((n, wanted, first..requests.len()));
        }
        let fetched = ask(self.reader, &requests)?;
        parallel_for(shards.len(), self.reader.options.threads, &|k| {
            let (n, wanted, range) = &shards[k];
            let object = parts(
                &self.keys[*n],
                &requests[range.clone()],
                &fetched[range.clone()],
            )?;
            self.reader
                .located_chunks(&self.target(*n), sharding, &inners[*n], &object, wanted)
        })
    }

    fn indexes(&self, sharding: &Sharding, inners: &[Inner]) -> Result<Vec<Option<Arc<Index>>>> {
        let mut sizes = Vec::with_capacity(inners.len());
        for inner in inners {
            sizes.push(sharding.index_size(inner.grid.count()?)? as u64);
        }
        let fetched = self.fetch(|n| match sharding.at_end {
            true => ByteRange::Suffix(sizes[n]),
            false => ByteRange::Span {
                offset: 0,
                len: sizes[n],
            },
        })?;
        let mut arena = lease();
        let arena: &mut Arena = &mut arena;
        let mut indexes = Vec::with_capacity(fetched.len());
        for (n, bytes) in fetched.iter().enumerate() {
            let Some(bytes) = bytes else {
                indexes.push(None);
                continue;
            };
            let inner = inners[n].grid.count()?;
            let key = &self.keys[n];
            let index = sharding.read_index(&InMemory::new(key, bytes), inner, key, arena)?;
            indexes.push(Some(Arc::new(index)));
        }
        Ok(indexes)
    }
}

fn ask(reader: &Reader<'_>, requests: &[Request]) -> Result<Vec<Option<Bytes>>> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let answers = reader.store.get_many(requests)?;
    if answers.len() != requests.len() {
        let what = format!(
            "the store gave {} answers to {} requests",
            answers.len(),
            requests.len()
        );
        return Err(Error::Internal(what));
    }
    Ok(answers)
}

/// The ranges to ask for, where inner chunks near each other are asked for together.
fn spans(wanted: &[Located]) -> impl Iterator<Item = ByteRange> {
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (n, located) in wanted.iter().enumerate() {
        let end = located.offset + located.len;
        match merged.last_mut() {
            Some((start, last)) if near(&wanted[n - 1], located, GAP) && end - *start <= GROUP => {
                *last = end.max(*last);
            }
            _ => merged.push((located.offset, end)),
        }
    }
    merged.into_iter().map(|(start, end)| ByteRange::Span {
        offset: start,
        len: end - start,
    })
}

/// The fetched parts of one shard.
fn parts<'a>(key: &str, requests: &[Request], fetched: &'a [Option<Bytes>]) -> Result<Parts<'a>> {
    let mut parts = Vec::with_capacity(requests.len());
    for (request, bytes) in requests.iter().zip(fetched) {
        match (request.range, bytes) {
            (ByteRange::Span { offset, .. }, Some(bytes)) => parts.push((offset, &bytes[..])),
            _ => {
                let what = "it vanished while it was read".to_owned();
                return Err(Error::Shard {
                    key: key.to_owned(),
                    what,
                });
            }
        }
    }
    Ok(Parts {
        key: key.to_owned(),
        size: u64::MAX,
        parts,
    })
}
