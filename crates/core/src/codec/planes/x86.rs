//! The plane functions with AVX2, and GFNI where there is it. Each returns how much it did; the
//! rest is scalar work.
//!
//! One step does all: interleaving the bytes of the first half of a list of vectors with those of
//! the second half. After log2(N) such rounds N planes are joined.

use std::arch::x86_64::*;

/// The bytes of a vector.
const WIDTH: usize = 32;

pub(super) fn join_bytes<'a>(
    size: usize,
    plane: &impl Fn(usize) -> &'a [u8],
    dst: &mut [u8],
) -> usize {
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: AVX2 is there, and the caller has checked that all planes are equally long and fill
    // `dst`.
    unsafe {
        match size {
            2 => join::<2>(std::array::from_fn(|j| plane(j).as_ptr()), dst),
            4 => join::<4>(std::array::from_fn(|j| plane(j).as_ptr()), dst),
            8 => join::<8>(std::array::from_fn(|j| plane(j).as_ptr()), dst),
            16 => join::<16>(std::array::from_fn(|j| plane(j).as_ptr()), dst),
            _ => 0,
        }
    }
}

pub(super) fn split_bytes(src: &[u8], size: usize, dst: &mut [u8]) -> usize {
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: AVX2 is there, and the caller has checked that `dst` is as long as `src`.
    unsafe {
        match size {
            2 => split::<2>(src, dst),
            4 => split::<4>(src, dst),
            8 => split::<8>(src, dst),
            16 => split::<16>(src, dst),
            _ => 0,
        }
    }
}

/// Fills whole vectors' worth of the plane.
pub(super) fn rows_to_plane(rows: &[u8], at: usize, plane: &mut [u8]) -> usize {
    let (row_len, steps) = (rows.len() / 8, plane.len() / (8 * WIDTH));
    assert!(
        at + plane.len() / 8 <= row_len,
        "a row ends before the group does"
    );
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    let gfni = is_x86_feature_detected!("gfni");
    for step in 0..steps {
        // SAFETY: AVX2 is there (and GFNI where it is used); 32 bytes of each row and 256 bytes of
        // the plane exist.
        unsafe {
            let from = rows.as_ptr().add(at + step * WIDTH);
            let to = plane.as_mut_ptr().add(step * 8 * WIDTH);
            if gfni {
                join_rows_gfni(from, row_len, to)
            } else {
                join_rows(from, row_len, to)
            }
        }
    }
    steps * 8 * WIDTH
}

/// Spreads whole vectors' worth of the plane.
pub(super) fn plane_to_rows(plane: &[u8], at: usize, rows: &mut [u8]) -> usize {
    let (row_len, steps) = (rows.len() / 8, plane.len() / (8 * WIDTH));
    assert!(
        at + plane.len() / 8 <= row_len,
        "a row ends before the group does"
    );
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    let gfni = is_x86_feature_detected!("gfni");
    for step in 0..steps {
        // SAFETY: AVX2 is there (and GFNI where it is used); 256 bytes of the plane and 32 bytes of
        // each row exist.
        unsafe {
            let from = plane.as_ptr().add(step * 8 * WIDTH);
            let to = rows.as_mut_ptr().add(at + step * WIDTH);
            if gfni {
                split_rows_gfni(from, to, row_len)
            } else {
                split_rows(from, to, row_len)
            }
        }
    }
    steps * 8 * WIDTH
}

/// # Safety
/// Each plane must be readable for an `N`th of the length of `dst`.
#[target_feature(enable = "avx2")]
unsafe fn join<const N: usize>(planes: [*const u8; N], dst: &mut [u8]) -> usize {
    let steps = dst.len() / (N * WIDTH);
    for step in 0..steps {
        // SAFETY: `steps` vectors lie in each plane, and `N` times as many in `dst`.
        unsafe {
            let vectors = std::array::from_fn(|j| load(planes[j].add(step * WIDTH)));
            store_joined::<N>(interleave(vectors), dst.as_mut_ptr().add(step * N * WIDTH));
        }
    }
    steps * WIDTH
}

