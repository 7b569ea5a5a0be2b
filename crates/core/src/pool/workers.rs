//! The threads of the pool, and which job or task each of them takes.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{IS_WORKER, Job, Task, lock, threads};
use crate::fork;

/// How many sleepers each thread wakes: the caller two, each of them two more, and so on.
const WAKE: usize = 2;

/// As much as a program's first thread commonly has: codecs and stores of the user's run here too,
/// and an interpreter counts on that much before it notices endless recursion.
const STACK: usize = 8 << 20;

pub(super) struct Pool {
    state: Mutex<State>,
    work: Condvar,
    epoch: u64,
}

#[derive(Default)]
struct State {
    jobs: Vec<Arc<Job>>,
    tasks: VecDeque<Task>,
    workers: usize,
    sleeping: usize,
    /// Threads at work, callers included.
    running: usize,
}

impl Pool {
    pub(super) fn get() -> &'static Pool {
        static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
        let epoch = fork::epoch();
        let present = POOL.load(Ordering::Acquire);
        // SAFETY: a pool, once published, is never freed.
        if let Some(pool) = unsafe { present.as_ref() }.filter(|pool| pool.epoch == epoch) {
            return pool;
        }
        let pool = Pool {
            state: Mutex::default(),
            work: Condvar::new(),
            epoch,
        };
        let fresh = Box::leak(Box::new(pool));
        match POOL.compare_exchange(present, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(_) => Pool::get(),
        }
    }

    /// Offers the job to the workers; starts them where too few exist.
    pub(super) fn submit(&'static self, job: &Arc<Job>) {
        let mut state = lock(&self.state);
        if job.parent.is_none() {
            state.running += 1;
        }
        state.jobs.push(Arc::clone(job));
        let missing = job.wanted().saturating_sub(state.sleeping);
        let allowed = threads().saturating_sub(1).saturating_sub(state.workers);
        for _ in 0..missing.min(allowed) {
            // The process may have no more threads; the caller does the work then.
            if self.start_worker().is_err() {
                break;
            }
            state.workers += 1;
        }
        self.wake(state);
        job.above().for_each(Job::tell_caller);
    }

    /// A job that wants a helper and is a part of what `job` does.
    pub(super) fn join_below(&self, job: &Job) -> Option<Arc<Job>> {
        let state = lock(&self.state);
        let below = state
            .jobs
            .iter()
            .find(|other| other.is_below(job) && other.wanted() > 0)?;
        below.wanted.fetch_sub(1, Ordering::Relaxed);
        Some(Arc::clone(below))
    }

    pub(super) fn leave(&self, job: &Job) {
        let _state = lock(&self.state);
        job.wanted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn hand_over(&'static self, task: Task) {
        let mut state = lock(&self.state);
        state.tasks.push_back(task);
        if state.sleeping == 0 && state.workers < threads() && self.start_worker().is_ok() {
            state.workers += 1;
        }
        if state.workers > 0 {
            return self.wake(state);
        }
        // The process may have no more threads.
        let task = state.tasks.pop_back();
        drop(state);
        task.into_iter().for_each(|task| task());
    }

    /// Takes the job back.
    pub(super) fn withdraw(&self, job: &Arc<Job>) {
        if self.epoch != fork::epoch() {
            return;
        }
        let mut state = lock(&self.state);
        state.jobs.retain(|other| !Arc::ptr_eq(other, job));
        if job.parent.is_none() {
            state.running -= 1;
        }
        self.wake(state);
    }

    fn wake(&self, state: MutexGuard<'_, State>) {
        let room = threads()
            .saturating_sub(state.running)
            .min(state.sleeping)
            .min(WAKE);
        let wanted = if room == 0 {
            0
        } else {
            let helpers: usize = state.jobs.iter().map(|job| job.wanted()).sum();
            helpers + state.tasks.len()
        };
        drop(state);
        for _ in 0..room.min(wanted) {
            self.work.notify_one();
        }
    }

    fn start_worker(&'static self) -> std::io::Result<()> {
        start(|| self.serve())
    }

    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            // Who makes a call works on it; tasks have nobody but workers.
            if let Some(task) = state.begin() {
                self.wake(state);
                // Whoever hands something over deals with its panics.
                let _ = catch_unwind(AssertUnwindSafe(task));
                state = lock(&self.state);
                state.running -= 1;
            } else if let Some(job) = state.join() {
                self.wake(state);
                job.help();
                state = lock(&self.state);
                state.leave(&job);
            } else {
                state.sleeping += 1;
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.sleeping -= 1;
            }
        }
    }
}

impl State {
    /// The oldest task; none where the budget is spent.
    fn begin(&mut self) -> Option<Task> {
        if self.running >= threads() {
            return None;
        }
        let task = self.tasks.pop_front()?;
        self.running += 1;
        Some(task)
    }

    /// The oldest job that wants a helper, so that parts of it are left to whoever has nothing else; none where the
    /// budget is spent.
    fn join(&mut self) -> Option<Arc<Job>> {
        if self.running >= threads() {
            return None;
        }
        let job = self.jobs.iter().find(|job| job.wanted() > 0)?;
        self.running += 1;
        job.wanted.fetch_sub(1, Ordering::Relaxed);
        Some(Arc::clone(job))
    }

    fn leave(&mut self, job: &Job) {
        self.running -= 1;
        job.wanted.fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts a thread that is not the user's.
pub(super) fn start(body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = thread::Builder::new().name("blazarr".to_owned());
    thread
        .stack_size(STACK)
        .spawn(|| {
            IS_WORKER.set(true);
            block_signals();
            body();
        })
        .map(drop)
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
