"""A store of a million keys is listed by pages, in bounded memory."""

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

KEYS, PAGE = 1_000_000, 1000
MOST = 200 << 20

ENTRY = (
    "<Contents><Key>a/c/{:07}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
    "<ETag>&quot;e&quot;</ETag><Size>7</Size></Contents>"
)

PROGRAM = """
from pathlib import Path
from blazarr.stores.object_store import ObjectStore

store = ObjectStore("s3://bucket/a", storage_options={"endpoint_url": "URL", "anonymous": True})
count = total = 0
last = ""
for page in store.list():
    assert last < page[0][0]
    last = page[-1][0]
    count += len(page)
    total += sum(size for _, size in page)
# Not ru_maxrss, which a new process has from the one that started it.
status = Path("/proc/self/status").read_text()
print(count, total, last, int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


class Bucket(BaseHTTPRequestHandler):
    """As much of S3 as a listing takes."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        first = int(query.get("continuation-token", ["0"])[0])
        entries = "".join(map(ENTRY.format, range(first, first + PAGE)))
        following = first + PAGE
        token = f"<NextContinuationToken>{following}</NextContinuationToken>"
        body = f"<ListBucketResult>{entries}{token if following < KEYS else ''}</ListBucketResult>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


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
    count, total, last, memory = done.stdout.split()
    assert (int(count), int(total)) == (KEYS, 7 * KEYS)
    assert last == f"c/{KEYS - 1:07}"
    assert int(memory) < MOST
