"""HDF5, NetCDF and TIFF files as sources."""

import pickle

import numpy as np
import pytest

import blazarr
from blazarr.conversion.sources import open_source
from blazarr.errors import CorruptError, GroupNotFoundError

h5py = pytest.importorskip("h5py")
tifffile = pytest.importorskip("tifffile")

VALUES = np.random.default_rng(8).integers(0, 99, (6, 40, 24)).astype("u2")


@pytest.fixture
def hdf5(tmp_path):
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "t"
        chunked = file.create_dataset(
            "chunked", data=VALUES, chunks=(2, 16, 16), compression="gzip"
        )
        chunked.attrs["units"] = "m"
        chunked.attrs["range"] = np.array([1.5, 2.5])
        chunked.attrs["_FillValue"] = np.float32(3)
        file["g/plain"] = VALUES.astype(">u2")
        file["time"] = np.arange(6.0)
        file["time"].make_scale("time")
        chunked.dims[0].attach_scale(file["time"])
        file["text"] = np.array(["a", "ümlaut"], dtype=h5py.string_dtype())
        file["flags"] = np.array([True, False])
        file["records"] = np.array([(1, 2.0)], dtype=[("a", ">i4"), ("b", "f8")])
        file["scalar"] = 5
        file["filled"] = file.create_dataset(
            "filled_", shape=(9,), dtype="f8", chunks=(3,), fillvalue=7
        )
        file["nothing"] = h5py.Empty("f4")
        file["reference"] = file["time"].ref
        file["link"] = h5py.SoftLink("/time")
    return path


def test_hdf5(hdf5, tmp_path):
    root = blazarr.convert(hdf5, tmp_path / "out.zarr", verify=True)
    assert np.array_equal(root["chunked"][...], VALUES)
    assert root["chunked"].chunks == (2, 16, 16)
    assert root["chunked"].metadata.dimension_names == ("time", None, None)
    assert root["time"].metadata.dimension_names == ("time",)
    assert dict(root["chunked"].attrs) == {
        "units": "m",
        "range": [1.5, 2.5],
        "_FillValue": "AAAAAAAACEA=",
    }
    assert np.array_equal(root["g/plain"][...], VALUES)
    assert root["text"][...].tolist() == ["a", "ümlaut"]
    assert root["flags"][...].tolist() == [True, False]
    assert root["records"][...].tolist() == [(1, 2.0)]
    assert root["scalar"][...] == 5
    assert root["filled"][...].tolist() == [7] * 9
    assert dict(root.attrs) == {"title": "t"}


def test_what_has_no_form_in_zarr_is_said(hdf5):
    plan = blazarr.convert(hdf5, {}, dry_run=True)
    said = {what.partition(":")[0] for what in plan.left_out}
    assert said == {"nothing", "reference", "link"}
    assert "left out: link" in repr(plan)


def test_a_part_of_a_file_with_other_chunks(hdf5):
    array = blazarr.convert(hdf5, {}, path="g/plain", chunks=(6, 8, 8), max_memory="20KiB")
    assert array.chunks == (6, 8, 8)
    assert np.array_equal(array[...], VALUES)
    with pytest.raises(GroupNotFoundError):
        blazarr.convert(hdf5, {}, path="g/none")


def test_sources_pickle(hdf5):
    source = open_source(hdf5)
    out = np.empty((2, 3, 4), "u2")
    array = pickle.loads(pickle.dumps(source.arrays["chunked"]))
    array.read((slice(1, 3), slice(5, 8), slice(0, 4)), out)
    assert np.array_equal(out, VALUES[1:3, 5:8, :4])


@pytest.mark.parametrize("suffix", [".nc", ".h5", ".tif"])
def test_files_that_are_something_else(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"CDF\x01 or whatever, for a while longer than any header")
    with pytest.raises(CorruptError, match="could not be opened"):
        blazarr.convert(path, {})


def test_a_damaged_chunk_of_hdf5(hdf5, tmp_path):
    with h5py.File(hdf5) as file:
        place = file["chunked"].id.get_chunk_info(3)
    data = bytearray(hdf5.read_bytes())
    data[place.byte_offset : place.byte_offset + place.size] = b"\xff" * place.size
    hdf5.write_bytes(data)
    target = {}
    with pytest.raises(CorruptError, match="chunked"):
        blazarr.convert(hdf5, target, path="chunked")
    assert "zarr.json" not in target


@pytest.mark.parametrize(
    "options", [{"tile": (16, 16)}, {"rowsperstrip": 7}, {"compression": "zlib"}]
)
def test_ome_tiff(tmp_path, options):
    path = tmp_path / "image.ome.tif"
    tifffile.imwrite(path, VALUES, ome=True, metadata={"axes": "ZYX"}, **options)
    array = blazarr.convert(path, tmp_path / "out.zarr", chunks=(6, 8, 8), verify=True)
    assert np.array_equal(array[...], VALUES)
    assert array.metadata.dimension_names == ("z", "y", "x")
    assert array.attrs["ome_xml"].startswith("<?xml")


def test_a_file_of_several_images(tmp_path):
    path = tmp_path / "pyramid.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(VALUES[0], subifds=1, tile=(16, 16))
        file.write(VALUES[0, ::2, ::2], subfiletype=1, tile=(16, 16))
        file.write(VALUES[:2].astype("f4"))
    root = blazarr.convert(path, {}, verify=True)
    assert [name for name, _ in root.members(None)] == ["0", "1", "0/0", "0/1"]
    assert np.array_equal(root["0/1"][...], VALUES[0, ::2, ::2])
    assert np.array_equal(blazarr.convert(path, {}, path="1")[...], VALUES[:2])
    with pytest.raises(GroupNotFoundError, match="0/0"):
        blazarr.convert(path, {}, path="7")
