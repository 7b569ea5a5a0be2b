//! Damaged bytes give an error or wrong values where nothing checks them, and never a panic, a hang or a crash.

use std::sync::Arc;

use blazarr_core::array::Array;
use blazarr_core::error::Error;
use blazarr_core::io::memory::MemoryStore;
use blazarr_core::io::{ByteRange, Condition, KeyStore};
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use blazarr_core::{read, write};

use super::cases::{Case, Random, case, selection, strides_of};

/// Every key of the array, written in full.
fn written(random: &mut Random) -> (Array, Arc<MemoryStore>, Vec<String>) {
    loop {
        let Case { shape, spec } = case(random);
        let array = Array::parse(spec.to_string().as_bytes(), &[]).unwrap();
        let store = Arc::new(MemoryStore::default());
        let selection = Selection::all(&array.shape);
        let total: usize = shape.iter().product();
        let mut value: Vec<u32> = (0..total).map(|_| random.below(1000) as u32).collect();
        // SAFETY: the view covers `value`, which outlives the call.
        let view = unsafe { View::new(value.as_mut_ptr().cast(), &strides_of(&selection)) };
        let how = write::Options {
            threads: 1,
            write_empty: true,
        };
        write::write(&array, &*store, &selection, &view, how).unwrap();
        let keys: Vec<String> = store
            .list("", "")
            .unwrap()
            .next_page(1000)
            .unwrap()
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        if !keys.is_empty() {
            return (array, store, keys);
        }
    }
}

/// One of the ways in which bytes go wrong.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    match random.below(5) {
        0 => bytes.truncate(random.below(bytes.len() + 1)),
        1 => bytes.extend((0..1 + random.below(40)).map(|_| random.below(256) as u8)),
        2 => {
            // Indexes of shards lie at either end: make their numbers large.
            let last = bytes.len().saturating_sub(1 + random.below(24));
            let at = random.pick(&[0, last]);
            bytes
                .iter_mut()
                .skip(at)
                .take(8)
                .for_each(|byte| *byte = 0xfe);
        }
        _ => {
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
}

fn check(seed: u64) {
    let mut random = Random(seed);
    let (array, store, keys) = written(&mut random);
    let all = Selection::all(&array.shape);
    let shape: Vec<usize> = array.shape.iter().map(|&n| n as usize).collect();
    let total: usize = shape.iter().product();
    for _ in 0..20 {
        let key = random.pick(&keys);
        let (good, _) = store.read(&key, ByteRange::Whole).unwrap().unwrap();
        let mut bad = good.to_vec();
        damage(&mut random, &mut bad);
        store.write(&key, &bad, Condition::Any).unwrap();
        let mut got = vec![0u32; total];
        // SAFETY: the view covers `got`, which outlives the calls.
        let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(&all)) };
        let how = read::Options {
            threads: 1,
            missing_is_error: false,
        };
        if let Err(error) = read::read(&array, &*store, &all, &view, how) {
            assert!(!matches!(error, Error::Internal(_)), "seed {seed}: {error}");
            assert!(
                error.to_string().contains(&key),
                "seed {seed}: {error} does not name {key}"
            );
        }
        let part = selection(&mut random, &shape);
        let mut value = vec![0u32; part.picks.iter().map(Pick::count).product::<u64>() as usize];
        // SAFETY: the view covers `value`, which outlives the call.
        let view = unsafe { View::new(value.as_mut_ptr().cast(), &strides_of(&part)) };
        let how = write::Options {
            threads: 1,
            write_empty: false,
        };
        if let Err(error) = write::write(&array, &*store, &part, &view, how) {
            assert!(!matches!(error, Error::Internal(_)), "seed {seed}: {error}");
            let after = store.read(&key, ByteRange::Whole).unwrap().unwrap().0;
            assert_eq!(after, bad, "seed {seed}: a failed write changed {key}");
        }
        store.write(&key, &good, Condition::Any).unwrap();
    }
}

#[test]
fn damaged_bytes_give_errors_that_name_their_key() {
    for seed in 0..1500 {
        check(seed);
    }
}
