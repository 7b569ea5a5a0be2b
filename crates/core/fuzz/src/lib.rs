//! What every decoder has to keep, whatever the bytes: no panic, no memory that the limit does not
//! allow, and one outcome by whichever way the bytes are decoded.
//!
//! `cargo +nightly fuzz run blosc` in `crates/core` runs one target until it finds something.

use blazarr_core::codec::BytesCodec;
use blazarr_core::codec::step::StepSpec;

/// The longest output that is asked for.
const MOST: usize = 1 << 16;

/// Decodes `data` by the step that its first byte chooses, to the size that the next two tell.
pub fn decode(steps: &[&str], data: &[u8]) {
    let [choice, low, high, src @ ..] = data else {
        return;
    };
    let step = steps[usize::from(*choice) % steps.len()];
    let codec = StepSpec::parse(step)
        .and_then(|spec| spec.build())
        .expect("a codec");
    check(
        codec.as_ref(),
        src,
        usize::from(u16::from_le_bytes([*low, *high])),
    );
}

fn check(codec: &dyn BytesCodec, src: &[u8], size: usize) {
    let (mut exact, mut bounded) = (vec![0xaa; size], Vec::new());
    let whole = codec.decode_exact(src, &mut exact).is_ok();
    if codec.decode_bounded(src, MOST, &mut bounded).is_ok() {
        assert!(bounded.len() <= MOST);
        assert_eq!(whole, bounded.len() == size);
    } else {
        assert!(!whole);
    }
    assert!(bounded.capacity() <= MOST.max(src.len()));
    if whole {
        assert_eq!(exact, bounded);
        check_round_trip(codec, &exact);
    }
    let range = size / 4..size / 2;
    let mut chunk = vec![0x55; size];
    if let (Ok(true), true) = (
        codec.decode_range(src, range.clone(), &mut chunk),
        whole,
    ) {
        assert_eq!(chunk[range.clone()], exact[range]);
    }
}

/// What was decoded can be encoded, within the bound, and comes back.
fn check_round_trip(codec: &dyn BytesCodec, data: &[u8]) {
    let (mut encoded, mut again) = (Vec::new(), vec![0; data.len()]);
    let bound = codec
        .encoded_size(blazarr_core::codec::Size::Exact(data.len()))
        .expect("a bound");
    codec.encode(data, &mut encoded).expect("encoded");
    assert!(encoded.len() <= bound.max());
    codec.decode_exact(&encoded, &mut again).expect("decoded");
    assert_eq!(data, again);
}
