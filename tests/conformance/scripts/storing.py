"""Codecs, shards, fill values, order, and settings."""

import asyncio
import json
import pickle
from pathlib import Path

import numpy as np
import zarr
from zarr.api import asynchronous
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarr.registry import get_codec_class
from zarr.storage import LocalStore, StorePath, ZipStore

data = np.linspace(0, 1, 64 * 48).reshape(64, 48)
array = zarr.create_array(
    LocalStore("codecs.zarr"),
    name="deep/array",
    shape=data.shape,
    chunks=(8, 16),
    shards=(32, 48),
    dtype="f8",
    filters=[TransposeCodec(order=(1, 0))],
    compressors=[BloscCodec(cname="zstd", clevel=3, shuffle="shuffle")],
    fill_value=np.nan,
    dimension_names=("y", None),
)
array[:30] = data[:30]
print(array.shards, array.chunks, array.nchunks_initialized, np.isnan(array[30:]).all())
print(np.array_equal(array[:30], data[:30]), array.metadata.dimension_names)
document = json.loads(Path("codecs.zarr/deep/array/zarr.json").read_text())
print(document["chunk_grid"], document["codecs"][0]["name"], document["fill_value"])

for compressors in (None, GzipCodec(level=1), [ZstdCodec(level=1), GzipCodec()]):
    made = zarr.create_array({}, data=data, chunks=(64, 48), compressors=compressors)
    print([type(codec).__name__ for codec in made.compressors], np.array_equal(made[:], data))
made = zarr.create(
    shape=(8, 8),
    chunks=(8, 8),
    dtype="i2",
    codecs=[ShardingCodec(chunk_shape=(4, 4), codecs=[BytesCodec(), ZstdCodec()])],
)
made[2:5, 2:5] = 3
print(made[:].sum(), get_codec_class("gzip").__name__, pickle.loads(pickle.dumps(array)) == array)

with zarr.config.set({"array.order": "F", "default_zarr_format": 2}):
    made = zarr.create(shape=(2, 2), dtype="i4")
    print(made.order, made.metadata.zarr_format, zarr.config.get("array.order"))

with ZipStore("data.zip", mode="w") as store:
    zarr.save_array(store, data)
with ZipStore("data.zip", mode="r") as store:
    print(zarr.open_array(store, mode="r")[0, :3].tolist())
print(zarr.open_array(StorePath(LocalStore("codecs.zarr"), "deep/array"), mode="r").shape)


async def later() -> None:
    found = await asynchronous.open_array(store="codecs.zarr", path="deep/array", mode="r")
    print((await found.getitem((slice(0, 2), 0))).tolist())


asyncio.run(later())
