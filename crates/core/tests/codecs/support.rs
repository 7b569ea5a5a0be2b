//! The codecs under test, and data for them.

use std::sync::Arc;

use blazarr_core::codec::BytesCodec;
use blazarr_core::codec::step::StepSpec;

/// Steps that take bytes of any length.
pub const STEPS: &[&str] = &[
    r#"{"id":"zstd","level":0}"#,
    r#"{"id":"zstd","level":3,"checksum":true}"#,
    r#"{"id":"zstd","level":-5}"#,
    r#"{"id":"zstd","level":19}"#,
    r#"{"id":"gzip","level":5}"#,
    r#"{"id":"gzip","level":0}"#,
    r#"{"id":"zlib","level":1}"#,
    r#"{"id":"zlib","level":-1}"#,
    r#"{"id":"lz4","acceleration":1}"#,
    r#"{"id":"crc32c"}"#,
    r#"{"id":"crc32c","location":"start"}"#,
    r#"{"id":"crc32"}"#,
    r#"{"id":"adler32"}"#,
    r#"{"id":"fletcher32"}"#,
    r#"{"id":"swap","size":1}"#,
];

/// Steps that notice any damage, by a checksum over the data.
pub const CHECKED: &[&str] = &[
    r#"{"id":"zstd","level":3,"checksum":true}"#,
    r#"{"id":"gzip","level":5}"#,
    r#"{"id":"zlib","level":5}"#,
    r#"{"id":"crc32c"}"#,
    r#"{"id":"crc32"}"#,
];

pub fn build(step: &str) -> Arc<dyn BytesCodec> {
    let spec: StepSpec = serde_json::from_str(step).expect("a step");
    spec.build().expect("a codec")
}

pub fn encode(codec: &dyn BytesCodec, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0xee; 5];
    codec.encode(data, &mut out).expect("encoded");
    out
}

/// Xorshift: the same numbers on every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }
}

/// Float-like data that compresses a little, in 4-byte elements.
pub fn smooth(len: usize) -> Vec<u8> {
    let mut random = Random::new(len as u64);
    let value = |i: usize, noise: u64| (i as f32 * 0.01).sin() + (noise % 1000) as f32 * 1e-6;
    let values = (0..len.div_ceil(4)).map(|i| value(i, random.next()));
    let mut bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    bytes.truncate(len);
    bytes
}

pub fn noise(len: usize) -> Vec<u8> {
    let mut random = Random::new(len as u64 + 1);
    (0..len).map(|_| (random.next() >> 32) as u8).collect()
}

pub fn samples(len: usize) -> [Vec<u8>; 4] {
    let counted = (0..len).map(|i| (i / 7) as u8).collect();
    [vec![0; len], counted, smooth(len), noise(len)]
}
