// Shuffled chunks: where a byte of the chunk lies in its shuffled form.
#pragma once
#include "prelude.cuh"

enum Planes : i64 { PLAIN = 0, BYTES = 1, BITS = 2 };

// `total` bytes in blocks of `block` (the last may be shorter), each holding elements of `size` bytes by planes.
struct Shuffled {
  const u8* base;
  i64 total, kind, size, block;

  DEVICE_METHOD u8 byte(i64 at) const {
    if (kind == PLAIN) return base[at];
    const i64 start = at / block * block;
    const i64 length = total - start < block ? total - start : block;
    const i64 elements = length / size, within = at - start;
    const i64 element = within / size, part = within - element * size;
    // Bytes after the last whole element stay where they are, as do bits that fill no whole bytes.
    if (element >= elements) return base[at];
    if (kind == BYTES) return base[start + part * elements + element];
    if (elements % 8) return base[at];
    return bits(base + start, elements / 8, element, part);
  }

  DEVICE_METHOD static u8 bits(const u8* planes, i64 stride, i64 element, i64 part) {
    const u8* plane = planes + part * 8 * stride + element / 8;
    u32 value = 0;
    for (int bit = 0; bit < 8; bit++) value |= (plane[bit * stride] >> (element % 8) & 1u) << bit;
    return static_cast<u8>(value);
  }
};
