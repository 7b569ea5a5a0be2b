//! Reading from stores that are better asked for many things at once: Python's and the network's. As many questions
//! as there is room for are open, and answers are decoded as they come.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::Reader;
use super::questions::{GAP, Known, Purpose, Question, Unsure, WHOLE, parts};
use super::shard::{Located, Sought};
use crate::arena::lease;
use crate::codec::chain::Sharding;
use crate::error::{Error, Result};
use crate::grid::{Axis, byte_count};
use crate::io::arrivals::{Answer, Arrivals, Asker, InBatches};
use crate::io::part::{InMemory, Parts};
use crate::io::{ByteRange, Request, Stamp, length};
use crate::plan::{Job, Plan};
use crate::pool::parallel_for;
use crate::target::{Inner, Target};
use crate::view::View;

/// The most that may be on its way or wait to be decoded, where that is more than a few answers.
const ROOM: u64 = 64 << 20;
const FEW: usize = 8;
/// The most that it may be in any case, but for one answer.
const MOST: u64 = 512 << 20;
/// How often a shard may have become another one while it is read.
const CHANGES: u32 = 10;

/// Runs `plan` with at most `window` questions open.
pub fn read(
    reader: &Reader<'_>,
    plan: &Plan,
    out: &View<'_>,
    window: usize,
    threads: usize,
) -> Result<()> {
    let arrivals = Arc::new(Arrivals::default());
    let in_batches = InBatches {
        store: reader.store,
        arrivals: Arc::clone(&arrivals),
    };
    let asker = reader.store.asker(&arrivals)?;
    let asker: &dyn Asker = asker.as_deref().unwrap_or(&in_batches);
    let course = Course::new(reader, plan, arrivals, window)?;
    let flow = Flow {
        reader,
        plan,
        out,
        asker,
        course: &course,
    };
    flow.begin()?;
    parallel_for(threads, threads, &|_| flow.work())?;
    asker.end()
}

/// The most bytes that all of a key may have before it is refused.
fn most(reader: &Reader<'_>) -> Result<u64> {
    let shape: Vec<u64> = reader.array.grid.iter().map(Axis::largest).collect();
    let expected = reader.array.chain.encoded_max(&shape, reader.array.item)?;
    Ok(length::allowed(expected))
}

/// What a read remembers from answer to answer.
#[derive(Debug)]
pub struct Course {
    window: usize,
    largest: u64,
    pub arrivals: Arc<Arrivals>,
    /// Held by who asks, which may take long.
    asking: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next_job: usize,
    next_number: usize,
    waiting: VecDeque<Question>,
    asked: HashMap<usize, Question>,
    /// By the job of their shard.
    unsure: HashMap<usize, Unsure>,
    /// Bytes of questions that are asked or being dealt with, and how many these are.
    bytes: u64,
    open: usize,
}

impl State {
    fn has_room(&self, size: u64) -> bool {
        let room = if self.open < FEW { MOST } else { ROOM };
        self.open == 0 || self.bytes.saturating_add(size) <= room
    }
}

