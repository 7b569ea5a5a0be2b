//! The codecs under test, and data for them.

use std::sync::Arc;

use blazarr_core::codec::BytesCodec;
use blazarr_core::codec::step::StepSpec;

/// Lossless steps, with the length that decoded data has to be a multiple of.
pub const STEPS: &[(&str, usize)] = &[
    (r#"{"id":"zstd","level":0}"#, 1),
    (r#"{"id":"zstd","level":3,"checksum":true}"#, 1),
    (r#"{"id":"zstd","level":-5}"#, 1),
    (r#"{"id":"zstd","level":19}"#, 1),
    (r#"{"id":"gzip","level":5}"#, 1),
    (r#"{"id":"gzip","level":0}"#, 1),
    (r#"{"id":"zlib","level":1}"#, 1),
    (r#"{"id":"zlib","level":-1}"#, 1),
    (r#"{"id":"lz4","acceleration":1}"#, 1),
    (r#"{"id":"crc32c"}"#, 1),
    (r#"{"id":"crc32c","location":"start"}"#, 1),
    (r#"{"id":"crc32"}"#, 1),
    (r#"{"id":"adler32"}"#, 1),
    (r#"{"id":"fletcher32"}"#, 1),
    (r#"{"id":"swap","size":1}"#, 1),
    (r#"{"id":"swap","size":4}"#, 4),
    (r#"{"id":"shuffle","elementsize":0}"#, 1),
    (r#"{"id":"shuffle","elementsize":4}"#, 4),
    (r#"{"id":"shuffle","elementsize":300}"#, 300),
    (r#"{"id":"bitround","keepbits":23,"itemsize":4}"#, 4),
    (r#"{"id":"delta","dtype":"<i4","astype":"<i4"}"#, 4),
    (r#"{"id":"delta","dtype":">u2","astype":"<i8"}"#, 2),
    (
        r#"{"id":"fixedscaleoffset","offset":5,"scale":1,"dtype":"<i2","astype":"<i4"}"#,
        2,
    ),
    (
        r#"{"id":"blosc","cname":"blosclz","clevel":9,"shuffle":"noshuffle","typesize":1}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"blosclz","clevel":5,"shuffle":"shuffle","typesize":4}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"lz4","clevel":1,"shuffle":"bitshuffle","typesize":2,"blocksize":1000}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"bitshuffle","typesize":16}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"lz4hc","clevel":5,"shuffle":"shuffle","typesize":8,"blocksize":4096}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"zlib","clevel":3,"shuffle":"shuffle","typesize":255}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"snappy","clevel":5,"shuffle":"shuffle","typesize":3}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"zstd","clevel":3,"shuffle":"shuffle","typesize":4}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"zstd","clevel":1,"shuffle":"bitshuffle","typesize":1,"blocksize":500}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"lz4","clevel":0,"shuffle":"shuffle","typesize":4}"#,
        1,
    ),
    (
        r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":1000}"#,
        1,
    ),
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
