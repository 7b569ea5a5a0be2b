//! Random arrays and selections, and what a plain array would give for them.

use std::path::Path;
use std::sync::Arc;

use blazarr_core::error::Result;
use blazarr_core::io::arrivals::Found;
use blazarr_core::io::local::LocalStore;
use blazarr_core::io::memory::MemoryStore;
use blazarr_core::io::{Edit, Fetched, KeyStore, Object, Request, Store};
use blazarr_core::selection::{Pick, Selection};
use serde_json::json;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

pub const FILL: u32 = 7;

/// A store that is asked for many things at once, as Python's are, and whether it tells versions apart.
#[derive(Debug)]
struct Batched(MemoryStore, bool);

impl Store for Batched {
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

    fn batch(&self) -> Option<usize> {
        Some(3)
    }

    fn get_many(&self, requests: &[Request]) -> Result<Vec<Found>> {
        let stamped = |(bytes, stamp)| (bytes, self.1.then_some(stamp));
        let one = |r: &Request| Ok(self.0.read(&r.key, r.range)?.map(stamped));
        requests.iter().map(one).collect()
    }
}

pub fn store(random: &mut Random, folder: &Path) -> Box<dyn Store> {
    match random.below(4) {
        0 => Box::new(MemoryStore::default()),
        n @ (1 | 2) => Box::new(Batched(MemoryStore::default(), n == 1)),
        _ => Box::new(LocalStore::new(folder.to_owned())),
    }
}

pub struct Case {
    pub shape: Vec<usize>,
    pub spec: serde_json::Value,
}

fn steps(random: &mut Random) -> serde_json::Value {
    random.pick(&[
        json!([]),
        json!([{"id": "zstd", "level": 1}]),
        json!([{"id": "zstd", "level": 1, "checksum": true}]),
        json!([{"id": "crc32c"}]),
        json!([{"id": "zlib", "level": 1}, {"id": "crc32c"}]),
        json!([{"id": "lz4", "acceleration": 1}]),
        json!([{"id": "swap", "size": 4}, {"id": "gzip", "level": 1}]),
    ])
}

fn order(random: &mut Random, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    for i in (1..rank).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

fn chain(random: &mut Random, shape: &[usize], depth: usize) -> serde_json::Value {
    let mut chain = json!({"steps": steps(random), "swap": random.pick(&[0, 0, 4])});
    let order = order(random, shape.len());
    if random.below(3) == 0 {
        chain["order"] = json!(order);
    }
    if depth < 2 && random.below(3) == 0 {
        let stored: Vec<usize> = match chain.get("order") {
            Some(_) => order.iter().map(|&axis| shape[axis]).collect(),
            None => shape.to_vec(),
        };
        let divisors = |n: usize| (1..=n).filter(|d| n.is_multiple_of(*d)).collect::<Vec<_>>();
        let inner: Vec<usize> = stored.iter().map(|&n| random.pick(&divisors(n))).collect();
        let inner_chain = self::chain(random, &inner, depth + 1);
        chain["swap"] = json!(0);
        chain["steps"] = random.pick(&[json!([]), json!([]), json!([{"id": "zstd", "level": 1}])]);
        chain["shard"] = json!({
            "chunks": inner, "chain": inner_chain, "at_end": random.below(2) == 0,
            "index_swap": random.below(4) == 0,
            "index_steps": random.pick(&[json!([]), json!([{"id": "crc32c"}])]),
        });
    }
    chain
}

pub fn case(random: &mut Random) -> Case {
    let rank = random.below(4);
    let shape: Vec<usize> = (0..rank)
        .map(|_| random.pick(&[0, 1, 2, 5, 7, 12, 13]))
        .collect();
    let chunks: Vec<usize> = shape.iter().map(|&n| 1 + random.below(n + 2)).collect();
    let mut grid = Vec::new();
    let regular = random.below(4) > 0;
    let chain = chain(random, &chunks, if regular { 0 } else { 2 });
    for (&n, &size) in shape.iter().zip(&chunks) {
        if regular || n == 0 {
            grid.push(json!({"size": size}));
        } else {
            let mut edges = vec![0];
            while *edges.last().unwrap() < n {
                edges.push(edges.last().unwrap() + 1 + random.below(size + 1));
            }
            grid.push(json!({"edges": edges}));
        }
    }
    let spec = json!({
        "shape": shape, "grid": grid, "item": 4, "fill": "07000000", "chain": chain,
        "keys": {"prefix": "x/", "kind": "default", "separator": "/"}, "max_chunk_bytes": 1 << 20,
    });
    Case { shape, spec }
}

pub fn selection(random: &mut Random, shape: &[usize]) -> Selection {
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    for i in (1..axes.len()).rev() {
        axes.swap(i, random.below(i + 1));
    }
    let natural = random.below(2) == 0;
    if natural {
        axes.sort_unstable();
    }
    let mut selection = Selection {
        consts: vec![],
        picks: vec![],
    };
    while let Some(axis) = (!axes.is_empty()).then(|| axes.remove(0)) {
        let n = shape[axis];
        match random.below(5) {
            0 if n > 0 => selection.consts.push((axis, random.below(n) as u64)),
            1 | 2 => {
                let (step, start) = (1 + random.below(4) as i64, random.below(n) as u64);
                let down = random.below(2) == 0;
                let room = if down {
                    start
                } else {
                    (n as u64).saturating_sub(start + 1)
                };
                let most = if n == 0 { 0 } else { room / step as u64 + 1 };
                let count = most.saturating_sub(random.below(2) as u64);
                let step = if down { -step } else { step };
                selection.picks.push(Pick::Strided {
                    axis,
                    start,
                    step,
                    count,
                });
            }
            3 if n > 0 => {
                let mut joint = vec![axis];
                while !axes.is_empty() && shape[axes[0]] > 0 && random.below(2) == 0 {
                    joint.push(axes.remove(0));
                }
                let count = random.below(20);
                let indices = joint.iter().map(|&axis| {
                    (0..count)
                        .map(|_| random.below(shape[axis]) as u64)
                        .collect::<Arc<[u64]>>()
                });
                let indices = indices.collect();
                selection.picks.push(Pick::Indexed {
                    axes: joint,
                    indices,
                });
            }
            _ => selection.picks.push(Pick::Strided {
                axis,
                start: 0,
                step: 1,
                count: n as u64,
            }),
        }
    }
    selection
}

/// The flat indices of the array that the selection takes, in the order of the result.
pub fn expected(selection: &Selection, shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let base: usize = selection
        .consts
        .iter()
        .map(|&(axis, i)| strides[axis] * i as usize)
        .sum();
    let mut flat = vec![base];
    for pick in &selection.picks {
        let offsets: Vec<usize> = match pick {
            Pick::Strided {
                axis,
                start,
                step,
                count,
            } => (0..*count as i64)
                .map(|k| strides[*axis] * (*start as i64 + k * step) as usize)
                .collect(),
            Pick::Indexed { axes, indices } => (0..indices[0].len())
                .map(|k| {
                    axes.iter()
                        .zip(indices)
                        .map(|(&a, i)| strides[a] * i[k] as usize)
                        .sum()
                })
                .collect(),
        };
        flat = flat
            .iter()
            .flat_map(|at| offsets.iter().map(move |offset| at + offset))
            .collect();
    }
    flat
}

pub fn strides_of(selection: &Selection) -> Vec<isize> {
    let mut strides = vec![0; selection.picks.len()];
    let mut step = 4;
    for (slot, pick) in strides.iter_mut().zip(&selection.picks).rev() {
        *slot = step;
        step *= pick.count() as isize;
    }
    strides
}
