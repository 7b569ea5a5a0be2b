"""Stores of very many keys are listed by pages, in bounded memory.

`benchmarks/listing.py` measures a million of them in the stores that would take a test too long.
"""

import io
import itertools
import struct
import subprocess
import sys
import threading
import tracemalloc
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
import zarr
from fsspec import AbstractFileSystem

import blazarr
from blazarr.stores import MemoryStore, ZipStore, zarr_python
from blazarr.stores.fsspec import FsspecStore
from blazarr.stores.zarr_python import ZarrPythonStore

KEYS, PAGE = 1_000_000, 1000
MOST = 200 << 20


def documents(*shape):
    """Return the documents of a group with an array ``a``."""
    made = {}
    chunks = (1,) * len(shape)
    blazarr.create_group(made).create_array("a", shape=shape, chunks=chunks, dtype="u1")
    return {key: bytes(value) for key, value in made.items()}


DOCUMENTS = documents(2 * KEYS)

ENTRY = (
    "<Contents><Key>a/c/{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
    "<ETag>&quot;e&quot;</ETag><Size>7</Size></Contents>"
)

PROGRAM = """
from pathlib import Path
import blazarr
from blazarr.stores.object_store import ObjectStore

store = ObjectStore("s3://bucket", storage_options={"endpoint_url": "URL", "anonymous": True})
count = total = 0
last = ""
for page in store.list():
    assert last < page[0][0]
    last = page[-1][0]
    count += len(page)
    total += sum(size for _, size in page)
chunks = blazarr.open_array(store, path="a", mode="r").nchunks_initialized
group = blazarr.open_group(store, mode="r")
names = [name for name, _ in group.members()]
assert "(2000000,)" in str(group.tree())
# Not ru_maxrss, which a new process has from the one that started it.
status = Path("/proc/self/status").read_text()
print(count, total, last, chunks, *names, int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as a listing takes: a group with one array, and the second million of its chunks."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if "list-type" not in query:
            self.answer(DOCUMENTS.get(url.path.removeprefix("/bucket/")))
        elif "delimiter" in query:
            names = "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"
            self.answer(f"<ListBucketResult>{names}</ListBucketResult>".encode())
        else:
            self.list_from(int(query.get("continuation-token", ["0"])[0]))

    def list_from(self, first):
        entries = "".join(map(ENTRY.format, range(KEYS + first, KEYS + first + PAGE)))
        following = first + PAGE
        token = f"<NextContinuationToken>{following}</NextContinuationToken>"
        end = token if following < KEYS else ""
        self.answer(f"<ListBucketResult>{entries}{end}</ListBucketResult>".encode())

    def answer(self, body):
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.send_header("ETag", '"e"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        self.wfile.write(body or b"")


@pytest.fixture
def endpoint():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_a_million_keys(endpoint):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("URL", endpoint)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, total, last, chunks, name, memory = done.stdout.split()
    assert (int(count), int(total), int(chunks)) == (KEYS, 7 * KEYS, KEYS)
    assert (last, name) == (f"a/c/{2 * KEYS - 1}", "a")
    assert int(memory) < MOST


ROWS, COLUMNS = 30, 1000
NAMES = 12_000


def keys():
    return [f"a/c/{row}/{column}" for row in range(ROWS) for column in range(COLUMNS)]


def archive():
    """Return an archive of empty chunks, and of documents."""
    entries = documents(ROWS, COLUMNS) | dict.fromkeys(keys(), b"")
    parts, records, offset = [], [], 0
    for key, value in entries.items():
        sizes = struct.pack("<IIIH", zlib.crc32(value), len(value), len(value), len(key))
        common = struct.pack("<HHHHH", 20, 0, 0, 0, 33) + sizes
        parts.append(b"PK\3\4" + common + bytes(2) + key.encode() + value)
        records.append(
            b"PK\1\2\x14\0" + common + bytes(12) + struct.pack("<I", offset) + key.encode()
        )
        offset += len(parts[-1])
    directory = b"".join(records)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0, 0, len(directory), offset, 0)
    return io.BytesIO(b"".join([*parts, directory, end]))


class Rows(AbstractFileSystem):
    """A file system of generated names."""

    protocol = "rows"
    cachable = False

    def ls(self, path, detail=True, **options):
        path = path.strip("/")
        above, names, kind = {
            "root": ("root", ["a"], "directory"),
            "root/a": ("root/a", ["c"], "directory"),
            "root/a/c": ("root/a/c", map(str, range(ROWS)), "directory"),
        }.get(path, (path, map(str, range(COLUMNS)), "file"))
        return [{"name": f"{above}/{name}", "size": 1, "type": kind} for name in names]


class Generated(zarr.storage.MemoryStore):
    """A store of zarr-python that lists generated names, in no order."""

    async def list_prefix(self, prefix):
        for number in range(NAMES):
            yield f"c/{number * 7 % NAMES:05}"

    async def exists(self, key):
        return True

    async def getsize(self, key):
        return 7


def peak_of(work):
    """Return the result of a function, and the most that was allocated by Python meanwhile."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = work()
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def last_of(pages):
    """Return how many keys there are, and the last, of pages that are in order."""
    count, last = 0, ""
    for page in pages:
        names = [last, *(key for key, _ in page)]
        assert all(one < other for one, other in itertools.pairwise(names))
        count, last = count + len(page), names[-1]
    return count, last


# Bytes for each key; 200 are 191 MiB for a million.


def test_an_archive_has_a_bound_for_each_key():
    store = ZipStore(archive())
    found, peak = peak_of(lambda: last_of(store.list("a/c/")))
    assert found == (ROWS * COLUMNS, "a/c/9/999")
    assert peak < 180 * ROWS * COLUMNS
    # Once its directory is read, nothing more is kept.
    array = blazarr.open_array(store, path="a", mode="r")
    group = blazarr.open_group(store, mode="r")
    str(group.tree())  # imports what draws
    for work, expected in [
        (lambda: array.nchunks_initialized, ROWS * COLUMNS),
        (lambda: [name for name, _ in group.members()], ["a"]),
        (lambda: str(group.tree()).count("\n"), 2),
    ]:
        found, peak = peak_of(work)
        assert found == expected
        assert peak < 10 * ROWS * COLUMNS


def test_fsspec_has_a_folder_in_memory():
    store = FsspecStore(Rows(), "root")
    found, peak = peak_of(lambda: last_of(store.list()))
    assert found == (ROWS * COLUMNS, "a/c/9/999")
    assert peak < 20 * ROWS * COLUMNS
    assert last_of(store.list("a/c/2", "a/c/27/55")) == (2498, "a/c/29/999")


def test_stores_of_zarr_python_have_some_keys_in_memory(monkeypatch):
    monkeypatch.setattr(zarr_python, "KEPT", 1000)
    store = ZarrPythonStore(Generated())
    found, peak = peak_of(lambda: last_of(store.list()))
    assert found == (NAMES, f"c/{NAMES - 1:05}")
    # Twice as many names, and a page of requests.
    assert peak < NAMES * 200
    assert last_of(store.list("c/04", "c/0450")) == (500, "c/04999")


def test_the_members_of_a_mapping_take_no_names_of_chunks():
    content = documents(ROWS, COLUMNS) | dict.fromkeys(keys(), b"")
    group = blazarr.open_group(MemoryStore(content), mode="r")
    found, peak = peak_of(lambda: [name for name, _ in group.members()])
    assert found == ["a"]
    assert peak < 40 * ROWS * COLUMNS
