"""A bucket that another writer changes at the worst time: nobody's change is lost."""

import contextlib
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import blazarr


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as arrays take, with conditional puts; `before` is called once, ahead of a request of its method."""

    protocol_version = "HTTP/1.1"
    values: dict
    before: dict

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Last-Modified", "Mon, 30 Nov 2026 10:00:00 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_one(self, data):
        if (hook := self.before.pop(self.command, None)) is not None:
            hook()
        key = unquote(urlsplit(self.path).path)
        found = self.values.get(key)
        present = None if found is None else tag(found)
        if self.command in {"GET", "HEAD"}:
            return self.give(found)
        wanted, absent = self.headers.get("If-Match"), self.headers.get("If-None-Match")
        if wanted not in {None, present} or (absent and found is not None):
            return self.answer(412)
        if self.command == "DELETE":
            self.values.pop(key, None)
            return self.answer(204)
        self.values[key] = data
        return self.answer(200, ETag=tag(data))

    def give(self, found):
        if found is None:
            return self.answer(404)
        part = self.headers.get("Range")
        if part is None:
            return self.answer(200, found, ETag=tag(found))
        first, _, last = part.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(found) - int(last))
        stop = min(len(found), int(last) + 1) if first and last else len(found)
        said = f"bytes {start}-{stop - 1}/{len(found)}"
        return self.answer(206, found[start:stop], ETag=tag(found), Content_Range=said)

    def do_GET(self):
        self.handle_one(b"")

    def do_PUT(self):
        self.handle_one(self.rfile.read(int(self.headers["Content-Length"])))

    do_HEAD = do_DELETE = do_GET  # noqa: N815 - names of the base class


def tag(data):
    return f'"{hashlib.sha256(data).hexdigest()}"'


@contextlib.contextmanager
def bucket():
    handler = type("Own", (Bucket,), {"values": {}, "before": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("layout", [{"chunks": (4,)}, {"chunks": (2,), "shards": (4,)}])
def test_a_chunk_that_is_left_empty_does_not_take_another_writers_change_along(method, layout):
    with bucket() as (url, handler):
        options = {"endpoint": url, "key": "key", "secret": "secret"}
        place = {"path": "a", "storage_options": options}
        array = blazarr.create_array(
            "s3://bucket", name="a", storage_options=options, shape=(4,), dtype="u1", **layout
        )
        array[:2] = 1
        other = blazarr.open_array("s3://bucket", mode="r+", **place)
        handler.before[method] = lambda: other.__setitem__(slice(2, 4), [7, 8])
        array[:2] = 0
        if handler.before:
            # No such request was made: what the other writer does comes after.
            handler.before.pop(method)()
        assert np.array_equal(array[:], [0, 0, 7, 8])
