"""The other implementations: each reads an array, and writes one with metadata of its own."""

from __future__ import annotations

import base64
import json
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from cases import CHUNKS, CODECS, SHAPE, Case

HERE = Path(__file__).parent
ZARRITA = HERE.parent.parent / "build" / "interop" / "zarrita"


class CannotWriteError(Exception):
    """The peer has no way to ask for this."""


class Peer(ABC):
    """Another implementation of Zarr."""

    name: str

    @property
    @abstractmethod
    def version(self) -> str:
        """Its version."""

    @abstractmethod
    def read(self, path: Path, case: Case) -> Any:
        """Return the values of an array."""

    @abstractmethod
    def write(self, path: Path, case: Case) -> Path:
        """Write the array of a case, and return where it is."""


class ZarrPython(Peer):
    """zarr-python, by `create_array`."""

    name = "zarr-python"

    @property
    def version(self) -> str:
        return version("zarr")

    def read(self, path: Path, case: Case) -> Any:
        import zarr

        return zarr.open_array(str(path), mode="r")[...]

    def write(self, path: Path, case: Case) -> Path:
        import numcodecs
        import zarr

        codecs = dict(CODECS[case.zarr_format][case.codec])
        if case.zarr_format == 2 and codecs["compressors"] is not None:
            codecs["compressors"] = numcodecs.get_codec(codecs["compressors"])
        array = zarr.create_array(
            str(path),
            shape=SHAPE,
            chunks=CHUNKS,
            dtype=zarr.dtype.VariableLengthBytes()
            if case.dtype == "bytes"
            else case.values().dtype,
            zarr_format=case.zarr_format,
            **codecs,
        )
        array[...] = case.values()
        return path


class TensorStore(Peer):
    """TensorStore, from the members of the document that blazarr would write."""

    name = "TensorStore"

    @property
    def version(self) -> str:
        return version("tensorstore")

    def read(self, path: Path, case: Case) -> Any:
        found = self._opened(path, case, open=True).read().result()
        # Raw bytes have an axis of bytes there.
        if not found.dtype.itemsize:
            raise ValueError("raw bytes come to numpy as elements without bytes")
        return found

    def write(self, path: Path, case: Case) -> Path:
        document = document_of(case)
        document.pop("attributes", None)
        if case.zarr_format == 3 and isinstance(document["data_type"], dict):
            # TensorStore 0.1.86 ends the process ("range size mismatch") when it is asked.
            raise CannotWriteError("no data types with a configuration")
        target = self._opened(path, case, metadata=document, create=True)
        data = case.values()
        if case.dtype == "V3":
            data = data.view("u1").reshape(*SHAPE, 3)
        target[...].write(data).result()
        return path

    def _opened(self, path: Path, case: Case, **options: Any) -> Any:
        import tensorstore

        file = {"driver": "file", "path": str(path), "file_io_sync": False}
        spec = {"driver": "zarr3" if case.zarr_format == 3 else "zarr", "kvstore": file}
        return tensorstore.open(spec | options).result()


