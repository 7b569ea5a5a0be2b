// Elements converted while they are placed, as numpy's astype converts them.
#pragma once
#include "place.cuh"

// A number in the widest type of its kind: 'b', 'i', 'u' or 'f' as numpy calls them.
struct Number {
  i64 kind;
  i64 whole;
  double real;
};

// Bits of a half as a float; every half is one.
DEVICE float half_value(u32 half) {
  const u32 sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // Halves below the normal ones are multiples of 2**-24.
  if (magnitude < 0x400u) {
    const float value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
    return sign ? -value : value;
  }
  return float_of(sign | ((magnitude << 13) + 0x38000000u));
}

// The nearest half, ties to even.
DEVICE u32 half_bits(double value) {
  const u64 bits = double_bits(value);
  const u32 sign = static_cast<u32>(bits >> 48) & 0x8000u;
  const u64 magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull) return sign | 0x7e00u | static_cast<u32>(magnitude >> 42 & 0x1ffu);
  // 65520 and more round to infinity.
  if (magnitude >= 0x40effe0000000000ull) return sign | 0x7c00u;
  // Below half of the least half there is zero.
  if (magnitude <= 0x3e60000000000000ull) return sign;
  const i64 exponent = static_cast<i64>(magnitude >> 52) - 1023;
  const u64 digits = (magnitude & 0xfffffffffffffull) | 0x10000000000000ull;
  // How many of the 53 digits a half does not have.
  const i64 dropped = exponent < -14 ? 42 + (-14 - exponent) : 42;
  const u64 rest = digits & ((1ull << dropped) - 1), middle = 1ull << (dropped - 1);
  u64 kept = digits >> dropped;
  if (rest > middle || (rest == middle && kept & 1)) kept++;
  // The leading digit of a normal half counts as one of its exponent, so that a carry makes the next power.
  const u64 base = exponent < -14 ? 0 : static_cast<u64>(exponent + 14) << 10;
  return sign | static_cast<u32>(base + kept);
}

template <int N>
DEVICE Number whole_number(const u8* bytes, bool is_signed) {
  u64 value = 0;
  for (int i = 0; i < N; i++) value |= static_cast<u64>(bytes[i]) << (8 * i);
  if (is_signed && N < 8 && value >> (8 * N - 1) & 1) value |= ~0ull << (8 * N);
  return {is_signed ? 'i' : 'u', static_cast<i64>(value), 0};
}

DEVICE Number whole_of(const u8* bytes, i64 size, bool is_signed) {
  switch (size) {
    case 1: return whole_number<1>(bytes, is_signed);
    case 2: return whole_number<2>(bytes, is_signed);
    case 4: return whole_number<4>(bytes, is_signed);
    default: return whole_number<8>(bytes, is_signed);
  }
}

DEVICE Number number_of(const u8* bytes, i64 kind, i64 size) {
  const Number whole = whole_of(bytes, size, kind == 'i');
  if (kind == 'b') return {'u', whole.whole != 0, 0};
  if (kind != 'f') return whole;
  const u64 bits = static_cast<u64>(whole.whole);
  if (size == 2) return {'f', 0, half_value(static_cast<u32>(bits))};
  if (size == 4) return {'f', 0, float_of(static_cast<u32>(bits))};
  return {'f', 0, double_of(bits)};
}

template <class T>
DEVICE T real_as(const Number& number) {
  if (number.kind == 'f') return static_cast<T>(number.real);
  if (number.kind == 'u') return static_cast<T>(static_cast<u64>(number.whole));
  return static_cast<T>(number.whole);
}

// The number's bits in a type, in the low bytes.
DEVICE u64 bits_as(const Number& number, i64 kind, i64 size) {
  if (kind == 'b') return number.kind == 'f' ? number.real != 0 : number.whole != 0;
  if (kind == 'f') {
    if (size == 8) return double_bits(real_as<double>(number));
    if (size == 4) return float_bits(real_as<float>(number));
    // numpy goes from integers to halves over floats.
    return half_bits(number.kind == 'f' ? number.real : real_as<float>(number));
  }
  if (number.kind != 'f') return static_cast<u64>(number.whole);
  if (kind == 'u' && number.real >= 9223372036854775808.0) return static_cast<u64>(number.real);
  return static_cast<u64>(static_cast<i64>(number.real));
}

DEVICE void put(u8* to, u64 bits, i64 size) {
  switch (size) {
    case 1: *to = static_cast<u8>(bits); return;
    case 2: *reinterpret_cast<u16*>(to) = static_cast<u16>(bits); return;
    case 4: *reinterpret_cast<u32*>(to) = static_cast<u32>(bits); return;
    default: *reinterpret_cast<u64*>(to) = bits;
  }
}
