//! An array as the engine sees it: grid, keys, fill value and codec chain.

use std::fmt::Write;
use std::sync::Arc;

use serde::Deserialize;

use crate::codec::BytesCodec;
use crate::codec::chain::{Chain, ChainSpec};
use crate::error::{Error, Result};
use crate::grid::{Axis, AxisSpec, byte_count};
use crate::shard::IndexCache;

/// The most dimensions an array may have.
pub const MAX_RANK: usize = 64;
/// How deep shards may nest.
pub const MAX_NESTING: usize = 8;

/// An array's description, as JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    pub shape: Vec<u64>,
    pub grid: Vec<AxisSpec>,
    /// Bytes of one element.
    pub item: usize,
    /// The fill value's bytes in native order, in hexadecimal.
    pub fill: String,
    pub keys: KeySpec,
    pub chain: ChainSpec,
    /// The most bytes that one decoded chunk may take.
    pub max_chunk_bytes: usize,
}

/// How chunk coordinates become keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySpec {
    /// What stands before every key: empty, or a path that ends in a slash.
    pub prefix: String,
    pub kind: KeyKind,
    pub separator: char,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    Default,
    V2,
}

/// An array that can be planned, read and written.
#[derive(Debug)]
pub struct Array {
    pub shape: Vec<u64>,
    pub grid: Vec<Axis>,
    pub item: usize,
    pub fill: Vec<u8>,
    pub keys: KeySpec,
    pub chain: Chain,
    pub indexes: IndexCache,
    pub max_chunk_bytes: usize,
}

impl Array {
    pub fn parse(json: &[u8], externals: &[Arc<dyn BytesCodec>]) -> Result<Array> {
        let spec: ArraySpec = serde_json::from_slice(json)
            .map_err(|e| Error::Spec(format!("the array's description is wrong: {e}")))?;
        Array::build(spec, externals)
    }

    pub fn build(spec: ArraySpec, externals: &[Arc<dyn BytesCodec>]) -> Result<Array> {
        let rank = spec.shape.len();
        if rank > MAX_RANK || spec.grid.len() != rank {
            return Err(Error::Spec(format!(
                "a shape of {rank} dimensions (at most {MAX_RANK}) needs as many grid axes, not {}",
                spec.grid.len()
            )));
        }
        let axes = spec.shape.iter().zip(spec.grid);
        let grid = axes
            .map(|(&extent, axis)| Axis::new(extent, axis))
            .collect::<Result<Vec<_>>>()?;
        let fill = parse_hex(&spec.fill, spec.item)?;
        check_chunk_bytes(&grid, spec.item, spec.max_chunk_bytes)?;
        let chain = Chain::build(&spec.chain, rank, externals)?;
        check_shards(&chain, &grid, 0)?;
        Ok(Array {
            shape: spec.shape,
            grid,
            item: spec.item,
            fill,
            keys: spec.keys,
            chain,
            indexes: IndexCache::default(),
            max_chunk_bytes: spec.max_chunk_bytes,
        })
    }

    /// Writes the key of the chunk at `coords` into `key`.
    pub fn key(&self, coords: &[u64], key: &mut String) {
        key.clear();
        key.push_str(&self.keys.prefix);
        let lead = match (self.keys.kind, coords.is_empty()) {
            (KeyKind::Default, _) => "c",
            (KeyKind::V2, true) => "0",
            (KeyKind::V2, false) => "",
        };
        key.push_str(lead);
        for (axis, coord) in coords.iter().enumerate() {
            if axis > 0 || self.keys.kind == KeyKind::Default {
                key.push(self.keys.separator);
            }
            // Writing to a string cannot fail.
            let _ = write!(key, "{coord}");
        }
    }
}

fn check_chunk_bytes(grid: &[Axis], item: usize, allowed: usize) -> Result<()> {
    let wanted = byte_count(grid.iter().map(Axis::largest), item);
    if item > 0 && wanted.is_some_and(|bytes| bytes <= allowed) {
        return Ok(());
    }
    Err(Error::Limit {
        what: "one decoded chunk, in bytes,".into(),
        wanted: grid.iter().fold(item as u128, |n, axis| {
            n.saturating_mul(axis.largest().into())
        }),
        allowed: allowed as u128,
        knob: "limits.chunk_bytes",
    })
}

