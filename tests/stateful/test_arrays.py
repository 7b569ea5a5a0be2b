"""Random arrays, written and read through every kind of selection, beside a plain numpy array."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import blazarr

DTYPES = ["|b1", "|i1", "<u2", ">u2", "<i4", ">i8", "<f2", ">f4", "<f8", "<c8", ">c16"]
COMPRESSORS_V3: list[Any] = [
    None,
    {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
    {"name": "zstd", "configuration": {"level": 1, "checksum": True}},
    {"name": "gzip", "configuration": {"level": 1}},
    {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
    {"name": "numcodecs.bz2", "configuration": {"level": 1}},
    *(
        {
            "name": "blosc",
            "configuration": {
                "cname": cname,
                "clevel": 1,
                "shuffle": shuffle,
                "typesize": size,
                "blocksize": 0,
            },
        }
        for cname, shuffle, size in [
            ("lz4", "shuffle", 2),
            ("blosclz", "bitshuffle", 4),
            ("zstd", "noshuffle", 3),
            ("zlib", "shuffle", 8),
            ("lz4hc", "bitshuffle", 1),
        ]
    ),
]
COMPRESSORS_V2: list[Any] = [
    None,
    {"id": "zstd", "level": 1},
    {"id": "gzip", "level": 1},
    {"id": "zlib", "level": 1},
    {"id": "lz4", "acceleration": 1},
    {"id": "bz2", "level": 1},
    {"id": "blosc", "cname": "lz4", "clevel": 1, "shuffle": 1, "blocksize": 0},
    {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2, "blocksize": 0},
]

Drawn = st.DataObject


def draw_array(data: Drawn) -> tuple[Any, np.ndarray[Any, Any]]:
    """An empty array of blazarr's and the numpy array that it must equal."""
    draw = data.draw
    zarr_format = draw(st.sampled_from([2, 3]))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = tuple(draw(st.lists(st.integers(0, 13), max_size=4)))
    chunks = tuple(draw(st.integers(1, n + 2)) for n in shape)
    fill = draw(st.sampled_from([0, 1]))
    options: dict[str, Any] = {}
    if zarr_format == 3:
        if draw(st.booleans()):
            options["shards"] = tuple(n * draw(st.integers(1, 3)) for n in chunks)
        if shape and draw(st.booleans()):
            order = draw(st.permutations(range(len(shape))))
            options["filters"] = [{"name": "transpose", "configuration": {"order": list(order)}}]
        crc = [{"name": "crc32c"}] if draw(st.booleans()) else []
        compressor = draw(st.sampled_from(COMPRESSORS_V3))
        options["compressors"] = ([compressor] if compressor else []) + crc
        options["chunk_key_encoding"] = draw(
            st.sampled_from(
                [
                    {"name": name, "configuration": {"separator": separator}}
                    for name, separator in itertools.product(["default", "v2"], "./")
                ]
            )
        )
    else:
        options["order"] = draw(st.sampled_from("CF"))
        options["compressors"] = draw(st.sampled_from(COMPRESSORS_V2))
        if dtype.kind in "iu" and draw(st.booleans()):
            options["filters"] = [{"id": "delta", "dtype": dtype.str}]
    config = {"write_empty_chunks": draw(st.booleans()), "order": draw(st.sampled_from("CF"))}
    note(f"create_array(shape={shape}, chunks={chunks}, dtype={dtype.str}, {options}, {config})")
    array = blazarr.create_array(
        {},
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        zarr_format=zarr_format,
        fill_value=fill,
        config=config,
        **options,
    )
    return array, np.full(shape, fill, dtype)


def draw_slice(data: Drawn, n: int, *, negative: bool = True) -> slice:
    start, stop = (data.draw(st.none() | st.integers(-n - 2, n + 2)) for _ in range(2))
    steps = st.integers(1, 5) | st.integers(-5, -1) if negative else st.integers(1, 5)
    return slice(start, stop, data.draw(st.none() | steps))


def draw_basic(data: Drawn, shape: tuple[int, ...]) -> Any:
    parts: list[Any] = []
    for n in shape:
        if n > 0 and data.draw(st.integers(0, 3)) == 0:
            parts.append(data.draw(st.integers(-n, n - 1)))
        else:
            parts.append(draw_slice(data, n))
    if data.draw(st.booleans()):
        start = data.draw(st.integers(0, len(parts)))
        stop = data.draw(st.integers(start, len(parts)))
        parts[start:stop] = [Ellipsis]
    return tuple(parts)