/// # Safety
/// `dst` must be as long as `src`.
#[target_feature(enable = "avx2")]
unsafe fn split<const N: usize>(src: &[u8], dst: &mut [u8]) -> usize {
    let (count, steps) = (src.len() / N, src.len() / (N * WIDTH));
    for step in 0..steps {
        // SAFETY: `N` vectors a step lie in `src`, and one a step in each of the `N` planes of
        // `count` bytes.
        unsafe {
            let vectors = deinterleave(load_joined::<N>(src.as_ptr().add(step * N * WIDTH)));
            for (j, vector) in vectors.into_iter().enumerate() {
                store(dst.as_mut_ptr().add(j * count + step * WIDTH), vector);
            }
        }
    }
    steps * WIDTH
}

/// # Safety
/// 32 bytes in each of 8 rows, `stride` apart, must be readable, and 256 bytes writable.
#[target_feature(enable = "avx2")]
unsafe fn join_rows(rows: *const u8, stride: usize, plane: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let vectors = std::array::from_fn(|bit| load(rows.add(bit * stride)));
        store_joined::<8>(interleave(vectors).map(|v| transpose(v)), plane);
    }
}

/// # Safety
/// As for [`join_rows`].
#[target_feature(enable = "avx2,gfni")]
unsafe fn join_rows_gfni(rows: *const u8, stride: usize, plane: *mut u8) {
    // SAFETY: the caller's promise. The rows come in reverse, since the instruction takes a
    // matrix' last row first.
    unsafe {
        let vectors = std::array::from_fn(|bit| load(rows.add((7 - bit) * stride)));
        store_joined::<8>(interleave(vectors).map(|v| transpose_reversed(v)), plane);
    }
}

/// # Safety
/// 256 bytes must be readable, and 32 bytes in each of 8 rows, `stride` apart, writable.
#[target_feature(enable = "avx2")]
unsafe fn split_rows(plane: *const u8, rows: *mut u8, stride: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let vectors = deinterleave(load_joined::<8>(plane).map(|v| transpose(v)));
        for (bit, vector) in vectors.into_iter().enumerate() {
            store(rows.add(bit * stride), vector);
        }
    }
}

/// # Safety
/// As for [`split_rows`].
#[target_feature(enable = "avx2,gfni")]
unsafe fn split_rows_gfni(plane: *const u8, rows: *mut u8, stride: usize) {
    // SAFETY: the caller's promise. The elements of each square come in
    // reverse, since the instruction takes a matrix' last row first.
    unsafe {
        let reverse = _mm256_set1_epi64x(0x0001_0203_0405_0607);
        let lanes = _mm256_or_si256(reverse, _mm256_set_epi64x(HIGH_HALF, 0, HIGH_HALF, 0));
        let turned =
            load_joined::<8>(plane).map(|v| transpose_reversed(_mm256_shuffle_epi8(v, lanes)));
        for (bit, vector) in deinterleave(turned).into_iter().enumerate() {
            store(rows.add(bit * stride), vector);
        }
    }
}

/// Added to byte numbers of the low half of a 16-byte lane to name those of the high half.
const HIGH_HALF: i64 = 0x0808_0808_0808_0808;

/// Joins `N` planes: byte `i` of all vectors, in order, then byte `i + 1` (within each 16-byte
/// lane).
#[inline]
#[target_feature(enable = "avx2")]
fn interleave<const N: usize>(mut vectors: [__m256i; N]) -> [__m256i; N] {
    let half = N / 2;
    for _ in 0..N.ilog2() {
        let from = vectors;
        for i in 0..half {
            vectors[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + half]);
            vectors[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + half]);
        }
    }
    vectors
}

/// Undoes [`interleave`].
#[inline]
#[target_feature(enable = "avx2")]
fn deinterleave<const N: usize>(mut vectors: [__m256i; N]) -> [__m256i; N] {
    let (half, low) = (N / 2, _mm256_set1_epi16(0xff));
    for _ in 0..N.ilog2() {
        let from = vectors;
        for i in 0..half {
            let (a, b) = (from[2 * i], from[2 * i + 1]);
            vectors[i] = _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
            vectors[i + half] =
                _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
        }
    }
    vectors
}