/// Inner chunks must divide every shard, at every level.
pub(crate) fn check_shards(chain: &Chain, grid: &[Axis], depth: usize) -> Result<()> {
    let Some(sharding) = &chain.shard else {
        return Ok(());
    };
    if depth >= MAX_NESTING {
        return Err(Error::Limit {
            what: "nested sharding".into(),
            wanted: depth as u128 + 1,
            allowed: MAX_NESTING as u128,
            knob: "the format's sense",
        });
    }
    let mut inner = Vec::with_capacity(grid.len());
    for (stored, &size) in sharding.chunks.iter().enumerate() {
        let axis = &grid[chain.order.as_ref().map_or(stored, |order| order[stored])];
        if let Some(shard) = indivisible(axis, size) {
            return Err(Error::Spec(format!(
                "inner chunks of {size} do not divide a shard of {shard} along axis {stored}"
            )));
        }
        inner.push(Axis::Regular {
            extent: axis.largest(),
            size,
        });
    }
    check_shards(&sharding.chain, &inner, depth + 1)
}

fn indivisible(axis: &Axis, size: u64) -> Option<u64> {
    match axis {
        Axis::Regular { size: shard, .. } => (shard % size != 0).then_some(*shard),
        Axis::Rectilinear { edges, .. } => edges
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .find(|shard| shard % size != 0),
    }
}

fn parse_hex(text: &str, item: usize) -> Result<Vec<u8>> {
    let digits = text.as_bytes();
    let wrong = || {
        Error::Spec(format!(
            "the fill value {text:?} is not {item} bytes in hexadecimal"
        ))
    };
    if digits.len() != 2 * item || !digits.is_ascii() {
        return Err(wrong());
    }
    (0..item)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| wrong()))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(change: impl Fn(&mut serde_json::Value)) -> Result<Array> {
        let mut spec = serde_json::json!({
            "shape": [10, 6], "grid": [{"size": 4}, {"size": 6}], "item": 2, "fill": "0102",
            "keys": {"prefix": "a/", "kind": "default", "separator": "/"}, "chain": {},
            "max_chunk_bytes": 1000,
        });
        change(&mut spec);
        Array::parse(spec.to_string().as_bytes(), &[])
    }

    #[test]
    fn keys_follow_their_encoding() {
        let key = |kind: &str, separator: &str, coords: &[u64]| {
            let array = parse(|spec| {
                spec["keys"] =
                    serde_json::json!({"prefix": "a/", "kind": kind, "separator": separator});
            });
            let mut key = String::new();
            array.unwrap().key(coords, &mut key);
            key
        };
        assert_eq!(key("default", "/", &[1, 20]), "a/c/1/20");
        assert_eq!(key("default", ".", &[1, 20]), "a/c.1.20");
        assert_eq!(key("v2", ".", &[1, 20]), "a/1.20");
        assert_eq!(key("v2", "/", &[1, 20]), "a/1/20");
        assert_eq!(
            (key("default", "/", &[]), key("v2", ".", &[])),
            ("a/c".into(), "a/0".into())
        );
    }

    #[test]
    fn descriptions_are_checked() {
        assert_eq!(parse(|_| ()).unwrap().fill, [1, 2]);
        assert!(parse(|spec| spec["fill"] = "01".into()).is_err());
        assert!(parse(|spec| spec["fill"] = "01zz".into()).is_err());
        assert!(parse(|spec| spec["max_chunk_bytes"] = 47.into()).is_err());
        assert!(parse(|spec| spec["shape"] = serde_json::json!([10])).is_err());
        assert!(parse(|spec| spec["chain"] = serde_json::json!({"order": [0, 0]})).is_err());
    }

    #[test]
    fn inner_chunks_must_divide_their_shard() {
        let shard = |chunks: serde_json::Value| {
            parse(|spec| {
                spec["chain"] =
                    serde_json::json!({"shard": {"chunks": chunks, "chain": {}, "at_end": true}});
            })
        };
        assert!(shard(serde_json::json!([2, 3])).is_ok());
        assert!(shard(serde_json::json!([3, 3])).is_err());
        assert!(shard(serde_json::json!([0, 3])).is_err());
        assert!(shard(serde_json::json!([2])).is_err());
    }
}
