//! Files and index entries that are longer than any chunk can be: refused before memory is had for them.

use std::fs;
use std::path::PathBuf;

use blazarr_core::array::Array;
use blazarr_core::error::{Error, Result};
use blazarr_core::io::local::LocalStore;
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use blazarr_core::{read, write};
use serde_json::{Value, json};

use super::cases::strides_of;

/// More than four times any chunk of these arrays and 64 MiB.
const FAR_TOO_LONG: u64 = 200 << 20;

struct Made {
    array: Array,
    store: LocalStore,
}

impl Made {
    /// A row of `size` elements in one chunk or shard, all of them 1.
    fn new(name: &str, size: u64, chain: &Value) -> Made {
        let spec = json!({
            "shape": [size], "grid": [{"size": size}], "item": 4, "fill": "07000000",
            "chain": chain, "max_chunk_bytes": 1 << 24,
            "keys": {"prefix": "", "kind": "default", "separator": "/"},
        });
        let folder = std::env::temp_dir().join(format!("blazarr-{name}-{}", std::process::id()));
        let made = Made {
            array: Array::parse(spec.to_string().as_bytes(), &[]).unwrap(),
            store: LocalStore::new(folder),
        };
        made.write(0, size).unwrap();
        made
    }

    fn file(&self) -> PathBuf {
        self.store.root.join("c/0")
    }

    fn write(&self, start: u64, count: u64) -> Result<()> {
        let mut value = vec![1u32; count as usize];
        let (part, how) = (
            part(start, count),
            write::Options {
                threads: 1,
                write_empty: false,
            },
        );
        // SAFETY: the view covers `value`, which outlives the call.
        let view = unsafe { View::new(value.as_mut_ptr().cast(), &strides_of(&part)) };
        write::write(&self.array, &self.store, &part, &view, how)
    }

    fn read(&self, start: u64, count: u64) -> Result<()> {
        let mut got = vec![0u32; count as usize];
        let (part, how) = (
            part(start, count),
            read::Options {
                threads: 1,
                missing_is_error: true,
            },
        );
        // SAFETY: the view covers `got`, which outlives the call.
        let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(&part)) };
        read::read(&self.array, &self.store, &part, &view, how).map(drop)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.store.root);
    }
}

fn part(start: u64, count: u64) -> Selection {
    let pick = Pick::Strided {
        axis: 0,
        start,
        step: 1,
        count,
    };
    Selection {
        consts: vec![],
        picks: vec![pick],
    }
}

fn is_refused(outcome: &Result<()>) -> bool {
    matches!(outcome, Err(error @ Error::Limit { .. }) if error.to_string().contains("c/0"))
}

#[test]
fn a_file_that_is_far_too_long_is_refused_whatever_is_done_with_it() {
    for (number, chain) in [
        json!({"steps": [{"id": "zstd", "level": 1}]}),
        json!({"steps": [{"id": "zstd", "level": 1}],
               "shard": {"chunks": [1 << 16], "chain": {}, "at_end": true}}),
    ]
    .iter()
    .enumerate()
    {
        let made = Made::new(&format!("far-{number}"), 1 << 18, chain);
        let file = fs::File::options().write(true).open(made.file()).unwrap();
        file.set_len(FAR_TOO_LONG).unwrap();
        for (start, count) in [(0, 1 << 18), (0, 9), (1000, 9), (200_000, 9)] {
            let read = made.read(start, count);
            assert!(is_refused(&read), "{chain} {start} {count}: {read:?}");
        }
        let written = made.write(5, 5);
        assert!(is_refused(&written), "{chain}: {written:?}");
        assert_eq!(fs::metadata(made.file()).unwrap().len(), FAR_TOO_LONG);
    }
}

#[test]
fn a_write_copies_no_inner_chunk_that_is_longer_than_one_can_be() {
    let made = Made::new(
        "overlap",
        64,
        &json!({"shard": {"chunks": [1], "chain": {}, "at_end": true}}),
    );
    let mut shard = vec![0; 4096];
    for _ in 0..64 {
        shard.extend([0u64.to_le_bytes(), 4096u64.to_le_bytes()].concat());
    }
    fs::write(made.file(), &shard).unwrap();
    let written = made.write(0, 1);
    let is_named =
        |what: &str| what.contains("inner chunk [0]") && what.contains("4096 bytes at 0");
    assert!(
        matches!(&written, Err(Error::Shard { key, what }) if key == "c/0" && is_named(what)),
        "{written:?}"
    );
    assert_eq!(fs::read(made.file()).unwrap(), shard);
}
