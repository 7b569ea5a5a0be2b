// Moving elements between chunks and the result, or the value that is written: strides or tables on either side.
#pragma once
#include "planes.cuh"

// A row of the table: fixed columns, then AXIS columns for each axis, the fastest last.
enum Column : i64 { BASE, SRC, DST, ELEMENTS, TOTAL, KIND, SIZE, BLOCK, AXES };
enum AxisColumn : i64 { COUNT, SRC_STEP, DST_STEP, SRC_TABLE, DST_TABLE, AXIS };

struct Offsets {
  i64 src, dst;
};

// Where the element of this number lies on both sides. Unsigned 32-bit division is many times faster than 64-bit.
template <class Number>
DEVICE Offsets locate_as(const i64* row, i64 rank, const i64* tables, Number number) {
  Offsets at = {row[SRC], row[DST]};
  for (const i64* axis = row + AXES + (rank - 1) * AXIS; axis >= row + AXES; axis -= AXIS) {
    const Number count = static_cast<Number>(axis[COUNT]);
    const i64 k = static_cast<i64>(number % count);
    number /= count;
    at.src += axis[SRC_TABLE] < 0 ? axis[SRC_STEP] * k : tables[axis[SRC_TABLE] + k];
    at.dst += axis[DST_TABLE] < 0 ? axis[DST_STEP] * k : tables[axis[DST_TABLE] + k];
  }
  return at;
}

// Chunks of more elements than 32 bits count.
DEVICE_APART Offsets locate_far(const i64* row, i64 rank, const i64* tables, i64 number) {
  return locate_as<u64>(row, rank, tables, static_cast<u64>(number));
}

DEVICE Offsets locate(const i64* row, i64 rank, const i64* tables, i64 number) {
  if (row[ELEMENTS] <= 0xffffffffLL) {
    return locate_as<u32>(row, rank, tables, static_cast<u32>(number));
  }
  return locate_far(row, rank, tables, number);
}

DEVICE Shuffled shuffled(const i64* row) {
  return {reinterpret_cast<const u8*>(row[BASE]), row[TOTAL], row[KIND], row[SIZE], row[BLOCK]};
}

// The byte that comes to this place when each unit is reversed.
DEVICE i64 swapped(i64 byte, i64 unit) {
  return unit > 1 ? byte / unit * unit + (unit - 1 - byte % unit) : byte;
}

template <int N> struct Word;
template <> struct Word<1> { typedef u8 type; };
template <> struct Word<2> { typedef u16 type; };
template <> struct Word<4> { typedef u32 type; };
template <> struct Word<8> { typedef u64 type; };
struct alignas(16) Pair { u64 low, high; };
template <> struct Word<16> { typedef Pair type; };

// An element as a word and as bytes.
template <int N> union Element {
  typename Word<N>::type word;
  u8 bytes[N];
};

template <int N>
DEVICE Element<N> load(const Shuffled& chunk, i64 at, i64 unit) {
  Element<N> element;
  if (chunk.kind == PLAIN && unit <= 1) {
    element.word = *reinterpret_cast<const typename Word<N>::type*>(chunk.base + at);
    return element;
  }
  Planed found;
  i64 part;
  if (chunk.kind == PLAIN || chunk.size != N || !chunk.find(at, &found, &part) || part) {
    for (int i = 0; i < N; i++) element.bytes[i] = chunk.byte(at + swapped(i, unit));
  } else if (chunk.kind == BYTES) {
    for (int i = 0; i < N; i++) element.bytes[i] = found.of_bytes(swapped(i, unit));
  } else {
    for (int i = 0; i < N; i++) element.bytes[i] = found.of_bits(swapped(i, unit));
  }
  return element;
}

// Elements of N bytes, aligned on both sides.
template <int N>
DEVICE void scatter(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables, u8* out, i64 unit) {
  const i64 width = AXES + rank * AXIS;
  for_each(ends, rows, [&](i64 row) { return table[row * width + ELEMENTS]; },
           [&](i64 row, i64 number) {
             const i64* columns = table + row * width;
             const Offsets at = locate(columns, rank, tables, number);
             const Element<N> element = load<N>(shuffled(columns), at.src, unit);
             *reinterpret_cast<typename Word<N>::type*>(out + at.dst) = element.word;
           });
}

// The other way: from the value that is written to the chunks at BASE.
template <int N>
DEVICE void gather(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables, const u8* value, i64 unit) {
  const i64 width = AXES + rank * AXIS;
  for_each(ends, rows, [&](i64 row) { return table[row * width + ELEMENTS]; },
           [&](i64 row, i64 number) {
             const i64* columns = table + row * width;
             const Offsets at = locate(columns, rank, tables, number);
             const Element<N> element =
                 load<N>({value, 0, PLAIN, 1, 1}, at.dst, unit);
             u8* chunk = reinterpret_cast<u8*>(columns[BASE]);
             *reinterpret_cast<typename Word<N>::type*>(chunk + at.src) = element.word;
           });
}
