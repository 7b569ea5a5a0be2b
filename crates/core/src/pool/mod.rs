//! One pool of threads for the process.
//!
//! A call of [`parallel_for`] is a job: a counter of items and a body. The caller works on its own
//! job and sleeping workers join it; whoever is free takes the next item. Workers join only while
//! fewer threads than the budget are at work, so that many calling threads do not become many times
//! the budget. A caller waits only for items of its own that others have begun, and meanwhile works on
//! the calls that these make, never on another's: nested calls cannot lock each other up, and a worker
//! that was woken too late or lost its processor before it began holds nobody up.
//!
//! A forked child forgets the pool, threads and locks alike, and makes a new one on first use.

mod workers;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use self::workers::Pool;
use crate::error::{Error, Result};
use crate::fork;

/// How long a calling thread goes without looking for an interrupt. It may have to wait for an
/// interpreter's lock there, so it is not done for every item.
const INTERRUPT_EVERY: Duration = Duration::from_millis(40);

/// Work that nobody waits for.
pub type Task = Box<dyn FnOnce() + Send>;

type Body<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync);

static BUDGET: AtomicUsize = AtomicUsize::new(0);
static INTERRUPT: OnceLock<fn() -> Result<()>> = OnceLock::new();
static WARN: OnceLock<fn(&str) -> Result<()>> = OnceLock::new();

