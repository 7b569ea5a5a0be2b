"""Every kind of selection, read and written through the pipeline, beside numpy; none decoded in Python."""

import itertools

import numpy as np
import pytest
import zarr

pytestmark = pytest.mark.usefixtures("native_only")


@pytest.fixture
def native_only():
    """Make whatever blazarr can't do an error."""
    with zarr.config.set({"codec_pipeline.strict": True}):
        yield


@pytest.fixture
def decoded_in_python(monkeypatch):
    """Count the chunks that zarr-python's own pipeline is asked to decode or encode."""
    from zarr.core.codec_pipeline import BatchedCodecPipeline

    counts = []
    for name in ("read", "write", "decode", "encode"):

        async def counted(self, items, *args, name=name, **kwargs):
            counts.append(name)
            raise AssertionError(f"zarr-python's own pipeline was asked to {name}")

        monkeypatch.setattr(BatchedCodecPipeline, name, counted)
    return counts


LAYOUTS = {
    "plain": {},
    "uncompressed": {"compressors": None},
    "sharded": {"chunks": (2, 2, 7), "shards": (4, 4, 7)},
    "transposed": {"filters": [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}]},
    "v2": {"zarr_format": 2},
    "v2-F": {"zarr_format": 2, "order": "F"},
}


@pytest.fixture(params=LAYOUTS)
def array(request, numbers):
    options = {"shape": numbers.shape, "chunks": (4, 3, 5), "dtype": numbers.dtype}
    made = zarr.create_array({}, **(options | LAYOUTS[request.param]))
    made[...] = numbers
    return made


I = np.array([12, 3, 3, 0, 7])  # noqa: E741
J = np.array([10, 0, 5, 5, 1])
K = np.array([6, 6, 0, 3, 1])

BASIC = [
    np.s_[...],
    np.s_[5],
    np.s_[:, 5],
    np.s_[..., -1],
    np.s_[5, :, 3],
    np.s_[1, 2, 3],
    np.s_[2:3, 4, 1:6],
    np.s_[::2, 1::3, ::4],
    np.s_[3:12:5, ..., 6],
    np.s_[..., 2, 3],
    np.s_[2, ..., 3],
    np.s_[2, 3, ...],
    np.s_[0:0],
]


@pytest.mark.parametrize("key", BASIC, ids=repr)
def test_basic(array, numbers, key, decoded_in_python):
    np.testing.assert_array_equal(array[key], numbers[key])
    value = numbers[key] * 2
    array[key] = value
    numbers[key] = value
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


ORTHOGONAL = [
    (I, J, K),
    (I, slice(None), K),
    (slice(1, 12, 3), J, slice(None)),
    (slice(None), 4, K),
    (I, 4, slice(2, None)),
    (3, J, 5),
    (I[::-1], slice(None), slice(None)),
    (np.arange(13) % 3 == 0, J, slice(None)),
    (slice(None), slice(None), np.arange(7) % 2 == 1),
]


def as_arrays(selection, shape):
    """Index arrays, one for each axis, and the axes that a result does not have."""
    arrays, dropped = [], []
    for axis, (entry, size) in enumerate(zip(selection, shape, strict=True)):
        if isinstance(entry, int):
            dropped.append(axis)
        arrays.append(np.atleast_1d(np.arange(size)[entry]))
    return np.ix_(*arrays), tuple(dropped)


@pytest.mark.parametrize("number", range(len(ORTHOGONAL)))
def test_orthogonal(array, numbers, number, decoded_in_python):
    selection = ORTHOGONAL[number]
    mesh, dropped = as_arrays(selection, numbers.shape)
    np.testing.assert_array_equal(array.oindex[selection], numbers[mesh].squeeze(dropped))
    # Of several values for one element any may win, so each gets its own place in the array.
    value = np.ravel_multi_index(mesh, numbers.shape).astype("i4")
    array.oindex[selection] = value.squeeze(dropped)
    numbers[mesh] = value
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


