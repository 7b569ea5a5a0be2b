"""Groups: members, paths, consolidated metadata, requiring, deleting."""

import zarr
from zarr.storage import MemoryStore

store = MemoryStore()
root = zarr.create_group(store, attributes={"title": "run 1"})
raw = root.create_group("raw")
for number in range(3):
    raw.create_array(f"scan{number}", shape=(4, 4), chunks=(2, 2), dtype="u2", fill_value=number)
root.create_array("results/mean", shape=(4,), chunks=(4,), dtype="f8")
root["results/mean"][:] = [root[f"raw/scan{n}"][:].mean() for n in (0, 1, 2, 2)]

print(sorted(root), sorted(root.group_keys()), sorted(raw.array_keys()), len(raw))
print("raw/scan1" in root, "raw/none" in root, root.get("none", "nothing"))
print(sorted(path for path, _ in root.members(max_depth=None)), root.nmembers(max_depth=None))
print(root["results"]["mean"][:].tolist(), root["raw"].name, root["raw/scan2"].basename)
try:
    root["none"]
except KeyError:
    print("no such member")
try:
    root.create_group("raw")
except ValueError:
    print("there already")

print(root.require_group("raw") == raw, root.require_array("raw/scan0", shape=(4, 4), dtype="u2"))
del root["raw/scan0"]
del root["nothing of this name"]
print(sorted(raw.array_keys()))

zarr.consolidate_metadata(store)
opened = zarr.open_consolidated(store)
print(sorted(path for path, _ in opened.members(max_depth=None)), dict(opened.attrs))
nodes = {"a/b": raw["scan1"].metadata, "c": root.metadata}
made = zarr.create_hierarchy(store=MemoryStore(), nodes=nodes)
print(sorted((path, type(node).__name__) for path, node in made))
