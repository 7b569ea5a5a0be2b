//! Damaged and lying input: an error or wrong data of the right length, never a panic.

use blazarr_core::codec::{BytesCodec, CodecErrorKind};

use crate::support::{CHECKED, Random, STEPS, build, encode, noise, smooth};

fn decode_both(codec: &dyn BytesCodec, src: &[u8], size: usize) -> bool {
    let mut dst = vec![0; size];
    let exact = codec.decode_exact(src, &mut dst);
    let mut out = Vec::new();
    let bounded = codec.decode_bounded(src, size, &mut out);
    assert!(bounded.is_err() || out.len() <= size);
    if exact.is_ok() {
        assert!(bounded.is_ok() && out == dst, "exact and bounded differ");
    }
    exact.is_ok()
}

#[test]
fn every_truncation_is_an_error() {
    for (step, unit) in STEPS {
        let codec = build(step);
        for size in [0, 1, 13, 64, 300].map(|size| size * unit) {
            for data in [smooth(size), noise(size), vec![7; size]] {
                let encoded = encode(codec.as_ref(), &data);
                for cut in 0..encoded.len() {
                    let ok = decode_both(codec.as_ref(), &encoded[..cut], size);
                    assert!(
                        !ok,
                        "{step}: {size} bytes cut off at {cut} of {}",
                        encoded.len()
                    );
                }
            }
        }
    }
}

/// Streams that say where they end; what follows is ignored, as numcodecs does.
fn ends_itself(step: &str) -> bool {
    step.contains("zlib") && !step.contains("blosc") || step.contains(r#""id":"blosc""#)
}

#[test]
fn bytes_that_follow_a_stream_are_left_alone() {
    for (step, unit) in STEPS.iter().filter(|(step, _)| ends_itself(step)) {
        let codec = build(step);
        let data = smooth(300 * unit);
        let mut encoded = encode(codec.as_ref(), &data);
        encoded.extend_from_slice(b"trailing");
        let mut dst = vec![0; data.len()];
        codec.decode_exact(&encoded, &mut dst).unwrap();
        assert!(dst == data, "{step}");
    }
}

#[test]
fn bytes_that_follow_are_an_error() {
    for (step, unit) in STEPS.iter().filter(|(step, _)| !ends_itself(step)) {
        let codec = build(step);
        let mut encoded = encode(codec.as_ref(), &smooth(300 * unit));
        encoded.extend_from_slice(b"trailing");
        assert!(!decode_both(codec.as_ref(), &encoded, 300 * unit), "{step}");
    }
}

/// Takes a range near the start; damage behind it may go unseen.
fn decode_some(codec: &dyn BytesCodec, src: &[u8], size: usize) {
    let mut chunk = vec![0; size];
    let _ = codec.decode_range(src, size / 4..size / 4 + size / 3, &mut chunk);
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.next() as u8),
            2 => bytes.extend_from_within(at..),
            3 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            _ if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
}

