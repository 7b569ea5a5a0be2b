//! Where the answers of a store come in that answers later.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use super::{Request, Store};
use crate::error::{Error, Result};
use crate::pool;

/// How often a waiting thread looks for an interrupt.
const INTERRUPT_EVERY: Duration = Duration::from_millis(40);

/// What a store found: the bytes, or that there is no such key.
pub type Answer = Result<Option<Bytes>>;

/// Asks a store. Dropping it gives up what is not answered yet.
pub trait Asker: Send + Sync {
    /// Asks for more; each answer comes with the number of its question.
    fn ask(&self, questions: Vec<(usize, Request)>) -> Result<()>;

    /// Called once all answers were dealt with.
    fn end(&self) -> Result<()> {
        Ok(())
    }
}

/// Answers in the order in which they come, and how many are to come.
#[derive(Debug, Default)]
pub struct Arrivals {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<(usize, Answer)>,
    /// Questions that are not dealt with, asked or not.
    open: usize,
}

impl Arrivals {
    /// Says that there will be `count` more answers.
    pub fn expect(&self, count: usize) {
        self.lock().open += count;
    }

    /// Hands an answer over.
    pub fn deliver(&self, number: usize, answer: Answer) {
        self.lock().answers.push_back((number, answer));
        self.changed.notify_one();
    }

    /// Says that one answer was dealt with, and whatever further questions it led to are expected.
    pub fn settle(&self) {
        let mut state = self.lock();
        state.open = state.open.saturating_sub(1);
        if state.open == 0 {
            self.changed.notify_all();
        }
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
