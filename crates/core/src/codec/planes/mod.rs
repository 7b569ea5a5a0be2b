//! Bytes and bits of elements gathered into planes, and back: what the shuffle filters do.
//!
//! A byte plane holds one byte of every element. In bit shuffling each byte plane is 8 rows, one
//! for every bit, in which the bit of element `i` is bit `i % 8` of byte `i / 8`.

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

/// The elements whose bits are gathered at a time: 64 bytes of a row, which is a line of the cache.
const BIT_GROUP: usize = 512;

/// Joins byte planes into elements of `size` bytes; `plane` gives each plane's bytes, one for every
/// element of `dst`.
pub fn join_bytes<'a>(size: usize, plane: impl Fn(usize) -> &'a [u8], dst: &mut [u8]) {
    assert!(
        size > 0 && dst.len().is_multiple_of(size),
        "not a whole number of elements"
    );
    let elements = dst.len() / size;
    assert!(
        (0..size).all(|j| plane(j).len() == elements),
        "the planes do not fill the destination"
    );
    if size == 1 {
        return dst.copy_from_slice(plane(0));
    }
    #[cfg(target_arch = "x86_64")]
    let done = x86::join_bytes(size, &plane, dst);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    scalar::join_bytes(size, &plane, done, dst);
}

/// Splits elements of `size` bytes into byte planes, one after another in `dst`.
pub fn split_bytes(src: &[u8], size: usize, dst: &mut [u8]) {
    assert!(
        size > 0 && src.len().is_multiple_of(size),
        "not a whole number of elements"
    );
    assert_eq!(
        dst.len(),
        src.len(),
        "the planes do not fit the destination"
    );
    if size == 1 {
        return dst.copy_from_slice(src);
    }
    #[cfg(target_arch = "x86_64")]
    let done = x86::split_bytes(src, size, dst);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    scalar::split_bytes(src, size, done, dst);
}

/// Joins byte planes made of bit rows into elements of `size` bytes, of which there is a multiple
/// of 8.
pub fn join_bits<'a>(
    size: usize,
    plane: impl Fn(usize) -> &'a [u8],
    scratch: &mut [u8],
    dst: &mut [u8],
) {
    let elements = dst.len() / size;
    assert!(elements.is_multiple_of(8) && (0..size).all(|j| plane(j).len() == elements));
    for (group, piece) in dst.chunks_mut(BIT_GROUP * size).enumerate() {
        let count = piece.len() / size;
        for (j, room) in scratch[..piece.len()].chunks_exact_mut(count).enumerate() {
            rows_to_plane(plane(j), group * BIT_GROUP / 8, room);
        }
        join_bytes(size, |j| &scratch[j * count..][..count], piece);
    }
}

/// Splits elements of `size` bytes, of which there is a multiple of 8, into byte planes made of bit
/// rows.
pub fn split_bits(src: &[u8], size: usize, scratch: &mut [u8], dst: &mut [u8]) {
    let elements = src.len() / size;
    assert!(
        elements.is_multiple_of(8) && scratch.len() >= bit_scratch(size) && dst.len() == src.len()
    );
    for (group, piece) in src.chunks(BIT_GROUP * size).enumerate() {
        let count = piece.len() / size;
        let planes = &mut scratch[..piece.len()];
        split_bytes(piece, size, planes);
        for (plane, rows) in planes
            .chunks_exact(count)
            .zip(dst.chunks_exact_mut(elements))
        {
            plane_to_rows(plane, group * BIT_GROUP / 8, rows);
        }
    }
}

/// The scratch space that the bit functions want for elements of `size` bytes.
pub fn bit_scratch(size: usize) -> usize {
    BIT_GROUP * size
}

/// Turns `plane.len() / 8` bytes of each of the 8 rows, from byte `at` on, into bytes.
fn rows_to_plane(rows: &[u8], at: usize, plane: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    let done = x86::rows_to_plane(rows, at, plane);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    scalar::rows_to_plane(rows, at, done, plane);
}

/// Turns bytes into `plane.len() / 8` bytes of each of the 8 rows, from byte `at` on.
fn plane_to_rows(plane: &[u8], at: usize, rows: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    let done = x86::plane_to_rows(plane, at, rows);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    scalar::plane_to_rows(plane, done, at, rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(count: usize, size: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..count * size).map(|_| next()).collect()
    }

    const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 40, 255];

    #[test]
    fn bytes_go_to_their_planes_and_back() {
        for size in SIZES {
            for count in [0, 1, 7, 31, 32, 33, 64, 100, 1000] {
                let src = elements(count, size);
                let mut planes = vec![0; src.len()];
                split_bytes(&src, size, &mut planes);
                for (at, byte) in planes.iter().enumerate() {
                    assert_eq!(
                        *byte,
                        src[at % count * size + at / count],
                        "{size} {count} {at}"
                    );
                }
                let mut back = vec![0xee; src.len()];
                join_bytes(size, |j| &planes[j * count..][..count], &mut back);
                assert_eq!(back, src, "{size} {count}");
            }
        }
    }

    #[test]
    fn bits_go_to_their_rows_and_back() {
        for size in SIZES {
            for count in [8, 64, 72, 256, 264, 512, 520, 1800] {
                let src = elements(count, size);
                let (mut rows, mut scratch) = (vec![0; src.len()], vec![0; bit_scratch(size)]);
                split_bits(&src, size, &mut scratch, &mut rows);
                let bit = |i: usize, b: usize| src[i * size + b / 8] >> (b % 8) & 1;
                for b in 0..size * 8 {
                    for i in 0..count {
                        assert_eq!(
                            rows[b * count / 8 + i / 8] >> (i % 8) & 1,
                            bit(i, b),
                            "{size} {count} {i} {b}"
                        );
                    }
                }
                let mut back = vec![0xee; src.len()];
                join_bits(
                    size,
                    |j| &rows[j * count..][..count],
                    &mut scratch,
                    &mut back,
                );
                assert_eq!(back, src, "{size} {count}");
            }
        }
    }
}
