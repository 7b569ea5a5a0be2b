"""Saving and loading, both formats, text and times, and what a folder holds after it."""

from pathlib import Path

import numpy as np
import zarr

values = np.arange(12, dtype="<i4").reshape(3, 4)
for number in (2, 3):
    zarr.save_array(f"one{number}.zarr", values, zarr_format=number)
    print(zarr.load(f"one{number}.zarr").tolist())
    zarr.save_group(f"two{number}.zarr", values, x=values[0] * 0.5, zarr_format=number)
    group = zarr.open_group(f"two{number}.zarr", mode="r")
    print(sorted(group), group["x"][:].tolist(), group.metadata.zarr_format)
    print(sorted(str(path) for path in Path(f"two{number}.zarr").rglob("*") if path.is_file()))

text = zarr.create_array("text.zarr", shape=(3,), chunks=(2,), dtype=str)
text[:] = np.array(["one", "", "drei ü"])
print([str(word) for word in zarr.open_array("text.zarr", mode="r")[:]])
times = np.array(["2026-01-01T00:00:00", "NaT"], dtype="datetime64[s]")
saved = zarr.create_array("times.zarr", data=times)
print(saved.dtype, saved[:].astype(str).tolist())
records = np.array([(1, 2.5), (3, 4.5)], dtype=[("id", "<i4"), ("value", "<f8")])
saved = zarr.create_array("records.zarr", data=records, zarr_format=2)
print(saved[:].tolist(), saved[:]["value"].tolist(), saved.fill_value.item())
for mode in ("r", "r+", "w-"):
    try:
        zarr.open_array("one3.zarr" if mode == "w-" else "missing.zarr", mode=mode, shape=(1,))
    except FileNotFoundError:
        print(mode, "not found")
    except FileExistsError:
        print(mode, "exists")
