//! Where the answers of a store come in that answers later.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use super::{Request, Stamp, Store};
use crate::error::{Error, Result};
use crate::pool;

/// How often a waiting thread looks for an interrupt.
const INTERRUPT_EVERY: Duration = Duration::from_millis(40);

/// The bytes that a store found and, where it tells versions apart, the stamp of the whole object; or that there is no
/// such key.
pub type Found = Option<(Bytes, Option<Stamp>)>;

pub type Answer = Result<Found>;

/// Asks a store. Dropping it gives up what is not answered yet.
pub trait Asker: Send + Sync {
    /// Asks for more; each answer comes with the number of its question.
    fn ask(&self, questions: Vec<(usize, Request)>) -> Result<()>;

    /// Gives up what is not answered yet.
    fn give_up(&self) {}

    /// Called once all answers were dealt with.
    fn end(&self) -> Result<()> {
        Ok(())
    }
}

/// Called for each answer, by whoever brings it; must not wait.
pub type Listener = Box<dyn Fn() + Send + Sync>;

/// Answers in the order in which they come, and how many are to come.
#[derive(Default)]
pub struct Arrivals {
    state: Mutex<State>,
    most: OnceLock<u64>,
    changed: Condvar,
    listener: Option<Listener>,
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<(usize, Answer)>,
    /// Questions that are not dealt with, asked or not.
    open: usize,
}

impl Arrivals {
    /// Answers that somebody is told of instead of waiting for them.
    pub fn heard_by(listener: Listener) -> Arrivals {
        Arrivals {
            listener: Some(listener),
            ..Arrivals::default()
        }
    }

    /// Says that there will be `count` more answers.
    pub fn expect(&self, count: usize) {
        self.lock().open += count;
    }

    /// Says how many bytes all of any key may have at most, however little of it is asked for.
    pub fn bound(&self, most: u64) {
        let _ = self.most.set(most);
    }

    /// The same for who answers.
    pub fn most(&self) -> u64 {
        self.most.get().copied().unwrap_or(u64::MAX)
    }

    /// Hands an answer over.
    pub fn deliver(&self, number: usize, answer: Answer) {
        self.lock().answers.push_back((number, answer));
        match &self.listener {
            Some(listener) => listener(),
            None => self.changed.notify_one(),
        }
    }

    /// Says that one answer was dealt with, and whatever further questions it led to are expected. Whether it was the
    /// last.
    pub fn settle(&self) -> bool {
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        if state.open == 0 {
            self.changed.notify_all();
        }
        state.open == 0
    }

    /// An answer that has come.
    pub fn take(&self) -> Option<(usize, Answer)> {
        self.lock().answers.pop_front()
    }

    /// Waits for an answer, open to interrupts; `None` once all were dealt with.
    pub fn next(&self) -> Result<Option<(usize, Answer)>> {
        let mut state = self.lock();
        loop {
            if let Some(answer) = state.answers.pop_front() {
                return Ok(Some(answer));
            }
            if state.open == 0 {
                return Ok(None);
            }
            let waited = self.changed.wait_timeout(state, INTERRUPT_EVERY);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() {
                drop(state);
                pool::check()?;
                state = self.lock();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks a store by its batches, within the call.
#[derive(Debug)]
pub struct InBatches<'s> {
    pub store: &'s dyn Store,
    pub arrivals: Arc<Arrivals>,
}

impl Asker for InBatches<'_> {
    fn ask(&self, questions: Vec<(usize, Request)>) -> Result<()> {
        let (numbers, requests): (Vec<usize>, Vec<Request>) = questions.into_iter().unzip();
        let answers = self.store.get_many(&requests)?;
        if answers.len() != requests.len() {
            let (got, asked) = (answers.len(), requests.len());
            let what = format!("the store gave {got} answers to {asked} requests");
            return Err(Error::Internal(what));
        }
        for (number, answer) in numbers.into_iter().zip(answers) {
            self.arrivals.deliver(number, Ok(answer));
        }
        Ok(())
    }
}