/// Transposes the 8 by 8 bits in each 64-bit part.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(x: __m256i) -> __m256i {
    let x = swap_bits::<7>(x, 0x00aa_00aa_00aa_00aa);
    let x = swap_bits::<14>(x, 0x0000_cccc_0000_cccc);
    swap_bits::<28>(x, 0x0000_0000_f0f0_f0f0)
}

#[inline]
#[target_feature(enable = "avx2")]
fn swap_bits<const SHIFT: i32>(x: __m256i, mask: i64) -> __m256i {
    let differ = _mm256_xor_si256(x, _mm256_srli_epi64::<SHIFT>(x));
    let swapped = _mm256_and_si256(differ, _mm256_set1_epi64x(mask));
    _mm256_xor_si256(
        x,
        _mm256_xor_si256(swapped, _mm256_slli_epi64::<SHIFT>(swapped)),
    )
}

/// Transposes the 8 by 8 bits in each 64-bit part, whose rows come last first.
#[inline]
#[target_feature(enable = "avx2,gfni")]
fn transpose_reversed(x: __m256i) -> __m256i {
    let identity = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    _mm256_gf2p8affine_epi64_epi8::<0>(identity, x)
}

/// Stores joined planes: the low lanes of all vectors, then the high lanes.
///
/// # Safety
/// `N` vectors at `dst` must be writable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_joined<const N: usize>(vectors: [__m256i; N], dst: *mut u8) {
    for (i, pair) in vectors.chunks_exact(2).enumerate() {
        // SAFETY: both halves are `N / 2` vectors long.
        unsafe {
            store(
                dst.add(i * WIDTH),
                _mm256_permute2x128_si256::<0x20>(pair[0], pair[1]),
            );
            store(
                dst.add((N / 2 + i) * WIDTH),
                _mm256_permute2x128_si256::<0x31>(pair[0], pair[1]),
            );
        }
    }
}

/// Undoes [`store_joined`].
///
/// # Safety
/// `N` vectors at `src` must be readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_joined<const N: usize>(src: *const u8) -> [__m256i; N] {
    let mut vectors = [_mm256_setzero_si256(); N];
    for (i, pair) in vectors.chunks_exact_mut(2).enumerate() {
        // SAFETY: both halves are `N / 2` vectors long.
        let (low, high) = unsafe { (load(src.add(i * WIDTH)), load(src.add((N / 2 + i) * WIDTH))) };
        pair[0] = _mm256_permute2x128_si256::<0x20>(low, high);
        pair[1] = _mm256_permute2x128_si256::<0x31>(low, high);
    }
    vectors
}

/// # Safety
/// 32 bytes at `from` must be readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const u8) -> __m256i {
    // SAFETY: the caller's promise; no alignment is needed.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

/// # Safety
/// 32 bytes at `to` must be writable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(to: *mut u8, vector: __m256i) {
    // SAFETY: the caller's promise; no alignment is needed.
    unsafe { _mm256_storeu_si256(to.cast(), vector) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 32 bytes, and the plane that the scalar code makes of them.
    fn rows_and_plane() -> ([u8; 256], [u8; 256]) {
        let rows = std::array::from_fn(|i| (i * i * 31 + i * 7) as u8);
        let mut plane = [0; 256];
        super::super::scalar::rows_to_plane(&rows, 0, 0, &mut plane);
        (rows, plane)
    }

    #[test]
    fn bits_turn_alike_without_and_with_gfni() {
        let (rows, plane) = rows_and_plane();
        let (mut joined, mut split) = ([0; 256], [0; 256]);
        if is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 is there, and all buffers are as long as they have to be.
            unsafe {
                join_rows(rows.as_ptr(), WIDTH, joined.as_mut_ptr());
                split_rows(plane.as_ptr(), split.as_mut_ptr(), WIDTH);
            }
            assert_eq!((joined, split), (plane, rows));
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("gfni") {
            // SAFETY: AVX2 and GFNI are there, and all buffers are as long as they have to be.
            unsafe {
                join_rows_gfni(rows.as_ptr(), WIDTH, joined.as_mut_ptr());
                split_rows_gfni(plane.as_ptr(), split.as_mut_ptr(), WIDTH);
            }
            assert_eq!((joined, split), (plane, rows));
        }
    }
}
