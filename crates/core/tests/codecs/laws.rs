//! What holds for every codec and honest data.

use blazarr_core::codec::step::StepSpec;
use blazarr_core::codec::{BytesCodec, CodecErrorKind, Size};

use crate::support::{Random, STEPS, build, encode, noise, samples, smooth};

const SIZES: &[usize] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    9,
    15,
    16,
    31,
    33,
    63,
    64,
    100,
    127,
    128,
    129,
    255,
    257,
    1000,
    4096,
    65537,
    1 << 20,
];

fn round_trip(step: &str, codec: &dyn BytesCodec, data: &[u8]) {
    let case = format!("{step}, {} bytes", data.len());
    let encoded = encode(codec, data);
    match codec.encoded_size(Size::Exact(data.len())).unwrap() {
        Size::Exact(n) => assert_eq!(n, encoded.len(), "{case}"),
        Size::AtMost(n) => assert!(encoded.len() <= n, "{case}"),
    }
    let mut dst = vec![0xa5; data.len()];
    codec
        .decode_exact(&encoded, &mut dst)
        .unwrap_or_else(|e| panic!("{case}: {e}"));
    assert!(dst == data, "{case}: decode_exact differs");
    for max in [data.len(), data.len() + 1, data.len() * 2 + 100_000] {
        let mut out = vec![0x5a; 3];
        codec
            .decode_bounded(&encoded, max, &mut out)
            .unwrap_or_else(|e| panic!("{case}: {e}"));
        assert!(out == data, "{case}: decode_bounded differs");
    }
    if let Some(view) = codec.decode_view(&encoded).unwrap() {
        assert!(view == data, "{case}: decode_view differs");
    }
}

#[test]
fn every_size_comes_back() {
    for (step, unit) in STEPS {
        let codec = build(step);
        for size in SIZES.iter().map(|size| size / unit * unit) {
            if size > 100_000 && step.contains("19") {
                continue;
            }
            samples(size)
                .iter()
                .for_each(|data| round_trip(step, codec.as_ref(), data));
        }
    }
}

#[test]
fn another_size_is_an_error() {
    for (step, unit) in STEPS {
        let codec = build(step);
        for size in [0, 1, 100, 5000].map(|size| size * unit) {
            let data = smooth(size);
            let encoded = encode(codec.as_ref(), &data);
            for wrong in [size + 1, size + 4, size.saturating_sub(1), size / 2] {
                if wrong == size {
                    continue;
                }
                let mut dst = vec![0; wrong];
                let error = codec.decode_exact(&encoded, &mut dst).unwrap_err();
                let kinds = [CodecErrorKind::WrongSize, CodecErrorKind::Corrupt];
                assert!(
                    kinds.contains(&error.kind),
                    "{step}, {size} into {wrong}: {error:?}"
                );
                if wrong < size {
                    codec.decode_bounded(&encoded, wrong, &mut dst).unwrap_err();
                }
            }
        }
    }
}

#[test]
fn buffers_are_replaced_whatever_they_held() {
    for (step, unit) in STEPS {
        let codec = build(step);
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        for size in [5000, 10, 0, 700].map(|size| size * unit) {
            let data = smooth(size);
            codec.encode(&data, &mut encoded).unwrap();
            codec
                .decode_bounded(&encoded, 5000 * unit, &mut decoded)
                .unwrap();
            assert!(decoded == data, "{step}, {size}");
        }
    }
}

#[test]
fn any_range_comes_out_as_it_lies_in_the_whole() {
    let mut random = Random::new(5);
    for (step, unit) in STEPS {
        let codec = build(step);
        for size in [0, 5, 3000, 300_000].map(|size| size / unit * unit) {
            let data = smooth(size);
            let encoded = encode(codec.as_ref(), &data);
            for _ in 0..20 {
                let (a, b) = (random.below(size + 1), random.below(size + 1));
                let range = a.min(b)..a.max(b);
                let mut chunk = vec![0xcc; size];
                let taken = codec
                    .decode_range(&encoded, range.clone(), &mut chunk)
                    .unwrap();
                assert!(taken || !step.contains("blosc"), "{step}");
                assert!(
                    !taken || chunk[range.clone()] == data[range],
                    "{step}, {a} and {b} of {size}"
                );
            }
        }
    }
}

#[test]
fn ranges_that_do_not_fit_are_errors() {
    for step in [
        STEPS[0].0,
        r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4}"#,
    ] {
        let codec = build(step);
        let size = 300_000;
        let encoded = encode(codec.as_ref(), &smooth(size));
        let mut chunk = vec![0; size];
        assert!(codec.decode_range(&encoded, 5..15, &mut chunk).unwrap());
        let beyond = codec.decode_range(&encoded, 995..size + 5, &mut chunk);
        assert!(matches!(beyond, Ok(false) | Err(_)));
        chunk.push(0);
        let other_total = codec.decode_range(&encoded, 5..15, &mut chunk);
        assert!(matches!(other_total, Ok(false) | Err(_)));
    }
}

#[test]
fn what_does_not_compress_leaves_the_thread_fit_for_what_does() {
    let blosc =
        build(r#"{"id":"blosc","cname":"zstd","clevel":3,"shuffle":"shuffle","typesize":4}"#);
    let zstd = build(r#"{"id":"zstd","level":3}"#);
    for codec in [blosc, zstd] {
        encode(codec.as_ref(), &noise(100_000));
        assert!(encode(codec.as_ref(), &[7; 100_000]).len() < 1000);
    }
}

#[test]
fn configurations_out_of_range_are_refused() {
    let wrong = [
        r#"{"id":"zstd","level":23}"#,
        r#"{"id":"gzip","level":10}"#,
        r#"{"id":"zlib","level":-2}"#,
        r#"{"id":"lz4","acceleration":-1}"#,
        r#"{"id":"swap","size":3}"#,
        r#"{"id":"bitround","keepbits":24,"itemsize":4}"#,
        r#"{"id":"bitround","keepbits":1,"itemsize":3}"#,
        r#"{"id":"delta","dtype":"<f2","astype":"<i4"}"#,
        r#"{"id":"delta","dtype":"","astype":"<i4"}"#,
        r#"{"id":"delta","dtype":"<é","astype":"<i4"}"#,
        r#"{"id":"fixedscaleoffset","offset":0,"scale":0,"dtype":"<f4","astype":"<i4"}"#,
        r#"{"id":"blosc","cname":"lz4","clevel":10,"shuffle":"shuffle","typesize":4}"#,
        r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":0}"#,
        r#"{"id":"external","index":0}"#,
    ];
    for step in wrong {
        let spec: StepSpec = serde_json::from_str(step).unwrap();
        assert_eq!(
            spec.build().unwrap_err().kind,
            CodecErrorKind::Config,
            "{step}"
        );
    }
    for step in [
        r#"{"id":"lzma"}"#,
        r#"{"id":"gzip","level":1,"more":2}"#,
        r#"{"id":"zstd"}"#,
    ] {
        serde_json::from_str::<StepSpec>(step).unwrap_err();
    }
}
