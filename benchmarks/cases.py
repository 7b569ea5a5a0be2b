"""What is timed: a layout of the array on disk, and something to do with it."""

import dataclasses
from collections.abc import Iterator

import numpy as np

MIB = 1 << 20
CUBES = {
    "16K": (1, 64, 128),
    "128K": (4, 128, 128),
    "1M": (8, 256, 256),
    "16M": (16, 512, 1024),
}
INNER_64K = (2, 128, 128)
SHARD_8M = (16, 512, 512)

# name of the layout: chunks, shards, codec
LAYOUTS = {
    **{
        f"{size} {codec}": (cube, None, codec)
        for size, cube in CUBES.items()
        for codec in ("none", "zstd", "blosc-lz4")
    },
    "1M gzip": (CUBES["1M"], None, "gzip"),
    "shards of 64K none": (INNER_64K, SHARD_8M, "none"),
    "shards of 64K zstd": (INNER_64K, SHARD_8M, "zstd"),
}
PARTS = ("read-slab", "read-plane", "read-points", "read-ortho", "read-stride", "read-small")
OPERATIONS = {
    "read-full": tuple(LAYOUTS),
    "read-into": ("128K none", "1M none", "1M zstd", "1M blosc-lz4", "1M gzip"),
    **dict.fromkeys(PARTS, ("1M zstd", "shards of 64K zstd")),
    "write-full": (
        *(name for name in LAYOUTS if name.split()[0] in ("128K", "1M", "16M")),
        "shards of 64K zstd",
    ),
    "write-slab": ("1M zstd",),
    "open": ("1M zstd",),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of the table."""

    op: str
    layout: str
    shape: tuple[int, ...]
    dtype: str = "uint16"
    fmt: int = 3

    @property
    def chunks(self) -> tuple[int, ...]:
        return LAYOUTS[self.layout][0]

    @property
    def shards(self) -> tuple[int, ...] | None:
        return LAYOUTS[self.layout][1]

    @property
    def codec(self) -> str:
        return LAYOUTS[self.layout][2]

    @property
    def name(self) -> str:
        return f"{self.op} {self.layout}"


def cases(mib: int) -> Iterator[Case]:
    """All cases, on an array of about `mib` MiB."""
    planes = max(16, mib // 2 // 16 * 16)
    for op, layouts in OPERATIONS.items():
        for layout in layouts:
            yield Case(op, layout, (planes, 1024, 1024))


def smooth_field(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Make a field like real data: smooth structure and a sensor's noise; compresses about twice."""
    rng = np.random.default_rng(7)
    y, x = (np.linspace(0, 6, size, dtype="f4") for size in shape[1:])
    field = np.empty(shape, dtype)
    for k, plane in enumerate(field):
        signal = 900 + 400 * np.sin(y[:, None] + k * 0.02) * np.cos(x - k * 0.01)
        plane[:] = signal + 6 * rng.standard_normal(signal.shape, "f4")
    return field


def selection(case: Case) -> tuple:
    """Return what a case reads or writes; the same places for every library."""
    z, y, x = case.shape
    if case.op == "read-slab":
        return (slice(z // 4 + 1, 3 * z // 4 - 1), slice(131, 631), slice(77, 589))
    if case.op == "read-plane":
        return (z // 2, slice(None), slice(None))
    if case.op == "read-stride":
        return (slice(0, z, 2), slice(1, y, 3), slice(None, None, 4))
    if case.op == "read-points":
        rng = np.random.default_rng(3)
        return tuple(rng.integers(0, size, 20_000) for size in case.shape)
    if case.op == "read-ortho":
        rng = np.random.default_rng(4)
        planes = np.sort(rng.choice(z, z // 4, replace=False))
        return (planes, slice(100, 900), np.sort(rng.choice(x, 200, replace=False)))
    if case.op == "read-small":
        return (slice(z // 2, z // 2 + 1), slice(200, 210), slice(300, 310))
    if case.op == "write-slab":
        return (slice(3, z - 3), slice(50, y - 50), slice(30, x - 30))
    return (slice(None),) * 3


def expected(case: Case, data: np.ndarray) -> np.ndarray:
    """Values that a case must read."""
    places = selection(case)
    if case.op == "read-ortho":
        return data[np.ix_(places[0], np.arange(case.shape[1])[places[1]], places[2])]
    return data[places]
