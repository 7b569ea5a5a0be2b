"""A web server on loopback that misbehaves as told."""

import contextlib
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


class Faulty:
    """Files by path, and for some of them what to do instead of answering.

    A fault is a function of the request that returns whether to go on and answer as usual; it
    applies as many times as told.
    """

    def __init__(self, files):
        self.files = files
        self.faults = {}
        self.requests = defaultdict(int)
        self.times = defaultdict(list)
        self.ranges = True
        self.tags = True
        self.url = ""
        self.over = threading.Event()

    def fail(self, path, fault, times=1 << 30):
        self.faults[path] = [fault, times]

    def faulty(self, request):
        self.requests[request.path] += 1
        self.times[request.path].append(time.monotonic())
        fault = self.faults.get(request.path)
        if fault is None or not fault[1]:
            return True
        fault[1] -= 1
        return fault[0](request)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Faulty

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with contextlib.suppress(ConnectionError):
            if self.script.faulty(self):
                self.usual()

    def usual(self):
        data = self.script.files.get(unquote(self.path))
        if data is None:
            return self.send(404, b"")
        headers = {"ETag": f'"{hash(data)}"'} if self.script.tags else {}
        part = self.headers.get("Range")
        if part is None or not self.script.ranges:
            return self.send(200, data, headers)
        first, _, last = part.removeprefix("bytes=").partition("-")
        size = len(data)
        start = max(0, size - int(last)) if not first else int(first)
        stop = size if not first or not last else min(size, int(last) + 1)
        if start >= stop:
            return self.send(416, b"", {"Content-Range": f"bytes */{size}"})
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        return self.send(206, data[start:stop], headers)

    def send(self, status, body, headers=(), length=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def status(code, **headers):
    """A fault: an answer of some status."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: request.send(code, b"no", names)


def chunked(request):
    """A fault: a body whose length is not said."""
    data = request.script.files[request.path]
    request.send_response(200)
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for start in range(0, len(data), 50):
        piece = data[start : start + 50]
        request.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    request.wfile.write(b"0\r\n\r\n")


def cut(count):
    """A fault: the connection ends after some bytes of the body."""

    def fault(request):
        write = request.wfile.write

        def some(data):
            if data.startswith(b"HTTP/"):
                return write(data)
            write(data[:count])
            request.close_connection = True
            raise ConnectionError

        request.wfile.write = some
        return True

    return fault


def silent(request):
    """A fault: nothing is answered."""
    request.script.over.wait()
    request.close_connection = True


def drip(request):
    """A fault: a body that comes a byte at a time."""
    data = request.script.files[request.path]
    request.send(200, b"", length=len(data))
    for place in range(len(data)):
        if request.script.over.is_set():
            break
        request.wfile.write(data[place : place + 1])
        time.sleep(0.02)
    request.close_connection = True


@contextlib.contextmanager
def serve(files):
    """Run a server for files by path, in threads of this process, until the block ends."""
    script = Faulty({f"/{key}": data for key, data in files.items()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (Handler,), {"script": script}))
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
