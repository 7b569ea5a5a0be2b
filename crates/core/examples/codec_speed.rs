//! How fast each codec decodes and encodes on one thread: `cargo run --release --example
//! codec_speed [part of a step]`.
//!
//! Chunks of one size are decoded into a hot result of 64 MiB, as a read of a whole array does.

use std::error::Error;

use blazarr_core::codec::BytesCodec;
use blazarr_core::codec::step::StepSpec;

type Outcome<T> = Result<T, Box<dyn Error>>;

const RESULT: usize = 64 << 20;
const REPEATS: usize = 9;

const STEPS: &[&str] = &[
    r#"{"id":"zstd","level":1}"#,
    r#"{"id":"zstd","level":3}"#,
    r#"{"id":"zstd","level":3,"checksum":true}"#,
    r#"{"id":"gzip","level":5}"#,
    r#"{"id":"lz4","acceleration":1}"#,
    r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"noshuffle","typesize":4}"#,
    r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4}"#,
    r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"bitshuffle","typesize":4}"#,
    r#"{"id":"blosc","cname":"zstd","clevel":3,"shuffle":"shuffle","typesize":4}"#,
    r#"{"id":"blosc","cname":"zstd","clevel":5,"shuffle":"bitshuffle","typesize":4}"#,
    r#"{"id":"blosc","cname":"blosclz","clevel":5,"shuffle":"shuffle","typesize":4}"#,
    r#"{"id":"shuffle","elementsize":4}"#,
    r#"{"id":"swap","size":4}"#,
    r#"{"id":"delta","dtype":"<i4","astype":"<i4"}"#,
    r#"{"id":"crc32c"}"#,
    r#"{"id":"crc32"}"#,
    r#"{"id":"fletcher32"}"#,
];

/// Waves with noise in the low bits; the same rounded; small counts in 2 bytes.
fn data_sets(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let noise: Vec<f32> = (0..len / 4)
        .map(|_| uniform() + uniform() + uniform() - 1.5)
        .collect();
    let wave = |i: usize| 20.0 + 5.0 * (i as f32 * 1e-3).sin();
    let noisy = |(i, n): (usize, &f32)| wave(i) + 0.02 * n;
    let rounded = |(i, n): (usize, &f32)| ((wave(i) + 0.1 * n) * 100.0).round() / 100.0;
    let counts = |pair: &[f32]| {
        pair.iter()
            .map(|n| (100.0 + 10.0 * n) as u16)
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let doubled: Vec<f32> = noise.iter().chain(&noise).copied().collect();
    vec![
        (
            "f32 noisy",
            noise
                .iter()
                .enumerate()
                .map(noisy)
                .flat_map(f32::to_le_bytes)
                .collect(),
        ),
        (
            "f32 rounded",
            noise
                .iter()
                .enumerate()
                .map(rounded)
                .flat_map(f32::to_le_bytes)
                .collect(),
        ),
        ("u16 counts", counts(&doubled)),
    ]
}

/// The time that this thread has had a processor, which busy neighbours disturb less than the time
/// of day.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The best of several runs, in GB/s of decoded bytes.
fn best(mut run: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = cpu_seconds();
        run()?;
        least = least.min(cpu_seconds() - start);
    }
    Ok(RESULT as f64 / 1e9 / least)
}

fn decode_speed(
    chunks: &[Vec<u8>],
    size: usize,
    decode: impl Fn(&[u8], &mut [u8]) -> Outcome<()>,
) -> Outcome<f64> {
    let mut result = vec![1; RESULT];
    best(|| {
        let targets = result.chunks_exact_mut(size).zip(chunks.iter().cycle());
        targets
            .into_iter()
            .try_for_each(|(target, chunk)| decode(chunk, target))
    })
}

fn encode_speed(codec: &dyn BytesCodec, data: &[u8], size: usize) -> Outcome<f64> {
    let mut out = Vec::new();
    let few = data.len() / 4;
    let speed = best(|| {
        data[..few]
            .chunks_exact(size)
            .try_for_each(|chunk| Ok(codec.encode(chunk, &mut out)?))
    })?;
    Ok(speed * few as f64 / RESULT as f64)
}

fn measure(step: &str, data: &[u8], size: usize) -> Outcome<String> {
    let codec = serde_json::from_str::<StepSpec>(step)?.build()?;
    let mut chunks = Vec::new();
    for chunk in data.chunks_exact(size) {
        let mut encoded = Vec::new();
        codec.encode(chunk, &mut encoded)?;
        chunks.push(encoded);
    }
    let encoded: usize = chunks.iter().map(Vec::len).sum();
    let decode = decode_speed(&chunks, size, |src, dst| Ok(codec.decode_exact(src, dst)?))?;
    let encode = encode_speed(codec.as_ref(), data, size)?;
    Ok(format!(
        "decode {decode:6.2}  encode {encode:6.3}  ratio {:5.2}",
        data.len() as f64 / encoded as f64
    ))
}

/// What zstd itself does with a context that is kept: nothing above it should cost more than a few
/// percent.
fn bare_zstd(data: &[u8], size: usize) -> Outcome<f64> {
    let chunks = data.chunks_exact(size).map(|chunk| {
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(size));
        zstd_safe::compress(&mut out, chunk, 3)
            .map(|_| out)
            .map_err(|code| zstd_safe::get_error_name(code))
    });
    let chunks: Vec<Vec<u8>> = chunks.collect::<Result<_, _>>()?;
    let context = std::cell::RefCell::new(zstd_safe::DCtx::create());
    decode_speed(&chunks, size, |src, dst| {
        let made = context.borrow_mut().decompress(dst, src);
        made.map(drop)
            .map_err(|code| zstd_safe::get_error_name(code).into())
    })
}

fn main() -> Outcome<()> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (name, data) in data_sets(RESULT / 4) {
        for size in [64 << 10, 1 << 20] {
            println!("{name}, chunks of {} KiB (GB/s)", size >> 10);
            for step in STEPS.iter().filter(|step| step.contains(&wanted)) {
                println!("  {step:80} {}", measure(step, &data, size)?);
            }
            println!(
                "  {:80} decode {:6.2}",
                "libzstd, level 3",
                bare_zstd(&data, size)?
            );
        }
    }
    Ok(())
}
