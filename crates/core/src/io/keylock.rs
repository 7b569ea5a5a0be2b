//! Locks by name within this process, for stores that cannot lock or compare by themselves.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::Result;
use crate::{fork, pool};

static HELD: Mutex<Held> = Mutex::new(Held {
    epoch: 0,
    names: None,
});

struct Held {
    epoch: u64,
    names: Option<HashSet<String>>,
}

/// One name, held until this is dropped.
#[derive(Debug)]
pub struct KeyLock {
    name: String,
    epoch: u64,
}

impl KeyLock {
    /// Waits until nobody else in this process holds `name`.
    pub fn acquire(name: String) -> Result<Self> {
        let mut pause = Backoff::default();
        let epoch = fork::epoch();
        while !with_names(|names| names.insert(name.clone())) {
            pause.wait()?;
        }
        Ok(KeyLock { name, epoch })
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        if self.epoch == fork::epoch() {
            with_names(|names| names.remove(&self.name));
        }
    }
}

fn with_names<T>(body: impl FnOnce(&mut HashSet<String>) -> T) -> T {
    let _no_fork = fork::guard();
    let mut held: MutexGuard<'_, Held> = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    // What the parent's threads held at a fork, nobody in the child will let go.
    if held.epoch != fork::epoch() {
        *held = Held {
            epoch: fork::epoch(),
            names: None,
        };
    }
    body(held.names.get_or_insert_default())
}

/// Growing pauses between tries, open to interrupts.
#[derive(Debug)]
pub struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Backoff(Duration::from_micros(20))
    }
}

impl Backoff {
    const LONGEST: Duration = Duration::from_millis(2);

    pub fn wait(&mut self) -> Result<()> {
        pool::check()?;
        thread::sleep(self.0);
        self.0 = (self.0 * 2).min(Self::LONGEST);
        Ok(())
    }
}
