"""Write an array, read it back, say so: whether an installation works.

python examples/hello.py
"""

import tempfile

import numpy as np

import blazarr

values = np.arange(64 * 64, dtype="uint16").reshape(64, 64)
with tempfile.TemporaryDirectory() as folder:
    blazarr.create_array(f"{folder}/hello.zarr", data=values, chunks=(8, 8), shards=(32, 32))
    array = blazarr.open_array(f"{folder}/hello.zarr", mode="r")
    np.testing.assert_array_equal(array[::-1, 5], values[::-1, 5])
    print(
        f"blazarr {blazarr.__version__} works: {array.info.shape}, {array.nbytes_stored()} bytes stored"
    )
