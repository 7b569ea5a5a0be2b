"""Reads from an S3 server on loopback with added latency, beside zarr-python, zarrs-python and TensorStore.

    python benchmarks/cloud.py

It needs the S3 server versitygw (`go install github.com/versity/versitygw/cmd/versitygw@latest`) and the group
`bench`. Each contender runs in a process of its own: all of a sharded zstd array of 1 GiB, and one element of each
of 1,000 random inner chunks in one call. A proxy adds 20 ms to each request.
"""

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

SIDE, SHARD, INNER = 16384, 2048, 256
LATENCY = 0.02
POINTS = 1000
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
CONTENDERS = ("blazarr", "zarr-python", "zarrs-python", "tensorstore")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contender", choices=CONTENDERS)
    parser.add_argument("--endpoint")
    parser.add_argument("--side", type=int, default=SIDE)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    if options.contender:
        print(json.dumps(contend(options)))
        return
    gateway = shutil.which("versitygw")
    if gateway is None:
        sys.exit("versitygw is not installed")
    os.environ.update(KEYS)
    with tempfile.TemporaryDirectory() as folder, serving(gateway, Path(folder)) as port:
        (Path(folder) / "bucket").mkdir()
        fill(f"http://127.0.0.1:{port}", options.side)
        proxy = delayed(port)
        print(limits(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{proxy}"), flush=True)
        for contender in CONTENDERS:
            print(f"{contender:14}", run(contender, proxy, options), flush=True)


@contextlib.contextmanager
def serving(gateway, folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [gateway, "--access", "key", "--secret", "secret", "--port", f"127.0.0.1:{port}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*command, "posix", str(folder)], **quiet) as process:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.05)
        try:
            yield port
        finally:
            process.terminate()


def fill(endpoint, side):
    import blazarr

    random = np.random.default_rng(0)
    array = blazarr.create_array(
        "s3://bucket/a",
        shape=(side, side),
        shards=(SHARD, SHARD),
        chunks=(INNER, INNER),
        dtype="f4",
        compressors=blazarr.codecs.ZstdCodec(level=1),
        storage_options={"endpoint_url": endpoint},
    )
    rows = np.sin(np.arange(side, dtype="f4") / 100)
    for start in range(0, side, SHARD):
        noise = random.integers(0, 100, (SHARD, side)).astype("f4") / 1000
        array[start : start + SHARD] = np.round(rows + noise, 3)


def delayed(port):
    """Start a proxy that holds each request up; return its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)

    def accept():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=requests, args=(client, server), daemon=True).start()
            threading.Thread(target=answers, args=(server, client), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def requests(client, server):
    with contextlib.suppress(OSError):
        while data := client.recv(1 << 16):
            time.sleep(LATENCY)
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)


def answers(server, client):
    read, write = os.pipe()
    with contextlib.suppress(OSError):
        while moved := os.splice(server.fileno(), write, 1 << 20):
            while moved:
                moved -= os.splice(read, client.fileno(), moved)
        client.shutdown(socket.SHUT_WR)
    os.close(read)
    os.close(write)


def limits(direct, proxied):
    """What the link and the decoder allow, by themselves."""
    import blazarr

    store = blazarr.storage.ObjectStore("s3://bucket/a", storage_options={"endpoint_url": proxied})
    keys = list(store.keys("c/"))
    parts = [
        (key, slice(start, start + (4 << 20)))
        for key in keys
        for start in range(0, 16 << 20, 4 << 20)
    ]
    begun = time.perf_counter()
    found = store.get_many([key for key, _ in parts], [part for _, part in parts])
    link = time.perf_counter() - begun
    stored = sum(len(item[0]) for item in found)
    del found
    memory = {}
    source = blazarr.storage.ObjectStore("s3://bucket/a", storage_options={"endpoint_url": direct})
    for page in source.list():
        memory |= {key: bytes(source.get(key)[0]) for key, _ in page}
    array = blazarr.open_array(memory, mode="r")
    decoder = min(timed(lambda: array[:])[0] for _ in range(2))
    return {
        "stored MiB": round(stored / 2**20),
        "link alone s": round(link, 2),
        "decoder alone s": round(decoder, 2),
    }


def run(contender, port, options):
    command = [sys.executable, __file__, "--contender", contender]
    command += ["--endpoint", f"http://127.0.0.1:{port}", "--repeat", str(options.repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1:]


def contend(options):
    array, points = OPENERS[options.contender](options.endpoint)
    side = array.shape[0]
    random = np.random.default_rng(1)
    cells = random.choice((side // INNER) ** 2, min(POINTS, (side // INNER) ** 2), replace=False)
    rows = cells // (side // INNER) * INNER + random.integers(0, INNER, len(cells))
    columns = cells % (side // INNER) * INNER + random.integers(0, INNER, len(cells))
    scattered = [timed(lambda: points(array, rows, columns)) for _ in range(options.repeat)]
    whole = [timed(lambda: whole_of(array)) for _ in range(options.repeat)]
    value = whole[0][1]
    if not np.array_equal(value[rows, columns], np.asarray(scattered[0][1])):
        sys.exit("points and whole differ")
    return {
        "whole s": [round(seconds, 2) for seconds, _ in whole],
        "1000 chunks s": [round(seconds, 2) for seconds, _ in scattered],
        "sum": float(value[::64, ::64].sum(dtype="f8")),
    }


def timed(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def whole_of(array):
    return (
        array.read().result() if hasattr(array, "read") and not hasattr(array, "aio") else array[:]
    )


def open_blazarr(endpoint):
    import blazarr

    array = blazarr.open_array(
        "s3://bucket/a", mode="r", storage_options={"endpoint_url": endpoint}
    )
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
    "zarr-python": open_zarr,
    "zarrs-python": open_zarrs,
    "tensorstore": open_tensorstore,
}

if __name__ == "__main__":
    main()
