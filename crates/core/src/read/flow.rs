//! Reading from stores that are better asked for many things at once: Python's and the network's. As many questions
//! as there is room for are open, and answers are decoded as they come.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::Reader;
use super::shard::{Located, near};
use crate::arena::lease;
use crate::codec::chain::Sharding;
use crate::error::{Error, Result};
use crate::grid::{Axis, byte_count};
use crate::io::arrivals::{Arrivals, Asker, InBatches};
use crate::io::part::{InMemory, Parts};
use crate::io::{ByteRange, Request};
use crate::plan::{Job, Plan};
use crate::pool::parallel_for;
use crate::target::{Inner, Target};
use crate::view::View;

/// Inner chunks nearer than this are fetched in one request.
const GAP: u64 = 1 << 20;
/// The most that one request of several inner chunks takes.
const GROUP: u64 = 4 << 20;
/// The most that may be on its way or wait to be decoded.
const ROOM: u64 = 256 << 20;

/// Runs `plan` with at most `window` questions open.
pub fn read(
    reader: &Reader<'_>,
    plan: &Plan,
    out: &View<'_>,
    window: usize,
    threads: usize,
) -> Result<()> {
    let arrivals = Arc::new(Arrivals::default());
    let asker = reader.store.asker(&arrivals)?;
    let asker = asker.unwrap_or_else(|| {
        Box::new(InBatches {
            store: reader.store,
            arrivals: Arc::clone(&arrivals),
        })
    });
    arrivals.expect(plan.jobs());
    let flow = Flow {
        reader,
        plan,
        out,
        window: window.max(1),
        largest: largest(reader)?,
        arrivals,
        asker,
        asking: Mutex::new(()),
        state: Mutex::default(),
    };
    parallel_for(threads, threads, &|_| flow.work())?;
    flow.asker.end()
}

/// The most bytes that a whole key may have.
fn largest(reader: &Reader<'_>) -> Result<u64> {
    let array = reader.array;
    let shape: Vec<u64> = array.grid.iter().map(Axis::largest).collect();
    if array.chain.shard.is_some() {
        let bytes = byte_count(shape.iter().copied(), array.item).unwrap_or(usize::MAX);
        return Ok(bytes as u64);
    }
    Ok(array.chain.encoded_max(&shape, array.item)? as u64)
}

/// What an answer is for.
#[derive(Debug)]
enum Purpose {
    /// A chunk, or a shard that must be decoded before it can be read.
    Whole,
    /// The index of a shard.
    Index,
    /// Inner chunks that lie near each other.
    Part(Vec<Located>),
}

/// Something to ask, for one job of the plan.
#[derive(Debug)]
struct Question {
    job: usize,
    purpose: Purpose,
    request: Request,
    /// How many bytes the answer may have.
    size: u64,
}

#[derive(Debug, Default)]
struct State {
    next_job: usize,
    next_number: usize,
    waiting: VecDeque<Question>,
    asked: HashMap<usize, Question>,
    /// Bytes of questions that are asked or being dealt with, and how many these are.
    bytes: u64,
    open: usize,
}

struct Flow<'f> {
    reader: &'f Reader<'f>,
    plan: &'f Plan,
    out: &'f View<'f>,
    window: usize,
    largest: u64,
    arrivals: Arc<Arrivals>,
    asker: Box<dyn Asker + 'f>,
    /// Held by who asks, which may take long.
    asking: Mutex<()>,
    state: Mutex<State>,
}

/// A job, its key and where its part of the result lies.
struct Place<'p> {
    job: Job,
    key: String,
    out: View<'p>,
}

