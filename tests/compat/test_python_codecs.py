"""Chains with codecs in Python: these steps are zarr-python's, all others native, with the same results."""

import asyncio
import contextvars
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numcodecs
import numpy as np
import pytest
import zarr
from numcodecs.registry import register_codec
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.storage import LocalStore, MemoryStore

try:
    from zarr.codecs.numcodecs import LZMA
except ImportError:
    from numcodecs.zarr3 import LZMA

from blazarr.errors import CorruptError, UnsupportedError

from .python_codecs import (
    AsText,
    Dropping,
    InBatches,
    Inverting,
    Refusing,
    Waiting,
    Widening,
    Xor,
)

register_codec(Xor)

# What the specification does not have; not all releases of zarr-python say so of the same.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(does not have a Zarr V3 specification|not part in the Zarr format 3 specification)",
    "ignore:Numcodecs codecs are not in the Zarr version 3 specification",
)
with warnings.catch_warnings(action="ignore"):
    WITHOUT_NATIVE_FORM = LZMA()

CHAINS = {
    "last": {"compressors": [ZstdCodec(), Inverting()]},
    "first": {"compressors": [Inverting(), ZstdCodec()]},
    "between": {"compressors": [BloscCodec(), Waiting(), ZstdCodec()]},
    "in batches": {"compressors": [InBatches()]},
    "of arrays": {"filters": [Widening()]},
    "after a transpose": {"filters": [TransposeCodec(order=(1, 0)), Widening()]},
    "serializer": {"serializer": AsText(), "compressors": [ZstdCodec()]},
    "all": {"filters": [Widening()], "serializer": AsText(), "compressors": [Waiting()]},
    "without a native form": {"compressors": [ZstdCodec(), WITHOUT_NATIVE_FORM]},
}


@pytest.fixture(autouse=True)
def whole_pipelines(monkeypatch):
    """What zarr-python's pipeline was asked to read or write by ours."""
    asked = []
    for name in ("read", "write"):
        original = getattr(BatchedCodecPipeline, name)

        async def spy(self, *args, _original=original, **kwargs):
            if blazarr_in(zarr.config):
                asked.append(self)
            return await _original(self, *args, **kwargs)

        monkeypatch.setattr(BatchedCodecPipeline, name, spy)
    yield asked
    assert asked == []


def blazarr_in(config):
    return "blazarr" in config.get("codec_pipeline.path")


@pytest.fixture(params=[None, (6, 10)], ids=["chunks", "shards"])
def shards(request):
    return request.param


@pytest.fixture(params=CHAINS)
def chain(request):
    return CHAINS[request.param]


@pytest.fixture
def numbers():
    return np.arange(11 * 13, dtype="i4").reshape(11, 13)


def created(store, numbers, shards=None, **options):
    return zarr.create_array(
        store, shape=numbers.shape, chunks=(3, 5), shards=shards, dtype=numbers.dtype, **options
    )


def change(array, numbers):
    """Write to all of an array, then to parts of it; the same to what is expected."""
    array[:] = numbers
    for target in (array, numbers):
        target[2:7, ::3] = 500
        target[-1] = 7
    array.vindex[[0, 5, 10], [1, 6, 12]] = [-1, -2, -3]
    numbers[[0, 5, 10], [1, 6, 12]] = [-1, -2, -3]


def test_reads_what_it_wrote(store, chain, shards, numbers):
    array = created(store, numbers, shards, **chain)
    if type(store) is zarr.storage.ZipStore:
        array[:] = numbers
    else:
        change(array, numbers)
    np.testing.assert_array_equal(array[:], numbers)
    np.testing.assert_array_equal(array[4:9, ::2], numbers[4:9, ::2])
    rows, columns = [9, 0, 0, 4], [12, 3, 3, 7]
    np.testing.assert_array_equal(array.vindex[rows, columns], numbers[rows, columns])
    np.testing.assert_array_equal(array.oindex[rows, columns], numbers[np.ix_(rows, columns)])


