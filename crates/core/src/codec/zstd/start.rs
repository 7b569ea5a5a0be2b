//! The start of a frame, as far as it is wanted.
//!
//! libzstd decodes block by block, and has no call for a part of one. It executes a block's sequences in their order, each
//! as a whole, until one does not fit into the room that it was given; then it reports `dstSize_tooSmall`. So the last
//! block is given less room than it takes. How far it came it does not say: behind what is wanted lie marks that it has to
//! have overwritten on its way. Where they are as they were (a long match did not fit), the frame is decoded as a whole.
//!
//! That holds of blocks whose literals libzstd keeps in memory of its own, so nothing but decoded bytes comes into the
//! room, and copies go beyond them by less than [`OVERSHOOT`].

use std::sync::OnceLock;

use zstd_safe::zstd_sys::ZSTD_ErrorCode;

use super::BLOCK;
use super::decoder::{Decoder, Frame};

/// More than libzstd writes behind what it has decoded (`WILDCOPY_OVERLENGTH` is 32).
const OVERSHOOT: usize = 64;
/// How many bytes are marked: so many that a sequence of usual length ends among them.
const MARKED: usize = 1 << 10;
/// That all of them are decoded to just this makes the frame be decoded as a whole, no more.
const MARK: u8 = 0xA7;

/// Decodes `chunk[..end]` of the frame `src`, whose content is as long as `chunk`; `false` where `src` ends before, is
/// damaged, or is better decoded as a whole.
pub(super) fn decode_start(
    decoder: &mut Decoder,
    src: &[u8],
    end: usize,
    chunk: &mut [u8],
) -> bool {
    // In one shot zstd looks behind the end, too.
    if !spares(end + OVERSHOOT + MARKED, chunk.len()) {
        return false;
    }
    let Ok(mut frame) = decoder.frame(chunk) else {
        return false;
    };
    let mut at = 0;
    while frame.len() < end {
        let rest = src.get(at..).unwrap_or_default();
        let Some(piece) = rest.get(..frame.wants()).filter(|piece| !piece.is_empty()) else {
            return false;
        };
        let ends_here = match frame.is_at_block() {
            true => decode_block(&mut frame, &src[..at], piece, end),
            false => frame.go_on(piece, usize::MAX).ok().map(|_| false),
        };
        match ends_here {
            Some(true) => return true,
            Some(false) => at += piece.len(),
            None => return false,
        }
    }
    true
}

/// Decodes a block, or as much of it as `end` takes: whether that is there now, and no more. `None` where it has to be
/// decoded otherwise.
fn decode_block(frame: &mut Frame<'_>, before: &[u8], block: &[u8], end: usize) -> Option<bool> {
    let header = little_endian(before.last_chunk::<3>()?);
    let wanted = end - frame.len();
    let Some(room) = room(header, block, wanted, frame.left()) else {
        let is_all = header & 1 == 1 && frame.len() == 0;
        return (!is_all && frame.go_on(block, usize::MAX).is_ok()).then_some(false);
    };
    frame.rest()[wanted + OVERSHOOT..room].fill(MARK);
    match frame.go_on(block, room) {
        Ok(_) => Some(false),
        Err(code)
            if zstd_safe::is_error_kind(code, ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) =>
        {
            let marks = &frame.rest()[wanted + OVERSHOOT..room];
            marks.iter().any(|&byte| byte != MARK).then_some(true)
        }
        Err(_) => None,
    }
}

/// How much room to give a block of which the first `wanted` bytes are; `None` where it gets all that is left.
fn room(header: usize, block: &[u8], wanted: usize, left: usize) -> Option<usize> {
    let is_compressed = header >> 1 & 3 == 2;
    let literals = literals(block).filter(|&count| is_compressed && count <= kept())?;
    // Literals have to fit into the room even so.
    let room = literals.max(wanted + OVERSHOOT + MARKED);
    spares(room, left.min(BLOCK)).then_some(room)
}

/// Whether ending at `end` spares an eighth of the last block of `total` bytes.
fn spares(end: usize, total: usize) -> bool {
    end + total.min(BLOCK) / 8 <= total
}

