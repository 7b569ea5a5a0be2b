"""Results and values that are not numpy's arrays, such as a GPU's."""

import numpy as np
import pytest
import zarr
from zarr.core.buffer import BufferPrototype, cpu

NUMBERS = np.arange(20 * 30, dtype="f4").reshape(20, 30)


class Elsewhere:
    """An array in memory that numpy does not reach; it counts what is copied to and from there."""

    copies = 0

    def __init__(self, array):
        self._array = array

    @property
    def dtype(self):
        return self._array.dtype

    @property
    def shape(self):
        return self._array.shape

    @property
    def ndim(self):
        return self._array.ndim

    @property
    def size(self):
        return self._array.size

    def __len__(self):
        return len(self._array)

    def reshape(self, *args, **kwargs):
        return Elsewhere(self._array.reshape(*args, **kwargs))

    def __getitem__(self, key):
        return Elsewhere(self._array[key])

    def __setitem__(self, key, value):
        Elsewhere.copies += 1
        assert isinstance(value, Elsewhere), "only its own kind can be copied to it"
        self._array[key] = value._array

    def get(self):
        Elsewhere.copies += 1
        return self._array.copy()

    def __array__(self, *args, **kwargs):
        raise TypeError("numpy has no way to this memory")


class NDBuffer(cpu.NDBuffer):
    @classmethod
    def create(cls, *, shape, dtype, order="C", fill_value=None):
        return cls(Elsewhere(np.full(tuple(shape), fill_value or 0, dtype, order)))

    @classmethod
    def empty(cls, shape, dtype, order="C"):
        return cls(Elsewhere(np.empty(shape, dtype, order)))

    @classmethod
    def from_numpy_array(cls, array_like):
        return cls(Elsewhere(np.array(array_like)))

    def as_numpy_array(self):
        return self._data.get()

    def __getitem__(self, key):
        return type(self)(self._data[key])

    def __setitem__(self, key, value):
        self._data[key] = value._data if isinstance(value, NDBuffer) else value


PROTOTYPE = BufferPrototype(buffer=cpu.Buffer, nd_buffer=NDBuffer)


@pytest.fixture(params=[None, (10, 10)], ids=["chunks", "shards"])
def array(request, store):
    made = zarr.create_array(
        store, shape=NUMBERS.shape, chunks=(5, 5), shards=request.param, dtype="f4"
    )
    made[:] = NUMBERS
    Elsewhere.copies = 0
    return made


@pytest.mark.parametrize("selection", [np.s_[...], np.s_[3:17, ::2], np.s_[4, 5:6]])
def test_results_are_copied_once(array, selection):
    found = array.get_basic_selection(selection, prototype=PROTOTYPE)
    assert isinstance(found, Elsewhere)
    assert Elsewhere.copies == 1
    np.testing.assert_array_equal(found.get(), NUMBERS[selection])


def test_indices_are_copied_once(array):
    rows, columns = np.array([3, 19, 0]), np.array([29, 7, 7])
    found = array.get_orthogonal_selection((rows, columns), prototype=PROTOTYPE)
    assert Elsewhere.copies == 1
    np.testing.assert_array_equal(found.get(), NUMBERS[np.ix_(rows, columns)])


def test_values_are_copied_once(tmp_path):
    array = zarr.create_array(tmp_path, shape=NUMBERS.shape, chunks=(5, 5), dtype="f4")
    Elsewhere.copies = 0
    array.set_basic_selection(..., Elsewhere(NUMBERS.copy()), prototype=PROTOTYPE)
    assert Elsewhere.copies == 1
    np.testing.assert_array_equal(array[:], NUMBERS)
