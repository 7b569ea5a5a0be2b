// Shuffled chunks: where a byte of the chunk lies in its shuffled form.
#pragma once
#include "prelude.cuh"

enum Planes : i64 { PLAIN = 0, BYTES = 1, BITS = 2 };

// Division of 32-bit numbers is many times faster than of 64-bit ones.
DEVICE i64 quotient(i64 number, i64 divisor) {
  if ((number | divisor) >> 32 == 0) return static_cast<u32>(number) / static_cast<u32>(divisor);
  return number / divisor;
}

// Where an element's bytes lie, all in one block.
struct Planed {
  const u8* planes;
  i64 elements, element;

  DEVICE_METHOD u8 of_bytes(i64 part) const { return planes[part * elements + element]; }

  DEVICE_CALL u8 of_bits(i64 part) const {
    const i64 stride = elements / 8;
    const u8* plane = planes + part * 8 * stride + element / 8;
    u32 value = 0;
    for (int bit = 0; bit < 8; bit++) value |= (plane[bit * stride] >> (element % 8) & 1u) << bit;
    return static_cast<u8>(value);
  }
};

// `total` bytes in blocks of `block` (the last may be shorter), each holding elements of `size` bytes by planes.
struct Shuffled {
  const u8* base;
  i64 total, kind, size, block;

  // Finds the element that holds byte `at`, and which of its bytes that is; false where bytes lie in their own places:
  // after the last whole element, and where bits of a block fill no whole bytes.
  DEVICE_METHOD bool find(i64 at, Planed* found, i64* part) const {
    const i64 start = quotient(at, block) * block;
    const i64 length = total - start < block ? total - start : block;
    const i64 elements = quotient(length, size), element = quotient(at - start, size);
    *found = {base + start, elements, element};
    *part = at - start - element * size;
    return element < elements && (kind == BYTES || elements % 8 == 0);
  }

  DEVICE_CALL u8 byte(i64 at) const {
    Planed found;
    i64 part;
    if (kind == PLAIN || !find(at, &found, &part)) return base[at];
    return kind == BYTES ? found.of_bytes(part) : found.of_bits(part);
  }
};

// The same bytes as they are before they are shuffled: which of them comes to a place in the shuffled form.
struct Plain {
  const u8* base;
  i64 total, kind, size, block;

  DEVICE_CALL u8 byte(i64 at) const {
    const i64 start = quotient(at, block) * block;
    const i64 length = total - start < block ? total - start : block;
    const i64 elements = quotient(length, size), place = at - start;
    const u8* bytes = base + start;
    if (kind == PLAIN || place >= elements * size) return bytes[place];
    if (kind == BYTES) {
      const i64 part = quotient(place, elements);
      return bytes[(place - part * elements) * size + part];
    }
    if (elements % 8) return bytes[place];
    // A plane for each bit of the elements, each byte of it from eight of these.
    const i64 stride = elements / 8, plane = quotient(place, stride);
    const u8* first = bytes + (place - plane * stride) * 8 * size + plane / 8;
    u32 value = 0;
    for (int i = 0; i < 8; i++) value |= (first[i * size] >> (plane % 8) & 1u) << i;
    return static_cast<u8>(value);
  }
};