impl Course {
    pub fn new(
        reader: &Reader<'_>,
        plan: &Plan,
        arrivals: Arc<Arrivals>,
        window: usize,
    ) -> Result<Course> {
        arrivals.bound(most(reader)?);
        // Every job, and the beginning.
        arrivals.expect(plan.jobs().saturating_add(1));
        Ok(Course {
            window: window.max(1),
            largest: largest(reader)?,
            arrivals,
            asking: Mutex::new(()),
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// A read, as one of its steps sees it.
pub struct Flow<'f> {
    pub reader: &'f Reader<'f>,
    pub plan: &'f Plan,
    pub out: &'f View<'f>,
    pub asker: &'f dyn Asker,
    pub course: &'f Course,
}

/// A job, its key and where its part of the result lies.
struct Place<'p> {
    job: Job,
    key: String,
    out: View<'p>,
}

impl Flow<'_> {
    /// Asks the first questions. Whether nothing is to be waited for.
    pub fn begin(&self) -> Result<bool> {
        self.top_up()?;
        Ok(self.course.arrivals.settle())
    }

    /// One thread's part.
    fn work(&self) -> Result<()> {
        while let Some((number, answer)) = self.course.arrivals.next()? {
            self.take(number, answer)?;
        }
        Ok(())
    }

    /// Deals with an answer. Whether it was the last.
    pub fn take(&self, number: usize, answer: Answer) -> Result<bool> {
        let question = self.course.lock().asked.remove(&number);
        let question =
            question.ok_or_else(|| Error::Internal("an answer to no question".into()))?;
        let size = question.size;
        self.deal(question, answer?)?;
        let mut state = self.course.lock();
        state.bytes -= size;
        state.open -= 1;
        drop(state);
        self.top_up()?;
        Ok(self.course.arrivals.settle())
    }

    /// Asks for more once half of what was asked is dealt with; some stores like many questions at a time.
    fn top_up(&self) -> Result<()> {
        let course = self.course;
        // Whoever is asking may not have seen that there is room. While other answers are to come, so is their
        // top-up; the last one has to wait its turn.
        let is_last = course.lock().open == 0;
        let _asking = match course.asking.try_lock() {
            Ok(asking) => asking,
            Err(_) if is_last => course.asking.lock().unwrap_or_else(PoisonError::into_inner),
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
        let course = self.course;
        if course.lock().open > course.window / 2 {
            return Ok(questions);
        }
        loop {
            let mut state = course.lock();
            while state.open < course.window
                && let Some(question) = state.waiting.pop_front()
            {
                if !state.has_room(question.size) {
                    state.waiting.push_front(question);
                    return Ok(questions);
                }
                state.open += 1;
                state.bytes += question.size;
                let number = state.next_number;
                state.next_number += 1;
                questions.push((number, question.request.clone()));
                state.asked.insert(number, question);
            }
            let job = state.next_job;
            if state.open >= course.window || job == self.plan.jobs() {
                return Ok(questions);
            }
            state.next_job += 1;
            drop(state);
            let first = self.first_questions(job)?;
            self.wait_for(first);
            course.arrivals.settle();
        }
    }

    /// Puts questions in the queue.
    fn wait_for(&self, questions: Vec<Question>) {
        self.course.arrivals.expect(questions.len());
        self.course.lock().waiting.extend(questions);
    }

    fn first_questions(&self, job: usize) -> Result<Vec<Question>> {
        let place = self.place(job);
        let whole = |key| Question {
            job,
            purpose: Purpose::Whole,
            request: Request {
                key,
                range: ByteRange::Whole,
            },
            size: self.course.largest,
            changes: 0,
        };
        let Some(sharding) = self.sharding() else {
            return Ok(vec![whole(place.key)]);
        };
        let target = self.target(&place);
        let inner = Inner::new(&target, sharding)?;
        if self.is_better_whole(sharding, &inner) {
            return Ok(vec![whole(place.key)]);
        }
        if let Some((stamp, index)) = self.reader.array.indexes.known(&place.key)
            // What is absent is asked for nothing that could be of another version.
            && inner.is_all_there(&index)
        {
            let (stamp, all) = (Some(stamp), 0..inner.plan.jobs());
            let known = Known { stamp, index };
            return self.locate(job, &target, sharding, &known, all, 0);
        }
        self.index_question(job, &target, sharding, None, 0)
            .map(|question| vec![question])
    }

    /// Whether what is not wanted of a shard is little.
    fn is_better_whole(&self, sharding: &Sharding, inner: &Inner) -> bool {
        let chunk = byte_count(sharding.chunks.iter().copied(), self.reader.array.item);
        let unwanted = inner
            .grid
            .present()
            .saturating_sub(inner.plan.jobs() as u64);
        let spared = unwanted.saturating_mul(chunk.unwrap_or(usize::MAX) as u64);
        spared <= GAP && self.course.largest <= WHOLE
    }

    fn index_question(
        &self,
        job: usize,
        target: &Target<'_>,
        sharding: &Sharding,
        only: Option<Vec<usize>>,
        changes: u32,
    ) -> Result<Question> {
        let inner = Inner::new(target, sharding)?;
        let len = sharding.index_size(inner.grid.count()?)? as u64;
        let range = match sharding.at_end {
            true => ByteRange::Suffix(len),
            false => ByteRange::Span { offset: 0, len },
        };
        Ok(Question {
            job,
            purpose: Purpose::Index(only),
            request: Request {
                key: target.key.to_owned(),
                range,
            },
            size: len,
            changes,
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

    fn deal(&self, question: Question, answer: Option<(Bytes, Option<Stamp>)>) -> Result<()> {
        let place = self.place(question.job);
        let target = self.target(&place);
        let Some(sharding) = self.sharding() else {
            return match answer {
                None => self.reader.absent(&target),
                Some((bytes, _)) => self.reader.inner_chunk(&target, &bytes, &mut lease()),
            };
        };
        let (job, changes) = (question.job, question.changes);
        match (question.purpose, answer) {
            (Purpose::Whole | Purpose::Index(None), None) => self.reader.absent(&target),
            (Purpose::Whole, Some((bytes, _))) => {
                self.reader.inner_chunk(&target, &bytes, &mut lease())
            }
            (Purpose::Index(only), Some(found)) => {
                let numbers = match only {
                    Some(numbers) => numbers,
                    None => (0..Inner::new(&target, sharding)?.plan.jobs()).collect(),
                };
                self.inner_chunks(job, &target, sharding, found, numbers, changes)
            }
            (Purpose::Index(Some(_)), None) if self.reader.options.missing_is_error => {
                self.reader.absent(&target)
            }
            (Purpose::Index(Some(numbers)), None) => {
                // It was there when its inner chunks were asked for: all that are still to come are absent.
                let gone = Known::default();
                self.locate(job, &target, sharding, &gone, numbers, changes)
                    .map(drop)
            }
            (Purpose::Part(wanted, known), Some((bytes, stamp)))
                if known.is_none() || known == stamp =>
            {
                self.part(&target, sharding, &question.request, &bytes, &wanted)?;
                match known {
                    Some(_) => Ok(()),
                    None => self.look_again(job, &target, sharding, changes),
                }
            }
            (Purpose::Part(wanted, Some(_)), _) if changes < CHANGES => {
                let numbers = wanted.iter().map(|located| located.number).collect();
                let index =
                    self.index_question(job, &target, sharding, Some(numbers), changes + 1)?;
                self.wait_for(vec![index]);
                Ok(())
            }
            (Purpose::Again(unsure), Some((index, _))) if index == unsure.index => Ok(()),
            (Purpose::Again(unsure), Some(found)) if changes < CHANGES => {
                self.inner_chunks(job, &target, sharding, found, unsure.numbers, changes + 1)
            }
            (Purpose::Part(..) | Purpose::Again(_), _) => Err(Error::Shard {
                key: target.key.to_owned(),
                what: "it changed or vanished while it was read".to_owned(),
            }),
        }
    }

    /// Asks for the inner chunks of these numbers, by the index that was found.
    fn inner_chunks(
        &self,
        job: usize,
        target: &Target<'_>,
        sharding: &Sharding,
        (bytes, stamp): (Bytes, Option<Stamp>),
        numbers: Vec<usize>,
        changes: u32,
    ) -> Result<()> {
        let index = self.index(target, sharding, &bytes, stamp)?;
        let all = numbers.iter().copied();
        let parts = self.locate(job, target, sharding, &index, all, changes)?;
        if stamp.is_none() && !parts.is_empty() {
            let unsure = Unsure {
                numbers,
                index: bytes,
                open: parts.len(),
            };
            self.course.lock().unsure.insert(job, unsure);
        }
        self.wait_for(parts);
        Ok(())
    }

    /// Asks for the index once more after the last part of a shard whose versions the store does not tell apart: another
    /// one may have been there in between.
    fn look_again(
        &self,
        job: usize,
        target: &Target<'_>,
        sharding: &Sharding,
        changes: u32,
    ) -> Result<()> {
        let mut state = self.course.lock();
        let lost = || Error::Internal("a part of no index".into());
        let unsure = state.unsure.get_mut(&job).ok_or_else(lost)?;
        unsure.open -= 1;
        if unsure.open > 0 {
            return Ok(());
        }
        let unsure = state.unsure.remove(&job).ok_or_else(lost)?;
        drop(state);
        let index = self.index_question(job, target, sharding, None, changes)?;
        self.wait_for(vec![Question {
            purpose: Purpose::Again(unsure),
            ..index
        }]);
        Ok(())
    }

    /// Reads an index, and keeps it where it is known which version of the shard it is of.
    fn index(
        &self,
        target: &Target<'_>,
        sharding: &Sharding,
        bytes: &Bytes,
        stamp: Option<Stamp>,
    ) -> Result<Known> {
        let count = Inner::new(target, sharding)?.grid.count()?;
        let at_hand = InMemory::new(target.key, bytes);
        let index = sharding.read_index(&at_hand, count, target.key, &mut lease())?;
        let index = Arc::new(index);
        if let Some(stamp) = stamp {
            self.reader.array.indexes.keep(target.key, stamp, &index);
        }
        Ok(Known { stamp, index })
    }

    /// The questions for the inner chunks of these numbers.
    fn locate(
        &self,
        job: usize,
        target: &Target<'_>,
        sharding: &Sharding,
        known: &Known,
        numbers: impl IntoIterator<Item = usize>,
        changes: u32,
    ) -> Result<Vec<Question>> {
        let (inner, index) = (Inner::new(target, sharding)?, &known.index);
        let sought = Sought {
            numbers,
            fills: true,
        };
        let wanted = self
            .reader
            .locate(target, sharding, &inner, index, u64::MAX, sought)?;
        Ok(parts(job, target.key, wanted, known.stamp, changes))
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
}
