//! One pool of threads for the process.
//!
//! A call of [`parallel_for`] is a job: a counter of items and a body. The caller works on its own
//! job and sleeping workers join it; whoever is free takes the next item. Workers join only while
//! fewer threads than the budget are at work, so that many calling threads do not become many times
//! the budget. A caller never works on another's job and waits only for those who joined its own,
//! hence nested calls cannot lock each other up.
//!
//! A forked child forgets the pool, threads and locks alike, and makes a new one on first use.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::fork;

/// How long a calling thread goes without looking for an interrupt. It may have to wait for an
/// interpreter's lock there, so it is not done for every item.
const INTERRUPT_EVERY: Duration = Duration::from_millis(40);

/// How many sleepers each thread wakes: the caller two, each of them two more, and so on.
const WAKE: usize = 2;

type Body<'a> = &'a (dyn Fn(usize) -> Result<()> + Sync);

static BUDGET: AtomicUsize = AtomicUsize::new(0);
static INTERRUPT: OnceLock<fn() -> Result<()>> = OnceLock::new();

thread_local! {
    static CURRENT: Cell<*const Job> = const { Cell::new(ptr::null()) };
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

/// Whether the present work should stop: an error where its job failed already or the user
/// interrupts. For use in loops that wait.
pub fn check() -> Result<()> {
    // SAFETY: a thread's current job outlives the time that it is current.
    let current = unsafe { CURRENT.get().as_ref() };
    if current.is_some_and(Job::stopped) {
        return Err(cancelled());
    }
    interrupted()
}

/// Calls `body` once for every number below `n`, on at most `max_threads` threads. The first error
/// ends it: no further item begins, those under way finish, and the error is returned.
pub fn parallel_for(n: usize, max_threads: usize, body: Body<'_>) -> Result<()> {
    let helpers = max_threads.min(n).min(threads()).saturating_sub(1);
    let job = Job::new(n, helpers, body);
    if helpers == 0 {
        job.work();
        return job.outcome();
    }
    let pool = Pool::get();
    pool.submit(&job);
    job.work();
    pool.withdraw(&job);
    job.outcome()
}

struct Job {
    body: *const (dyn Fn(usize) -> Result<()> + Sync),
    n: usize,
    next: AtomicUsize,
    stop: AtomicBool,
    error: Mutex<Option<Error>>,
    /// The job whose body made this call; its end is this one's end.
    parent: *const Job,
    /// Workers that may still join; changed under the pool's lock.
    wanted: AtomicUsize,
    /// Workers at work on it; changed under the pool's lock.
    joined: AtomicUsize,
    left: Condvar,
}

impl Job {
    fn new(n: usize, wanted: usize, body: Body<'_>) -> Self {
        // SAFETY: only the lifetime changes. Workers reach the body through a job in the pool's
        // list, and the caller does not return before the job has left the list and all who joined
        // have left the job.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        Job {
            body,
            n,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            error: Mutex::new(None),
            parent: CURRENT.get(),
            wanted: AtomicUsize::new(wanted),
            joined: AtomicUsize::new(0),
            left: Condvar::new(),
        }
    }

    fn has_items(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.n && !self.stopped()
    }

    fn stopped(&self) -> bool {
        // SAFETY: a parent is on the stack below its child until that has ended.
        let parent = unsafe { self.parent.as_ref() };
        self.stop.load(Ordering::Relaxed) || parent.is_some_and(Job::stopped)
    }

    fn fail(&self, error: Error) {
        let mut first = lock(&self.error);
        first.get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Takes items until there are none; errors and panics end up in the job.
    fn work(&self) {
        let outer = CURRENT.replace(self);
        match catch_unwind(AssertUnwindSafe(|| self.take_items())) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(error),
            Err(panic) => self.fail(Error::Internal(message(panic.as_ref()))),
        }
        CURRENT.set(outer);
    }

    fn take_items(&self) -> Result<()> {
        // SAFETY: see `new`.
        let body = unsafe { &*self.body };
        let mut checked = None;
        while !self.stopped() {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.n {
                break;
            }
            body(item)?;
            if self.n > 1 {
                check_now_and_then(&mut checked)?;
            }
        }
        Ok(())
    }

    fn outcome(self) -> Result<()> {
        let error = self
            .error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match error {
            Some(error) => Err(error),
            None if self.stopped() => Err(cancelled()),
            None => Ok(()),
        }
    }
}

struct Pool {
    state: Mutex<State>,
    work: Condvar,
    epoch: u64,
}

#[derive(Default)]
struct State {
    jobs: Vec<JobPtr>,
    workers: usize,
    sleeping: usize,
    /// Threads at work, callers included.
    running: usize,
}

struct JobPtr(*const Job);

// SAFETY: a job in the list is shared by threads; all it has is atomic, locked or never changed.
unsafe impl Send for JobPtr {}

