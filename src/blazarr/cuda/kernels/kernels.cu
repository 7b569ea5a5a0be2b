// The kernels by name. Every argument is a pointer or a 64-bit integer.
#include "cast.cuh"
#include "checks.cuh"
#include "filters.cuh"
#include "place.cuh"

#define PLACE(N)                                                                                  \
  KERNEL scatter_##N(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables,    \
                     u8* out, i64 unit, i64) {                                                    \
    scatter<N>(table, rank, ends, rows, tables, out, unit);                                       \
  }                                                                                               \
  KERNEL gather_##N(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables,     \
                    const u8* value, i64 unit, i64) {                                             \
    gather<N>(table, rank, ends, rows, tables, value, unit);                                      \
  }

PLACE(1)
PLACE(2)
PLACE(4)
PLACE(8)
PLACE(16)

// Elements of any size, aligned to nothing.
KERNEL scatter_any(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables, u8* out,
                   i64 unit, i64 item) {
  const i64 width = AXES + rank * AXIS;
  for_each(ends, rows, [&](i64 row) { return table[row * width + ELEMENTS]; },
           [&](i64 row, i64 number) {
             const i64* columns = table + row * width;
             const Offsets at = locate(columns, rank, tables, number);
             const Shuffled chunk = shuffled(columns);
             for (i64 i = 0; i < item; i++) out[at.dst + i] = chunk.byte(at.src + swapped(i, unit));
           });
}

KERNEL gather_any(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables,
                  const u8* value, i64 unit, i64 item) {
  const i64 width = AXES + rank * AXIS;
  for_each(ends, rows, [&](i64 row) { return table[row * width + ELEMENTS]; },
           [&](i64 row, i64 number) {
             const i64* columns = table + row * width;
             const Offsets at = locate(columns, rank, tables, number);
             u8* chunk = reinterpret_cast<u8*>(columns[BASE]);
             for (i64 i = 0; i < item; i++) chunk[at.src + i] = value[at.dst + swapped(i, unit)];
           });
}

// Elements of up to 8 bytes that become another type; `from` and `to` are numpy's letters, `size` bytes of the result.
KERNEL scatter_cast(const i64* table, i64 rank, const i64* ends, i64 rows, const i64* tables, u8* out,
                    i64 unit, i64 item, i64 from, i64 to, i64 size) {
  const i64 width = AXES + rank * AXIS;
  for_each(ends, rows, [&](i64 row) { return table[row * width + ELEMENTS]; },
           [&](i64 row, i64 number) {
             const i64* columns = table + row * width;
             const Offsets at = locate(columns, rank, tables, number);
             const Shuffled chunk = shuffled(columns);
             u8 bytes[8];
             for (i64 i = 0; i < item; i++) bytes[i] = chunk.byte(at.src + swapped(i, unit));
             put(out + at.dst, bits_as(number_of(bytes, from, item), to, size), size);
           });
}

// Runs of bytes from place to place.
KERNEL copy(const u64* from, const u64* to, const i64* lengths, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return lengths[row]; },
           [&](i64 row, i64 k) {
             reinterpret_cast<u8*>(to[row])[k] = reinterpret_cast<const u8*>(from[row])[k];
           });
}

// Rows of five columns: where from, bytes, kind, element size, block.
KERNEL unshuffle(const i64* table, const u64* to, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return table[row * 5 + 1]; },
           [&](i64 row, i64 k) {
             const i64* columns = table + row * 5;
             const Shuffled chunk = {reinterpret_cast<const u8*>(columns[0]), columns[1], columns[2],
                                     columns[3], columns[4]};
             reinterpret_cast<u8*>(to[row])[k] = chunk.byte(k);
           });
}

// The other way, by the same columns.
KERNEL shuffle(const i64* table, const u64* to, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return table[row * 5 + 1]; },
           [&](i64 row, i64 k) {
             const i64* columns = table + row * 5;
             const Plain chunk = {reinterpret_cast<const u8*>(columns[0]), columns[1], columns[2],
                                  columns[3], columns[4]};
             reinterpret_cast<u8*>(to[row])[k] = chunk.byte(k);
           });
}