def draw_orthogonal(data: Drawn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    parts: list[Any] = []
    for n in shape:
        kind = data.draw(st.sampled_from(["slice", "int", "array", "mask"]))
        if kind == "int" and n:
            parts.append(data.draw(st.integers(-n, n - 1)))
        elif kind == "array" and n:
            indices = data.draw(st.lists(st.integers(-n, n - 1), max_size=8))
            parts.append(np.array(indices, int))
        elif kind == "mask":
            parts.append(data.draw(npst.arrays(bool, n)))
        else:
            parts.append(draw_slice(data, n))
    return tuple(parts)


def orthogonal_in_numpy(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, list[int]]:
    """What `np.ix_` needs to take the same, and which axes vanish afterwards."""
    lists, dropped = [], []
    for axis, (part, n) in enumerate(zip(parts, shape, strict=True)):
        if isinstance(part, int):
            dropped.append(axis)
        lists.append(np.atleast_1d(np.arange(n)[part]))
    return np.ix_(*lists), dropped


def values_for(data: Drawn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Something to assign: an array, one that broadcasts, a strided one, or a scalar."""
    seed = data.draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    how = data.draw(st.sampled_from(["array", "scalar", "broadcast", "strided", "fortran"]))
    if how == "scalar":
        return rng.integers(0, 3)
    if how == "broadcast" and shape:
        shape = (1, *shape[1:])
    value = rng.integers(0, 3, shape).astype(dtype)
    if how == "strided":
        return np.repeat(value[..., None], 2, axis=-1)[..., 0]
    return np.asfortranarray(value) if how == "fortran" and shape else value


def same(got: Any, want: Any) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype.newbyteorder("=") == want.dtype.newbyteorder("=")
    np.testing.assert_array_equal(got, want)


def step_basic(data: Drawn, array: Any, plain: Any) -> None:
    key = draw_basic(data, plain.shape)
    note(f"basic {key}")
    same(array[key], plain[key])
    value = values_for(data, plain[key].shape, plain.dtype)
    array[key] = value
    plain[key] = value


def step_out(data: Drawn, array: Any, plain: Any) -> None:
    key = draw_basic(data, plain.shape)
    note(f"out {key}")
    want = plain[key]
    room = np.zeros(want.shape[::-1], plain.dtype).T
    array.get_basic_selection(key, out=room)
    same(room, want)


def step_orthogonal(data: Drawn, array: Any, plain: Any) -> None:
    if plain.ndim == 0:
        return
    parts = draw_orthogonal(data, plain.shape)
    note(f"oindex {parts}")
    grid, dropped = orthogonal_in_numpy(parts, plain.shape)
    want = plain[grid].squeeze(axis=tuple(dropped))
    same(array.oindex[parts], want)
    value = values_for(data, want.shape, plain.dtype)
    array.oindex[parts] = value
    full = np.broadcast_to(value, want.shape)
    plain[grid] = np.expand_dims(full, tuple(dropped))


def step_points(data: Drawn, array: Any, plain: Any) -> None:
    if plain.ndim == 0 or plain.size == 0:
        return
    shape = data.draw(st.sampled_from([(5,), (2, 3), (0,)]))
    points = tuple(
        data.draw(npst.arrays(np.int64, shape, elements=st.integers(-n, n - 1)))
        for n in plain.shape
    )
    note(f"vindex {points}")
    same(array.vindex[points], plain[points])
    value = values_for(data, plain[points].shape, plain.dtype)
    array.vindex[points] = value
    plain[points] = value


def step_mask(data: Drawn, array: Any, plain: Any) -> None:
    if plain.ndim == 0:
        return
    mask = data.draw(npst.arrays(bool, plain.shape))
    note(f"mask {mask}")
    same(array.vindex[mask], plain[mask])
    value = values_for(data, plain[mask].shape, plain.dtype)
    array.set_mask_selection(mask, value)
    plain[mask] = value


def step_blocks(data: Drawn, array: Any, plain: Any) -> None:
    if plain.ndim == 0 or plain.size == 0 or array.shards is not None:
        return
    counts = [-(-n // c) for n, c in zip(plain.shape, array.chunks, strict=True)]
    blocks = tuple(data.draw(st.integers(0, n - 1)) for n in counts)
    box = tuple(
        slice(b * c, min((b + 1) * c, n))
        for b, c, n in zip(blocks, array.chunks, plain.shape, strict=True)
    )
    note(f"blocks {blocks}")
    same(array.blocks[blocks], plain[box])
    value = values_for(data, plain[box].shape, plain.dtype)
    array.blocks[blocks] = value
    plain[box] = value


STEPS = [step_basic, step_basic, step_out, step_orthogonal, step_points, step_mask, step_blocks]


@given(st.data())
def test_an_array_equals_numpy(data: Drawn) -> None:
    array, plain = draw_array(data)
    same(array[...], plain)
    for _ in range(data.draw(st.integers(1, 5))):
        data.draw(st.sampled_from(STEPS))(data, array, plain)
        same(array[...], plain)
