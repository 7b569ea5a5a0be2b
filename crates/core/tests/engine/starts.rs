//! Chunks of which only the start is read: the values are those of all of it, and no checksum is left out.

use std::fs;
use std::path::{Path, PathBuf};

use blazarr_core::array::Array;
use blazarr_core::error::Result;
use blazarr_core::io::local::LocalStore;
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use blazarr_core::{read, write};
use serde_json::{Value, json};

use super::cases::{Random, expected, selection, strides_of};

const SHAPE: [usize; 3] = [8, 256, 256];

/// An array of two chunks of 1 MiB on disk, and its values.
struct Written {
    array: Array,
    store: LocalStore,
    values: Vec<u32>,
}

impl Written {
    fn new(folder: &Path, chain: &Value) -> Written {
        let spec = json!({
            "shape": SHAPE, "grid": [{"size": 4}, {"size": 256}, {"size": 256}], "item": 4,
            "fill": "07000000", "chain": chain, "max_chunk_bytes": 1 << 24,
            "keys": {"prefix": "", "kind": "default", "separator": "/"},
        });
        let array = Array::parse(spec.to_string().as_bytes(), &[]).unwrap();
        let store = LocalStore::new(folder.to_owned());
        let mut random = Random(3);
        let mut values: Vec<u32> = (0..SHAPE.iter().product())
            .map(|i| (i / 9 + random.below(50)) as u32)
            .collect();
        let all = Selection::all(&array.shape);
        // SAFETY: the view covers `values`, which outlives the call.
        let view = unsafe { View::new(values.as_mut_ptr().cast(), &strides_of(&all)) };
        let how = write::Options {
            threads: 2,
            write_empty: false,
        };
        write::write(&array, &store, &all, &view, how).unwrap();
        Written {
            array,
            store,
            values,
        }
    }

    fn read(&self, part: &Selection) -> Result<Vec<u32>> {
        let mut got = vec![0u32; expected(part, &SHAPE).len()];
        // SAFETY: the view covers `got`, which outlives the call.
        let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(part)) };
        let how = read::Options {
            threads: 2,
            missing_is_error: true,
        };
        read::read(&self.array, &self.store, part, &view, how).map(|_| got)
    }

    fn check(&self, part: &Selection) {
        let at = expected(part, &SHAPE);
        let want: Vec<u32> = at.iter().map(|&at| self.values[at]).collect();
        assert!(self.read(part).unwrap() == want, "{part:?}");
    }

    fn first_chunk(&self) -> PathBuf {
        self.store.root.join("c/0/0/0")
    }
}

/// Plane `z`, but for its last rows.
fn plane(z: u64) -> Selection {
    let rows = |axis, count| Pick::Strided {
        axis,
        start: 0,
        step: 1,
        count,
    };
    Selection {
        consts: vec![(0, z)],
        picks: vec![rows(1, 200), rows(2, 256)],
    }
}

fn in_folder(name: &str, chain: &Value, check: impl FnOnce(Written)) {
    let folder = std::env::temp_dir().join(format!("blazarr-{name}-{}", std::process::id()));
    check(Written::new(&folder, chain));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn parts_near_the_start_are_those_of_the_whole() {
    for (number, chain) in [
        json!({"steps": [{"id": "zstd", "level": 3}]}),
        json!({"steps": [{"id": "zstd", "level": 3}], "swap": 4}),
        json!({"steps": [{"id": "zstd", "level": 3}], "order": [1, 0, 2]}),
        json!({"steps": [{"id": "zstd", "level": 3, "checksum": true}]}),
        json!({"steps": [{"id": "zstd", "level": 3}, {"id": "crc32c"}]}),
        json!({"steps": [{"id": "shuffle", "elementsize": 4}, {"id": "zstd", "level": 3}]}),
        json!({"steps": [{"id": "lz4", "acceleration": 1}]}),
        json!({"steps": [{"id": "blosc", "cname": "lz4", "clevel": 0, "shuffle": "shuffle", "typesize": 4}]}),
        json!({"steps": [{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4}]}),
    ]
    .iter()
    .enumerate()
    {
        in_folder(&format!("starts-{number}"), chain, |written| {
            let mut random = Random(number as u64);
            (0..8).for_each(|z| written.check(&plane(z)));
            (0..30).for_each(|_| written.check(&selection(&mut random, &SHAPE)));
        });
    }
}

#[test]
fn what_lies_behind_is_not_looked_at() {
    for (number, step) in [
        json!({"id": "zstd", "level": 3}),
        json!({"id": "lz4", "acceleration": 1}),
        json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4}),
        json!({"id": "blosc", "cname": "lz4", "clevel": 0, "shuffle": "shuffle", "typesize": 4}),
    ]
    .iter()
    .enumerate()
    {
        in_folder(
            &format!("behind-{number}"),
            &json!({"steps": [step]}),
            |written| {
                let mut bytes = fs::read(written.first_chunk()).unwrap();
                let from = bytes.len() * 3 / 4;
                bytes[from..].fill(0xfe);
                fs::write(written.first_chunk(), &bytes).unwrap();
                written.check(&plane(0));
                for cut in [0, 1, 5, 17, from / 8, from / 2] {
                    fs::write(written.first_chunk(), &bytes[..cut]).unwrap();
                    let error = written.read(&plane(2)).unwrap_err().to_string();
                    assert!(error.contains("c/0/0/0"), "{step} {cut}: {error}");
                }
            },
        );
    }
}

#[test]
fn checksums_are_not_left_out() {
    for (number, chain) in [
        json!({"steps": [{"id": "zstd", "level": 3, "checksum": true}]}),
        json!({"steps": [{"id": "zstd", "level": 3}, {"id": "crc32c"}]}),
    ]
    .iter()
    .enumerate()
    {
        in_folder(&format!("sums-{number}"), chain, |written| {
            let mut bytes = fs::read(written.first_chunk()).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(written.first_chunk(), &bytes).unwrap();
            assert!(written.read(&plane(0)).is_err());
        });
    }
}
