"""One reading of the array in the bucket, by one contender; `run.py` starts this."""

import json
import sys
import time

import numpy as np

SHARD, INNER = 2048, 256
POINTS = 1000
TOUCHED = 5 << 29


def main():
    name, task, endpoint = sys.argv[1:]
    array, points = OPENERS[name](endpoint)
    side = array.shape[0]
    rows, columns = points_of(side)
    touch_memory()
    reads = {"whole": lambda: whole_of(array), "chunks": lambda: points(array, rows, columns)}
    begun, used = time.perf_counter(), time.process_time()
    values = reads[task]()
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    values = np.asarray(values)
    checked = values[rows, columns] if task == "whole" else values
    print(json.dumps([seconds, used, float(checked.sum(dtype="f8"))]))


def touch_memory():
    """Have the machine find the memory that a read will need; in a virtual one the first use is dear."""
    np.ones(TOUCHED, "u1")


def cells_of(side):
    """Return rows and columns of random inner chunks."""
    count = (side // INNER) ** 2
    cells = np.random.default_rng(1).choice(count, min(POINTS, count), replace=False)
    return np.divmod(cells, side // INNER)


def points_of(side):
    """Return rows and columns of an element in each of these chunks."""
    random = np.random.default_rng(2)
    return [cell * INNER + random.integers(0, INNER, len(cell)) for cell in cells_of(side)]


def whole_of(array):
    return array.read().result() if type(array).__module__ == "tensorstore" else array[:]


def open_blazarr(endpoint):
    import blazarr

    options = {"endpoint_url": endpoint}
    array = blazarr.open_array("s3://bucket/a", mode="r", storage_options=options)
    return array, lambda array, rows, columns: array.vindex[rows, columns]


def open_memory(endpoint):
    import blazarr

    source = blazarr.storage.ObjectStore(
        "s3://bucket/a", storage_options={"endpoint_url": endpoint}
    )
    values = {key: bytes(source.get(key)[0]) for page in source.list() for key, _ in page}
    array = blazarr.open_array(values, mode="r")
    return array, lambda array, rows, columns: array.vindex[rows, columns]


def open_zarr(endpoint):
    import obstore.store
    import zarr

    store = obstore.store.S3Store(
        "bucket", prefix="a", endpoint=endpoint, client_options={"allow_http": True}
    )
    array = zarr.open_array(zarr.storage.ObjectStore(store, read_only=True), mode="r")
    return array, lambda array, rows, columns: array.vindex[rows, columns]


def open_zarrs(endpoint):
    import zarr
    import zarrs  # noqa: F401 - registers itself

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return open_zarr(endpoint)


def open_tensorstore(endpoint):
    import tensorstore

    kvstore = {"driver": "s3", "bucket": "bucket", "path": "a/", "endpoint": endpoint}
    kvstore |= {"aws_region": "us-east-1", "aws_credentials": {"type": "environment"}}
    array = tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, read=True).result()
    return array, lambda array, rows, columns: array.vindex[rows, columns].read().result()


OPENERS = {
    "blazarr": open_blazarr,
    "decoder": open_memory,
    "zarr-python": open_zarr,
    "zarrs-python": open_zarrs,
    "tensorstore": open_tensorstore,
}

if __name__ == "__main__":
    main()
