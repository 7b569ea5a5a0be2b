//! Large uncompressed chunks, which go to files band by band: every source and layout gives the bytes that a store
//! without files is given.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use blazarr_core::array::Array;
use blazarr_core::error::Result;
use blazarr_core::io::local::LocalStore;
use blazarr_core::io::memory::MemoryStore;
use blazarr_core::io::{ByteRange, Descriptor, Edit, Fetched, KeyStore, Object, Store};
use blazarr_core::place::Walk;
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use blazarr_core::write;
use serde_json::{Value, json};

use super::cases::{FILL, strides_of};

/// A folder that counts the files that were filled by whoever wrote them.
#[derive(Debug)]
struct Watched(LocalStore, AtomicUsize);

impl Watched {
    fn new(name: &str) -> Watched {
        let folder = format!("blazarr-{name}-{}", std::process::id());
        let root: PathBuf = std::env::temp_dir().join(folder);
        Watched(LocalStore::new(root), AtomicUsize::new(0))
    }

    fn filled(&self) -> usize {
        self.1.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0.root);
    }
}

impl Store for Watched {
    fn get(&self, key: &str, hint: usize, buf: &mut Vec<u8>) -> Result<Option<Fetched>> {
        self.0.get(key, hint, buf)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        self.0.open(key)
    }

    fn update(
        &self,
        key: &str,
        wants_current: bool,
        edit: &mut dyn FnMut(Option<&dyn Object>) -> Result<Edit>,
    ) -> Result<Option<Vec<u8>>> {
        self.0.update(key, wants_current, edit)
    }

    fn replace_file(
        &self,
        key: &str,
        fill: &mut dyn FnMut(Descriptor) -> Result<()>,
    ) -> Result<bool> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.replace_file(key, fill)
    }
}

fn array(shape: [u64; 3], chunks: [u64; 3], chain: &Value) -> Array {
    let spec = json!({
        "shape": shape, "grid": chunks.map(|size| json!({"size": size})), "item": 4, "fill": "07000000",
        "chain": chain, "max_chunk_bytes": 1 << 24,
        "keys": {"prefix": "", "kind": "default", "separator": "/"},
    });
    Array::parse(spec.to_string().as_bytes(), &[]).unwrap()
}

fn write(array: &Array, store: &dyn Store, part: &Selection, view: &View<'_>, write_empty: bool) {
    let how = write::Options {
        threads: 2,
        write_empty,
    };
    write::write(array, store, part, view, how).unwrap();
}

/// What the folder and the memory hold, key by key.
fn assert_same(files: &LocalStore, memory: &MemoryStore, what: &str) {
    let keys = |store: &dyn KeyStore| store.list("", "").unwrap().next_page(100).unwrap();
    assert_eq!(keys(files), keys(memory), "{what}");
    for (key, _) in keys(files) {
        let bytes = |store: &dyn KeyStore| store.read(&key, ByteRange::Whole).unwrap().unwrap().0;
        assert!(bytes(files) == bytes(memory), "{what}: {key}");
    }
}

/// The first element and the strides, in elements, of arrays of `shape` that lie in memory in all kinds of ways.
fn layouts(shape: [isize; 3]) -> Vec<(&'static str, isize, [isize; 3])> {
    let [a, b, c] = shape;
    let last = a * b * c - 1;
    vec![
        ("rows", 0, [b * c, c, 1]),
        ("rows apart", 0, [b * (c + 3), c + 3, 1]),
        ("every second element", 0, [2 * b * c, 2 * c, 2]),
        ("transposed", 0, [1, a, a * b]),
        ("outer axes swapped", 0, [c, a * c, 1]),
        (
            "rows from the last one on",
            (a * b - 1) * c,
            [-b * c, -c, 1],
        ),
        ("backwards", last, [-b * c, -c, -1]),
        ("the same row again and again", 0, [0, 0, 1]),
        ("one element", 0, [0, 0, 0]),
    ]
}

#[test]
fn every_source_gives_the_bytes_that_a_store_without_files_gets() {
    let elements: Vec<u32> = (0..2 * 8 * 320 * 1203).collect();
    let (shape, files) = ([8, 320, 1200], Watched::new("sources"));
    // Rows that are written from where they lie, rows that are gathered, and chunks of many whole planes.
    for (chunks, full) in [([8, 320, 600], 2), ([8, 320, 500], 2), ([2, 320, 1200], 4)] {
        for chain in [json!({}), json!({"swap": 4}), json!({"order": [2, 0, 1]})] {
            let (array, memory) = (array(shape, chunks, &chain), MemoryStore::default());
            let all = Selection::all(&array.shape);
            for (name, first, strides) in layouts([8, 320, 1200]) {
                let base = elements[first as usize..].as_ptr().cast_mut().cast();
                // SAFETY: the elements reach as far as the widest of the layouts, and are only read.
                let view = unsafe { View::new(base, &strides.map(|stride| 4 * stride)) };
                write(&array, &files, &all, &view, false);
                write(&array, &memory, &all, &view, false);
                let what = format!("{chunks:?} {chain} {name}");
                assert_eq!(files.filled(), full, "{what}");
                assert_same(&files.0, &memory, &what);
            }
            files.0.delete_folder("c").unwrap();
        }
    }
}