// Every chunk filled with repetitions of a pattern of `size` bytes.
KERNEL fill(const u64* to, const i64* lengths, const i64* ends, i64 rows, const u8* pattern, i64 size) {
  for_each(ends, rows, [&](i64 row) { return lengths[row]; },
           [&](i64 row, i64 k) {
             reinterpret_cast<u8*>(to[row])[k] = pattern[k - quotient(k, size) * size];
           });
}

// Marks the rows that are not such repetitions throughout. Threads may write the same mark at once.
KERNEL differ(const u64* data, const i64* lengths, const i64* ends, i64 rows, const u8* pattern, i64 size,
              u32* marks) {
  for_each(ends, rows, [&](i64 row) { return lengths[row]; },
           [&](i64 row, i64 k) {
             const u8 byte = reinterpret_cast<const u8*>(data[row])[k];
             if (byte != pattern[k - quotient(k, size) * size]) marks[row] = 1;
           });
}

KERNEL reverse_units(const u64* data, const i64* counts, const i64* ends, i64 rows, i64 unit) {
  for_each(ends, rows, [&](i64 row) { return counts[row]; },
           [&](i64 row, i64 k) {
             u8* bytes = reinterpret_cast<u8*>(data[row]) + k * unit;
             for (i64 i = 0; i < unit / 2; i++) {
               const u8 first = bytes[i];
               bytes[i] = bytes[unit - 1 - i];
               bytes[unit - 1 - i] = first;
             }
           });
}

// Floats of `size` bytes without their last `dropped` digits, half to even.
KERNEL round_bits(const u64* data, const i64* counts, const i64* ends, i64 rows, i64 size, i64 dropped) {
  for_each(ends, rows, [&](i64 row) { return counts[row]; },
           [&](i64 row, i64 k) {
             u8* bytes = reinterpret_cast<u8*>(data[row]) + k * size;
             const u64 number = static_cast<u64>(whole_of(bytes, size, false).whole);
             put(bytes, rounded_bits(number, dropped), size);
           });
}

// Each integer less the one before.
KERNEL differences(const u64* from, const u64* to, const i64* counts, const i64* ends, i64 rows, i64 size) {
  switch (size) {
    case 1: return subtract<u8>(from, to, counts, ends, rows);
    case 2: return subtract<u16>(from, to, counts, ends, rows);
    case 4: return subtract<u32>(from, to, counts, ends, rows);
    default: return subtract<u64>(from, to, counts, ends, rows);
  }
}

KERNEL delta_sums(const u64* data, const i64* counts, const u64* sums, const i64* ends, i64 rows, i64 size) {
  switch (size) {
    case 1: return sum_runs<u8>(data, counts, sums, ends, rows);
    case 2: return sum_runs<u16>(data, counts, sums, ends, rows);
    case 4: return sum_runs<u32>(data, counts, sums, ends, rows);
    default: return sum_runs<u64>(data, counts, sums, ends, rows);
  }
}

// The sum of all runs before each, one row a thread.
KERNEL delta_scan(const i64* counts, const u64* sums, i64 rows) {
  for_count(rows, [&](i64 row) {
    u64* values = reinterpret_cast<u64*>(sums[row]);
    u64 before = 0;
    for (i64 run = 0; run < runs(counts[row]); run++) {
      const u64 sum = values[run];
      values[run] = before;
      before += sum;
    }
  });
}

KERNEL delta_apply(const u64* data, const i64* counts, const u64* sums, const i64* ends, i64 rows, i64 size) {
  switch (size) {
    case 1: return add_runs<u8>(data, counts, sums, ends, rows);
    case 2: return add_runs<u16>(data, counts, sums, ends, rows);
    case 4: return add_runs<u32>(data, counts, sums, ends, rows);
    default: return add_runs<u64>(data, counts, sums, ends, rows);
  }
}

