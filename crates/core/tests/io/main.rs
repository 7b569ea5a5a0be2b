//! The two native stores: what both promise, and what only files can get wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(unix)]
mod files;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use blazarr_core::error::{Error, Result};
use blazarr_core::io::local::{LocalStore, Locking};
use blazarr_core::io::memory::MemoryStore;
use blazarr_core::io::readonly::ReadOnly;
use blazarr_core::io::{ByteRange, Condition, Edit, Fetched, KeyStore, Object, Store, StoreError};

/// A folder that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("blazarr io {} {n}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn store(&self) -> LocalStore {
        LocalStore::new(self.0.join("röot #1"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn for_each_store(test: impl Fn(&dyn KeyStore)) {
    test(&MemoryStore::new());
    let scratch = Scratch::new();
    test(&scratch.store());
    test(&LocalStore {
        locking: Locking::None,
        fsync: true,
        ..LocalStore::new(scratch.0.join("b"))
    });
}

fn get(store: &dyn KeyStore, key: &str) -> Option<Vec<u8>> {
    let mut buf = b"what was there".to_vec();
    store
        .get(key, 1, &mut buf)
        .unwrap()
        .map(|fetched| match fetched {
            Fetched::Buffered => buf,
            Fetched::Shared(bytes) => bytes.to_vec(),
        })
}

fn content(object: Option<&dyn Object>) -> Option<Vec<u8>> {
    object.map(|object| {
        let mut bytes = vec![0; object.size() as usize];
        object.read_at(0, &mut bytes).unwrap();
        bytes
    })
}

fn put(store: &dyn KeyStore, key: &str, data: &[u8]) {
    store
        .update(key, false, &mut |_| Ok(Edit::Put(data.to_vec())))
        .unwrap();
}

fn is_conflict<T: std::fmt::Debug>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Store(StoreError::Conflict { .. })))
}

#[test]
fn what_is_put_is_got() {
    for_each_store(|store| {
        assert_eq!(get(store, "a/c/0/0"), None);
        for len in [0, 1, 2, 3, 8191, 8192, 8193, 8194, 1 << 20] {
            let data: Vec<u8> = (0..len).map(|i| i as u8).collect();
            put(store, "a/c/0/0", &data);
            assert_eq!(get(store, "a/c/0/0"), Some(data.clone()));
            let object = store.open("a/c/0/0").unwrap().unwrap();
            assert_eq!(content(Some(object.as_ref())), Some(data));
        }
        assert_eq!(get(store, "a/c/0/0/1"), None);
    });
}

#[test]
fn ranges_end_where_the_object_ends() {
    for_each_store(|store| {
        put(store, "k", b"0123456789");
        let read = |range| store.read("k", range).unwrap().unwrap().0.to_vec();
        assert_eq!(read(ByteRange::Whole), b"0123456789");
        assert_eq!(read(ByteRange::Span { offset: 2, len: 3 }), b"234");
        assert_eq!(
            read(ByteRange::Span {
                offset: 8,
                len: u64::MAX
            }),
            b"89"
        );
        assert_eq!(
            read(ByteRange::Span {
                offset: u64::MAX,
                len: 1
            }),
            b""
        );
        assert_eq!(read(ByteRange::Suffix(4)), b"6789");
        assert_eq!(read(ByteRange::Suffix(u64::MAX)), b"0123456789");
        let mut dst = [0; 4];
        let short = store.open("k").unwrap().unwrap().read_at(7, &mut dst);
        assert!(matches!(short, Err(StoreError::Short { .. })));
    });
}

#[test]
fn an_edit_sees_the_present_content() {
    for_each_store(|store| {
        let mut seen = Vec::new();
        for edit in [
            Edit::Keep,
            Edit::Put(b"new".to_vec()),
            Edit::Keep,
            Edit::Delete,
            Edit::Delete,
        ] {
            let mut edit = Some(edit);
            let mut body = |object: Option<&dyn Object>| {
                seen.push(content(object));
                Ok(edit.take().unwrap())
            };
            store.update("a/b", true, &mut body).unwrap();
        }
        let new = Some(b"new".to_vec());
        assert_eq!(seen, [None, None, new.clone(), new, None]);
        assert_eq!(get(store, "a/b"), None);
        assert!(store.list("", "").unwrap().next_page(9).unwrap().is_empty());
    });
}

#[test]
fn a_failed_edit_changes_nothing() {
    for_each_store(|store| {
        put(store, "k", b"old");
        for wants_current in [false, true] {
            let mut fail = |_: Option<&dyn Object>| Err(Error::Selection("no".to_owned()));
            let result = store.update("k", wants_current, &mut fail);
            assert!(matches!(result, Err(Error::Selection(_))));
            assert_eq!(get(store, "k"), Some(b"old".to_vec()));
        }
        assert_eq!(store.children("").unwrap().keys, ["k"]);
    });
}

#[test]
fn conditions_hold() {
    for_each_store(|store| {
        for key in ["a/zarr.json", "a/c/0"] {
            let first = store.write(key, b"1", Condition::Absent).unwrap();
            assert!(is_conflict(store.write(key, b"2", Condition::Absent)));
            let second = store.write(key, b"2", Condition::Is(first)).unwrap();
            assert_ne!(first, second);
            assert!(is_conflict(store.write(key, b"3", Condition::Is(first))));
            assert!(is_conflict(store.delete(key, Condition::Is(first))));
            let (bytes, stamp) = store.read(key, ByteRange::Whole).unwrap().unwrap();
            assert_eq!((bytes.as_ref(), stamp), (&b"2"[..], second));
            assert!(store.delete(key, Condition::Is(second)).unwrap());
            assert!(!store.delete(key, Condition::Any).unwrap());
            assert!(is_conflict(store.write(key, b"4", Condition::Is(second))));
        }
    });
}

