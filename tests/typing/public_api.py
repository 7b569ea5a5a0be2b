"""How users write it, for type checkers: mypy and pyright find nothing wrong here, and see these types."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import blazarr
from blazarr.codecs import BloscCodec, ZstdCodec
from blazarr.engine.plan import Plan
from blazarr.errors import BlazarrError, NotFoundError
from blazarr.nodes.info import ArrayInfo, GroupInfo
from blazarr.nodes.lazy import LazyArray
from blazarr.nodes.showing import ChunkMap
from blazarr.storage import LocalStore, MemoryStore, ZipStore


def creating(folder: Path) -> None:
    array = blazarr.create_array(
        folder / "a.zarr",
        shape=(10, 20),
        dtype="f4",
        chunks=(5, 5),
        shards=(10, 10),
        compressors=[BloscCodec(cname="zstd"), ZstdCodec(level=3)],
        dimension_names=["y", None],
        attributes={"unit": "m"},
        overwrite=True,
    )
    assert_type(array, blazarr.Array)
    assert_type(blazarr.zeros((3, 4)), blazarr.Array)
    assert_type(blazarr.from_array({}, data=array), blazarr.Array)
    assert_type(blazarr.create_group(MemoryStore()), blazarr.Group)
    blazarr.save(LocalStore(folder), np.zeros(3))
    blazarr.save_group(ZipStore(folder / "x.zip", mode="w"), first=np.zeros(3))


def reading(array: blazarr.Array) -> None:
    assert_type(array.shape, tuple[int, ...])
    assert_type(array.shards, tuple[int, ...] | None)
    assert_type(array.dtype, np.dtype[Any])
    assert_type(array.ndim, int)
    assert_type(array.nbytes_stored(), int)
    assert_type(array.plan(np.s_[1:3]), Plan)
    assert_type(array.lazy[1:3].T, LazyArray)
    assert_type(array.append(np.zeros((1, 20))), tuple[int, ...])
    assert_type(array.info, ArrayInfo)
    assert_type(array.show.chunks(), ChunkMap)
    # Values are what numpy makes of a selection, a scalar or an array.
    values: np.ndarray[Any, Any] = array[1:3, ::-1]
    array[0] = values[0]
    array.oindex[[1, 2], 3] = 7
    array.attrs["unit"] = "mm"


def opening(folder: Path) -> None:
    assert_type(blazarr.open(folder), blazarr.Array | blazarr.Group)
    assert_type(blazarr.open_array(str(folder), mode="r"), blazarr.Array)
    group = blazarr.open_group(folder, mode="r+", use_consolidated=False)
    assert_type(group, blazarr.Group)
    assert_type(group["a/b"], blazarr.Array | blazarr.Group)
    assert_type(group.get_array("a"), blazarr.Array)
    assert_type(group.create_group("c"), blazarr.Group)
    assert_type(group.info, GroupInfo)
    for name, array in group.arrays():
        assert_type(name, str)
        assert_type(array, blazarr.Array)


def errors(folder: Path) -> str:
    try:
        blazarr.open_array(folder)
    except NotFoundError as error:
        return error.kind
    except BlazarrError as error:
        return str(error.fields)
    return ""


def mistakes(folder: Path) -> None:
    blazarr.open_group(folder, mode="rw")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    blazarr.create_array(folder, shapes=(1,))  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    blazarr.zeros((1,)).chunks.append(3)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
