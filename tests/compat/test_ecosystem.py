"""Packages that read and write through zarr-python: xarray, dask, anndata, ome-zarr."""

import numpy as np
import pytest
import zarr

# What these packages warn of is their own affair.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "store.zarr")


@pytest.fixture
def dataset():
    xarray = pytest.importorskip("xarray", reason="xarray does not install on this Python")
    rng = np.random.default_rng(0)
    return xarray.Dataset(
        {
            "temperature": (("time", "y", "x"), rng.random((6, 20, 30), "f4")),
            "count": (("time",), np.arange(6), {"units": "1"}),
            "name": (("y",), np.array([f"row {i}" for i in range(20)])),
        },
        coords={"time": np.datetime64("2026-01-01", "ns") + np.arange(6) * np.timedelta64(1, "D")},
    )


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("consolidated", [True, False])
def test_xarray_round_trip(dataset, folder, zarr_format, consolidated):
    xarray = pytest.importorskip("xarray")
    dataset.to_zarr(folder, zarr_format=zarr_format, consolidated=consolidated)
    xarray.testing.assert_identical(xarray.open_zarr(folder, chunks=None).load(), dataset)
    assert_pipeline(folder, "temperature")


def test_xarray_appends(dataset, folder):
    xarray = pytest.importorskip("xarray")
    first, second = dataset.isel(time=slice(0, 4)), dataset.isel(time=slice(4, 6))
    first.to_zarr(folder)
    second.drop_vars("name").to_zarr(folder, append_dim="time")
    xarray.testing.assert_equal(xarray.open_zarr(folder, chunks=None).load(), dataset)


def test_xarray_writes_regions(dataset, folder):
    xarray = pytest.importorskip("xarray")
    dataset.to_zarr(folder)
    part = dataset[["temperature"]].isel(time=slice(2, 4)) * 0 + 7
    part.drop_vars("time").to_zarr(folder, region={"time": slice(2, 4)})
    found = xarray.open_zarr(folder, chunks=None)["temperature"].values
    np.testing.assert_array_equal(found[2:4], 7)
    np.testing.assert_array_equal(found[:2], dataset["temperature"][:2])


def test_xarray_writes_shards(dataset, folder):
    xarray = pytest.importorskip("xarray")
    encoding = {"temperature": {"chunks": (1, 10, 10), "shards": (2, 20, 30)}}
    dataset.to_zarr(folder, encoding=encoding, zarr_format=3)
    assert zarr.open_group(folder)["temperature"].shards == (2, 20, 30)
    xarray.testing.assert_identical(xarray.open_zarr(folder, chunks=None).load(), dataset)


def test_xarray_with_dask(dataset, folder):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("dask.array", reason="dask does not install on this Python")
    dataset.chunk({"time": 2}).to_zarr(folder)
    lazy = xarray.open_zarr(folder)
    np.testing.assert_allclose(
        lazy["temperature"].mean("time").compute(), dataset["temperature"].mean("time"), rtol=1e-6
    )


@pytest.fixture(params=["threads", "processes", "distributed"])
def scheduler(request):
    dask = pytest.importorskip("dask", reason="dask does not install on this Python")
    if request.param != "distributed":
        options = {"scheduler": request.param, "num_workers": 2}
        if request.param == "processes":
            options["multiprocessing.context"] = "spawn"
        with dask.config.set(options):
            yield request.param
        return
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster):
        yield request.param


@pytest.fixture
def everywhere(monkeypatch):
    """Choose the pipeline in child processes too."""
    monkeypatch.setenv(
        "ZARR_CODEC_PIPELINE__PATH", "blazarr.compat.zarr_python.BlazarrCodecPipeline"
    )


@pytest.mark.usefixtures("everywhere")
def test_dask(scheduler, folder):
    array = pytest.importorskip("dask.array")
    numbers = np.arange(60 * 50, dtype="f8").reshape(60, 50)
    zarr.create_array(folder, shape=numbers.shape, chunks=(15, 25), dtype="f8")
    array.from_array(numbers, chunks=(15, 25)).to_zarr(zarr.open_array(folder))
    lazy = array.from_zarr(folder)
    np.testing.assert_array_equal((lazy + 1).compute(), numbers + 1)
    np.testing.assert_array_equal(lazy[::7, 3].compute(), numbers[::7, 3])


@pytest.mark.usefixtures("everywhere")
def test_processes_use_the_pipeline(folder):
    dask = pytest.importorskip("dask", reason="dask does not install on this Python")
    array = zarr.create_array(folder, shape=4, dtype="i4")
    name = dask.delayed(pipeline_name)(array)
    with dask.config.set({"multiprocessing.context": "spawn"}):
        assert name.compute(scheduler="processes") == "BlazarrCodecPipeline"


def pipeline_name(array):
    return type(array._async_array.codec_pipeline).__name__


def test_anndata(folder):
    anndata = pytest.importorskip("anndata", reason="anndata does not install on this Python")
    pandas = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    cells = pandas.DataFrame(
        {"kind": pandas.Categorical(["a", "b", "a"]), "size": [1.5, 2.5, 3.5]},
        index=["c0", "c1", "c2"],
    )
    written = anndata.AnnData(
        X=sparse.csr_matrix(rng.integers(0, 3, (3, 5)).astype("f4")),
        obs=cells,
        obsm={"pca": rng.random((3, 2))},
    )
    written.write_zarr(folder)
    read = anndata.read_zarr(folder)
    np.testing.assert_array_equal(read.X.toarray(), written.X.toarray())
    np.testing.assert_array_equal(read.obsm["pca"], written.obsm["pca"])
    assert list(read.obs["kind"]) == list(cells["kind"])
    assert list(read.obs_names) == ["c0", "c1", "c2"]


def test_ome_zarr(folder):
    pytest.importorskip("ome_zarr", reason="ome-zarr does not install on this Python")
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader
    from ome_zarr.writer import write_image

    image = np.random.default_rng(0).integers(0, 255, (2, 64, 64), "u1")
    write_image(image, zarr.open_group(folder, mode="w"), axes="cyx")
    (node,) = Reader(parse_url(folder))()
    np.testing.assert_array_equal(np.asarray(node.data[0]), image)


def assert_pipeline(folder, name):
    assert pipeline_name(zarr.open_group(folder)[name]) == "BlazarrCodecPipeline"
