"""Datasets through `engine="blazarr"` are what xarray's own engine makes of the same stores."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import blazarr
from blazarr.errors import MetadataError

xarray = pytest.importorskip("xarray", reason="xarray does not install on this Python")
zarr = pytest.importorskip("zarr")

# What xarray and zarr-python warn of is their own affair.
pytestmark = pytest.mark.filterwarnings("ignore")

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def weather():
    rng = np.random.default_rng(0)
    temperature = rng.random((6, 20, 30), "f4")
    temperature[0, 0, :5] = np.nan
    return xarray.Dataset(
        {
            "temperature": (("time", "y", "x"), temperature, {"units": "K"}),
            "packed": (("y", "x"), rng.integers(0, 99, (20, 30)) / 4),
            "flags": (("y",), np.arange(20) % 3 == 0),
            "label": (("y",), np.array([f"row {i}" for i in range(20)], dtype=object)),
            "code": (("y",), np.array([b"%02d" % i for i in range(20)])),
            "wave": (("x",), np.exp(1j * np.arange(30))),
            "pause": (("time",), (np.arange(6) * 90).astype("m8[s]").astype("m8[ns]")),
            "scalar": ((), 7.5),
        },
        coords={
            "time": np.datetime64("2026-01-01", "ns") + np.arange(6) * np.timedelta64(1, "D"),
            "latitude": (("y",), np.linspace(-45, 45, 20)),
        },
        attrs={"title": "weather"},
    )


ENCODING = {
    "temperature": {"chunks": (2, 10, 30)},
    "packed": {"dtype": "int16", "scale_factor": 0.25, "_FillValue": -1},
}


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "weather.zarr")


def written(folder, zarr_format, **options):
    weather().to_zarr(folder, zarr_format=zarr_format, encoding=ENCODING, **options)
    return folder


def both(folder, **options):
    ours = xarray.open_dataset(folder, engine="blazarr", **options)
    theirs = xarray.open_dataset(folder, engine="zarr", **options)
    return ours, theirs


@FORMATS
@pytest.mark.parametrize("consolidated", [True, False])
def test_same_as_the_engine_of_xarray(folder, zarr_format, consolidated):
    written(folder, zarr_format, consolidated=consolidated)
    ours, theirs = both(folder, consolidated=consolidated)
    xarray.testing.assert_identical(ours.load(), theirs.load())
    for name in theirs.variables:
        assert ours[name].dtype == theirs[name].dtype
        for member in ("chunks", "preferred_chunks", "shards", "_FillValue", "units", "dtype"):
            mine, other = (found[name].encoding.get(member) for found in (ours, theirs))
            # NaN is not NaN.
            assert mine == other or (mine != mine and other != other)  # noqa: PLR0124


@FORMATS
@pytest.mark.parametrize(
    "option",
    [
        {"mask_and_scale": False},
        {"decode_times": False},
        {"decode_cf": False},
        {"drop_variables": ["packed", "time"]},
        {"drop_variables": "flags"},
    ],
    ids=str,
)
def test_options_reach_the_decoding(folder, zarr_format, option):
    ours, theirs = both(written(folder, zarr_format), **option)
    xarray.testing.assert_identical(ours.load(), theirs.load())


def test_nothing_is_read_before_it_is_asked_for(folder):
    written(folder, 3)
    store = Counting(blazarr.storage.LocalStore(folder))
    dataset = xarray.open_dataset(store, engine="blazarr", drop_variables=["time"])
    assert not store.chunks()
    part = dataset["temperature"].isel(time=0, y=slice(0, 5))
    assert not store.chunks()
    np.testing.assert_array_equal(part.values, weather()["temperature"][0, :5])
    assert store.chunks() == ["temperature/c/0/0/0"]


class Counting(blazarr.abc.store.Store):
    """A store that writes down what is asked for."""

    def __init__(self, inner):
        self.inner, self.seen = inner, []

    @property
    def capabilities(self):
        return blazarr.abc.store.Capabilities(read_only=True)

    def get(self, key, range=None):
        self.seen.append(key)
        return self.inner.get(key, range)

    def put(self, key, data, if_generation=None):
        raise NotImplementedError

    def delete(self, key, if_generation=None):
        raise NotImplementedError

    def list(self, prefix="", start_after=""):
        return self.inner.list(prefix, start_after)

    def chunks(self):
        return sorted({key for key in self.seen if "/c/" in key})


@pytest.mark.parametrize(
    "select",
    [
        lambda data: data.isel(time=2),
        lambda data: data.isel(time=[3, 0], y=slice(15, None, 2)),
        lambda data: data.isel(y=slice(None, None, -1), x=-1),
        lambda data: data.isel(x=[], time=0),
        lambda data: data.isel(y=xarray.DataArray([1, 5, 7], dims="p"), x=("p", [2, 2, 0])),
        lambda data: data.drop_vars("label").where(data["flags"], drop=True),
        lambda data: data.sel(time="2026-01-03"),
        lambda data: data.transpose("x", "y", "time", ...),
    ],
)
def test_selections(folder, select):
    dataset = xarray.open_dataset(written(folder, 3), engine="blazarr")
    xarray.testing.assert_equal(select(dataset).load(), select(weather()))


@FORMATS
def test_preferred_chunks_and_dask(folder, zarr_format):
    pytest.importorskip("dask.array")
    written(folder, zarr_format)
    lazy = xarray.open_dataset(folder, engine="blazarr", chunks={})
    assert lazy["temperature"].chunks == ((2, 2, 2), (10, 10), (30,))
    again = pickle.loads(pickle.dumps(lazy))
    mean = again["temperature"].mean("time").compute(scheduler="threads", num_workers=2)
    np.testing.assert_allclose(mean, weather()["temperature"].mean("time"), rtol=1e-6)


def test_shards_and_rectilinear_chunks(tmp_path):
    group = blazarr.create_group(tmp_path / "x.zarr")
    values = np.arange(64 * 12).reshape(64, 12)
    sharded = group.create_array(
        "a", shape=(64, 12), dtype="i8", chunks=(8, 6), shards=(32, 12), dimension_names=["y", "x"]
    )
    uneven = group.create_array(
        "b", shape=(64, 12), dtype="i8", chunks=([40, 24], 5), dimension_names=["y", "x"]
    )
    sharded[:], uneven[:] = values, values
    dataset = xarray.open_dataset(tmp_path / "x.zarr", engine="blazarr")
    assert dataset["a"].encoding["shards"] == (32, 12)
    assert dataset["a"].encoding["preferred_chunks"] == {"y": 8, "x": 6}
    assert dataset["b"].encoding["chunks"] == ((40, 24), 5)
    np.testing.assert_array_equal(dataset["a"], values)
    np.testing.assert_array_equal(dataset["b"], values)


@FORMATS
def test_what_was_opened_can_be_written_by_zarr_python(folder, tmp_path, zarr_format):
    # xarray and zarr-python don't write again what they read as strings of format 2.
    drop = ["label"] if zarr_format == 2 else []
    written(folder, zarr_format)
    dataset = xarray.open_dataset(folder, engine="blazarr", drop_variables=drop)
    copy = str(tmp_path / "copy.zarr")
    dataset.to_zarr(copy, zarr_format=zarr_format)
    xarray.testing.assert_identical(xarray.open_zarr(copy, chunks=None).load(), dataset.load())
    before, after = zarr.open_group(folder), zarr.open_group(copy)
    for name in ("temperature", "packed"):
        assert after[name].compressors == before[name].compressors
        assert after[name].chunks == before[name].chunks


@FORMATS
@pytest.mark.parametrize("consolidated", [True, False])
def test_trees_and_groups(folder, zarr_format, consolidated):
    rng = np.random.default_rng(1)
    tree = xarray.DataTree.from_dict(
        {
            "/": xarray.Dataset({"a": ("x", rng.random(4))}, attrs={"level": 0}),
            "/coarse": xarray.Dataset({"b": ("y", rng.random(5))}),
            "/coarse/inner": xarray.Dataset({"c": ("z", rng.random(6))}),
            "/empty/below": xarray.Dataset({"d": ("z", rng.random(6))}),
        }
    )
    tree.to_zarr(folder, zarr_format=zarr_format, consolidated=consolidated)
    opened = xarray.open_datatree(folder, engine="blazarr", consolidated=consolidated)
    xarray.testing.assert_identical(opened, tree)
    opened.close()
    groups = xarray.open_groups(folder, engine="blazarr", consolidated=consolidated)
    assert set(groups) == {"/", "/coarse", "/coarse/inner", "/empty", "/empty/below"}
    below = xarray.open_datatree(
        folder, engine="blazarr", group="/coarse", consolidated=consolidated
    )
    xarray.testing.assert_identical(below["inner"].to_dataset(), tree["coarse/inner"].to_dataset())
    one = xarray.open_dataset(
        folder, engine="blazarr", group="coarse/inner", consolidated=consolidated
    )
    xarray.testing.assert_identical(one, tree["coarse/inner"].to_dataset())


def test_stores_of_every_kind(folder, tmp_path):
    written(folder, 3)
    archive = str(tmp_path / "weather.zip")
    into, copied = blazarr.storage.ZipStore(archive, mode="w"), {}
    source = blazarr.storage.LocalStore(folder)
    for key in source.keys():  # noqa: SIM118 - a store is no mapping
        into.put(key, source.get(key)[0])
        copied[key] = source.get(key)[0]
    into.close()
    for place in (archive, copied, source, f"file://{folder}", zarr.storage.LocalStore(folder)):
        with xarray.open_dataset(place, engine="blazarr") as dataset:
            xarray.testing.assert_equal(dataset.load(), weather())


def test_closing_leaves_a_store_open_that_was_passed(folder):
    written(folder, 3)
    store = blazarr.storage.LocalStore(folder)
    store.close = lambda: pytest.fail("closed")
    xarray.open_dataset(store, engine="blazarr").close()


def test_strings_are_read_one_by_one(folder):
    dataset = xarray.open_dataset(written(folder, 3), engine="blazarr")
    assert dataset["label"][3].item() == "row 3"
    assert dataset["label"].isel(y=[1, 2]).values.tolist() == ["row 1", "row 2"]


@pytest.mark.parametrize(
    ("dtype", "stored", "missing"),
    [("f8", -999.0, -999.0), ("f4", "NaN", np.nan), ("f8", "AAAAAAAA+H8=", np.nan), ("i2", -1, -1)],
)
def test_fill_values_of_others(tmp_path, dtype, stored, missing):
    array = blazarr.create_array(
        tmp_path / "x.zarr" / "a",
        data=np.array([1, missing], dtype),
        dimension_names=["x"],
        attributes={"_FillValue": stored},
    )
    blazarr.create_group(tmp_path / "x.zarr")
    assert array.shape == (2,)
    values = xarray.open_dataset(tmp_path / "x.zarr", engine="blazarr")["a"].values
    np.testing.assert_array_equal(values, [1, np.nan])


def test_a_fill_value_that_is_none(tmp_path):
    blazarr.create_group(tmp_path).create_array(
        "a", data=np.zeros(2), dimension_names=["x"], attributes={"_FillValue": "AAAA"}
    )
    with pytest.raises(MetadataError, match="base64"):
        xarray.open_dataset(tmp_path, engine="blazarr")


def test_the_fill_value_of_format_3_as_mask(tmp_path):
    blazarr.create_group(tmp_path).create_array(
        "a", shape=(3,), dtype="f8", fill_value=-1, dimension_names=["x"]
    )
    options = {"engine": "blazarr", "use_zarr_fill_value_as_mask": True}
    assert np.isnan(xarray.open_dataset(tmp_path, **options)["a"]).all()


@pytest.mark.parametrize("member", ["_NCZARR_ARRAY", "_nczarr_array"])
def test_dimensions_that_netcdf_wrote(tmp_path, member):
    group = blazarr.create_group(tmp_path, zarr_format=2)
    group.create_array("a", data=np.arange(6).reshape(2, 3))
    file = tmp_path / "a" / (".zarray" if member.isupper() else ".zattrs")
    document = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**document, member: {"dimrefs": ["/y", "/group/x"]}}))
    dataset = xarray.open_dataset(tmp_path, engine="blazarr")
    assert dataset["a"].dims == ("y", "x")
    assert not dataset["a"].attrs


def test_arrays_without_names_of_axes(tmp_path):
    group = blazarr.create_group(tmp_path)
    group.create_array("a", data=np.zeros((2, 3)))
    group.create_array("b", data=np.zeros(2), dimension_names=["x"])
    with pytest.raises(MetadataError, match="drop_variables") as raised:
        xarray.open_dataset(tmp_path, engine="blazarr")
    assert raised.value.key == "a"
    dataset = xarray.open_dataset(tmp_path, engine="blazarr", drop_variables="a")
    assert list(dataset) == ["b"]


def test_where_there_is_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        xarray.open_dataset(str(tmp_path / "no.zarr"), engine="blazarr")


WITHOUT_ZARR = """
import sys
sys.modules["zarr"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "zarr" else find(name, *rest)
import xarray
dataset = xarray.open_dataset(sys.argv[1])
print(float(dataset["scalar"]), "zarr" in xarray.backends.list_engines())
"""


def test_zarr_python_is_not_needed(folder):
    written(folder, 3)
    command = [sys.executable, "-c", WITHOUT_ZARR, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["7.5", "False"], done.stderr


def test_folders_stay_with_the_engine_of_xarray(folder):
    engine = xarray.backends.list_engines()["blazarr"]
    assert not engine.guess_can_open(folder)


def test_async_loading(folder):
    import asyncio

    dataset = xarray.open_dataset(written(folder, 3), engine="blazarr")
    if not hasattr(dataset, "load_async"):
        pytest.skip("this xarray has no load_async")
    xarray.testing.assert_equal(asyncio.run(dataset.load_async()), weather())
