//! The plane functions for any processor, and for what is left after whole vectors.

/// The elements that are joined at a time, so that they stay in the nearest cache while plane after
/// plane comes in.
const TILE: usize = 64;

/// Joins the elements from `done` on.
pub(super) fn join_bytes<'a>(
    size: usize,
    plane: &impl Fn(usize) -> &'a [u8],
    done: usize,
    dst: &mut [u8],
) {
    for (tile, elements) in dst[done * size..].chunks_mut(TILE * size).enumerate() {
        let start = done + tile * TILE;
        for j in 0..size {
            let bytes = &plane(j)[start..start + elements.len() / size];
            elements[j..]
                .iter_mut()
                .step_by(size)
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
        }
    }
}

/// Splits the elements from `done` on.
pub(super) fn split_bytes(src: &[u8], size: usize, done: usize, dst: &mut [u8]) {
    let count = src.len() / size;
    if count == done {
        return;
    }
    for (j, plane) in dst.chunks_exact_mut(count).enumerate() {
        let bytes = src[done * size + j..].iter().step_by(size);
        plane[done..]
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
    }
}

/// Fills the plane from its byte `done` on.
pub(super) fn rows_to_plane(rows: &[u8], at: usize, done: usize, plane: &mut [u8]) {
    let row_len = rows.len() / 8;
    for (i, bytes) in plane.chunks_exact_mut(8).enumerate().skip(done / 8) {
        let square: [u8; 8] = std::array::from_fn(|bit| rows[bit * row_len + at + i]);
        bytes.copy_from_slice(&transpose(u64::from_le_bytes(square)).to_le_bytes());
    }
}

/// Spreads the plane from its byte `done` on.
pub(super) fn plane_to_rows(plane: &[u8], done: usize, at: usize, rows: &mut [u8]) {
    let row_len = rows.len() / 8;
    for (i, bytes) in plane.chunks_exact(8).enumerate().skip(done / 8) {
        let square: [u8; 8] = std::array::from_fn(|k| bytes[k]);
        let turned = transpose(u64::from_le_bytes(square)).to_le_bytes();
        turned
            .iter()
            .enumerate()
            .for_each(|(bit, byte)| rows[bit * row_len + at + i] = *byte);
    }
}

/// Transposes a square of 8 by 8 bits: bit `b` of byte `i` becomes bit `i` of byte `b`.
fn transpose(mut x: u64) -> u64 {
    for (shift, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let swapped = (x ^ (x >> shift)) & mask;
        x ^= swapped ^ (swapped << shift);
    }
    x
}