def test_stores_what_zarr_python_stores(chain, shards, numbers, own_pipeline):
    ours, theirs = {}, {}
    change(created(ours, numbers, shards, **chain), numbers.copy())
    with own_pipeline():
        array = created(theirs, numbers, shards, **chain)
        change(array, numbers)
        np.testing.assert_array_equal(zarr.open_array(ours)[:], numbers)
    if shards is None:
        assert {key: value.to_bytes() for key, value in ours.items()} == {
            key: value.to_bytes() for key, value in theirs.items()
        }
    np.testing.assert_array_equal(zarr.open_array(theirs)[:], numbers)


@pytest.fixture
def calls():
    Inverting.calls.clear()
    return Inverting.calls


def test_each_chunk_is_decoded_once(numbers, calls):
    array = created({}, numbers, compressors=[Inverting()])
    array[:] = numbers
    assert calls == ["encode"] * 12
    calls.clear()
    array[:]
    assert calls == ["decode"] * 12
    calls.clear()
    array[0, 0] = 5
    assert calls == ["decode", "encode"]


def test_only_the_wanted_parts_of_a_shard_are_decoded(numbers, calls):
    array = created({}, numbers, (6, 10), compressors=[Inverting()])
    array[:] = numbers
    calls.clear()
    np.testing.assert_array_equal(array[7, 11], numbers[7, 11])
    assert calls == ["decode"]


def test_strict_names_the_codec():
    array = zarr.create_array({}, shape=3, dtype="i4", compressors=[Inverting()])
    with (
        zarr.config.set({"codec_pipeline.strict": True}),
        pytest.raises(UnsupportedError, match=r"Inverting\(\) runs in Python"),
    ):
        array[:] = 1


def test_what_is_not_native_is_said_once(caplog):
    caplog.set_level("DEBUG", "blazarr.zarr_python")
    array = zarr.create_array({}, shape=3, dtype="i4", compressors=[Inverting()])
    array[:] = 1
    array[:]
    assert [record.message for record in caplog.records] == [
        "not all of this array is native: Inverting() runs in Python"
    ]


@pytest.mark.parametrize("where", [MemoryStore, LocalStore])
def test_what_a_codec_raises_is_raised(where, tmp_path):
    store = where() if where is MemoryStore else where(tmp_path)
    array = zarr.create_array(store, shape=3, dtype="i4", compressors=[Refusing()])
    array[:] = 1
    with pytest.raises(LookupError, match="the key to this codec is lost"):
        array[:]


def test_damaged_chunks_are_an_error(tmp_path):
    array = zarr.create_array(tmp_path, shape=4, dtype="i4", compressors=[Inverting()])
    array[:] = 1
    (tmp_path / "c" / "0").write_bytes(b"short")
    with pytest.raises(CorruptError):
        array[:]


def test_what_a_codec_drops_is_absent(whole_pipelines):
    array = zarr.create_array({}, shape=8, chunks=4, dtype="u1", compressors=[Dropping()])
    array[:] = [7, 7, 7, 7, 1, 2, 3, 4]
    assert array.nchunks_initialized == 1
    np.testing.assert_array_equal(array[:], [0, 0, 0, 0, 1, 2, 3, 4])
    # Chunks that a codec leaves out are not of this world: zarr-python knows what to do.
    assert len(whole_pipelines) == 1
    whole_pipelines.clear()


def test_codecs_may_use_the_loop_s_threads_of_which_there_is_one(numbers):
    """Each read waits in a thread; were it one of the loop's, codecs that need one would wait for ever."""
    array = created({}, numbers, compressors=[Waiting()])
    array[:] = numbers

    async def main():
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as executor:
            loop.set_default_executor(executor)
            reads = [array._async_array.getitem(...) for _ in range(8)]
            return await asyncio.wait_for(asyncio.gather(*reads), 60)

    for found in asyncio.run(main()):
        np.testing.assert_array_equal(found, numbers)


LOOPS = set()


class NotingLoops(Inverting):
    """A codec that notes in which event loop it runs."""

    async def _decode_single(self, chunk, spec):
        LOOPS.add((asyncio.get_running_loop(), threading.current_thread()))
        return await super()._decode_single(chunk, spec)


