//! Calls into Python while the interpreter ends.
//!
//! A thread that asks for the interpreter's lock after the main thread has left is ended by CPython
//! before 3.14, which unwinds its frames; in frames of Rust that aborts the process. So before it
//! comes to that the main thread waits for the calls under way, and other threads begin no more.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use blazarr_core::{fork, pool};
use pyo3::prelude::*;

use crate::pool::may_be_main_thread;

/// How long the main thread waits for calls under way.
const PATIENCE: Duration = Duration::from_secs(5);

static LEAVING: AtomicBool = AtomicBool::new(false);

/// Calls under way; in the upper half the forks before them, since a child has none of its parent's.
static CALLS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let leave = wrap_pyfunction!(leave, module)?;
    let atexit = module.py().import("atexit")?;
    atexit.call_method1("register", (leave,)).map(drop)
}

/// Runs `body` with the interpreter's lock, which the thread must not have yet.
pub fn attached<T>(body: impl FnOnce(Python<'_>) -> T) -> T {
    let _call = Call::begin();
    Python::attach(body)
}

/// What the interpreter calls when it begins to end.
#[pyfunction]
fn leave(py: Python<'_>) {
    LEAVING.store(true, Ordering::SeqCst);
    // What is still to come of this thread must not wait for helpers that begin nothing.
    pool::set_threads(1);
    py.detach(|| {
        let start = Instant::now();
        while under_way() > 0 && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

struct Call;

impl Call {
    fn begin() -> Call {
        // A call within a call has to end before that one can.
        if DEPTH.get() == 0 {
            count(1);
            if LEAVING.load(Ordering::SeqCst) && !may_be_main_thread() {
                count(-1);
                loop {
                    thread::park();
                }
            }
        }
        DEPTH.set(DEPTH.get() + 1);
        Call
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            count(-1);
        }
    }
}

fn count(change: i64) {
    let _ = CALLS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |calls| {
        let now = fork::epoch() << 32;
        let calls = calls.max(now);
        Some(calls.saturating_add_signed(change).max(now))
    });
}

fn under_way() -> u64 {
    CALLS
        .load(Ordering::SeqCst)
        .saturating_sub(fork::epoch() << 32)
}
