//! Random arrays and selections, read and written by the engine and by a plain array beside it; and what becomes of
//! damaged stores.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod hostile;

use std::path::Path;

use blazarr_core::array::Array;
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
