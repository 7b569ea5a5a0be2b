//! The plan table's columns, units and row order. Other executors build on them: a change here is a change of format.

#![allow(clippy::unwrap_used)]

use blazarr_core::array::Array;
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::table::Table;
use serde_json::json;

fn array(chain: serde_json::Value) -> Array {
    let spec = json!({
        "shape": [5, 8], "grid": [{"size": 2}, {"size": 4}], "item": 2, "fill": "0000",
        "chain": chain, "keys": {"prefix": "a/", "kind": "default", "separator": "/"},
        "max_chunk_bytes": 1000,
    });
    Array::parse(spec.to_string().as_bytes(), &[]).unwrap()
}

fn strided(axis: usize, start: u64, step: i64, count: u64) -> Pick {
    Pick::Strided {
        axis,
        start,
        step,
        count,
    }
}

#[test]
fn a_box_over_chunks() {
    let selection = Selection {
        consts: vec![],
        picks: vec![strided(0, 1, 1, 2), strided(1, 0, 1, 8)],
    };
    let table = Table::new(&array(json!({})), &selection, 100).unwrap();
    assert_eq!(table.keys, ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1"]);
    assert_eq!(table.chunk, [0, 0, 0, 1, 1, 0, 1, 1]);
    assert_eq!(table.inner, [-1; 8]);
    assert_eq!(
        (table.byte_offset, table.byte_length),
        (vec![0; 4], vec![-1; 4])
    );
    assert_eq!(table.decoded_bytes, [16; 4]);
    assert_eq!(table.take_start, [1, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(table.take_step, [1; 8]);
    assert_eq!(table.take_count, [1, 4, 1, 4, 1, 4, 1, 4]);
    assert_eq!(table.place_start, [0, 0, 0, 4, 1, 0, 1, 4]);
    assert_eq!(table.place_count, [1, 4, 1, 4, 1, 4, 1, 4]);
    assert_eq!(
        (table.kind, table.whole, table.cut),
        (vec![1; 4], vec![0; 4], false)
    );
}

#[test]
fn a_run_is_direct_and_an_edge_chunk_is_whole() {
    let rows = Selection {
        consts: vec![],
        picks: vec![strided(0, 2, 1, 3), strided(1, 4, 1, 4)],
    };
    let table = Table::new(&array(json!({})), &rows, 100).unwrap();
    assert_eq!(table.keys, ["a/c/1/1", "a/c/2/1"]);
    assert_eq!((table.kind, table.whole), (vec![0, 1], vec![1, 1]));
}

#[test]
fn a_constant_axis_has_no_place() {
    let selection = Selection {
        consts: vec![(0, 3)],
        picks: vec![strided(1, 7, -2, 4)],
    };
    let table = Table::new(&array(json!({})), &selection, 100).unwrap();
    assert_eq!(table.keys, ["a/c/1/1", "a/c/1/0"]);
    assert_eq!((table.rank, table.result_rank), (2, 1));
    assert_eq!(
        (table.take_start, table.take_step),
        (vec![1, 3, 1, 3], vec![1, -2, 1, -2])
    );
    assert_eq!(
        (table.place_start, table.place_count),
        (vec![0, 2], vec![2, 2])
    );
}

#[test]
fn indices_are_grouped_by_chunk() {
    let pick = Pick::Indexed {
        axes: vec![1],
        indices: vec![vec![6, 1, 5].into()],
    };
    let selection = Selection {
        consts: vec![(0, 0)],
        picks: vec![pick],
    };
    let table = Table::new(&array(json!({})), &selection, 100).unwrap();
    assert_eq!(table.keys, ["a/c/0/0", "a/c/0/1"]);
    assert_eq!(
        (table.take_start, table.take_step),
        (vec![0, 1, 0, 2], vec![1, 0, 1, 0])
    );
    assert_eq!(
        (table.take_count, table.place_count),
        (vec![1, 1, 1, 2], vec![1, 2])
    );
    assert_eq!((table.place_start, table.kind), (vec![-1, -1], vec![2, 2]));
}

#[test]
fn shards_have_a_row_for_each_inner_chunk() {
    let chain = json!({"shard": {"chunks": [1, 2], "chain": {}, "at_end": true}});
    let selection = Selection {
        consts: vec![(0, 1)],
        picks: vec![strided(1, 1, 1, 4)],
    };
    let table = Table::new(&array(chain.clone()), &selection, 100).unwrap();
    assert_eq!(table.keys, ["a/c/0/0", "a/c/0/0", "a/c/0/1"]);
    assert_eq!(table.chunk, [0, 0, 0, 0, 0, 1]);
    assert_eq!(table.inner, [1, 0, 1, 1, 1, 0]);
    assert_eq!(
        (table.byte_offset, table.byte_length),
        (vec![-1; 3], vec![-1; 3])
    );
    assert_eq!(table.decoded_bytes, [4; 3]);
    assert_eq!(table.place_start, [0, 1, 3]);
    assert_eq!(table.place_count, [1, 2, 1]);
    let cut = Table::new(&array(chain), &selection, 2).unwrap();
    assert!(cut.cut && cut.keys.len() == 2);
}
