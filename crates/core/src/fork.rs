//! What holds when the process forks.
//!
//! Only the forking thread lives on in a child. Shared memory that another thread was changing at
//! that moment would stay half changed there, under a lock that nobody releases. So short critical
//! sections of long-lived structures hold a [`guard`], and a fork waits for them; and whatever
//! belongs to threads that are gone is told apart by its [`epoch`].

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static GATE: RwLock<()> = RwLock::new(());
static EPOCH: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CLOSED: RefCell<Option<RwLockWriteGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Keeps the process from forking while it is held: for a few instructions, never around foreign
/// code, never nested.
pub fn guard() -> RwLockReadGuard<'static, ()> {
    register();
    GATE.read().unwrap_or_else(PoisonError::into_inner)
}

/// How many forks lie between the first process and this one.
pub fn epoch() -> u64 {
    register();
    EPOCH.load(Ordering::Acquire)
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        // SAFETY: the three handlers are functions of this library, which is never unloaded.
        unsafe {
            libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child));
        }
    });
}

#[cfg(unix)]
extern "C" fn before() {
    let closed = GATE.write().unwrap_or_else(PoisonError::into_inner);
    CLOSED.with(|slot| slot.replace(Some(closed)));
}

#[cfg(unix)]
extern "C" fn after_in_parent() {
    CLOSED.with(|slot| slot.replace(None));
}

#[cfg(unix)]
extern "C" fn after_in_child() {
    EPOCH.fetch_add(1, Ordering::Release);
    CLOSED.with(|slot| slot.replace(None));
}