thread_local! {
    static CURRENT: RefCell<Option<Arc<Job>>> = const { RefCell::new(None) };
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// How many threads work at once in this process, callers included.
pub fn threads() -> usize {
    match BUDGET.load(Ordering::Relaxed) {
        0 => {
            let n = thread::available_parallelism().map_or(1, usize::from);
            BUDGET.store(n, Ordering::Relaxed);
            n
        }
        n => n,
    }
}

/// Sets the budget of threads; 0 means one for each processor that this process may use.
pub fn set_threads(n: usize) {
    BUDGET.store(n, Ordering::Relaxed);
}

/// Names the function by which calling threads ask whether the user wants to stop. The first call
/// counts.
pub fn set_interrupt_check(check: fn() -> Result<()>) {
    let _ = INTERRUPT.set(check);
}

/// Names the function by which the user hears of what is no error. The first call counts.
pub fn set_warner(warn: fn(&str) -> Result<()>) {
    let _ = WARN.set(warn);
}

/// Tells the user; an error where that shall be one.
pub fn warn(text: &str) -> Result<()> {
    WARN.get().map_or(Ok(()), |warn| warn(text))
}

/// Whether the present work should stop: an error where its job failed already or the user
/// interrupts. For use in loops that wait.
pub fn check() -> Result<()> {
    match current() {
        Some(job) if job.stopped() => Err(cancelled()),
        _ => interrupted(),
    }
}

/// Makes `error` the error of the job that this thread works for, and gives it back where there is
/// none. For code whose own errors cannot carry it.
pub fn fail(error: Error) -> Option<Error> {
    match current() {
        Some(job) => {
            job.fail(error);
            None
        }
        None => Some(error),
    }
}

/// Calls `body` once for every number below `n`, on at most `max_threads` threads. The first error
/// ends it: no further item begins, those under way finish, and the error is returned.
pub fn parallel_for(n: usize, max_threads: usize, body: Body<'_>) -> Result<()> {
    let helpers = max_threads.min(n).min(threads()).saturating_sub(1);
    let job = Arc::new(Job::new(n, helpers, body));
    if helpers == 0 {
        job.work();
    } else {
        let pool = Pool::get();
        pool.submit(&job);
        let mine = job.work();
        pool.withdraw(&job);
        job.wait_for_others(mine, pool);
    }
    job.outcome()
}

/// The same for bodies that mostly wait, for a server or another program: up to `at_once` of them, on threads of this
/// call, whatever the budget.
pub fn parallel_waits(n: usize, at_once: usize, body: Body<'_>) -> Result<()> {
    let job = Arc::new(Job::new(n, 0, body));
    for _ in 1..at_once.min(n) {
        let job = Arc::clone(&job);
        // The process may have no more threads; those that there are do the work then.
        if workers::start(move || job.help()).is_err() {
            break;
        }
    }
    let mine = job.work();
    job.wait_for_others(mine, Pool::get());
    job.outcome()
}

/// Has `task` run by a worker, after those that were handed over before.
pub fn hand_over(task: Task) {
    Pool::get().hand_over(task);
}

struct Job {
    body: *const (dyn Fn(usize) -> Result<()> + Sync),
    n: usize,
    next: AtomicUsize,
    /// Items that workers have finished.
    finished: AtomicUsize,
    stop: AtomicBool,
    error: Mutex<Option<Error>>,
    /// Tells the caller, who holds `error`, that workers finished items.
    progress: Condvar,
    /// The job whose body made this call; its end is this one's end.
    parent: Option<Arc<Job>>,
    /// Workers that may still join; changed under the pool's lock.
    wanted: AtomicUsize,
    epoch: u64,
}

// SAFETY: the body may be called from any thread, see `Body`; all else is atomic, locked or never
// changed.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    fn new(n: usize, wanted: usize, body: Body<'_>) -> Self {
        // SAFETY: only the lifetime changes. The body is called for items below `n` alone, and the
        // caller does not return before each of these that was begun has ended and no more can be.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        Job {
            body,
            n,
            next: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            error: Mutex::new(None),
            progress: Condvar::new(),
            parent: current(),
            wanted: AtomicUsize::new(wanted),
            epoch: fork::epoch(),
        }
    }

    /// How many more workers have something to do here.
    fn wanted(&self) -> usize {
        match self.next.load(Ordering::Relaxed) < self.n && !self.stopped() {
            true => self.wanted.load(Ordering::Relaxed),
            false => 0,
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.parent.as_ref().is_some_and(|job| job.stopped())
    }

    fn fail(&self, error: Error) {
        lock(&self.error).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Takes items until there are none and says how many; errors and panics end up in the job.
    fn work(self: &Arc<Self>) -> usize {
        let mut taken = 0;
        let outer = CURRENT.replace(Some(Arc::clone(self)));
        match catch_unwind(AssertUnwindSafe(|| self.take_items(&mut taken))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(error),
            Err(panic) => self.fail(Error::Internal(message(panic.as_ref()))),
        }
        CURRENT.replace(outer);
        taken
    }

    fn take_items(&self, taken: &mut usize) -> Result<()> {
        let mut checked = None;
        while !self.stopped() {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.n {
                break;
            }
            *taken += 1;
            // SAFETY: the item is below `n`, see `new`.
            unsafe { (*self.body)(item)? };
            if self.n > 1 {
                check_now_and_then(&mut checked)?;
            }
        }
        Ok(())
    }

    /// A worker's part.
    fn help(self: &Arc<Self>) {
        let taken = self.work();
        if taken > 0 {
            self.finished.fetch_add(taken, Ordering::Release);
            self.tell_caller();
        }
    }

    /// Whether this is a part of what `job` does.
    fn is_below(&self, job: &Job) -> bool {
        self.above().any(|above| ptr::eq(above, job))
    }

    /// The jobs whose bodies led to this one.
    fn above(&self) -> impl Iterator<Item = &Job> {
        std::iter::successors(self.parent.as_deref(), |job| job.parent.as_deref())
    }

    /// Lets the caller look again at what there is to do or to wait for.
    fn tell_caller(&self) {
        let _caller_sleeps_or_has_not_looked = lock(&self.error);
        self.progress.notify_one();
    }

    /// Lets nobody begin another item, and waits for those begun by others than the caller.
    fn wait_for_others(&self, mine: usize, pool: &Pool) {
        let begun = self.next.swap(self.n, Ordering::Relaxed).min(self.n);
        let others = begun - mine;
        let unfinished = || self.finished.load(Ordering::Acquire) < others;
        if self.epoch != fork::epoch() {
            // The body forked and this is the child, where the workers do not exist.
            if unfinished() {
                self.stop.store(true, Ordering::Relaxed);
            }
            return;
        }
        let mut error = lock(&self.error);
        while unfinished() {
            if let Some(job) = pool.join_below(self) {
                drop(error);
                job.help();
                pool.leave(&job);
                error = lock(&self.error);
                continue;
            }
            let waited = self.progress.wait_timeout(error, INTERRUPT_EVERY);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            error = guard;
            if timeout.timed_out() && !self.stopped() {
                drop(error);
                if let Err(interrupt) = interrupted() {
                    self.fail(interrupt);
                }
                error = lock(&self.error);
            }
        }
    }

    fn outcome(&self) -> Result<()> {
        match lock(&self.error).take() {
            Some(error) => Err(error),
            None if self.stopped() => Err(cancelled()),
            None => Ok(()),
        }
    }
}

fn check_now_and_then(checked: &mut Option<Instant>) -> Result<()> {
    let now = Instant::now();
    if now.duration_since(*checked.get_or_insert(now)) >= INTERRUPT_EVERY {
        *checked = Some(now);
        interrupted()?;
    }
    Ok(())
}

fn interrupted() -> Result<()> {
    match INTERRUPT.get() {
        Some(check) if !IS_WORKER.get() => check(),
        _ => Ok(()),
    }
}

fn current() -> Option<Arc<Job>> {
    CURRENT.with_borrow(Clone::clone)
}

fn cancelled() -> Error {
    Error::Internal("cancelled, since another part of the same call failed".to_owned())
}

/// What a panic says.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "panic: {}",
        text.unwrap_or_else(|| "of unknown kind".to_owned())
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
