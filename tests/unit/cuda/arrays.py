"""Arrays of the core with any chain, and reads of them through the wave executor."""

import json
from dataclasses import dataclass, replace

import numpy as np

from blazarr import _core
from blazarr.cuda.encode_waves import WaveWrite, chunks_of
from blazarr.cuda.encoding import encode_program_of
from blazarr.cuda.host import HostDevice
from blazarr.cuda.options import Options
from blazarr.cuda.program import program_of
from blazarr.cuda.repeats import without_repeats
from blazarr.cuda.wave import Target
from blazarr.cuda.waves import WaveRead, rows_of
from blazarr.errors import LimitError
from blazarr.indexing import parse_getitem

# Everything on the device, however small.
ALL = Options(memory=64 << 20, crossover=0, least_streams=0)

SHAPE, CHUNKS = (100, 120), (37, 29)
SHUFFLE = {"id": "shuffle", "elementsize": 4}
BLOCKS = {"id": "blocks", "block": 4096}
# Selections of such an array.
KEYS = [
    np.s_[3:90, 2:100],
    np.s_[::-1, ::-1],
    np.s_[5],
    np.s_[7, 8],
    np.s_[10:10],
    np.s_[37:74, 29:58],
    np.s_[74:, 87:],
    (np.array([80, 3, 3, 50]), slice(None, None, 2)),
    (np.array([80, 3, 3, 50, 3]), np.array([1, 2, 3, 119, 2])),
    np.s_[::3, 1::2],
]


@dataclass
class Case:
    """An array in memory, its content, and how it is encoded."""

    data: np.ndarray
    array: _core.Array
    chain: dict
    fill: bytes
    store: object
    direct: bool = False

    def read(self, key=..., *, device=None, options=ALL, **kwargs):
        """Read a selection through waves; return the result and what the read did."""
        device = HostDevice() if device is None else device
        selection = parse_getitem(key, self.data.shape)
        out = np.full(selection.flat_shape, 0x55, self.data.dtype)
        item = self.data.dtype.itemsize
        target = Target(out.ctypes.data, out.strides, item, self.fill)
        program = program_of(self.chain, device.formats)
        read = WaveRead(device, program, options, target, direct=self.direct)
        read.issue(rows_of(self.array, selection.core(), out.strides, options, **kwargs))
        report = read.finish()
        assert device.allocated == 0
        return out.reshape(selection.result_shape), report

    def write(self, key, value, *, device=None, options=ALL, elide=True):
        """Write to a selection through waves; return what the write did."""
        device = HostDevice() if device is None else device
        selection = parse_getitem(key, self.data.shape)
        value = np.broadcast_to(np.asarray(value, self.data.dtype), selection.result_shape)
        selection, value = without_repeats(
            selection, value.reshape(selection.flat_shape), np.asarray
        )
        source = Target(value.ctypes.data, value.strides, self.data.dtype.itemsize, self.fill)
        program = encode_program_of(self.chain, device.encodes)
        undo = program_of(self.chain, device.formats)
        write = WaveWrite(device, program, undo, options, source, elide=elide, direct=self.direct)
        write.run(chunks_of(self.array, selection.core(), value.strides, options, program))
        assert device.allocated == 0
        return write.report

    def on_cpu(self):
        """The whole array, read by the core."""
        out = np.zeros(self.data.shape, self.data.dtype)
        view = out if out.dtype.kind in "biufc" else out.view(f"V{out.dtype.itemsize}")
        self.array.read(parse_getitem(..., out.shape).core(), view)
        return out


def case(data, chunks, chain, *, fill=0, written=True, store=None):
    """Write data to a new array."""
    store = _core.MemoryStore() if store is None else store
    fill_bytes = np.array(fill, data.dtype).tobytes()
    spec = {
        "shape": data.shape,
        "grid": [{"size": size} for size in chunks],
        "item": data.dtype.itemsize,
        "fill": fill_bytes.hex(),
        "keys": {"prefix": "", "kind": "default", "separator": "/"},
        "chain": chain,
        "max_chunk_bytes": 1 << 40,
    }
    array = _core.Array(json.dumps(spec).encode(), store, [])
    made = Case(data, array, chain, fill_bytes, store)
    if written:
        selection = parse_getitem(..., data.shape)
        view = data if data.dtype.kind in "biufc" else data.view(f"V{data.dtype.itemsize}")
        array.write(selection.core(), view)
    return made


def noise(shape, dtype, seed=0):
    """Numbers that compress somewhat."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    values = np.cumsum(rng.integers(-3, 4, count)) + 1000
    return values.astype(dtype).reshape(shape)


def smallest(made, key, data):
    """The smallest budget that a write fits, which is done then."""
    memory = 1
    while True:
        try:
            made.write(key, data, options=replace(ALL, memory=memory))
        except LimitError as error:
            memory = max(error.size, memory + 1)
        else:
            return memory
