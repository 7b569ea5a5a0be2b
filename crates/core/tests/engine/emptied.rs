//! Chunks that a change of a part leaves with nothing but the fill value: what becomes of their keys.

use blazarr_core::array::Array;
use blazarr_core::error::Result;
use blazarr_core::io::memory::MemoryStore;
use blazarr_core::io::{Edit, Fetched, KeyStore, Object, Store};
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use blazarr_core::{read, write};
use serde_json::{Value, json};

use super::cases::{FILL, strides_of};

/// A store that may delete what another writer has just put.
#[derive(Debug, Default)]
struct Hasty(MemoryStore);

impl Store for Hasty {
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

    fn deletes_conditionally(&self) -> bool {
        false
    }
}

fn array(chain: &Value) -> Array {
    let spec = json!({
        "shape": [64], "grid": [{"size": 64}], "item": 4, "fill": "07000000",
        "chain": chain, "max_chunk_bytes": 1 << 20,
        "keys": {"prefix": "", "kind": "default", "separator": "/"},
    });
    Array::parse(spec.to_string().as_bytes(), &[]).unwrap()
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

fn write(array: &Array, store: &dyn Store, part: &Selection, value: u32) {
    let mut values = vec![value; part.picks[0].count() as usize];
    // SAFETY: the view covers `values`, which outlives the call.
    let view = unsafe { View::new(values.as_mut_ptr().cast(), &strides_of(part)) };
    let how = write::Options {
        threads: 1,
        write_empty: false,
    };
    write::write(array, store, part, &view, how).unwrap();
}

fn all(array: &Array, store: &dyn Store) -> Vec<u32> {
    let (part, mut got) = (part(0, 64), vec![0; 64]);
    // SAFETY: the view covers `got`, which outlives the call.
    let view = unsafe { View::new(got.as_mut_ptr().cast(), &strides_of(&part)) };
    let how = read::Options {
        threads: 1,
        missing_is_error: true,
    };
    read::read(array, store, &part, &view, how).unwrap();
    got
}

#[test]
fn what_is_left_empty_is_stored_where_deleting_it_could_take_another_writers_chunk() {
    for chain in [
        json!({}),
        json!({"swap": 4, "steps": [{"id": "zstd", "level": 1}]}),
        json!({"shard": {"chunks": [8], "chain": {}, "at_end": true, "index_steps": [{"id": "crc32c"}]}}),
        json!({"shard": {"chunks": [8], "chain": {}, "at_end": false}, "steps": [{"id": "zstd", "level": 1}]}),
    ] {
        let (array, hasty, careful) = (array(&chain), Hasty::default(), MemoryStore::default());
        for store in [&hasty as &dyn Store, &careful] {
            write(&array, store, &part(3, 9), 1);
            write(&array, store, &part(3, 9), FILL);
        }
        assert_eq!(all(&array, &hasty), [FILL; 64], "{chain}");
        assert_eq!(careful.size("c/0").unwrap(), None, "{chain}");
        // Nobody's change is lost where all of a chunk is replaced.
        write(&array, &hasty, &part(0, 64), FILL);
        assert_eq!(hasty.0.size("c/0").unwrap(), None, "{chain}");
    }
}
