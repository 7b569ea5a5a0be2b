//! BloscLZ, the compressor that is blosc's own: runs of literals and matches.
//!
//! A control byte below 32 is followed by that many literals and one more. Else its high 3 bits are
//! a length, which goes on in further bytes where all are set, and its low 5 bits the high part of
//! a distance, whose low part follows. The greatest distance that this can tell means that two
//! bytes with the rest of it come next.

/// A length byte stands for at most 255 bytes.
pub(super) const MAX_RATIO: usize = 255;

const MAX_LITERALS: usize = 32;
const MIN_MATCH: usize = 4;
/// Most matches are no longer than this; copying as much is one instruction.
const SHORT: usize = 16;
/// The distance (less 1) from which on it takes two more bytes.
const FAR: usize = 8191;
const MAX_DISTANCE: usize = FAR + u16::MAX as usize;
/// Where in the control byte the length is, and its value when more bytes tell the rest.
const LENGTH_SHIFT: u32 = 5;
const LONG: usize = 7;
/// The last bytes are always literals: decoders expect that.
const LAST_LITERALS: usize = 12;
/// In the first control byte, which is never a match.
const MARK: u8 = 1 << LENGTH_SHIFT;

/// Decompresses a stream that makes exactly `dst`.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<()> {
    let (first, mut rest) = src.split_first()?;
    let (mut control, mut made) = (first & (MARK - 1), 0);
    loop {
        if control < MARK {
            let count = usize::from(control) + 1;
            copy_literals(&mut rest, count, dst.get_mut(made..)?)?;
            made += count;
        } else {
            let (count, distance) = read_match(control, &mut rest)?;
            copy_match(dst, made, distance, count)?;
            made += count;
        }
        match rest.split_off_first() {
            Some(next) => control = *next,
            None => return Some(()).filter(|()| made == dst.len()),
        }
    }
}

/// The length and distance of a match.
fn read_match(control: u8, rest: &mut &[u8]) -> Option<(usize, usize)> {
    let mut count = usize::from(control >> LENGTH_SHIFT);
    if count == LONG {
        loop {
            let more = *rest.split_off_first()?;
            count += usize::from(more);
            if more != u8::MAX {
                break;
            }
        }
    }
    let (high, low) = (
        usize::from(control & (MARK - 1)),
        usize::from(*rest.split_off_first()?),
    );
    let mut distance = high << 8 | low;
    if distance == FAR {
        let far = [*rest.split_off_first()?, *rest.split_off_first()?];
        distance += usize::from(u16::from_be_bytes(far));
    }
    Some((count + 2, distance + 1))
}

/// Moves `count` literals, where there is room by a copy of as many as there may ever be: that
/// length is known when compiling.
fn copy_literals(rest: &mut &[u8], count: usize, dst: &mut [u8]) -> Option<()> {
    let most = (
        rest.first_chunk::<MAX_LITERALS>(),
        dst.first_chunk_mut::<MAX_LITERALS>(),
    );
    let literals = rest.split_off(..count)?;
    match most {
        (Some(from), Some(to)) => *to = *from,
        _ => dst.get_mut(..count)?.copy_from_slice(literals),
    }
    Some(())
}

/// Repeats what lies `distance` bytes back; what is copied may be part of what is repeated.
fn copy_match(dst: &mut [u8], at: usize, distance: usize, count: usize) -> Option<()> {
    let start = at.checked_sub(distance)?;
    let end = at.checked_add(count).filter(|&end| end <= dst.len())?;
    if distance == 1 {
        let byte = dst[start];
        dst[at..end].fill(byte);
        return Some(());
    }
    if count <= SHORT && distance >= SHORT && dst.len() - at >= SHORT {
        dst.copy_within(start..start + SHORT, at);
        return Some(());
    }
    let mut copied = at;
    while copied < end {
        let step = (copied - start).min(end - copied);
        dst.copy_within(start..start + step, copied);
        copied += step;
    }
    Some(())
}

/// Compresses `src`, giving the length, or nothing where it does not fit into `dst`.
pub(super) fn compress(level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
    // Higher levels remember more places.
    let hash_bits = if level < 3 { 12 } else { 14 };
    let mut places = [0_u32; 1 << 14];
    let mut out = Output { dst, at: 0 };
    let (mut at, mut anchor, mut misses) = (1, 0, 0_usize);
    while at + LAST_LITERALS < src.len() {
        let place = &mut places[hash(src, at, hash_bits)];
        let candidate = std::mem::replace(place, at as u32) as usize;
        let count = match_length(src, candidate, at);
        if count < MIN_MATCH || at - candidate > MAX_DISTANCE {
            // Data without matches is passed over ever faster.
            misses += 1;
            at += 1 + misses / 32;
            continue;
        }
        out.literals(&src[anchor..at])?;
        out.repeat(count, at - candidate)?;
        (at, misses) = (at + count, 0);
        anchor = at;
    }
    out.literals(&src[anchor..])?;
    *out.dst.first_mut()? |= MARK;
    Some(out.at)
}

fn hash(src: &[u8], at: usize, bits: u32) -> usize {
    let word = u32::from_le_bytes([src[at], src[at + 1], src[at + 2], src[at + 3]]);
    (word.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// How long the bytes from `candidate` on are the same as those from `at` on, leaving the last
/// literals out.
fn match_length(src: &[u8], candidate: usize, at: usize) -> usize {
    let end = src.len() - LAST_LITERALS / 2;
    let (old, new) = (&src[candidate..], &src[at..end]);
    let words = new
        .chunks_exact(8)
        .zip(old.chunks_exact(8))
        .take_while(|(a, b)| a == b)
        .count()
        * 8;
    words
        + new[words..]
            .iter()
            .zip(&old[words..])
            .take_while(|(a, b)| a == b)
            .count()
}

struct Output<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.dst
            .get_mut(self.at..self.at + bytes.len())?
            .copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        bytes.chunks(MAX_LITERALS).try_for_each(|run| {
            self.put(&[run.len() as u8 - 1])?;
            self.put(run)
        })
    }

    fn repeat(&mut self, count: usize, distance: usize) -> Option<()> {
        let (length, back) = (count - 2, distance - 1);
        let near = back.min(FAR);
        let control = length.min(LONG) << LENGTH_SHIFT | near >> 8;
        self.put(&[control as u8])?;
        if length >= LONG {
            let more = length - LONG;
            (0..more / 255).try_for_each(|_| self.put(&[255]))?;
            self.put(&[(more % 255) as u8])?;
        }
        self.put(&[near as u8])?;
        if near == FAR {
            self.put(&((back - FAR) as u16).to_be_bytes())?;
        }
        Some(())
    }
}
