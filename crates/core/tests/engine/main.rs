//! Random arrays and selections, read and written by the engine and by a plain array beside it; and what becomes of
//! damaged stores.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(unix)]
mod bands;
mod cases;
mod emptied;
mod hostile;
mod oversized;
mod rewritten;
mod starts;

use std::path::Path;

use blazarr_core::array::Array;
use blazarr_core::io::local::LocalStore;
use blazarr_core::selection::Selection;
use blazarr_core::view::View;
use blazarr_core::{read, write};

use cases::{Case, FILL, Random, case, expected, selection, store, strides_of};

fn check(seed: u64, folder: &Path) {
    let mut random = Random(seed);
    let Case { shape, spec } = case(&mut random);
    let array = Array::parse(spec.to_string().as_bytes(), &[]).unwrap();
    let store = store(&mut random, &folder.join(seed.to_string()));
    let total: usize = shape.iter().product();
    let mut plain = vec![FILL; total];
    let options = read::Options {
        threads: 2,
        missing_is_error: false,
    };
    for round in 0..6 {
        let selection = match round {
            1 => Selection::all(&array.shape),
            _ => selection(&mut random, &shape),
        };
        let at = expected(&selection, &shape);
        let strides = strides_of(&selection);
        let mut value: Vec<u32> = at.iter().map(|_| random.below(1000) as u32).collect();
        if random.below(4) == 0 {
            value.fill(FILL);
        }
        let write_empty = random.below(2) == 0;
        // SAFETY: the view covers `value`, which outlives the call.
        let view = unsafe { View::new(value.as_mut_ptr().cast(), &strides) };
        let how = write::Options {
            threads: 2,
            write_empty,
        };
        let done = write::write(&array, &*store, &selection, &view, how);
        assert!(
            done.is_ok(),
            "{done:?}: seed {seed} round {round}\n{spec}\n{selection:?}"
        );
        for (&at, &value) in at.iter().zip(&value) {
            plain[at] = value;
        }
        for _ in 0..2 {
            let selection = cases::selection(&mut random, &shape);
            let at = expected(&selection, &shape);
            let mut got = vec![0u32; at.len()];
            // SAFETY: the view covers `got`, which outlives the call.
            let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(&selection)) };
            let done = read::read(&array, &*store, &selection, &view, options);
            assert!(
                done.is_ok(),
                "{done:?}: seed {seed} round {round}\n{spec}\n{selection:?}"
            );
            let want: Vec<u32> = at.iter().map(|&at| plain[at]).collect();
            assert_eq!(
                got, want,
                "seed {seed} round {round}\n{spec}\n{selection:?}"
            );
        }
    }
}

#[test]
fn the_engine_equals_a_plain_array() {
    let folder = std::env::temp_dir().join(format!("blazarr-engine-{}", std::process::id()));
    for seed in 0..1500 {
        check(seed, &folder);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Uncompressed chunks larger than a band, whose rows are runs of the result or not.
#[test]
fn large_uncompressed_chunks_equal_a_plain_array() {
    let folder = std::env::temp_dir().join(format!("blazarr-bands-{}", std::process::id()));
    for (number, chain) in [
        serde_json::json!({}),
        serde_json::json!({"swap": 4}),
        serde_json::json!({"order": [2, 0, 1]}),
        serde_json::json!({"shard": {"chunks": [8, 160, 200], "chain": {}, "at_end": true}}),
    ]
    .iter()
    .enumerate()
    {
        let spec = serde_json::json!({
            "shape": [9, 320, 200], "grid": [{"size": 8}, {"size": 160}, {"size": 200}], "item": 4,
            "fill": "07000000", "chain": chain, "max_chunk_bytes": 1 << 24,
            "keys": {"prefix": "", "kind": "default", "separator": "/"},
        });
        let array = Array::parse(spec.to_string().as_bytes(), &[]).unwrap();
        let store = LocalStore::new(folder.join(number.to_string()));
        let all = Selection::all(&array.shape);
        let mut plain: Vec<u32> = (0..9 * 320 * 200).collect();
        // SAFETY: the view covers `plain`, which outlives the call.
        let view = unsafe { View::new(plain.as_mut_ptr().cast(), &strides_of(&all)) };
        let how = write::Options {
            threads: 2,
            write_empty: false,
        };
        write::write(&array, &store, &all, &view, how).unwrap();
        let mut random = Random(number as u64);
        for round in 0..60 {
            let part = match round {
                0 => all.clone(),
                _ => selection(&mut random, &[9, 320, 200]),
            };
            let at = expected(&part, &[9, 320, 200]);
            let mut got = vec![0u32; at.len()];
            // SAFETY: the view covers `got`, which outlives the call.
            let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(&part)) };
            let how = read::Options {
                threads: 2,
                missing_is_error: true,
            };
            read::read(&array, &store, &part, &view, how).unwrap();
            let want: Vec<u32> = at.iter().map(|&at| plain[at]).collect();
            assert!(got == want, "{chain} {part:?}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
