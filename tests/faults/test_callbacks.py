"""Stores and codecs written in Python, called from the engine's threads."""

import subprocess
import sys

import pytest

# A thread that the interpreter does not wait for reads for ever.
READER = """
import threading, time
import blazarr
from blazarr.stores import MemoryStore, WrapperStore

class Slow(WrapperStore):
    def get_many(self, keys, ranges=None):
        time.sleep(0.02)
        started.set()
        return self.store.get_many(keys, ranges)

started = threading.Event()
inner = MemoryStore()
array = blazarr.create_array(inner, shape=(1 << 16,), chunks=(1 << 12,), dtype="u1", fill_value=0)
array[:] = 1
array = blazarr.open_array(Slow(inner), mode="r")

def read():
    while True:
        array[:]

threading.Thread(target=read, daemon=True).start()
started.wait()
print("done")
"""

# What is registered first is called last.
FLUSH = """
import atexit
import blazarr, numpy

def flush():
    array[:] = 2
    print(int(array[:].sum()))

atexit.register(flush)
from blazarr.stores import MemoryStore, WrapperStore

class Plain(WrapperStore):
    pass

array = blazarr.create_array(
    Plain(MemoryStore()), shape=(1 << 10,), chunks=(1 << 6,), dtype="u1", fill_value=0
)
"""

# Each level passes through C, and so takes from the thread's stack.
RECURSION = """
import numcodecs
import blazarr
from blazarr.stores import MemoryStore

class Deep(numcodecs.abc.Codec):
    codec_id = "deep"

    def encode(self, buf):
        return buf

    def decode(self, buf, out=None):
        def sink(level):
            return sorted([1], key=lambda _: sink(level - 1)) if level else 0
        try:
            sink(900)
        except RecursionError:
            pass
        return buf

numcodecs.register_codec(Deep)
array = blazarr.create_array(
    MemoryStore(), shape=(1 << 12,), chunks=(1 << 6,), dtype="u1", fill_value=0,
    filters=[Deep()], compressors=None, zarr_format=2,
)
array[:] = 1
print(int(array[:].sum()))
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("turn", range(3))
def test_a_process_ends_while_a_daemon_thread_reads(turn):
    assert run(READER) == "done\n"


def test_a_hook_at_exit_still_writes():
    assert run(FLUSH) == f"{2 << 10}\n"


def test_a_deep_recursion_in_a_codec_is_no_crash():
    assert run(RECURSION) == f"{1 << 12}\n"