#[test]
fn random_damage_never_panics() {
    let mut random = Random::new(42);
    for (step, unit) in STEPS {
        let codec = build(step);
        for size in [0, 40, 1000, 20_000].map(|size| size / unit * unit) {
            let encoded = encode(codec.as_ref(), &smooth(size));
            for _ in 0..150 {
                let mut damaged = encoded.clone();
                mutate(&mut random, &mut damaged);
                decode_both(codec.as_ref(), &damaged, size);
                decode_some(codec.as_ref(), &damaged, size);
            }
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(43);
    for (step, _) in STEPS {
        let codec = build(step);
        for _ in 0..500 {
            let len = random.below(200);
            let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
            decode_both(codec.as_ref(), &bytes, 64);
        }
    }
}

#[test]
fn checksums_find_every_flipped_bit_of_the_data() {
    for step in CHECKED {
        let codec = build(step);
        let data = smooth(200);
        let encoded = encode(codec.as_ref(), &data);
        for bit in 0..encoded.len() * 8 {
            let mut damaged = encoded.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut dst = vec![0; data.len()];
            let decoded = codec.decode_exact(&damaged, &mut dst);
            assert!(decoded.is_err() || dst == data, "{step}, bit {bit}");
        }
    }
}

#[test]
fn a_wrong_checksum_is_named() {
    for step in [
        r#"{"id":"crc32c"}"#,
        r#"{"id":"adler32"}"#,
        r#"{"id":"zstd","level":1,"checksum":true}"#,
    ] {
        let codec = build(step);
        let mut encoded = encode(codec.as_ref(), &noise(50));
        let in_data = encoded.len() - 5;
        encoded[in_data] ^= 4;
        let error = codec.decode_exact(&encoded, &mut [0; 50]).unwrap_err();
        assert_eq!(error.kind, CodecErrorKind::Checksum, "{step}: {error}");
    }
}

#[test]
fn members_and_frames_are_joined() {
    for step in [r#"{"id":"zstd","level":3}"#, r#"{"id":"gzip","level":5}"#] {
        let codec = build(step);
        let parts = [smooth(100), vec![9; 100_000], Vec::new(), noise(77)];
        let encoded: Vec<u8> = parts
            .iter()
            .flat_map(|part| encode(codec.as_ref(), part))
            .collect();
        let whole = parts.concat();
        let mut dst = vec![0; whole.len()];
        codec.decode_exact(&encoded, &mut dst).unwrap();
        assert!(dst == whole, "{step}");
        let mut out = Vec::new();
        codec.decode_bounded(&encoded, 1 << 20, &mut out).unwrap();
        assert!(out == whole, "{step}");
    }
}

#[test]
fn skippable_frames_are_skipped() {
    let codec = build(r#"{"id":"zstd","level":3}"#);
    let mut encoded = b"\x5e\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    encoded.extend(encode(codec.as_ref(), b"payload"));
    let mut out = Vec::new();
    codec.decode_bounded(&encoded, 100, &mut out).unwrap();
    assert_eq!(out, b"payload");
}

/// A blosc header (lz4, shuffled) with nothing behind it but what is given.
fn blosc(typesize: u8, decoded: u32, blocksize: u32, rest: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 1, 0x21, typesize];
    for number in [decoded, blocksize, 16 + rest.len() as u32] {
        frame.extend(number.to_le_bytes());
    }
    frame.extend(rest);
    frame
}

#[test]
fn lying_blosc_headers_cost_nothing() {
    let codec =
        build(r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4}"#);
    let stream = [20, 0, 0, 0, 1, 0, 0, 0, 0];
    let lies = [
        blosc(4, 0x7fff_ffef, 0x7fff_ffef, &stream),
        blosc(4, 0x7fff_ffef, 1, &stream),
        blosc(4, u32::MAX, u32::MAX, &stream),
        blosc(4, 1 << 30, 1 << 28, &[36, 0, 0, 0].repeat(4)),
        blosc(0, 100, 100, &stream),
        blosc(4, 100, 0, &stream),
        blosc(4, 100, 101, &stream),
        blosc(
            4,
            1 << 20,
            1 << 20,
            &[0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0],
        ),
        blosc(
            4,
            1 << 20,
            1 << 20,
            &[20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0],
        ),
        // A split block that holds no whole number of elements.
        blosc(3, 1000, 1000, &stream),
    ];
    for lie in lies {
        let mut out = Vec::new();
        codec
            .decode_bounded(&lie, usize::MAX, &mut out)
            .unwrap_err();
        assert!(out.capacity() < 1 << 16, "allocated {}", out.capacity());
    }
}

#[test]
fn blocks_cannot_share_one_long_stream() {
    let codec =
        build(r#"{"id":"blosc","cname":"zstd","clevel":5,"shuffle":"noshuffle","typesize":1}"#);
    // Every block of one byte starts at the same stream: many empty zstd frames, then the byte.
    let blocks = 20_000;
    let zstd = build(r#"{"id":"zstd","level":1}"#);
    let mut stream = encode(zstd.as_ref(), b"").repeat(20_000);
    stream.extend(encode(zstd.as_ref(), b"x"));
    let start = (16 + 4 * blocks as u32).to_le_bytes();
    let mut frame = blosc(1, blocks as u32, 1, &start.repeat(blocks));
    frame.extend((stream.len() as u32).to_le_bytes());
    frame.extend(stream);
    let len = frame.len() as u32;
    frame[2] = 0x90;
    frame[12..16].copy_from_slice(&len.to_le_bytes());
    let error = codec
        .decode_exact(&frame, &mut vec![0; blocks])
        .unwrap_err();
    assert!(error.what.contains("for 1 decoded"), "{error}");
}

#[test]
fn declared_sizes_are_not_believed() {
    // A zstd frame of one raw block of a byte that promises 2^62 bytes, and an lz4 header that
    // promises 2 GiB.
    let zstd = b"\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x40\x09\0\0a";
    let lz4 = b"\xff\xff\xff\x7f\x10a";
    for (step, src) in [
        (r#"{"id":"zstd","level":3}"#, &zstd[..]),
        (r#"{"id":"lz4","acceleration":1}"#, &lz4[..]),
    ] {
        let codec = build(step);
        let mut out = Vec::new();
        codec.decode_bounded(src, usize::MAX, &mut out).unwrap_err();
        assert!(
            out.capacity() < 1 << 20,
            "{step} allocated {}",
            out.capacity()
        );
    }
}