impl Flow<'_> {
    /// One thread's part.
    fn work(&self) -> Result<()> {
        self.top_up()?;
        while let Some((number, answer)) = self.arrivals.next()? {
            let question = self.lock().asked.remove(&number);
            let question =
                question.ok_or_else(|| Error::Internal("an answer to no question".into()))?;
            let size = question.size;
            self.deal(question, answer?)?;
            let mut state = self.lock();
            state.bytes -= size;
            state.open -= 1;
            drop(state);
            self.top_up()?;
            self.arrivals.settle();
        }
        Ok(())
    }

    /// Asks for more once half of what was asked is dealt with; some stores like many questions at a time.
    fn top_up(&self) -> Result<()> {
        // Whoever is asking may not have seen that there is room. While other answers are to come, so is their
        // top-up; the last one has to wait its turn.
        let is_last = self.lock().open == 0;
        let _asking = match self.asking.try_lock() {
            Ok(asking) => asking,
            Err(_) if is_last => self.asking.lock().unwrap_or_else(PoisonError::into_inner),
            Err(_) => return Ok(()),
        };
        let questions = self.more()?;
        match questions.is_empty() {
            true => Ok(()),
            false => self.asker.ask(questions),
        }
    }

    fn more(&self) -> Result<Vec<(usize, Request)>> {
        let mut questions = Vec::new();
        let mut state = self.lock();
        if state.open > self.window / 2 {
            return Ok(questions);
        }
        while state.open < self.window
            && let Some(question) = self.next_question(&mut state)?
        {
            if state.open > 0 && state.bytes.saturating_add(question.size) > ROOM {
                state.waiting.push_front(question);
                break;
            }
            state.open += 1;
            state.bytes += question.size;
            let number = state.next_number;
            state.next_number += 1;
            questions.push((number, question.request.clone()));
            state.asked.insert(number, question);
        }
        Ok(questions)
    }

    fn next_question(&self, state: &mut State) -> Result<Option<Question>> {
        if let Some(question) = state.waiting.pop_front() {
            return Ok(Some(question));
        }
        if state.next_job == self.plan.jobs() {
            return Ok(None);
        }
        let job = state.next_job;
        state.next_job += 1;
        self.first_question(job).map(Some)
    }

    fn first_question(&self, job: usize) -> Result<Question> {
        let place = self.place(job);
        let (purpose, range, size) = match self.sharding() {
            None => (Purpose::Whole, ByteRange::Whole, self.largest),
            Some(sharding) => {
                let inner = Inner::new(&self.target(&place), sharding)?;
                let len = sharding.index_size(inner.grid.count()?)? as u64;
                let range = match sharding.at_end {
                    true => ByteRange::Suffix(len),
                    false => ByteRange::Span { offset: 0, len },
                };
                (Purpose::Index, range, len)
            }
        };
        let request = Request {
            key: place.key,
            range,
        };
        Ok(Question {
            job,
            purpose,
            request,
            size,
        })
    }

    /// How the inner chunks are found, where that takes no more than an index.
    fn sharding(&self) -> Option<&Sharding> {
        let chain = &self.reader.array.chain;
        chain.shard.as_deref().filter(|_| chain.steps.is_empty())
    }

    fn place(&self, number: usize) -> Place<'_> {
        let (mut job, mut key) = (Job::default(), String::new());
        self.plan.job(number, &mut job);
        self.reader.array.key(&job.coords, &mut key);
        let out = self.out.part(self.plan.parts(&job)).owned();
        Place { job, key, out }
    }

    fn target<'t>(&'t self, place: &'t Place<'_>) -> Target<'t> {
        Target {
            chain: &self.reader.array.chain,
            grid: &self.reader.array.grid,
            plan: self.plan,
            job: &place.job,
            out: &place.out,
            key: &place.key,
        }
    }

    fn deal(&self, question: Question, answer: Option<Bytes>) -> Result<()> {
        let place = self.place(question.job);
        let target = self.target(&place);
        match (question.purpose, answer, self.sharding()) {
            (Purpose::Part(wanted), Some(bytes), Some(sharding)) => {
                self.part(&target, sharding, &question.request, &bytes, &wanted)
            }
            (Purpose::Part(_), _, _) => Err(Error::Shard {
                key: place.key.clone(),
                what: "it vanished while it was read".to_owned(),
            }),
            (_, None, _) => self.reader.absent(&target),
            (Purpose::Index, Some(bytes), Some(sharding)) => {
                self.index(question.job, &target, sharding, &bytes)
            }
            (_, Some(bytes), _) => self.reader.inner_chunk(&target, &bytes, &mut lease()),
        }
    }

    /// Asks for the inner chunks that are wanted of a shard.
    fn index(
        &self,
        job: usize,
        target: &Target<'_>,
        sharding: &Sharding,
        bytes: &Bytes,
    ) -> Result<()> {
        let inner = Inner::new(target, sharding)?;
        let count = inner.grid.count()?;
        let at_hand = InMemory::new(target.key, bytes);
        let index = sharding.read_index(&at_hand, count, target.key, &mut lease())?;
        let wanted = self
            .reader
            .locate(target, sharding, &inner, &index, u64::MAX, true)?;
        let questions: Vec<Question> = groups(wanted)
            .into_iter()
            .map(|(offset, len, wanted)| Question {
                job,
                purpose: Purpose::Part(wanted),
                request: Request {
                    key: target.key.to_owned(),
                    range: ByteRange::Span { offset, len },
                },
                size: len,
            })
            .collect();
        self.arrivals.expect(questions.len());
        self.lock().waiting.extend(questions);
        Ok(())
    }

    fn part(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        request: &Request,
        bytes: &Bytes,
        wanted: &[Located],
    ) -> Result<()> {
        let ByteRange::Span { offset, .. } = request.range else {
            return Err(Error::Internal("a part without an offset".into()));
        };
        let object = Parts {
            key: request.key.clone(),
            size: u64::MAX,
            parts: vec![(offset, &bytes[..])],
        };
        let inner = Inner::new(target, sharding)?;
        self.reader
            .located_chunks(target, sharding, &inner, &object, wanted)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to ask for at once: offset, length, and the inner chunks in it.
fn groups(wanted: Vec<Located>) -> Vec<(u64, u64, Vec<Located>)> {
    let mut groups: Vec<(u64, u64, Vec<Located>)> = Vec::new();
    for located in wanted {
        let end = located.offset + located.len;
        match groups.last_mut() {
            Some((start, len, group))
                if group.last().is_some_and(|last| near(last, &located, GAP))
                    && end.saturating_sub(*start) <= GROUP =>
            {
                *len = (*len).max(end - *start);
                group.push(located);
            }
            _ => groups.push((located.offset, located.len, vec![located])),
        }
    }
    groups
}
