"""Arrays as a tutorial shows them: create, assign, resize, append, attributes, selections."""

import numpy as np
import zarr

array = zarr.create_array("first.zarr", shape=(100, 60), chunks=(10, 20), dtype="int32")
array[:] = 42
array[0, :] = np.arange(60)
array[:, 0] = np.arange(100)
print(array.shape, array.dtype, array.chunks, array.nchunks, array.size, array.nbytes)
print(array[0, 5], array[0:3, 0:4].tolist(), array[-1, -2:].tolist(), array[...].sum())
print(array.oindex[[1, 5], 2:4].tolist(), array.vindex[[1, 2], [0, 3]].tolist())
print(array.blocks[0, 0].shape, array.get_mask_selection(array[...] == 42).size)

array.attrs["unit"] = "K"
array.attrs.update(count=3, names=["a", "b"])
again = zarr.open_array("first.zarr", mode="r")
print(dict(again.attrs), again.read_only)

array.resize((20, 70))
print(array.shape, array[:, 65].sum(), array.cdata_shape)
print(array.append(np.ones((5, 70), dtype="int32")), array[22, :3].tolist())

ones = zarr.ones((4, 4), chunks=(2, 2), dtype="f4")
like = zarr.zeros_like(ones)
print(ones[:].tolist() == np.ones((4, 4)).tolist(), like.shape, like.dtype, like[:].sum())
full = zarr.full((3,), fill_value=7, dtype="u1")
print(full[:].tolist(), full.fill_value, full.nchunks_initialized)
for row in zarr.array(np.arange(6).reshape(3, 2), chunks=(1, 2)):
    print(row.tolist())
print(np.asarray(full) + 1)
