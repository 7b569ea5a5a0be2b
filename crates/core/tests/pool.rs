//! The pool: every item once, errors, panics, nesting, many callers, interrupts and forks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use blazarr_core::error::{Error, Result};
use blazarr_core::pool;

thread_local! {
    static INTERRUPTED: Cell<bool> = const { Cell::new(false) };
}

fn interrupt_check() -> Result<()> {
    if INTERRUPTED.get() {
        Err(Error::Selection("interrupted".to_owned()))
    } else {
        Ok(())
    }
}

/// The budget is the process's, and tests share one.
fn setup() {
    pool::set_threads(4);
    pool::set_interrupt_check(interrupt_check);
}

fn boom() -> Error {
    Error::Selection("boom".to_owned())
}

#[test]
fn every_item_is_done_once() {
    setup();
    for n in [0, 1, 2, 3, 1000] {
        for max_threads in [0, 1, 2, 64] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            pool::parallel_for(n, max_threads, &|i| {
                seen[i].fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
            assert!(
                seen.iter().all(|count| count.load(Ordering::Relaxed) == 1),
                "{n} on {max_threads}"
            );
        }
    }
}

#[test]
fn several_threads_take_part_but_no_more_than_asked() {
    setup();
    for max_threads in [1, 2, 3] {
        let ids = Mutex::new(std::collections::HashSet::new());
        pool::parallel_for(64, max_threads, &|_| {
            ids.lock().unwrap().insert(thread::current().id());
            thread::sleep(Duration::from_millis(1));
            Ok(())
        })
        .unwrap();
        let ids = ids.into_inner().unwrap();
        assert!(ids.contains(&thread::current().id()));
        assert!(ids.len() <= max_threads);
    }
}

#[test]
fn the_first_error_ends_it() {
    setup();
    // So many that no thread can do them all while the one with the error is not scheduled.
    const ITEMS: usize = 1 << 40;
    for max_threads in [1, 4] {
        let begun = AtomicUsize::new(0);
        let result = pool::parallel_for(ITEMS, max_threads, &|i| {
            begun.fetch_add(1, Ordering::Relaxed);
            if i == 3 { Err(boom()) } else { Ok(()) }
        });
        assert!(matches!(result, Err(Error::Selection(what)) if what == "boom"));
        assert!(begun.load(Ordering::Relaxed) < ITEMS);
    }
}

#[test]
fn a_panic_becomes_an_internal_error() {
    setup();
    for (n, max_threads) in [(1, 1), (8, 1), (8, 4)] {
        let result = pool::parallel_for(n, max_threads, &|i| {
            assert!(i != n - 1, "item {i} is bad");
            Ok(())
        });
        assert!(matches!(result, Err(Error::Internal(what)) if what.contains("is bad")));
    }
    pool::parallel_for(8, 4, &|_| Ok(())).unwrap();
}

#[test]
fn calls_nest() {
    setup();
    let count = AtomicUsize::new(0);
    let leaf = |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let inner = |_| pool::parallel_for(10, 8, &leaf);
    pool::parallel_for(20, 8, &|_| pool::parallel_for(5, 8, &inner)).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 1000);
}

#[test]
fn a_caller_who_waits_helps_with_what_it_waits_for() {
    setup();
    let caller = thread::current().id();
    let (begun, helped) = (AtomicBool::new(false), AtomicBool::new(false));
    pool::parallel_for(2, 2, &|_| {
        if thread::current().id() == caller {
            while !begun.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            return Ok(());
        }
        begun.store(true, Ordering::Relaxed);
        pool::parallel_for(2000, 4, &|_| {
            if thread::current().id() == caller {
                helped.store(true, Ordering::Relaxed);
            } else if !helped.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        })
    })
    .unwrap();
    assert!(helped.into_inner());
}

#[test]
fn a_failure_outside_ends_nested_calls() {
    setup();
    let result = pool::parallel_for(2, 2, &|i| {
        if i == 0 {
            thread::sleep(Duration::from_millis(5));
            return Err(boom());
        }
        pool::parallel_for(1_000_000, 2, &|_| {
            thread::sleep(Duration::from_millis(1));
            Ok(())
        })
    });
    assert!(matches!(result, Err(Error::Selection(_))));
}

#[test]
fn many_callers_share_the_workers() {
    setup();
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..200 {
                    pool::parallel_for(7, 4, &|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    })
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 16 * 200 * 7);
}

#[test]
fn an_interrupt_ends_the_callers_work() {
    setup();
    for max_threads in [1, 4] {
        INTERRUPTED.set(true);
        let result = pool::parallel_for(1_000_000, max_threads, &|_| {
            thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        INTERRUPTED.set(false);
        assert!(matches!(result, Err(Error::Selection(what)) if what == "interrupted"));
    }
}

#[test]
fn an_interrupt_reaches_a_caller_who_waits() {
    setup();
    INTERRUPTED.set(true);
    let caller = thread::current().id();
    let helped = AtomicBool::new(false);
    let result = pool::parallel_for(2, 2, &|_| {
        if thread::current().id() == caller {
            while !helped.load(Ordering::Acquire) {
                thread::yield_now();
            }
            return Ok(());
        }
        helped.store(true, Ordering::Release);
        while pool::check().is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    });
    INTERRUPTED.set(false);
    assert!(matches!(result, Err(Error::Selection(what)) if what == "interrupted"));
}

#[cfg(unix)]
#[test]
fn a_forked_child_has_a_pool_of_its_own() {
    setup();
    let stop = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while stop.load(Ordering::Relaxed) == 0 {
                    pool::parallel_for(16, 4, &|_| Ok(())).unwrap();
                }
            });
        }
        for _ in 0..100 {
            // SAFETY: the child uses the pool alone and leaves by _exit.
            let pid = unsafe { libc::fork() };
            assert!(pid >= 0);
            if pid == 0 {
                let count = AtomicUsize::new(0);
                let result = pool::parallel_for(64, 4, &|_| {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                });
                let good = result.is_ok() && count.load(Ordering::Relaxed) == 64;
                // SAFETY: ends the child.
                unsafe { libc::_exit(i32::from(!good)) };
            }
            let mut status = 0;
            // SAFETY: waits for the child made above.
            unsafe { libc::waitpid(pid, &raw mut status, 0) };
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
        }
        stop.store(1, Ordering::Relaxed);
    });
}

#[test]
fn bodies_that_wait_do_so_side_by_side() {
    setup();
    const AT_ONCE: usize = 12;
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let seen: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
    pool::parallel_waits(seen.len(), AT_ONCE, &|i| {
        most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(20));
        // What is within is done as ever.
        pool::parallel_for(4, 4, &|_| {
            seen[i].fetch_add(1, Ordering::Relaxed);
            Ok(())
        })?;
        now.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    })
    .unwrap();
    assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 4));
    let most = most.load(Ordering::Relaxed);
    assert!((5..=AT_ONCE).contains(&most), "{most} at once");
    let begun = AtomicUsize::new(0);
    let failed = pool::parallel_waits(1000, AT_ONCE, &|_| {
        begun.fetch_add(1, Ordering::Relaxed);
        Err(boom())
    });
    assert!(matches!(failed, Err(Error::Selection(what)) if what == "boom"));
    assert!(begun.load(Ordering::Relaxed) <= AT_ONCE);
}