def test_codecs_run_in_the_loop_that_reads(numbers):
    array = created({}, numbers, compressors=[NotingLoops()])
    array[:] = numbers
    LOOPS.clear()

    async def main():
        found = await array._async_array.getitem(...)
        assert {(asyncio.get_running_loop(), threading.current_thread())} == LOOPS
        return found

    np.testing.assert_array_equal(asyncio.run(main()), numbers)


NOTE = contextvars.ContextVar("NOTE", default="none")


class Noting(Inverting):
    """A codec that looks at its context."""

    async def _decode_single(self, chunk, spec):
        self.calls.append(NOTE.get())
        return await super()._decode_single(chunk, spec)


def test_codecs_see_the_reader_s_context(calls):
    array = zarr.create_array({}, shape=3, dtype="i4", compressors=[Noting()])
    array[:] = 1
    calls.clear()

    async def main():
        NOTE.set("set by the reader")
        await array._async_array.getitem(...)

    asyncio.run(main())
    assert calls == ["set by the reader", "decode"]


class Sleeping(Inverting):
    """A codec that keeps its caller waiting."""

    async def _decode_single(self, chunk, spec):
        await asyncio.sleep(0.1)
        return await super()._decode_single(chunk, spec)


def test_waiting_for_a_codec_leaves_other_threads_alone(numbers):
    array = created({}, numbers, compressors=[Sleeping()])
    array[:] = numbers
    beats = []
    reader = threading.Thread(target=lambda: array[:])
    reader.start()
    while reader.is_alive():
        beats.append(None)
        time.sleep(0.001)
    assert len(beats) > 10


def test_a_read_that_is_given_up_ends(numbers):
    array = created({}, numbers, compressors=[Sleeping()])
    array[:] = numbers
    before = threading.active_count()

    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(array._async_array.getitem(...), 0.02)

    asyncio.run(main())
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before
    np.testing.assert_array_equal(array[:], numbers)


def test_changed_methods_of_codecs_are_called(monkeypatch, numbers):
    array = created({}, numbers, compressors=[GzipCodec()])
    array[:] = numbers
    seen = []
    name = "_decode_sync" if hasattr(GzipCodec, "_decode_sync") else "_decode_single"
    original = getattr(GzipCodec, name)

    def spy(self, *args):
        seen.append(self)
        return original(self, *args)

    monkeypatch.setattr(GzipCodec, name, spy)
    np.testing.assert_array_equal(zarr.open_array(array.store)[:], numbers)
    assert len(seen) == 12


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("filters", [[], [numcodecs.Delta("i4")]], ids=["plain", "filtered"])
def test_compressors_of_format_2(order, filters, numbers, own_pipeline):
    stores = {}, {}
    for store, context in zip(stores, (own_pipeline(), zarr.config.set({})), strict=True):
        with context:
            array = created(
                store, numbers, zarr_format=2, order=order, filters=filters, compressors=Xor(85)
            )
            change(array, numbers.copy())
    theirs, ours = ({key: data.to_bytes() for key, data in store.items()} for store in stores)
    assert ours == theirs
    expected = numbers.copy()
    change(array, expected)
    np.testing.assert_array_equal(array[:], expected)


def test_the_configured_codec_is_used_not_another_of_its_name():
    store = {}
    array = zarr.create_array(store, shape=4, dtype="u1", zarr_format=2, compressors=Xor(3))
    array[:] = [1, 2, 3, 4]
    assert store["0"].to_bytes() == bytes([2, 1, 0, 7])
    np.testing.assert_array_equal(array[:], [1, 2, 3, 4])


TEXTS = np.array([["", "a", "grün"], ["a" * 1000, "b", ""], ["", "", ""], ["x", "", "y"]], object)


@pytest.mark.parametrize(("zarr_format", "shards"), [(2, None), (3, None), (3, (2, 6))])
def test_texts(store, zarr_format, shards, own_pipeline):
    options = {"chunks": (2, 2), "shards": shards, "dtype": str, "zarr_format": zarr_format}
    array = zarr.create_array(store, shape=(4, 3), **options)
    array[:] = TEXTS
    np.testing.assert_array_equal(array[:], TEXTS)
    np.testing.assert_array_equal(array[1:, ::2], TEXTS[1:, ::2])
    np.testing.assert_array_equal(array.vindex[[0, 3], [2, 0]], TEXTS[[0, 3], [2, 0]])
    with own_pipeline():
        np.testing.assert_array_equal(zarr.open_array(store)[:], TEXTS)