impl Pool {
    fn get() -> &'static Pool {
        static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
        let epoch = fork::epoch();
        let present = POOL.load(Ordering::Acquire);
        // SAFETY: a pool, once published, is never freed.
        if let Some(pool) = unsafe { present.as_ref() }.filter(|pool| pool.epoch == epoch) {
            return pool;
        }
        let fresh = Box::leak(Box::new(Pool {
            state: Mutex::default(),
            work: Condvar::new(),
            epoch,
        }));
        match POOL.compare_exchange(present, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(_) => Pool::get(),
        }
    }

    /// Offers the job to the workers; starts them where too few exist.
    fn submit(&'static self, job: &Job) {
        let mut state = lock(&self.state);
        if job.parent.is_null() {
            state.running += 1;
        }
        state.jobs.push(JobPtr(job));
        let missing = job
            .wanted
            .load(Ordering::Relaxed)
            .saturating_sub(state.sleeping);
        let allowed = threads().saturating_sub(1).saturating_sub(state.workers);
        for _ in 0..missing.min(allowed) {
            // The process may have no more threads; the caller does the work then.
            if self.start_worker().is_err() {
                break;
            }
            state.workers += 1;
        }
        self.wake(state);
    }

    /// Takes the job from the list and waits until nobody works on it.
    fn withdraw(&self, job: &Job) {
        if self.epoch != fork::epoch() {
            // The body forked and this is the child: those who had joined do not exist here.
            if job.joined.load(Ordering::Relaxed) > 0 {
                job.fail(Error::Internal(
                    "the process forked in the middle of a parallel call".to_owned(),
                ));
            }
            return;
        }
        let mut state = lock(&self.state);
        state.jobs.retain(|other| !ptr::eq(other.0, job));
        if job.parent.is_null() {
            state.running -= 1;
        }
        while job.joined.load(Ordering::Relaxed) > 0 {
            let (guard, timeout) = job
                .left
                .wait_timeout(state, INTERRUPT_EVERY)
                .unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() && !job.stopped() {
                drop(state);
                if let Err(error) = interrupted() {
                    job.fail(error);
                }
                state = lock(&self.state);
            }
        }
        self.wake(state);
    }

    fn wake(&self, state: MutexGuard<'_, State>) {
        let room = threads().saturating_sub(state.running);
        let wanted = if room == 0 {
            0
        } else {
            state.jobs.iter().map(|job| job.wanted()).sum::<usize>()
        };
        let count = WAKE.min(room).min(wanted).min(state.sleeping);
        drop(state);
        for _ in 0..count {
            self.work.notify_one();
        }
    }

    fn start_worker(&'static self) -> std::io::Result<()> {
        thread::Builder::new()
            .name("blazarr".to_owned())
            .spawn(|| self.serve())
            .map(drop)
    }

    fn serve(&self) {
        IS_WORKER.set(true);
        block_signals();
        let mut state = lock(&self.state);
        loop {
            let Some(job) = state.join() else {
                state.sleeping += 1;
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.sleeping -= 1;
                continue;
            };
            self.wake(state);
            // SAFETY: the job has been joined, so its caller waits for it to be left.
            let job = unsafe { &*job };
            job.work();
            state = lock(&self.state);
            state.running -= 1;
            job.wanted.fetch_add(1, Ordering::Relaxed);
            if job.joined.fetch_sub(1, Ordering::Relaxed) == 1 {
                // Under the lock: the job is gone as soon as its caller has it.
                job.left.notify_one();
            }
        }
    }
}

impl State {
    /// The youngest job that wants a helper, counted as joined; none where the budget is spent.
    fn join(&mut self) -> Option<*const Job> {
        if self.running >= threads() {
            return None;
        }
        let job = self.jobs.iter().rev().find(|job| job.wanted() > 0)?.0;
        self.running += 1;
        // SAFETY: jobs in the list are alive while the pool's lock is held.
        let shared = unsafe { &*job };
        shared.wanted.fetch_sub(1, Ordering::Relaxed);
        shared.joined.fetch_add(1, Ordering::Relaxed);
        Some(job)
    }
}

impl JobPtr {
    fn wanted(&self) -> usize {
        // SAFETY: jobs in the list are alive while the pool's lock is held.
        let job = unsafe { &*self.0 };
        if job.has_items() {
            job.wanted.load(Ordering::Relaxed)
        } else {
            0
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

fn cancelled() -> Error {
    Error::Internal("cancelled, since another part of the same call failed".to_owned())
}

fn message(panic: &(dyn Any + Send)) -> String {
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

/// Signals are for the user's threads, but for those that report a fault of the thread itself.
fn block_signals() {
    #[cfg(unix)]
    // SAFETY: the set is initialised by sigfillset before it is used.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        for fault in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGABRT,
        ] {
            libc::sigdelset(&raw mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, ptr::null_mut());
    }
}