def test_coordinates(array, numbers, decoded_in_python):
    np.testing.assert_array_equal(array.vindex[I, J, K], numbers[I, J, K])
    nested = (I.reshape(5, 1), J, K)
    np.testing.assert_array_equal(array.vindex[nested], numbers[nested])
    array.vindex[I, J, K] = np.arange(5)
    numbers[I, J, K] = np.arange(5)
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


def test_coordinates_in_two_dimensions(decoded_in_python):
    numbers = np.arange(143).reshape(13, 11)
    array = zarr.create_array({}, data=numbers, chunks=(4, 3))
    np.testing.assert_array_equal(array.vindex[I, J], numbers[I, J])
    array.vindex[I, J] = -np.arange(5)
    numbers[I, J] = -np.arange(5)
    np.testing.assert_array_equal(array[:], numbers)
    assert decoded_in_python == []


def test_masks(array, numbers, decoded_in_python):
    mask = numbers % 5 == 0
    np.testing.assert_array_equal(array.vindex[mask], numbers[mask])
    array.vindex[mask] = -1
    numbers[mask] = -1
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


def test_arrays_and_slices_in_brackets(array, numbers, decoded_in_python):
    np.testing.assert_array_equal(array[[1, 5]], numbers[[1, 5]])
    np.testing.assert_array_equal(array[2:4, [1, 5]], numbers[2:4, [1, 5]])
    np.testing.assert_array_equal(array[:, :, [6, 6, 0]], numbers[:, :, [6, 6, 0]])
    assert decoded_in_python == []


def test_blocks(array, numbers, decoded_in_python):
    size = array.shards or array.chunks
    np.testing.assert_array_equal(array.blocks[1, 0], numbers[size[0] : 2 * size[0], : size[1]])
    assert decoded_in_python == []


def test_many_points(decoded_in_python):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 1000, (60, 70, 80)).astype("u2")
    array = zarr.create_array({}, data=numbers, chunks=(16, 16, 16))
    points = tuple(rng.integers(0, size, 20_000) for size in numbers.shape)
    np.testing.assert_array_equal(array.vindex[points], numbers[points])
    assert decoded_in_python == []


def test_ellipsis_everywhere_on_every_store(store, numbers, decoded_in_python):
    array = zarr.create_array(store, shape=numbers.shape, chunks=(13, 11, 7), dtype="i4")
    array[...] = numbers
    for before, after in itertools.product(range(4), repeat=2):
        if before + after <= 3:
            key = (*[1] * before, ..., *[2] * after)
            np.testing.assert_array_equal(array[key], numbers[key])
    assert decoded_in_python == []


def test_ellipsis_everywhere_is_written(array, numbers, decoded_in_python):
    for before, after in itertools.product(range(4), repeat=2):
        if before + after <= 3:
            key = (*[1] * before, ..., *[2] * after)
            array[key] = numbers[key] = 10 * before + after
            np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


@pytest.mark.parametrize("key", [(3, slice(None), K), (I, slice(None), 4)], ids=["last", "first"])
def test_arrays_beside_a_slice_in_brackets(array, numbers, key, decoded_in_python):
    mesh, dropped = as_arrays(key, numbers.shape)
    np.testing.assert_array_equal(array[key], numbers[mesh].squeeze(dropped))
    # Of several values for one element any may win: here they are the same.
    value = np.ravel_multi_index(mesh, numbers.shape).astype("i4")
    array[key] = value.squeeze(dropped)
    numbers[mesh] = value
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


def test_arrays_in_brackets_are_written(array, numbers, decoded_in_python):
    array[I, J, K] = np.arange(5)
    numbers[I, J, K] = np.arange(5)
    array[2:9:3, [1, 5]] = numbers[2:9:3, [1, 5]] = 8
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []


def test_scalars_are_broadcast(array, numbers, decoded_in_python):
    array[2:9, 4] = 7
    numbers[2:9, 4] = 7
    np.testing.assert_array_equal(array[...], numbers)
    assert decoded_in_python == []
