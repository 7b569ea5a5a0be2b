//! GDeflate: deflate whose bits are dealt to 32 lanes, so that a GPU reads them side by side.
//!
//! NVIDIA's format (Internet-Draft draft-uralsky-gdeflate-00, 2024). A stream is a sequence of little-endian
//! 32-bit words. Each lane holds up to 64 bits; in turn, a lane with fewer than 32 takes the next word of the stream.
//! Block headers lie in lane 0; code lengths, literals and lengths of matches are dealt one a turn, and the distance
//! of a match follows in the same lane, a round later. The last symbol of lengths and
//! the last two of distances are those of Deflate64, as nvCOMP's library for the CPU writes them: both go to 64 KiB.

mod decode;
mod encode;
mod huffman;
mod lanes;
mod pages;
mod symbols;

pub use decode::decode;
pub use encode::encode;
pub use pages::Pages;

use super::CodecError;

const NAME: &str = "gdeflate";
const LANES: usize = 32;

fn damaged(what: &str) -> CodecError {
    CodecError::corrupt(NAME, what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{BytesCodec, CodecErrorKind};
    use super::*;

    /// Of every kind of block: literals, matches near and far, runs, noise, several blocks.
    fn samples() -> Vec<Vec<u8>> {
        let noise = |len: u32| (0..len).map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8);
        let text = b"lanes of a stream, streams of lanes; ".repeat(400);
        vec![
            vec![],
            vec![7],
            vec![0; 65_536],
            b"abc".repeat(11),
            text.clone(),
            noise(5000).collect(),
            noise(40_000).chain(text).collect(),
            (0..16_384u32)
                .flat_map(|k| (k * k % 1000).to_le_bytes())
                .collect(),
            noise(300).chain(noise(32_768)).chain(noise(300)).collect(),
        ]
    }

    #[test]
    fn what_is_encoded_comes_back() {
        for data in samples() {
            for level in [0, 1, 6, 12] {
                let stream = encode(level, &data).unwrap();
                let mut out = vec![1; data.len()];
                decode(&stream, &mut out).unwrap();
                assert!(out == data, "{} bytes at level {level}", data.len());
            }
        }
    }

    #[test]
    fn streams_of_other_lengths_are_refused() {
        for data in samples().into_iter().filter(|data| !data.is_empty()) {
            let stream = encode(6, &data).unwrap();
            for len in [0, data.len() - 1, data.len() + 1] {
                let error = decode(&stream, &mut vec![0; len]).unwrap_err();
                assert_eq!(error.kind, CodecErrorKind::WrongSize);
            }
        }
    }

    #[test]
    fn damage_is_an_error_or_other_bytes() {
        let data = samples().swap_remove(4);
        let stream = encode(6, &data).unwrap();
        let mut out = vec![0; data.len()];
        for end in (0..stream.len() - 4).step_by(4) {
            assert!(
                decode(&stream[..end], &mut out).is_err() || out == data,
                "{end}"
            );
        }
        for bit in 0..8 * stream.len() {
            let mut other = stream.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&other, &mut out);
        }
    }

    #[test]
    fn words_of_zeros_come_to_an_end() {
        for len in [0, 4, 128, 4096] {
            assert!(decode(&vec![0; len], &mut [0; 10]).is_err());
            assert!(decode(&vec![255; len], &mut [0; 10]).is_err());
        }
    }

    #[test]
    fn pages_come_back() {
        let codec = Pages::new(5).unwrap();
        for data in [vec![], vec![3; 65_536], vec![4; 65_537], samples().concat()] {
            let (mut frame, mut out) = (Vec::new(), Vec::new());
            codec.encode(&data, &mut frame).unwrap();
            codec.decode_bounded(&frame, data.len(), &mut out).unwrap();
            assert!(out == data);
            if !data.is_empty() {
                assert!(
                    codec
                        .decode_bounded(&frame, data.len() - 1, &mut out)
                        .is_err()
                );
            }
            for at in (0..frame.len().min(64)).chain([frame.len() - 1]) {
                assert!(codec.decode_exact(&frame[..at], &mut out).is_err());
            }
        }
        assert!(Pages::new(13).is_err());
    }
}
