"""The other libraries, each with open, read, read_into and write, as `contender.Contender` has them."""

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from cases import Case, selection


class ZarrPython:
    """zarr-python with one of its codec pipelines, and with all cores."""

    def __init__(self, pipeline: str | None = None) -> None:
        import zarr

        self.zarr = zarr
        self.options = {"threading.max_workers": os.cpu_count()}
        if pipeline:
            module, name = pipeline.rsplit(".", 1)
            getattr(importlib.import_module(module), name)
            self.options["codec_pipeline.path"] = pipeline

    def open(self, path: Any, case: Case) -> Any:
        with self.zarr.config.set(self.options):
            return self.zarr.open_array(path, mode="r")

    def read(self, array: Any, case: Case) -> Any:
        places = selection(case)
        with self.zarr.config.set(self.options):
            if case.op == "read-points":
                return array.vindex[places]
            if case.op == "read-ortho":
                return array.oindex[places]
            return array[places]

    def read_into(self, array: Any, case: Case, out: np.ndarray) -> None:
        from zarr.core.buffer import default_buffer_prototype

        buffer = default_buffer_prototype().nd_buffer.from_ndarray_like(out)
        with self.zarr.config.set(self.options):
            array.get_basic_selection(selection(case), out=buffer)

    def write(self, path: Any, case: Case, data: np.ndarray) -> None:
        codecs = self.zarr.codecs
        compressors = {
            "none": None,
            "zstd": codecs.ZstdCodec(level=3),
            "gzip": codecs.GzipCodec(level=5),
            "blosc-lz4": codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
        }
        with self.zarr.config.set(self.options):
            array = self.zarr.create_array(
                path,
                shape=case.shape,
                dtype=case.dtype,
                chunks=case.chunks,
                shards=case.shards,
                compressors=compressors[case.codec],
                fill_value=0,
                overwrite=True,
            )
            array[selection(case)] = data


class TensorStore:
    """TensorStore's zarr3 driver; files are not synced, as the others' are not."""

    def __init__(self) -> None:
        import tensorstore

        self.tensorstore = tensorstore

    def _spec(self, path: Any) -> dict:
        kvstore = {"driver": "file", "path": str(path), "file_io_sync": False}
        return {"driver": "zarr3", "kvstore": kvstore}

    def open(self, path: Any, case: Case) -> Any:
        return self.tensorstore.open(self._spec(path), read=True, write=False).result()

    def read(self, array: Any, case: Case) -> Any:
        places = selection(case)
        if case.op == "read-points":
            return array.vindex[places].read().result()
        if case.op == "read-ortho":
            return array.oindex[places].read().result()
        return array[places].read().result()

    def read_into(self, array: Any, case: Case, out: np.ndarray) -> None:
        self.tensorstore.array(out).write(array[selection(case)]).result()

    def write(self, path: Any, case: Case, data: np.ndarray) -> None:
        metadata = {
            "shape": list(case.shape),
            "data_type": case.dtype,
            "fill_value": 0,
            "chunk_grid": {
                "name": "regular",
                "configuration": {"chunk_shape": list(case.shards or case.chunks)},
            },
            "codecs": tensorstore_codecs(case),
        }
        spec = {**self._spec(path), "metadata": metadata}
        array = self.tensorstore.open(spec, create=True, delete_existing=True).result()
        array[selection(case)].write(data).result()


def tensorstore_codecs(case: Case) -> list[dict]:
    """Return the codec chain of a case as its JSON."""
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    blosc = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}
    blosc["typesize"] = np.dtype(case.dtype).itemsize
    compressors = {
        "none": [],
        "zstd": [{"name": "zstd", "configuration": {"level": 3}}],
        "gzip": [{"name": "gzip", "configuration": {"level": 5}}],
        "blosc-lz4": [{"name": "blosc", "configuration": blosc}],
    }
    chain = [little, *compressors[case.codec]]
    if case.shards is None:
        return chain
    sharding = {
        "chunk_shape": list(case.chunks),
        "codecs": chain,
        "index_codecs": [little, {"name": "crc32c"}],
    }
    return [{"name": "sharding_indexed", "configuration": sharding}]


PEERS: dict[str, Callable[[], Any]] = {
    "zarr": ZarrPython,
    "zarr-fused": lambda: ZarrPython("zarr.core.codec_pipeline.FusedCodecPipeline"),
    "zarrs": lambda: ZarrPython("zarrs.ZarrsCodecPipeline"),
    "tensorstore": TensorStore,
}


def installed_peers() -> dict[str, Any]:
    """Return the peers that this environment has."""
    found = {}
    for name, make in PEERS.items():
        try:
            found[name] = make()
        except (ImportError, AttributeError) as error:
            print(f"without {name}: {error}")
    return found
