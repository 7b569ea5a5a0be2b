// Filters: undone between decompression and placing, done before compression.
#pragma once
#include "planes.cuh"

// Elements that one thread adds up before sums are passed on.
constexpr i64 RUN = 256;

DEVICE i64 runs(i64 count) { return (count + RUN - 1) / RUN; }

template <class T>
DEVICE T sum_of(const T* values, i64 count) {
  T sum = 0;
  for (i64 k = 0; k < count; k++) sum = static_cast<T>(sum + values[k]);
  return sum;
}

DEVICE i64 run_length(i64 count, i64 run) {
  return count - run * RUN < RUN ? count - run * RUN : RUN;
}

// Sums of the runs of a row, in 64-bit words (sums wrap, so the low bits are all that counts).
template <class T>
DEVICE void sum_runs(const u64* data, const i64* counts, const u64* sums, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return runs(counts[row]); },
           [&](i64 row, i64 run) {
             const T* values = reinterpret_cast<const T*>(data[row]) + run * RUN;
             reinterpret_cast<u64*>(sums[row])[run] = sum_of(values, run_length(counts[row], run));
           });
}

// Each run from the sum of those before it.
template <class T>
DEVICE void add_runs(const u64* data, const i64* counts, const u64* sums, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return runs(counts[row]); },
           [&](i64 row, i64 run) {
             T* values = reinterpret_cast<T*>(data[row]) + run * RUN;
             T sum = static_cast<T>(reinterpret_cast<const u64*>(sums[row])[run]);
             const i64 count = run_length(counts[row], run);
             for (i64 k = 0; k < count; k++) {
               sum = static_cast<T>(sum + values[k]);
               values[k] = sum;
             }
           });
}

template <class T>
DEVICE void subtract(const u64* from, const u64* to, const i64* counts, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return counts[row]; },
           [&](i64 row, i64 k) {
             const T* values = reinterpret_cast<const T*>(from[row]);
             reinterpret_cast<T*>(to[row])[k] = static_cast<T>(values[k] - (k ? values[k - 1] : T(0)));
           });
}

// Numbers of an encoded type as double: 'kind' is numpy's letter, `size` bytes each.
DEVICE double number_at(const u8* data, i64 kind, i64 size, i64 k) {
  if (kind == 'f') {
    return size == 4 ? reinterpret_cast<const float*>(data)[k] : reinterpret_cast<const double*>(data)[k];
  }
  if (kind == 'u') {
    switch (size) {
      case 1: return data[k];
      case 2: return reinterpret_cast<const u16*>(data)[k];
      case 4: return reinterpret_cast<const u32*>(data)[k];
      default: return static_cast<double>(reinterpret_cast<const u64*>(data)[k]);
    }
  }
  switch (size) {
    case 1: return reinterpret_cast<const signed char*>(data)[k];
    case 2: return reinterpret_cast<const short*>(data)[k];
    case 4: return reinterpret_cast<const int*>(data)[k];
    default: return static_cast<double>(reinterpret_cast<const i64*>(data)[k]);
  }
}

// A float's bits without the last `dropped` ones, half to even; what is carried goes into the exponent.
DEVICE u64 rounded_bits(u64 bits, i64 dropped) {
  const u64 almost_half = (1ull << (dropped - 1)) - 1;
  return (bits + (bits >> dropped & 1) + almost_half) >> dropped << dropped;
}

// In the float's own width, as numpy does it.
DEVICE double scaled(double number, bool narrow, double scale, double offset) {
  if (!narrow) return NEAREST((number - offset) * scale);
  const float shifted = static_cast<float>(number) - static_cast<float>(offset);
  const float product = shifted * static_cast<float>(scale);
  return NEAREST(static_cast<double>(product));
}

// Integers are divided as doubles and floats in their own width, as numpy does it.
DEVICE double unscaled(double number, bool narrow, double scale, double offset) {
  if (!narrow) return number / scale + offset;
  const float quotient = static_cast<float>(number) / static_cast<float>(scale);
  return quotient + static_cast<float>(offset);
}