/// Every axis of `shape`, the `turned` ones from their ends on.
fn turned(shape: [u64; 3], turned: [bool; 3], order: [usize; 3]) -> Selection {
    let pick = |axis: usize| Pick::Strided {
        axis,
        start: if turned[axis] { shape[axis] - 1 } else { 0 },
        step: if turned[axis] { -1 } else { 1 },
        count: shape[axis],
    };
    Selection {
        consts: vec![],
        picks: order.map(pick).to_vec(),
    }
}

#[test]
fn turned_and_transposed_selections_are_right() {
    let mut elements: Vec<u32> = (0..4 * 320 * 1200).collect();
    let (shape, files) = ([4, 320, 1200], Watched::new("turned"));
    let (array, memory) = (
        array(shape, [4, 320, 600], &json!({})),
        MemoryStore::default(),
    );
    for (flip, order, filled) in [
        ([true, false, false], [0, 1, 2], 0),
        ([false, false, true], [0, 1, 2], 0),
        ([false, false, false], [1, 0, 2], 2),
        ([false, false, false], [2, 1, 0], 2),
        ([true, true, true], [2, 0, 1], 0),
    ] {
        let part = turned(shape, flip, order);
        // SAFETY: the view covers the elements, which outlive the calls.
        let view = unsafe { View::new(elements.as_mut_ptr().cast(), &strides_of(&part)) };
        write(&array, &files, &part, &view, false);
        write(&array, &memory, &part, &view, false);
        let what = format!("{flip:?} {order:?}");
        assert_eq!(files.filled(), filled, "{what}");
        assert_same(&files.0, &memory, &what);
    }
}

#[test]
fn sources_with_tables_are_put_together_as_a_whole() {
    let mut elements: Vec<u32> = (0..4 * 320 * 600).collect();
    let (files, memory) = (Watched::new("tables"), MemoryStore::default());
    let array = array([4, 320, 600], [4, 320, 600], &json!({}));
    let planes: Vec<isize> = [2, 0, 3, 1].map(|plane| plane * 320 * 2400).to_vec();
    let axes = vec![Walk::Table(planes.into()), Walk::Even(2400), Walk::Even(4)];
    // SAFETY: the view covers the elements, which outlive the calls.
    let view = unsafe { View::walking(elements.as_mut_ptr().cast(), axes) };
    let all = Selection::all(&array.shape);
    write(&array, &files, &all, &view, false);
    write(&array, &memory, &all, &view, false);
    assert_eq!(files.filled(), 0);
    assert_same(&files.0, &memory, "tables");
}

#[test]
fn chunks_of_nothing_but_the_fill_value_are_not_stored_unless_wanted() {
    let files = Watched::new("filled");
    for chain in [json!({}), json!({"swap": 4})] {
        let array = array([8, 320, 600], [8, 320, 600], &chain);
        let all = Selection::all(&array.shape);
        let stored = |value: &[u32], write_empty| {
            let base = value.as_ptr().cast_mut().cast();
            // SAFETY: the view covers the value, which outlives the call and is only read.
            let view = unsafe { View::new(base, &strides_of(&all)) };
            write(&array, &files, &all, &view, write_empty);
            let found = files.0.read("c/0/0/0", ByteRange::Whole).unwrap();
            found.map(|(bytes, _)| bytes)
        };
        let as_stored = |value: &[u32]| -> Vec<u8> {
            let one = |&value: &u32| match chain.get("swap") {
                Some(_) => value.to_be_bytes(),
                None => value.to_le_bytes(),
            };
            value.iter().flat_map(one).collect()
        };
        let mut value = vec![FILL; 8 * 320 * 600];
        assert!(stored(&value, false).is_none());
        assert!(stored(&value, true).unwrap() == as_stored(&value));
        assert!(stored(&value, false).is_none(), "the old chunk goes");
        for at in [value.len() - 1, value.len() / 2, 0] {
            value.fill(FILL);
            value[at] = 8;
            assert!(stored(&value, false).unwrap() == as_stored(&value));
        }
        assert_eq!(files.filled(), 4);
    }
}