// Scale and offset are doubles by their bits, the decoded type is a float of `wide` bytes.
KERNEL unscale(const u64* from, const u64* to, const i64* counts, const i64* ends, i64 rows, i64 kind,
               i64 size, i64 wide, const double* numbers) {
  for_each(ends, rows, [&](i64 row) { return counts[row]; },
           [&](i64 row, i64 k) {
             const double number = number_at(reinterpret_cast<const u8*>(from[row]), kind, size, k);
             const bool narrow = kind == 'f' && size == 4;
             const double value = unscaled(number, narrow, numbers[0], numbers[1]);
             if (wide == 4) reinterpret_cast<float*>(to[row])[k] = static_cast<float>(value);
             else reinterpret_cast<double*>(to[row])[k] = value;
           });
}

// Floats of `wide` bytes shifted, scaled and rounded, to numbers of a kind and `size` bytes.
KERNEL scale(const u64* from, const u64* to, const i64* counts, const i64* ends, i64 rows, i64 kind, i64 size,
             i64 wide, const double* numbers) {
  for_each(ends, rows, [&](i64 row) { return counts[row]; },
           [&](i64 row, i64 k) {
             const double number = number_at(reinterpret_cast<const u8*>(from[row]), 'f', wide, k);
             const double value = scaled(number, wide == 4, numbers[0], numbers[1]);
             put(reinterpret_cast<u8*>(to[row]) + k * size, bits_as({'f', 0, value}, kind, size), size);
           });
}

// Remainders of all pieces of all rows, each from nothing.
KERNEL crc_pieces(const u64* data, const i64* lengths, const u64* sums, const i64* ends, i64 rows, const u32* table) {
  for_each(ends, rows, [&](i64 row) { return pieces(lengths[row]); },
           [&](i64 row, i64 piece) {
             const u8* bytes = reinterpret_cast<const u8*>(data[row]) + piece * PIECE;
             reinterpret_cast<u32*>(sums[row])[piece] =
                 crc_of(table, 0, bytes, piece_length(lengths[row], piece));
           });
}

// The row's remainder: `matrix` stands for a whole piece of zeros.
KERNEL crc_join(const i64* lengths, const u64* sums, i64 rows, const u32* table, const u32* matrix, u64* results) {
  for_count(rows, [&](i64 row) {
    const u32* values = reinterpret_cast<const u32*>(sums[row]);
    const u8 zero = 0;
    u32 crc = 0xffffffffu;
    for (i64 piece = 0; piece < pieces(lengths[row]); piece++) {
      const i64 length = piece_length(lengths[row], piece);
      if (length == PIECE) crc = crc_times(matrix, crc);
      else for (i64 k = 0; k < length; k++) crc = crc_of(table, crc, &zero, 1);
      crc ^= values[piece];
    }
    results[row] = crc ^ 0xffffffffu;
  });
}

KERNEL adler_pieces(const u64* data, const i64* lengths, const u64* sums, const i64* ends, i64 rows) {
  for_each(ends, rows, [&](i64 row) { return pieces(lengths[row]); },
           [&](i64 row, i64 piece) {
             const u8* bytes = reinterpret_cast<const u8*>(data[row]) + piece * PIECE;
             reinterpret_cast<u32*>(sums[row])[piece] =
                 adler_of(bytes, piece_length(lengths[row], piece));
           });
}

KERNEL adler_join_rows(const i64* lengths, const u64* sums, i64 rows, u64* results) {
  for_count(rows, [&](i64 row) {
    const u32* values = reinterpret_cast<const u32*>(sums[row]);
    u32 sum = 1;
    for (i64 piece = 0; piece < pieces(lengths[row]); piece++) {
      sum = adler_join(sum, values[piece], piece_length(lengths[row], piece));
    }
    results[row] = sum;
  });
}

KERNEL xxh64(const u64* data, const i64* lengths, i64 rows, u64* results) {
  for_count(rows, [&](i64 row) {
    results[row] = xxh64_of(reinterpret_cast<const u8*>(data[row]), lengths[row]);
  });
}
