//! Shards that another writer replaces while they are read by parts: the values are the old ones or the new ones.

use std::sync::Mutex;

use blazarr_core::array::Array;
use blazarr_core::error::{Error, Result};
use blazarr_core::io::arrivals::Found;
use blazarr_core::io::memory::MemoryStore;
use blazarr_core::io::{ByteRange, Edit, Fetched, KeyStore, Object, Request, Store};
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use blazarr_core::{read, write};
use serde_json::{Value, json};

use super::cases::{FILL, strides_of};

/// Elements of an inner chunk, of which so little is not fetched along with others.
const INNER: u64 = 1 << 18;

type Change = Box<dyn FnOnce(&MemoryStore) + Send>;

/// A store asked by batches, whether it tells versions apart, and what happens after each of the next batches.
struct Racing {
    store: MemoryStore,
    stamps: bool,
    then: Mutex<Vec<Change>>,
}

impl std::fmt::Debug for Racing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Racing")
    }
}

impl Store for Racing {
    fn get(&self, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        self.store.get(key, hint, buf)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        self.store.open(key)
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        self.store.update(key, wants_current, edit)
    }

    fn batch(&self) -> Option<usize> {
        Some(4)
    }

    fn get_many(&self, requests: &[Request]) -> Result<Vec<Found>> {
        let stamped = |(bytes, stamp)| (bytes, self.stamps.then_some(stamp));
        let one = |r: &Request| Ok(self.store.read(&r.key, r.range)?.map(stamped));
        let answers = requests.iter().map(one).collect();
        if let Some(then) = self.then.lock().unwrap().pop() {
            then(&self.store);
        }
        answers
    }
}

fn array(inner: &Value) -> Array {
    let size = 4 * INNER;
    let spec = json!({
        "shape": [size], "grid": [{"size": size}], "item": 4, "fill": "07000000",
        "chain": {"shard": {"chunks": [INNER], "chain": inner, "at_end": true}},
        "max_chunk_bytes": 1 << 24,
        "keys": {"prefix": "", "kind": "default", "separator": "/"},
    });
    Array::parse(spec.to_string().as_bytes(), &[]).unwrap()
}

fn part(chunk: u64, count: u64) -> Selection {
    let pick = Pick::Strided {
        axis: 0,
        start: chunk * INNER,
        step: 1,
        count: count * INNER,
    };
    Selection {
        consts: vec![],
        picks: vec![pick],
    }
}

/// Writes an inner chunk full of `value`.
fn put(inner: &Value, store: &MemoryStore, chunk: u64, value: u32) {
    let (part, mut values) = (part(chunk, 1), vec![value; INNER as usize]);
    // SAFETY: the view covers `values`, which outlives the call.
    let view = unsafe { View::new(values.as_mut_ptr().cast(), &strides_of(&part)) };
    let how = write::Options {
        threads: 1,
        write_empty: false,
    };
    write::write(&array(inner), store, &part, &view, how).unwrap();
}

/// The value that each of the inner chunks is full of.
fn get(array: &Array, store: &dyn Store, chunk: u64, count: u64) -> Result<Vec<u32>> {
    let (part, mut got) = (part(chunk, count), vec![0u32; (count * INNER) as usize]);
    // SAFETY: the view covers `got`, which outlives the call.
    let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(&part)) };
    let how = read::Options {
        threads: 2,
        missing_is_error: false,
    };
    read::read(array, store, &part, &view, how)?;
    let chunks = got.chunks(INNER as usize);
    Ok(chunks
        .map(|chunk| {
            assert!(chunk.iter().all(|value| *value == chunk[0]));
            chunk[0]
        })
        .collect())
}

fn inners() -> [Value; 3] {
    [
        json!({}),
        json!({"steps": [{"id": "crc32c"}]}),
        json!({"steps": [{"id": "zstd", "level": 1, "checksum": true}]}),
    ]
}

fn racing(inner: &Value, stamps: bool) -> Racing {
    let store = MemoryStore::default();
    for chunk in 1..4 {
        put(inner, &store, chunk, 10 + chunk as u32);
    }
    Racing {
        store,
        stamps,
        then: Mutex::default(),
    }
}

#[test]
fn a_shard_that_is_replaced_between_its_index_and_the_rest_is_read_again() {
    for (inner, stamps) in inners()
        .iter()
        .flat_map(|inner| [(inner, true), (inner, false)])
    {
        for (chunk, count, expected) in [(1, 1, vec![11]), (0, 2, vec![5, 11]), (2, 1, vec![12])] {
            let store = racing(inner, stamps);
            let change = inner.clone();
            store
                .then
                .lock()
                .unwrap()
                .push(Box::new(move |store| put(&change, store, 0, 5)));
            let found = get(&array(inner), &store, chunk, count).unwrap();
            let old: Vec<u32> = expected
                .iter()
                .map(|&v| if v == 5 { FILL } else { v })
                .collect();
            assert!(
                found == expected || found == old,
                "{inner} {stamps}: {found:?}"
            );
        }
    }
}

#[test]
fn a_shard_that_never_stands_still_is_an_error() {
    let inner = json!({});
    let store = racing(&inner, true);
    for value in 20..80 {
        store.then.lock().unwrap().push(Box::new(move |store| {
            // Now one chunk more before the others, now one fewer.
            put(
                &json!({}),
                store,
                0,
                if value % 2 == 0 { value } else { FILL },
            );
        }));
    }
    let found = get(&array(&inner), &store, 1, 1);
    let is_named = |error: &Error| matches!(error, Error::Shard { key, what } if key == "c/0" && what.contains("changed"));
    assert!(found.as_ref().is_err_and(is_named), "{found:?}");
}

#[test]
fn an_index_that_was_kept_is_not_believed_of_what_came_or_went_since() {
    let inner = json!({});
    let (store, array) = (racing(&inner, true), array(&inner));
    assert_eq!(get(&array, &store, 0, 2).unwrap(), [FILL, 11]);
    put(&inner, &store.store, 0, 5);
    assert_eq!(get(&array, &store, 0, 1).unwrap(), [5]);
    assert_eq!(get(&array, &store, 0, 2).unwrap(), [5, 11]);
    assert!(
        store
            .store
            .delete("c/0", blazarr_core::io::Condition::Any)
            .unwrap()
    );
    assert_eq!(get(&array, &store, 0, 2).unwrap(), [FILL, FILL]);
    assert!(store.store.read("c/0", ByteRange::Whole).unwrap().is_none());
}
