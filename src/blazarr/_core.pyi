# The Rust border, typed.

import builtins
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, Self

from typing_extensions import Buffer

__version__: str
OPTIMISED: bool

# The pool of threads.

def threads() -> int: ...
def set_threads(n: int | None = None) -> None: ...

# Codecs by themselves. `step` is a native step of a chain, as JSON.

def codec_encode(step: str, data: Buffer) -> bytes: ...
def codec_decode(
    step: str, data: Buffer, size: int | None = None, limit: int | None = None
) -> bytes: ...

# Stores.

def parse_key(key: str) -> str: ...
def parse_folder(folder: str) -> str: ...

class Store:
    def as_read_only(self) -> Store: ...

class KeyStore(Store):
    def read(
        self, key: str, start: int = 0, stop: int | None = None
    ) -> tuple[bytes | memoryview, bytes] | None: ...
    def read_many(
        self, wanted: builtins.list[tuple[str, int, int | None]]
    ) -> builtins.list[tuple[bytes | memoryview, bytes] | None]: ...
    def write(
        self, key: str, data: bytes | bytearray | memoryview, expected: bytes | None = None
    ) -> bytes: ...
    def delete(self, key: str, expected: bytes | None = None) -> bool: ...
    def delete_folder(self, folder: str) -> None: ...
    def size(self, key: str) -> int | None: ...
    def list(self, prefix: str, start_after: str) -> Listing: ...
    def children(self, folder: str) -> tuple[builtins.list[str], builtins.list[str]]: ...

class Listing:
    def next_page(self, limit: int) -> list[tuple[str, int]]: ...

class LocalStore(KeyStore):
    def __new__(
        cls,
        root: str | PathLike[str],
        *,
        fsync: bool = False,
        locking: Literal["flock", "none"] = "flock",
        links: Literal["follow", "inside"] = "follow",
    ) -> Self: ...

class MemoryStore(KeyStore):
    def __new__(cls) -> Self: ...

class CloudStore(KeyStore):
    # Only where the core was built with its feature "cloud".
    def __new__(
        cls,
        url: str,
        prefix: str,
        settings: dict[str, Any],
        credentials: Callable[[], tuple[dict[str, str], float | None]] | None = None,
    ) -> Self: ...

class PyStore(Store):
    def __new__(cls, object: Any) -> Self: ...

# Arrays.

class Reading:
    def cancel(self) -> None: ...

class Array:
    def __new__(cls, spec: bytes, store: Store, externals: Sequence[Any]) -> Self: ...
    def read(
        self,
        selection: tuple[Sequence[Any], Sequence[Any]],
        out: Any,
        *,
        threads: int | None = None,
        missing_is_error: bool = False,
    ) -> int: ...
    def start(
        self,
        selection: tuple[Sequence[Any], Sequence[Any]],
        out: Any,
        done: Callable[[Exception | None], Any],
        *,
        threads: int | None = None,
        missing_is_error: bool = False,
    ) -> Reading | None: ...
    def write(
        self,
        selection: tuple[Sequence[Any], Sequence[Any]],
        value: Any,
        *,
        threads: int | None = None,
        write_empty: bool = False,
    ) -> None: ...
    def plan(
        self, selection: tuple[Sequence[Any], Sequence[Any]], limit: int = ...
    ) -> dict[str, Any]: ...
    def key(self, coords: Sequence[int]) -> str: ...

# Batches of chunks that somebody else has planned.

class ChunkEngine:
    def __new__(cls, spec: bytes, externals: Sequence[object]) -> Self: ...
    def batch(
        self, batch: Sequence[object], memory: Buffer, drop_axes: Sequence[int]
    ) -> ChunkBatch | None: ...
    def device_batch(
        self,
        batch: Sequence[object],
        shape: list[int],
        strides: list[int],
        drop_axes: Sequence[int],
    ) -> ChunkBatch | None: ...
    @property
    def spec(self) -> bytes: ...

class ChunkBatch:
    def __len__(self) -> int: ...
    def read(self, store: Store, *, threads: int | None = None) -> bytes: ...
    def decode(self, data: list[Any], *, threads: int | None = None) -> bytes: ...
    def write(
        self, store: Store, *, threads: int | None = None, write_empty: bool = False
    ) -> None: ...
    def encode(
        self, data: list[Any], *, threads: int | None = None, write_empty: bool = False
    ) -> list[bytes | memoryview | None]: ...
    def partial(self) -> list[int]: ...
    def rows(self, store: Store) -> WaveRows: ...
    def rows_at_hand(self, data: list[Any]) -> WaveRows: ...
    def chunks(self, store: Store, device_steps: int, frame: Any) -> WaveChunks: ...
    def chunks_at_hand(
        self, data: list[Any], device_steps: int, frame: Any
    ) -> tuple[WaveChunks, KeysAtHand]: ...
    def repeats(self) -> bool: ...
    def index_ranges(self) -> list[tuple[int, int | None] | None]: ...
    def ranges(self, number: int, index: Any) -> list[tuple[int, int]]: ...

class KeysAtHand:
    def take(self) -> list[bytes | memoryview | None]: ...

# Waves: chunks for an executor that decodes and places elsewhere.

class WaveRows:
    def __len__(self) -> int: ...
    @property
    def next(self) -> int | None: ...
    def missing(self) -> bytes: ...
    def place(self, row: int) -> tuple[str, list[int]]: ...
    def columns(self) -> dict[str, Any]: ...
    def stage(
        self,
        numbers: list[int],
        host: list[bool],
        memory: Any,
        *,
        device_steps: int,
        frame: str | None,
        most_streams: int,
        direct: bool = False,
        threads: int | None = None,
    ) -> dict[str, Any]: ...

def wave_rows(
    array: Array,
    selection: Any,
    strides: list[int],
    first: int,
    *,
    rows: int,
    nbytes: int,
    missing_is_error: bool = False,
) -> WaveRows: ...

class WaveChunks:
    @property
    def next(self) -> int | None: ...
    def __len__(self) -> int: ...
    def columns(self) -> dict[str, Any]: ...
    def absorb(
        self,
        numbers: list[int],
        kinds: bytes,
        counts: list[int],
        checks: list[int],
        parts: list[tuple[int, int]],
        memory: Any,
        *,
        threads: int | None = None,
    ) -> list[int]: ...
    def old(self, numbers: list[int], to: list[int]) -> WaveRows: ...
    def replace_file(self, number: int, fill: Callable[[int], None]) -> bool: ...
    def store(
        self, *, threads: int | None = None, write_empty: bool = False
    ) -> tuple[int, list[int]]: ...

def wave_chunks(
    array: Array,
    selection: Any,
    strides: list[int],
    first: int,
    *,
    rows: int,
    nbytes: int,
    device_steps: int,
    frame: Any,
) -> WaveChunks: ...
def decode_stream(format: int, data: Any, size: int) -> bytes: ...
def encode_stream(format: int, data: Any) -> bytes: ...
