//! The start of a frame that is one block: an inner chunk of a shard, mostly.
//!
//! libzstd has no call for it. It executes a block's sequences in their order, each as a whole, until one does not fit
//! into the room that it was given; then it reports `dstSize_tooSmall`. So it is given less room than the block takes.
//! How far it came it does not say: behind what is wanted lie marks that it has to have overwritten on its way. Where
//! they are as they were (a long match did not fit), the frame is decoded as a whole.
//!
//! That holds of frames whose window is their content and whose literals libzstd keeps in memory of its own, so nothing
//! but decoded bytes comes into the room, and copies go beyond them by less than [`OVERSHOOT`].

use std::sync::OnceLock;

use zstd_safe::DCtx;
use zstd_safe::zstd_sys::ZSTD_ErrorCode;

use super::{BLOCK, CodecError, with_decoder};

/// More than libzstd writes behind what it has decoded (`WILDCOPY_OVERLENGTH` is 32).
const OVERSHOOT: usize = 64;
/// How many bytes are marked: so many that a sequence of usual length ends among them.
const MARKED: usize = 1 << 10;
/// That all of them are decoded to just this makes the frame be decoded as a whole, no more.
const MARK: u8 = 0xA7;

/// Decodes `chunk[..end]` of the frame `src`, whose content is as long as `chunk`, a block at most; `false` where that is
/// not possible or would spare little.
pub(super) fn decode_start(src: &[u8], end: usize, chunk: &mut [u8]) -> Result<bool, CodecError> {
    let Some(literals) = literals(src).filter(|&count| count <= kept()) else {
        return Ok(false);
    };
    // Literals have to fit into the room even so.
    let room = literals.max(end + OVERSHOOT + MARKED);
    if room > chunk.len() / 8 * 7 {
        return Ok(false);
    }
    let start = &mut chunk[..room];
    start[end + OVERSHOOT..].fill(MARK);
    let ended = with_decoder(|context| Ok(context.decompress(start, src)))?;
    let is_full =
        |code| zstd_safe::is_error_kind(code, ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall);
    let is_behind = start[end + OVERSHOOT..].iter().any(|&byte| byte != MARK);
    Ok(ended.is_err_and(is_full) && is_behind)
}

/// Size of a context, and the most literals that it keeps outside of the room (`ZSTD_LITBUFFEREXTRASIZE`): of zstd 1.5.7
/// for 64 bits, as `.cargo/config.toml` has it built and as it is by itself.
const BUILDS: [(usize, usize); 2] = [(161_512, BLOCK), (95_976, 64 << 10)];

/// The most literals of a frame of which the start can be decoded: none by a zstd that nobody looked at.
fn kept() -> usize {
    static KEPT: OnceLock<usize> = OnceLock::new();
    *KEPT.get_or_init(|| {
        let size = DCtx::try_create().map_or(0, |context| context.sizeof());
        let known = BUILDS.iter().find(|(known, _)| *known == size);
        known.map_or(0, |&(_, kept)| kept)
    })
}

/// How many literals the only block of a frame has, which is one segment with neither a checksum nor a dictionary;
/// `None` for other frames. RFC 8878, sections 3.1.1.1, 3.1.1.2 and 3.1.1.3.1.
fn literals(src: &[u8]) -> Option<usize> {
    let descriptor = *src.get(4)?;
    if descriptor & 0b0010_1111 != 0b0010_0000 {
        return None;
    }
    let block = src.get(5 + (1 << (descriptor >> 6))..)?;
    let (header, body) = block.split_at_checked(3)?;
    let header = little_endian(header);
    let (last, compressed) = (header & 1 == 1, header >> 1 & 3 == 2);
    if !last || !compressed || header >> 3 != body.len() {
        return None;
    }
    let first = *body.first()?;
    let (bytes, shift, bits) = match (first & 3, first >> 2 & 3) {
        // As they are, or one that is repeated.
        (0 | 1, 0 | 2) => (1, 3, 5),
        (0 | 1, 1) => (2, 4, 12),
        (0 | 1, _) => (3, 4, 20),
        // Coded.
        (_, 0 | 1) => (3, 4, 10),
        (_, 2) => (4, 4, 14),
        _ => (5, 4, 18),
    };
    Some(little_endian(body.get(..bytes)?) >> shift & ((1 << bits) - 1))
}

