// Checksums of decoded chunks.
#pragma once
#include "prelude.cuh"

// Bytes that one thread sums up before the sums of a row are joined.
constexpr i64 PIECE = 4096;

DEVICE i64 pieces(i64 length) { return (length + PIECE - 1) / PIECE; }

DEVICE i64 piece_length(i64 length, i64 piece) {
  return length - piece * PIECE < PIECE ? length - piece * PIECE : PIECE;
}

// The remainder of `length` bytes after `crc`; `table` holds the remainders of single bytes.
DEVICE u32 crc_of(const u32* table, u32 crc, const u8* data, i64 length) {
  for (i64 k = 0; k < length; k++) crc = crc >> 8 ^ table[(crc ^ data[k]) & 0xff];
  return crc;
}

// A remainder after as many zeros as `matrix` stands for: bit k of `crc` contributes matrix[k].
DEVICE u32 crc_times(const u32* matrix, u32 crc) {
  u32 product = 0;
  for (int bit = 0; bit < 32; bit++) {
    if (crc >> bit & 1) product ^= matrix[bit];
  }
  return product;
}

constexpr u32 ADLER = 65521;

// Both sums of adler32 over one piece, from nothing: the second in the high half.
DEVICE u32 adler_of(const u8* data, i64 length) {
  u32 low = 0;
  u64 high = 0;
  for (i64 k = 0; k < length; k++) {
    low += data[k];
    high += low;
  }
  return static_cast<u32>(high % ADLER) << 16 | low % ADLER;
}

DEVICE u32 adler_join(u32 before, u32 piece, i64 length) {
  const u64 low = before & 0xffff, high = before >> 16;
  const u64 joined = high + low * (static_cast<u64>(length) % ADLER) + (piece >> 16);
  return static_cast<u32>(joined % ADLER) << 16 | static_cast<u32>((low + (piece & 0xffff)) % ADLER);
}

constexpr u64 P1 = 0x9E3779B185EBCA87ull, P2 = 0xC2B2AE3D27D4EB4Full, P3 = 0x165667B19E3779F9ull,
              P4 = 0x85EBCA77C2B2AE63ull, P5 = 0x27D4EB2F165667C5ull;

DEVICE u64 rotate(u64 value, int bits) { return value << bits | value >> (64 - bits); }
DEVICE u64 xxh_round(u64 sum, u64 word) { return rotate(sum + word * P2, 31) * P1; }
DEVICE u64 xxh_merge(u64 hash, u64 sum) { return (hash ^ xxh_round(0, sum)) * P1 + P4; }

DEVICE u64 xxh_finish(u64 hash, const u8* data, i64 length) {
  i64 k = 0;
  for (; k + 8 <= length; k += 8) {
    hash ^= xxh_round(0, *reinterpret_cast<const u64*>(data + k));
    hash = rotate(hash, 27) * P1 + P4;
  }
  for (; k + 4 <= length; k += 4) {
    hash ^= *reinterpret_cast<const u32*>(data + k) * P1;
    hash = rotate(hash, 23) * P2 + P3;
  }
  for (; k < length; k++) hash = rotate(hash ^ data[k] * P5, 11) * P1;
  hash = (hash ^ hash >> 33) * P2;
  hash = (hash ^ hash >> 29) * P3;
  return hash ^ hash >> 32;
}

// XXH64 with seed 0 of data that begins at a multiple of 8 bytes.
DEVICE u64 xxh64_of(const u8* data, i64 length) {
  const u64* words = reinterpret_cast<const u64*>(data);
  u64 hash = P5;
  const i64 stripes = length / 32;
  if (stripes) {
    u64 a = P1 + P2, b = P2, c = 0, d = 0 - P1;
    for (i64 k = 0; k < stripes; k++, words += 4) {
      a = xxh_round(a, words[0]);
      b = xxh_round(b, words[1]);
      c = xxh_round(c, words[2]);
      d = xxh_round(d, words[3]);
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    hash = xxh_merge(xxh_merge(xxh_merge(xxh_merge(hash, a), b), c), d);
  }
  const i64 rest = stripes * 32;
  return xxh_finish(hash + static_cast<u64>(length), data + rest, length - rest);
}