@pytest.mark.parametrize("shards", [None, (2, 6)], ids=["chunks", "shards"])
def test_parts_of_texts_are_changed(shards):
    store = {}
    array = zarr.create_array(store, shape=(4, 3), chunks=(2, 2), shards=shards, dtype=str)
    array[:] = TEXTS
    expected = TEXTS.copy()
    for target in (array, expected):
        target[1] = ["changed", "", "z" * 40]
        target[2:, 1] = "w"
    np.testing.assert_array_equal(array[:], expected)
    array[:] = ""
    assert array.nchunks_initialized == 0


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_many_texts_in_many_threads(zarr_format):
    texts = np.array([f"{i:x}" for i in range(20_000)], object)
    array = zarr.create_array({}, shape=texts.shape, chunks=317, dtype=str, zarr_format=zarr_format)
    array[:] = texts
    found = [None] * 4

    def read(number):
        found[number] = array[number::3]

    threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for number, got in enumerate(found):
        np.testing.assert_array_equal(got, texts[number::3])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_byte_strings(zarr_format, own_pipeline):
    values = np.array([b"", b"abc", b"\0\xff", b""], object)
    store = {}
    array = zarr.create_array(
        store, shape=4, chunks=2, dtype=zarr.dtype.VariableLengthBytes(), zarr_format=zarr_format
    )
    array[:] = values
    np.testing.assert_array_equal(array[:], values)
    array[1] = b"longer than before"
    values[1] = b"longer than before"
    with own_pipeline():
        np.testing.assert_array_equal(zarr.open_array(store)[:], values)


def test_strict_allows_texts():
    """What makes Python objects is Python in any case."""
    with zarr.config.set({"codec_pipeline.strict": True}):
        array = zarr.create_array({}, shape=3, dtype=str)
        array[:] = "a"
        assert list(array[:]) == ["a"] * 3


def test_damaged_texts_are_an_error(tmp_path):
    array = zarr.create_array(tmp_path, shape=4, dtype=str, compressors=None)
    array[:] = "abc"
    chunk = tmp_path / "c" / "0"
    whole = chunk.read_bytes()
    for damaged in (
        b"",
        whole[:7],
        b"\xff" * len(whole),
        whole[:4] + b"\xff\xff\xff\x7f" + whole[8:],
    ):
        chunk.write_bytes(damaged)
        with pytest.raises(ValueError):
            array[:]


def test_codecs_of_one_call_do_not_mix_with_another_s(numbers):
    """Calls that run side by side, in loops of their own, each have their own steps."""
    array = created({}, numbers, compressors=[Waiting()])
    array[:] = numbers

    async def main():
        return await array._async_array.getitem(...)

    with ThreadPoolExecutor(4) as executor:
        for found in executor.map(lambda _: asyncio.run(main()), range(12)):
            np.testing.assert_array_equal(found, numbers)


class OwnShards(ShardingCodec):
    """A user's own kind of shards, which reads parts of them from the store itself."""


class OwnChecksum(Crc32cCodec):
    """A user's own checksum."""


def test_what_reads_the_store_itself_is_left_to_zarr_python(numbers, whole_pipelines, caplog):
    caplog.set_level("DEBUG", "blazarr.zarr_python")
    for serializer in (
        OwnShards(chunk_shape=(3, 5)),
        ShardingCodec(chunk_shape=(3, 5), index_codecs=[BytesCodec(), OwnChecksum()]),
    ):
        array = zarr.create_array(
            {}, shape=(12, 15), chunks=(6, 15), dtype="i4", serializer=serializer, compressors=None
        )
        array[:11, :13] = numbers
        np.testing.assert_array_equal(array[:11, :13], numbers)
    assert whole_pipelines
    whole_pipelines.clear()
    said = [record.message for record in caplog.records]
    assert len(said) == 2
    assert "reads parts of a chunk from the store itself" in said[0]
    assert "encodes the index of shards" in said[1]