#[test]
fn a_stamp_never_comes_back() {
    for_each_store(|store| {
        let mut stamps = std::collections::HashSet::new();
        for i in 0..200_u8 {
            assert!(stamps.insert(store.write("c/0", &[i], Condition::Any).unwrap()));
            if i % 3 == 0 {
                store.delete("c/0", Condition::Any).unwrap();
            }
        }
    });
}

#[test]
fn updates_of_many_threads_are_all_kept() {
    for_each_store(|store| {
        thread::scope(|scope| {
            for i in 0..8 {
                scope.spawn(move || {
                    for _ in 0..50 {
                        let mut add = |object: Option<&dyn Object>| {
                            let mut counts = content(object).unwrap_or(vec![0; 8]);
                            counts[i] += 1;
                            Ok(Edit::Put(counts))
                        };
                        if !format!("{store:?}").contains("locking: None") {
                            store.update("deep/er/k", true, &mut add).unwrap();
                        }
                    }
                });
            }
        });
        if let Some(counts) = get(store, "deep/er/k") {
            assert_eq!(counts, vec![50; 8]);
        }
    });
}

#[test]
fn listings_are_in_order_and_in_pages() {
    for_each_store(|store| {
        let mut keys = [
            "a/zarr.json",
            "a.b",
            "a/c/10",
            "a/c/9",
            "a0",
            "b/x",
            "zarr.json",
            "a/c.x",
        ];
        keys.sort_unstable();
        for key in keys {
            put(store, key, key.as_bytes());
        }
        for start_after in ["", "a/c", "a/c/10", "a/c/5", "b", "zzz"] {
            for (prefix, limit) in [
                ("", 1),
                ("", 3),
                ("a", 2),
                ("a/", 100),
                ("a/c/", 1),
                ("x/y", 5),
            ] {
                let mut listing = store.list(prefix, start_after).unwrap();
                let mut got = Vec::new();
                loop {
                    let page = listing.next_page(limit).unwrap();
                    if page.is_empty() {
                        break;
                    }
                    assert!(page.len() <= limit);
                    assert!(page.iter().all(|(key, size)| key.len() as u64 == *size));
                    got.extend(page.into_iter().map(|(key, _)| key));
                }
                let expected: Vec<_> = keys
                    .iter()
                    .filter(|k| k.starts_with(prefix) && **k > start_after)
                    .collect();
                assert_eq!(
                    got.iter().collect::<Vec<_>>(),
                    expected,
                    "{prefix} {start_after}"
                );
            }
        }
        let children = store.children("a/").unwrap();
        assert_eq!(
            (children.keys, children.folders),
            (
                vec!["c.x".to_owned(), "zarr.json".to_owned()],
                vec!["c".to_owned()],
            )
        );
        assert_eq!(store.children("").unwrap().folders, ["a", "b"]);
        store.delete_folder("a").unwrap();
        let left = store.list("", "").unwrap().next_page(100).unwrap();
        assert_eq!(
            left.iter().map(|(key, _)| key).collect::<Vec<_>>(),
            ["a.b", "a0", "b/x", "zarr.json"]
        );
    });
}

#[test]
fn bad_keys_are_refused_everywhere() {
    for_each_store(|store| {
        for key in ["../x", "/etc/passwd", "a/..//b", "a\0b", ""] {
            let mut body = |_: Option<&dyn Object>| Ok(Edit::Put(vec![1]));
            assert!(store.get(key, 0, &mut Vec::new()).is_err());
            assert!(store.open(key).is_err());
            assert!(store.update(key, true, &mut body).is_err());
            assert!(store.update(key, false, &mut body).is_err());
            assert!(store.read(key, ByteRange::Whole).is_err());
            assert!(store.write(key, b"", Condition::Any).is_err());
            assert!(store.delete(key, Condition::Any).is_err());
            assert!(store.size(key).is_err());
        }
        assert!(store.delete_folder("..").is_err());
        assert!(store.list("../", "").is_err());
    });
}

#[test]
fn a_buffer_larger_than_its_content_comes_back() {
    let store = MemoryStore::new();
    let mut big = |_: Option<&dyn Object>| {
        let mut data = Vec::with_capacity(1 << 20);
        data.extend_from_slice(b"small");
        Ok(Edit::Put(data))
    };
    assert!(
        Store::update(&store, "k", false, &mut big)
            .unwrap()
            .is_some()
    );
    assert_eq!(get(&store, "k"), Some(b"small".to_vec()));
}

#[test]
fn a_read_only_store_reads_and_asks_for_nothing_to_write() {
    let scratch = Scratch::new();
    put(&scratch.store(), "k", b"old");
    let store = ReadOnly(Arc::new(scratch.store()));
    assert!(store.open("k").unwrap().is_some());
    for wants_current in [false, true] {
        let mut body = |_: Option<&dyn Object>| panic!("asked for content");
        let result = store.update("a/k", wants_current, &mut body);
        assert!(matches!(
            result,
            Err(Error::Store(StoreError::ReadOnly { .. }))
        ));
    }
    assert_eq!(fs::read_dir(scratch.store().root).unwrap().count(), 1);
}
