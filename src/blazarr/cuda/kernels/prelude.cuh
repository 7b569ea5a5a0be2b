// What every kernel needs: types of fixed width without any header, and how work is shared out.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef BLAZARR_HOST
#include "host.hpp"
#else
#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define DEVICE __device__ __forceinline__
#define DEVICE_METHOD __device__ __forceinline__
#define DEVICE_CALL __device__ __noinline__
#define DEVICE_APART static __device__ __noinline__
#define NEAREST rint
#endif

// A row's work is cut into tiles of this many elements (or bytes), which blocks take in turn.
constexpr i64 TILE = 4096;

DEVICE i64 block_number() { return blockIdx.x; }
DEVICE i64 block_count() { return gridDim.x; }
DEVICE i64 thread_number() { return threadIdx.x; }
DEVICE i64 thread_count() { return blockDim.x; }

// The row to which a tile belongs: `ends` holds the number of tiles up to and with each row.
DEVICE i64 row_of(const i64* ends, i64 rows, i64 tile) {
  i64 low = 0, high = rows - 1;
  while (low < high) {
    const i64 middle = low + (high - low) / 2;
    if (ends[middle] > tile) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Calls body(row, number) for every number below sizes(row) of every row.
template <class Sizes, class Body>
DEVICE void for_each(const i64* ends, i64 rows, const Sizes& sizes, const Body& body) {
  const i64 tiles = rows ? ends[rows - 1] : 0;
  for (i64 tile = block_number(); tile < tiles; tile += block_count()) {
    const i64 row = row_of(ends, rows, tile);
    const i64 first = (tile - (row ? ends[row - 1] : 0)) * TILE;
    const i64 size = sizes(row);
    const i64 stop = first + TILE < size ? first + TILE : size;
    for (i64 number = first + thread_number(); number < stop; number += thread_count()) {
      body(row, number);
    }
  }
}

// Calls body(number) for every number below count, one a thread.
template <class Body>
DEVICE void for_count(i64 count, const Body& body) {
  const i64 step = block_count() * thread_count();
  for (i64 number = block_number() * thread_count() + thread_number(); number < count;
       number += step) {
    body(number);
  }
}

// A number's bits, and back.
template <class To, class From>
DEVICE To same_bits(From value) {
  union {
    From from;
    To to;
  } bits;
  bits.from = value;
  return bits.to;
}

DEVICE float float_of(u32 bits) { return same_bits<float>(bits); }
DEVICE double double_of(u64 bits) { return same_bits<double>(bits); }
DEVICE u32 float_bits(float value) { return same_bits<u32>(value); }
DEVICE u64 double_bits(double value) { return same_bits<u64>(value); }
