//! One runtime for the process's requests; a forked child makes its own.

use std::future::Future;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use blazarr_core::error::{Error, Result};
use blazarr_core::{fork, pool};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// How often a waiting thread looks for an interrupt.
pub const INTERRUPT_EVERY: Duration = Duration::from_millis(40);

/// Requests wait more than they work; what they do is copy and decrypt.
const THREADS: usize = 2;

struct Held {
    runtime: Runtime,
    epoch: u64,
}

/// The runtime of this process.
pub fn runtime() -> Result<&'static Runtime> {
    static HELD: AtomicPtr<Held> = AtomicPtr::new(ptr::null_mut());
    let epoch = fork::epoch();
    let present = HELD.load(Ordering::Acquire);
    // SAFETY: a runtime, once published, is never freed: a child could not end its parent's threads.
    if let Some(held) = unsafe { present.as_ref() }.filter(|held| held.epoch == epoch) {
        return Ok(&held.runtime);
    }
    let fresh = Box::into_raw(Box::new(Held {
        runtime: start()?,
        epoch,
    }));
    match HELD.compare_exchange(present, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: just published, and never freed from now on.
        Ok(_) => Ok(unsafe { &(*fresh).runtime }),
        Err(_) => {
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(fresh) });
            runtime()
        }
    }
}

fn start() -> Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("blazarr-io")
        .enable_all()
        .build()
        .map_err(|e| Error::Internal(format!("no threads for requests could be started: {e}")))
}

/// Work under way, which ends with this.
#[derive(Debug)]
pub struct Task(JoinHandle<()>);

impl Task {
    pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Result<Task> {
        Ok(Task(runtime()?.spawn(work)))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for `work`. An interrupt, or the end of the job that this thread works for, cancels it.
pub fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let (sender, receiver) = sync_channel(1);
    let _task = Task::spawn(async move {
        // Nobody listens any more where the caller was interrupted.
        let _ = sender.send(work.await);
    })?;
    loop {
        match receiver.recv_timeout(INTERRUPT_EVERY) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => pool::check()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::Internal("a request ended without an answer".into()));
            }
        }
    }
}