class Gdal(Peer):
    """GDAL, by rasterio; it writes with options of its own."""

    name = "GDAL"
    _compressors: ClassVar[dict[str, dict[str, str]]] = {
        "none": {"COMPRESS": "NONE"},
        "zstd": {"COMPRESS": "ZSTD"},
        "gzip": {"COMPRESS": "GZIP"},
        "zlib": {"COMPRESS": "ZLIB"},
        "lz4": {"COMPRESS": "LZ4"},
        "blosc lz4": {"COMPRESS": "BLOSC", "BLOSC_CNAME": "lz4", "BLOSC_SHUFFLE": "BYTE"},
        "blosc zstd": {"COMPRESS": "BLOSC", "BLOSC_CNAME": "zstd", "BLOSC_SHUFFLE": "BIT"},
        "order F": {"COMPRESS": "NONE", "CHUNK_MEMORY_LAYOUT": "F"},
        "transpose": {"COMPRESS": "NONE", "CHUNK_MEMORY_LAYOUT": "F"},
        "dots to slashes": {"COMPRESS": "NONE", "DIM_SEPARATOR": "/"},
        "big endian": {"COMPRESS": "NONE", "ENDIAN": "BIG"},
    }

    @property
    def version(self) -> str:
        import rasterio

        return f"{rasterio.__gdal_version__} (rasterio {version('rasterio')})"

    def read(self, path: Path, case: Case) -> Any:
        import rasterio

        with rasterio.open(f'ZARR:"{path}"') as dataset:
            return dataset.read(1)

    def write(self, path: Path, case: Case) -> Path:
        import rasterio

        if case.codec not in self._compressors:
            raise CannotWriteError(f"no creation option for {case.codec!r}")
        options = {
            "FORMAT": f"ZARR_V{case.zarr_format}",
            "BLOCKSIZE": ",".join(map(str, CHUNKS)),
            "SINGLE_ARRAY": "YES",
            "ARRAY_NAME": "values",
            **self._compressors[case.codec],
        }
        data = case.values()
        height, width = SHAPE
        path.parent.mkdir(parents=True, exist_ok=True)
        with rasterio.open(
            path,
            "w",
            driver="Zarr",
            height=height,
            width=width,
            count=1,
            dtype=data.dtype.name,
            **options,
        ) as dataset:
            dataset.write(data, 1)
        return path / "values"


class Zarrita(Peer):
    """zarrita.js, in Node."""

    name = "zarrita.js"

    @cached_property
    def version(self) -> str:
        package = ZARRITA / "node_modules" / "zarrita" / "package.json"
        return str(json.loads(package.read_text(encoding="utf-8"))["version"])

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["node", "peer.mjs"],
            cwd=ZARRITA,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def _ask(self, **job: Any) -> dict[str, Any]:
        pipes = self._process
        if pipes.stdin is None or pipes.stdout is None:
            raise RuntimeError("node has no pipes")
        pipes.stdin.write(json.dumps(job) + "\n")
        pipes.stdin.flush()
        answer: dict[str, Any] = json.loads(pipes.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def read(self, path: Path, case: Case) -> Any:
        text = _is_text(case)
        answer = self._ask(op="read", path=str(path), text=text)
        values = answer["values"]
        flat = np.array(values) if text else np.frombuffer(base64.b64decode(values), _little(case))
        strides = [step * flat.itemsize for step in answer["stride"]]
        return np.lib.stride_tricks.as_strided(flat, SHAPE, strides)

    def write(self, path: Path, case: Case) -> Path:
        data = case.values()
        document = document_of(case) if case.zarr_format == 3 else None
        if document is None:
            case.create(path)
        values: Any
        if _is_text(case):
            values = [_text(cell) for cell in data.flat]
        else:
            values = base64.b64encode(data.astype(_little(case)).tobytes()).decode()
        self._ask(op="write", path=str(path), text=_is_text(case), document=document, values=values)
        return path

    def close(self) -> None:
        """End Node."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def _little(case: Case) -> np.dtype[Any]:
    return case.values().dtype.newbyteorder("<")


def _is_text(case: Case) -> bool:
    return case.dtype in {"string", "<U4", "S4"}


def document_of(case: Case) -> dict[str, Any]:
    """Return the document that blazarr would write for a case."""
    store: dict[str, bytes] = {}
    case.create(store)
    document: dict[str, Any] = json.loads(store.get("zarr.json") or store[".zarray"])
    return document


def same(got: Any, want: np.ndarray[Any, Any]) -> bool:
    """Whether values are equal, as far as the peer's types go: text may be bytes, flags numbers."""
    found = np.asarray(got)
    if found.shape != want.shape:
        return False
    if want.dtype.kind in "SOTU":
        return [_text(cell) for cell in found.flat] == [_text(cell) for cell in want.flat]
    if want.dtype.names:
        return found.astype(want.dtype).tobytes() == want.tobytes()
    return bool((found == want).all())


def _text(cell: Any) -> str:
    return cell.decode() if isinstance(cell, bytes) else str(cell)


PYTHON_PEERS: tuple[Callable[[], Peer], ...] = (ZarrPython, TensorStore)
ALL_PEERS: tuple[Callable[[], Peer], ...] = (*PYTHON_PEERS, Gdal, Zarrita)
