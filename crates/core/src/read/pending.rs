//! Reads for which no thread waits: workers deal with each answer as it comes, and somebody is told of the end.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::flow::{Course, Flow};
use super::{Options, Reader, Report};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::io::Store;
use crate::io::arrivals::{Arrivals, Asker};
use crate::plan::Plan;
use crate::pool;
use crate::selection::Selection;
use crate::view::View;

/// Hears how a read ended.
pub type Done = Box<dyn FnOnce(Result<Report>) + Send>;

/// The memory that a read fills, kept until nothing is written any more.
pub struct Memory<O> {
    pub out: View<'static>,
    pub owner: O,
}

impl<O> fmt::Debug for Memory<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

/// A read under way. When the last of those who hold it goes, its requests are given up.
pub struct Pending {
    array: Arc<Array>,
    store: Arc<dyn Store>,
    options: Options,
    plan: Plan,
    memory: Memory<Box<dyn Send + Sync>>,
    course: Course,
    asker: Box<dyn Asker>,
    missing: AtomicU64,
    stopped: AtomicBool,
    done: Mutex<Option<Done>>,
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

/// Begins to read `selection` into `memory`, which is as [`super::read`] wants it. `None` where the store's answers have
/// to be waited for.
pub fn start(
    array: &Arc<Array>,
    store: &Arc<dyn Store>,
    selection: &Selection,
    memory: Memory<Box<dyn Send + Sync>>,
    options: Options,
    done: Done,
) -> Result<Option<Arc<Pending>>> {
    selection.check(&array.shape)?;
    let Some(window) = store.batch() else {
        return Ok(None);
    };
    let hook: Arc<Mutex<Weak<Pending>>> = Arc::default();
    let listener = Arc::clone(&hook);
    let arrivals = Arc::new(Arrivals::heard_by(Box::new(move || {
        if let Some(pending) = lock(&listener).upgrade() {
            pool::hand_over(Box::new(move || pending.step()));
        }
    })));
    let Some(asker) = store.asker(&arrivals)? else {
        return Ok(None);
    };
    let plan = Plan::new(&array.grid, selection)?;
    let reader = Reader::new(array, &**store, options);
    let course = Course::new(&reader, &plan, arrivals, window)?;
    let pending = Arc::new(Pending {
        array: Arc::clone(array),
        store: Arc::clone(store),
        options,
        plan,
        memory,
        course,
        asker,
        missing: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
        done: Mutex::new(Some(done)),
    });
    *lock(&hook) = Arc::downgrade(&pending);
    let begun = Arc::clone(&pending);
    pool::hand_over(Box::new(move || begun.run(|flow| flow.begin())));
    Ok(Some(pending))
}

impl Pending {
    /// Gives the read up: nobody hears of its end, and what it asked for is not waited for.
    pub fn cancel(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        lock(&self.done).take();
        self.asker.give_up();
    }

    /// Deals with one answer.
    fn step(&self) {
        if let Some((number, answer)) = self.course.arrivals.take() {
            self.run(|flow| flow.take(number, answer));
        }
    }

    /// Does a part of the work, which says whether it was the last.
    fn run(&self, part: impl FnOnce(&Flow<'_>) -> Result<bool>) {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        let reader = Reader::new(&self.array, &*self.store, self.options);
        let flow = Flow {
            reader: &reader,
            plan: &self.plan,
            out: &self.memory.out,
            asker: &*self.asker,
            course: &self.course,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| part(&flow)));
        let outcome =
            outcome.unwrap_or_else(|panic| Err(Error::Internal(pool::message(panic.as_ref()))));
        let missing = reader.missing.into_inner();
        let missing = missing + self.missing.fetch_add(missing, Ordering::Relaxed);
        match outcome {
            Ok(false) => {}
            Ok(true) => self.end(self.asker.end().map(|()| Report {
                jobs: self.plan.jobs() as u64,
                missing,
            })),
            Err(error) => self.end(Err(error)),
        }
    }

    fn end(&self, outcome: Result<Report>) {
        let done = lock(&self.done).take();
        if outcome.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
            self.asker.give_up();
        }
        if let Some(done) = done {
            done(outcome);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
