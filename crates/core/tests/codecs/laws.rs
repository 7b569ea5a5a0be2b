//! What holds for every codec and honest data.

use blazarr_core::codec::{BytesCodec, CodecErrorKind, Size};

use crate::support::{STEPS, build, encode, samples, smooth};

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
    for step in STEPS {
        let codec = build(step);
        for &size in SIZES {
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
    for step in STEPS {
        let codec = build(step);
        for size in [0, 1, 100, 5000] {
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
    for step in STEPS {
        let codec = build(step);
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        for size in [5000, 10, 0, 700] {
            let data = smooth(size);
            codec.encode(&data, &mut encoded).unwrap();
            codec.decode_bounded(&encoded, 5000, &mut decoded).unwrap();
            assert!(decoded == data, "{step}, {size}");
        }
    }
}