/// Size of a context, and the most literals that it keeps outside of the room (`ZSTD_LITBUFFEREXTRASIZE`): of zstd 1.5.7
/// for 64 bits, as `.cargo/config.toml` has it built and as it is by itself.
const BUILDS: [(usize, usize); 2] = [(161_512, BLOCK), (95_976, 64 << 10)];

/// The most literals of a block that can be decoded in part: none by a zstd that nobody looked at.
fn kept() -> usize {
    static KEPT: OnceLock<usize> = OnceLock::new();
    *KEPT.get_or_init(|| {
        let size = Decoder::new().map_or(0, |decoder| decoder.size());
        let known = BUILDS.iter().find(|(known, _)| *known == size);
        known.map_or(0, |&(_, kept)| kept)
    })
}

/// How many literals a compressed block has: RFC 8878, section 3.1.1.3.1.
fn literals(block: &[u8]) -> Option<usize> {
    let first = *block.first()?;
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
    Some(little_endian(block.get(..bytes)?) >> shift & ((1 << bits) - 1))
}

fn little_endian(bytes: &[u8]) -> usize {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{BLOCK, Decoder, kept, literals};
    use zstd_safe::CParameter;

    fn decode_start(frame: &[u8], end: usize, chunk: &mut [u8]) -> bool {
        super::decode_start(&mut Decoder::new().unwrap(), frame, end, chunk)
    }

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
        let mut decoder = Decoder::new().unwrap();
        for size in [40, 300, 1000, 5000, 33_000, 65_536, 131_072, 400_000] {
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
                        if super::decode_start(&mut decoder, &frame, end, &mut chunk) {
                            assert!(chunk[..end] == content[..end], "{size} {level} {end}");
                            decoded += 1;
                        }
                    }
                }
            }
        }
        assert!(decoded > 700, "{decoded}");
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
            let header = 5 + (1 << (frame[4] >> 6));
            let literals = literals(&frame[header + 3..]).unwrap();
            assert!(literals < content.len() / 8 * 7, "{literals}");
            let mut chunk = vec![0; content.len()];
            let half = content.len() / 2;
            let decoded = decode_start(&frame, half, &mut chunk);
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
    fn the_last_block_wanted_is_decoded_in_part() {
        let mut random = Random(7);
        let content: Vec<u8> = (0..2 * BLOCK)
            .flat_map(|i| ((1000 + i / 128) as u16 + random.below(25) as u16).to_le_bytes())
            .collect();
        let frame = frame(&content, 3, None);
        for block in 0..4 {
            let (start, end) = (block * BLOCK, block * BLOCK + BLOCK / 4);
            let mut chunk = vec![0; content.len()];
            assert!(decode_start(&frame, end, &mut chunk), "{block}");
            assert!(chunk[..end] == content[..end], "{block}");
            let is_in_part = chunk[start + BLOCK / 2..].iter().all(|&byte| byte == 0);
            assert_eq!(is_in_part, kept() > 0, "{block}");
        }
    }

    #[test]
    fn a_start_of_a_frame_that_is_cut_is_not_decoded_beyond_the_cut() {
        let mut random = Random(9);
        let content: Vec<u8> = (0..3 * BLOCK).map(|_| random.below(50) as u8).collect();
        let frame = frame(&content, 3, None);
        let cut = &frame[..frame.len() / 2];
        let mut chunk = vec![0; content.len()];
        assert!(decode_start(cut, BLOCK / 2, &mut chunk));
        assert!(chunk[..BLOCK / 2] == content[..BLOCK / 2]);
        assert!(!decode_start(cut, 2 * BLOCK, &mut chunk));
        assert!(!decode_start(&[], 10, &mut chunk));
    }

    #[test]
    fn a_damaged_start_is_what_zstd_decodes_if_it_does() {
        let mut random = Random(1);
        let mut decoder = Decoder::new().unwrap();
        let sizes = [(20_000, 2000), (300_000, 100)];
        for (content, turns) in sizes
            .map(|(size, turns)| {
                contents(size)
                    .into_iter()
                    .map(move |content| (content, turns))
            })
            .into_iter()
            .flatten()
        {
            let whole = frame(&content, 3, None);
            for _ in 0..turns {
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
                if super::decode_start(&mut decoder, &damaged, end, &mut chunk) && valid {
                    assert!(chunk[..end] == all[..end]);
                }
            }
        }
    }
}