fn little_endian(bytes: &[u8]) -> usize {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{decode_start, kept, literals};
    use zstd_safe::CParameter;

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 33) % limit
        }
    }

    /// Contents that make every kind of literals, tables, lengths and offsets.
    fn contents(size: usize) -> Vec<Vec<u8>> {
        let mut random = Random(size as u64);
        let mut noisy = |noise: u64, step: usize| -> Vec<u8> {
            (0..size / 2)
                .flat_map(|i| ((1000 + i / step) as u16 + random.below(noise) as u16).to_le_bytes())
                .collect()
        };
        let mut all = vec![
            noisy(25, 128),
            noisy(3, 9),
            noisy(400, 64),
            noisy(1, 1),
            noisy(1, 500),
            vec![7; size / 2 * 2],
            (0..size / 12)
                .flat_map(|i| format!("{i},{:4};", i * i % 977).into_bytes())
                .collect(),
        ];
        let mut mixed = Vec::new();
        while mixed.len() < size {
            let run = random.below(5000) as usize;
            match random.below(4) {
                0 => mixed.extend((0..run).map(|_| random.below(256) as u8)),
                1 => mixed.extend((0..run).map(|_| random.below(4) as u8 * 3)),
                2 => mixed.resize(mixed.len() + run, 9),
                _ => {
                    let from = random.below(mixed.len() as u64 + 1) as usize;
                    let end = (from + run).min(mixed.len());
                    mixed.extend_from_within(from..end);
                }
            }
        }
        all.push(mixed);
        all
    }

    fn frame(content: &[u8], level: i32, window: Option<u32>) -> Vec<u8> {
        let mut context = zstd_safe::CCtx::create();
        context
            .set_parameter(CParameter::CompressionLevel(level))
            .unwrap();
        if let Some(log) = window {
            context.set_parameter(CParameter::WindowLog(log)).unwrap();
        }
        let mut out = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        context.compress2(&mut out, content).unwrap();
        out
    }

    #[test]
    fn a_start_is_what_zstd_decodes() {
        let mut decoded = 0;
        for size in [40, 300, 1000, 5000, 33_000, 65_536, 131_072] {
            for content in contents(size) {
                for (level, window) in [
                    (-5, None),
                    (1, None),
                    (3, Some(10)),
                    (7, Some(16)),
                    (19, None),
                ] {
                    let frame = frame(&content, level, window);
                    for part in [0, 1, 3, 10, 25, 50, 80] {
                        let end = content.len() * part / 100;
                        let mut chunk = vec![0xEE; content.len()];
                        if decode_start(&frame, end, &mut chunk).unwrap() {
                            assert!(chunk[..end] == content[..end], "{size} {level} {end}");
                            decoded += 1;
                        }
                    }
                }
            }
        }
        assert!(decoded > 400, "{decoded}");
    }

    #[test]
    fn half_of_an_inner_chunk_is_decoded_alone() {
        let mut random = Random(5);
        let mut noise = |limit| random.below(limit) as f32;
        let few: Vec<u8> = (0..32 << 10)
            .flat_map(|i: u32| (1000 + (i / 128) as u16 + noise(25) as u16).to_le_bytes())
            .collect();
        let many: Vec<u8> = (0..32 << 10)
            .flat_map(|i: u32| ((90_000 + i / 50) as f32 / 1e3 + noise(300) / 1e3).to_le_bytes())
            .collect();
        for content in [few, many] {
            let frame = frame(&content, 3, None);
            let literals = literals(&frame).unwrap();
            assert!(literals < content.len() / 8 * 7, "{literals}");
            let mut chunk = vec![0; content.len()];
            let half = content.len() / 2;
            let decoded = decode_start(&frame, half, &mut chunk).unwrap();
            assert_eq!(decoded, literals <= kept(), "{literals} literals");
            assert!(
                kept() > 0 || cfg!(target_pointer_width = "32"),
                "another zstd: is all said here true of it?"
            );
            if decoded {
                assert!(chunk[..half] == content[..half]);
                assert!(chunk[half + half / 2..].iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn a_damaged_start_is_what_zstd_decodes_if_it_does() {
        let mut random = Random(1);
        for content in contents(20_000) {
            let whole = frame(&content, 3, None);
            for _ in 0..2000 {
                let mut damaged = whole.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(damaged.len().min(200) as u64) as usize;
                    damaged[at] = random.below(256) as u8;
                }
                damaged.truncate(damaged.len() - random.below(3) as usize);
                let mut chunk = vec![0; content.len()];
                let end = content.len() / 2;
                let mut all = vec![0; content.len()];
                let valid =
                    super::super::decode(&damaged[..], &mut all[..]).is_ok_and(|n| n == all.len());
                if decode_start(&damaged, end, &mut chunk).unwrap() && valid {
                    assert!(chunk[..end] == all[..end]);
                }
            }
        }
    }
}
