"""What every codec has to do, as tests that any implementation can run.

::

    from blazarr.testing.codec_contract import CodecContract

    class TestMyCodec(CodecContract):
        @pytest.fixture
        def codec(self):
            return MyCodec(level=3)

The codec may be blazarr's, numcodecs' or zarr-python's, an object or its form in a document; it has to be
registered, so that its name finds it. `dtypes`, `tolerance` and `shape` say what it is tested with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from blazarr import api
from blazarr.codecs import ArrayArrayCodec, ArrayBytesCodec, Codec, parse_codec
from blazarr.codecs.foreign import from_numcodecs, is_numcodecs
from blazarr.errors import BlazarrError
from blazarr.nodes import Array
from blazarr.stores import MemoryStore


class CodecContract:
    """Tests of one codec; subclasses have a fixture ``codec``.

    Attributes
    ----------
    dtypes
        Data types that it encodes.
    tolerance
        How far a value may be from the one that was written; 0 for none at all.
    shape, chunks
        Shapes of the arrays and chunks; neither divides the other.
    sharded
        Whether it can stand inside of shards.
    """

    dtypes: ClassVar[tuple[str, ...]] = ("uint8", "int32", "float64")
    tolerance: ClassVar[float] = 0
    shape: ClassVar[tuple[int, ...]] = (13, 11)
    chunks: ClassVar[tuple[int, ...]] = (5, 4)
    sharded: ClassVar[bool] = True

    def data(self, dtype: str) -> npt.NDArray[Any]:
        """Return values of a type to write: smooth ones, then noise."""
        count = int(np.prod(self.shape))
        noise = np.random.default_rng(1).integers(0, 100, count)
        values = np.where(np.arange(count) < count // 2, np.arange(count) % 100, noise)
        return values.reshape(self.shape).astype(dtype)

    def test_what_is_written_is_read(self, codec: Any) -> None:
        """Values come back, from the handle that wrote them and from another one."""
        for array, values in self._written(codec):
            self._check(array[...], values)
            self._check(api.open_array(array.store, mode="r")[...], values)

    def test_parts(self, codec: Any) -> None:
        """Parts of chunks are read and written, and the rest stays."""
        for array, values in self._written(codec):
            values[2:9, 1::3] = values[5, 5]
            array[2:9, 1::3] = values[5, 5]
            self._check(array[...], values)
            self._check(array[::-2, 3], values[::-2, 3])

    def test_in_shards(self, codec: Any) -> None:
        """Inner chunks of shards are encoded as chunks are."""
        if not self.sharded:
            return
        shards = tuple(2 * size for size in self.chunks)
        for array, values in self._written(codec, shards=shards):
            array[7, 7] = values[0, 0]
            values[7, 7] = values[0, 0]
            self._check(array[...], values)

    def test_chunks_that_are_alike(self, codec: Any) -> None:
        """Chunks of one value are no special case."""
        for dtype in self.dtypes:
            array = self._array(codec, dtype, config={"write_empty_chunks": True})
            for value in (0, 1, 77):
                array[...] = value
                self._check(array[...], np.full(self.shape, value, dtype))

    def test_its_form_in_documents(self, codec: Any) -> None:
        """What is stored of it is JSON, and makes the same codec again."""
        given = _as_codec(codec)
        again = parse_codec(json.loads(json.dumps(given.to_dict())), "codec")
        assert again == given
        assert json.dumps(again.to_dict()) == json.dumps(given.to_dict())

    def test_nothing_given_is_changed(self, codec: Any) -> None:
        """Encoding leaves the values, and decoding the stored bytes, as they are."""
        for array, values in self._written(codec):
            kept = values.copy()
            array[...] = values
            assert values.tobytes() == kept.tobytes()
            before = _stored(array)
            _ = array[...]
            assert _stored(array) == before

    def test_same_bytes_every_time(self, codec: Any) -> None:
        """Encoding is a function of the values."""
        for array, values in self._written(codec):
            before = _stored(array)
            array[...] = values
            assert _stored(array) == before

    def test_many_threads(self, codec: Any) -> None:
        """One codec serves many threads at once."""
        for array, values in self._written(codec):
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda _: array[...], range(16)))  # noqa: B023 - ends here
            for each in found:
                self._check(each, values)

    def test_damaged_chunks(self, codec: Any) -> None:
        """Whatever is stored, a read gives values of the right shape, or an error of blazarr's."""
        random = np.random.default_rng(2)
        for array, _ in self._written(codec):
            key, stored = next(iter(_stored(array).items()))
            for damaged in _damages(stored, random):
                array.store.put(key, damaged)
                try:
                    found = array[: self.chunks[0], : self.chunks[1]]
                except BlazarrError:
                    continue
                assert found.shape == self.chunks

    def _check(self, found: Any, expected: npt.NDArray[Any]) -> None:
        assert found.shape == expected.shape
        if self.tolerance:
            np.testing.assert_allclose(found, expected, rtol=0, atol=self.tolerance)
        else:
            np.testing.assert_array_equal(found, expected)

    def _written(self, codec: Any, **options: Any) -> Iterator[tuple[Array, npt.NDArray[Any]]]:
        for dtype in self.dtypes:
            array, values = self._array(codec, dtype, **options), self.data(dtype)
            array[...] = values
            yield array, values

    def _array(self, codec: Any, dtype: str, **options: Any) -> Array:
        kind = _as_codec(codec)
        chain: dict[str, Any] = {"compressors": [codec]}
        if isinstance(kind, ArrayArrayCodec):
            chain = {"filters": [codec], "compressors": None}
        elif isinstance(kind, ArrayBytesCodec):
            chain = {"serializer": codec, "compressors": None}
        return api.create_array(
            MemoryStore(), shape=self.shape, chunks=self.chunks, dtype=dtype, **chain, **options
        )


def _as_codec(codec: Any) -> Codec:
    if is_numcodecs(codec):
        return from_numcodecs(codec.get_config(), "codec")
    if isinstance(codec, Codec) or not hasattr(codec, "to_dict"):
        return parse_codec(codec, "codec")
    return parse_codec(codec.to_dict(), "codec")


def _stored(array: Array) -> dict[str, bytes]:
    store = array.store
    found = {key: store.get(key) for key in list(store.keys()) if not key.endswith("zarr.json")}
    return {key: bytes(got[0]) for key, got in found.items() if got is not None}


def _damages(stored: bytes, random: np.random.Generator) -> Iterator[bytes]:
    """Yield what may have become of stored bytes: cut, longer, flipped, nothing, noise."""
    yield b""
    yield stored + b"more"
    for cut in random.integers(0, len(stored), 5):
        yield stored[:cut]
    for place in random.integers(0, len(stored), 30):
        flipped = bytearray(stored)
        flipped[place] ^= 1 << int(random.integers(0, 8))
        yield bytes(flipped)
    for size in (1, 16, 1000):
        yield random.bytes(size)
