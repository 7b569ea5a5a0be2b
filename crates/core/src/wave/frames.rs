//! Putting frames together of the streams that a device made.

use super::streams::{Format, FrameCodec, word};
use crate::codec::blocks;
use crate::codec::blosc::layout::{self, Form};

/// The frames of one chain.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub codec: FrameCodec,
    /// Whether zstd's frames carry a checksum.
    pub checked: bool,
    /// Decoded bytes of a block, where the codec has blocks.
    pub block: usize,
    /// What blosc's frames say of their blocks.
    pub blosc: Option<Form>,
}

/// zlib's usual header: a window of 32 KiB, the default level.
const ZLIB: [u8; 2] = [0x78, 0x9c];
const ZSTD_DESCRIPTOR: usize = 4;
const ZSTD_CHECKED: u8 = 0x04;

impl Framing {
    /// The frame around `streams`, which decode to `decoded` bytes with the checksum `check`; `None` where the streams
    /// are not what every decoder reads, or the frame can't be had.
    pub fn wrap(self, streams: &[&[u8]], decoded: usize, check: u32) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        if let FrameCodec::Blocks(_) = self.codec {
            blocks::write(streams, decoded, self.block, &mut out).ok()?;
            return Some(out);
        }
        if self.codec == FrameCodec::Blosc {
            layout::write(self.blosc?, streams, decoded, self.block, &mut out)?;
            return self.codec.parse(&out, decoded).map(|_| out);
        }
        let [stream] = streams else { return None };
        out.try_reserve_exact(stream.len().checked_add(8)?).ok()?;
        match self.codec {
            FrameCodec::Lz4 => {
                out.extend_from_slice(&u32::try_from(decoded).ok()?.to_le_bytes());
                out.extend_from_slice(stream);
            }
            FrameCodec::Zlib => {
                out.extend_from_slice(&ZLIB);
                out.extend_from_slice(stream);
                out.extend_from_slice(&check.to_be_bytes());
            }
            FrameCodec::Gzip | FrameCodec::Zstd => out.extend_from_slice(stream),
            FrameCodec::Blosc | FrameCodec::Blocks(_) | FrameCodec::Native(_) => return None,
        }
        if self.codec == FrameCodec::Zstd && self.checked {
            add_checksum(&mut out, check)?;
        }
        self.is_sound(&out, decoded, check).then_some(out)
    }

    /// What a device made is looked at as what others made: one stream with the length and checksum that are due.
    fn is_sound(self, frame: &[u8], decoded: usize, check: u32) -> bool {
        let Some(parsed) = self.codec.parse(frame, decoded) else {
            return false;
        };
        let [stream] = &parsed.streams[..] else {
            return false;
        };
        stream.format != Format::Gzip || stream.check.value == check
    }
}

/// Lets a zstd frame carry a checksum.
fn add_checksum(frame: &mut Vec<u8>, check: u32) -> Option<()> {
    word(frame, 0)?;
    let descriptor = frame.get_mut(ZSTD_DESCRIPTOR)?;
    if *descriptor & ZSTD_CHECKED != 0 {
        // It has one, which is compared in a moment.
        return Some(());
    }
    *descriptor |= ZSTD_CHECKED;
    frame.extend_from_slice(&check.to_le_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::codec::blosc::{Compressor, Filter};
    use crate::codec::step::StepSpec;

    fn encoded(step: &str, data: &[u8]) -> Vec<u8> {
        let spec: StepSpec = serde_json::from_str(step).unwrap();
        let mut out = Vec::new();
        spec.build().unwrap().encode(data, &mut out).unwrap();
        out
    }

    fn decoded(step: &str, frame: &[u8], len: usize) -> Vec<u8> {
        let spec: StepSpec = serde_json::from_str(step).unwrap();
        let mut out = vec![0; len];
        spec.build().unwrap().decode_exact(frame, &mut out).unwrap();
        out
    }

    fn framing(codec: FrameCodec, checked: bool) -> Framing {
        Framing {
            codec,
            checked,
            block: 0,
            blosc: None,
        }
    }

    #[test]
    fn a_checksum_is_added_to_a_frame_without_one() {
        let data = vec![7u8; 10_000];
        let plain = encoded(r#"{"id": "zstd", "level": 1}"#, &data);
        let checked = encoded(r#"{"id": "zstd", "level": 1, "checksum": true}"#, &data);
        let check = word(&checked, checked.len() - 4).unwrap();
        let frame = framing(FrameCodec::Zstd, true).wrap(&[&plain], data.len(), check);
        assert_eq!(frame.unwrap(), checked);
        let again = framing(FrameCodec::Zstd, false).wrap(&[&plain], data.len(), check);
        assert_eq!(again.unwrap(), plain);
    }

    #[test]
    fn streams_of_zlib_and_lz4_become_frames() {
        let data: Vec<u8> = (0..9999u32).map(|k| (k / 9) as u8).collect();
        for (id, step, strip) in [
            (FrameCodec::Zlib, r#"{"id": "zlib", "level": 1}"#, (2, 4)),
            (
                FrameCodec::Lz4,
                r#"{"id": "lz4", "acceleration": 1}"#,
                (4, 0),
            ),
        ] {
            let full = encoded(step, &data);
            let stream = &full[strip.0..full.len() - strip.1];
            let check = u32::from_be_bytes(*full.last_chunk::<4>().unwrap());
            let frame = framing(id, false)
                .wrap(&[stream], data.len(), check)
                .unwrap();
            assert_eq!(decoded(step, &frame, data.len()), data);
        }
    }

    #[test]
    fn streams_become_a_frame_of_blosc() {
        let data: Vec<u8> = (0..100_000u32).map(|k| (k / 9 % 251) as u8).collect();
        let form = Form {
            compressor: Compressor::Zstd,
            filter: Filter::NoShuffle,
            typesize: 4,
        };
        let framing = Framing {
            block: 1 << 14,
            blosc: Some(form),
            ..framing(FrameCodec::Blosc, false)
        };
        let mut streams: Vec<Vec<u8>> = data
            .chunks(1 << 14)
            .map(|block| encoded(r#"{"id": "zstd", "level": 1}"#, block))
            .collect();
        streams[2] = data[2 << 14..3 << 14].to_vec();
        let parts: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
        let frame = framing.wrap(&parts, data.len(), 0).unwrap();
        let step = r#"{"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": "noshuffle",
            "typesize": 4, "blocksize": 0}"#;
        assert_eq!(decoded(step, &frame, data.len()), data);
        // One too few, one that is no stream, and a chunk that is better stored.
        assert!(framing.wrap(&parts[1..], data.len(), 0).is_none());
        let mut wrong = parts.clone();
        wrong[1] = &[1, 2, 3];
        assert!(framing.wrap(&wrong, data.len(), 0).is_none());
        let plain: Vec<&[u8]> = data.chunks(1 << 14).collect();
        assert!(framing.wrap(&plain, data.len(), 0).is_none());
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for codec in [FrameCodec::Zstd, FrameCodec::Gzip] {
            assert!(framing(codec, false).wrap(&[&[1, 2, 3]], 3, 0).is_none());
            assert!(framing(codec, true).wrap(&[&[]], 3, 0).is_none());
            assert!(framing(codec, true).wrap(&[], 0, 0).is_none());
        }
    }
}
