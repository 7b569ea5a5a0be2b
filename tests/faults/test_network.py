"""Servers that fail: an array read over the network is right, or an error, and never waits for ever."""

import importlib.util
import multiprocessing
import signal
import socket
import threading
import time
from base64 import b64encode
from datetime import timedelta
from email.utils import formatdate
from pathlib import Path

import numpy as np
import pytest

import blazarr
from blazarr.errors import BlazarrError, CorruptError, LimitError, StoreError, UnsupportedError
from blazarr.stores.object_store import ObjectStore

# Tests are no package.
_spec = importlib.util.spec_from_file_location("servers", Path(__file__).parent / "servers.py")
servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(servers)

VALUES = np.arange(3600, dtype="u4").reshape(60, 60) * 7919 % 100_003
BACKOFF = {
    "init_backoff": timedelta(milliseconds=1),
    "max_backoff": timedelta(milliseconds=5),
    "base": 2,
}


@pytest.fixture(autouse=True)
def _no_waiting_for_ever():
    """Make a failure of what hangs."""

    def fail(*_):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["chunks", "shards", "uncompressed"])
def server(request):
    files = {}
    options = {"shards": (20, 20)} if request.param == "shards" else {}
    if request.param == "uncompressed":
        options["compressors"] = None
    array = blazarr.create_array(files, shape=(60, 60), chunks=(10, 10), dtype="u4", **options)
    array[:] = VALUES
    with servers.serve(files) as script:
        yield script


def read(server, selection=..., **options):
    options = {"retry_config": {"backoff": BACKOFF}, **options}
    return blazarr.open_array(server.url, mode="r", storage_options=options)[selection]


def test_without_faults(server):
    assert np.array_equal(read(server), VALUES)
    assert np.array_equal(read(server, (slice(5, 17), 33)), VALUES[5:17, 33])


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(server, code):
    for path in ("/zarr.json", "/c/0/0", "/c/1/2"):
        server.fail(path, servers.status(code, Retry_After="0"), times=2)
    assert np.array_equal(read(server), VALUES)
    assert server.requests["/c/1/2"] >= 3


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_the_pause_that_a_server_asks_for_is_kept(server, form):
    # A date has whole seconds.
    asked = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    server.fail("/c/1/2", servers.status(503, Retry_After=asked), times=1)
    assert np.array_equal(read(server), VALUES)
    first, second = server.times["/c/1/2"][:2]
    assert second - first > 0.9


def test_a_pause_longer_than_the_deadline_is_an_error(server):
    server.fail("/c/1/2", servers.status(503, Retry_After="3600"))
    with pytest.raises(StoreError, match="503"):
        read(server)
    assert server.requests["/c/1/2"] == 1


def test_an_interrupt_ends_a_read(server):
    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    server.fail("/c/1/2", servers.silent)
    before = signal.signal(signal.SIGUSR1, stop)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGUSR1])
    timer.start()
    try:
        with pytest.raises(StopError):
            read(server)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    server.fail("/c/1/2", lambda request: True)
    assert np.array_equal(read(server), VALUES)


@pytest.mark.filterwarnings("ignore:.*no range requests")
def test_a_body_without_a_length(server):
    server.fail("/zarr.json", servers.chunked)
    server.fail("/c/1/2", servers.chunked)
    assert np.array_equal(read(server), VALUES)


@pytest.mark.parametrize("code", [429, 500, 503])
def test_what_stays_is_an_error(server, code):
    server.fail("/c/1/2", servers.status(code))
    with pytest.raises(StoreError, match=str(code)):
        read(server)


@pytest.mark.parametrize("code", [401, 403])
def test_a_refusal_is_no_missing_chunk(server, code):
    server.fail("/c/1/2", servers.status(code))
    with pytest.raises(StoreError) as caught:
        read(server)
    assert caught.value.kind == "permission"
    assert caught.value.key == "c/1/2"


@pytest.mark.parametrize("code", [400, 405, 410, 418, 451])
def test_nor_is_any_other_answer(server, code):
    server.fail("/c/1/2", servers.status(code))
    with pytest.raises(StoreError):
        read(server)


def test_404_is_a_missing_chunk(server):
    del server.files["/c/1/2"]
    found = read(server)
    gone = found != VALUES
    assert gone.any()
    assert not found[gone].any()


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize("count", [0, 1, 30])
def test_a_body_that_is_cut_short_is_fetched_again(server, tags, count):
    server.tags = tags
    for path in ("/zarr.json", "/c/0/0", "/c/2/1"):
        server.fail(path, servers.cut(count), times=1)
    assert np.array_equal(read(server), VALUES)


def test_a_body_that_is_always_cut_short_is_an_error(server):
    server.tags = False
    server.fail("/c/1/2", servers.cut(10))
    with pytest.raises(StoreError):
        read(server)


def test_a_server_that_says_nothing(server):
    server.fail("/c/1/2", servers.silent)
    with pytest.raises(StoreError):
        read(
            server,
            client_options={"read_timeout": timedelta(milliseconds=300)},
            retry_config={"max_retries": 1},
        )
    with pytest.raises(StoreError) as caught:
        read(server, deadline=0.5)
    assert caught.value.deadline == 0.5


@pytest.mark.filterwarnings("ignore:.*no range requests")
def test_a_server_that_drips(server):
    server.fail("/c/1/2", servers.drip)
    with pytest.raises(StoreError) as caught:
        read(server, deadline=0.5)
    assert caught.value.deadline == 0.5


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_makes_its_own_connections(server):
    array = blazarr.open_array(server.url, mode="r")
    assert np.array_equal(array[:], VALUES)
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()
    process = context.Process(target=lambda: answer.put(bool(np.array_equal(array[:], VALUES))))
    process.start()
    assert answer.get()
    process.join()
    assert np.array_equal(array[:], VALUES)


def test_nobody_listens():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(StoreError):
            blazarr.open_array(url, mode="r", storage_options={"retry_config": {"max_retries": 0}})


def test_redirects_are_followed(server):
    server.files["/moved"] = server.files.pop("/c/1/2")
    server.fail("/c/1/2", servers.status(302, Location="/moved"))
    assert np.array_equal(read(server), VALUES)
    server.fail("/c/1/2", servers.status(302, Location="/c/1/2"))
    with pytest.raises(StoreError):
        read(server)


def test_a_server_without_ranges(server):
    server.ranges = False
    with pytest.warns(UserWarning, match="no range requests"):
        assert np.array_equal(read(server), VALUES)
    with pytest.warns(UserWarning, match="no range requests"):
        assert np.array_equal(read(server, (slice(5, 17), 33)), VALUES[5:17, 33])


@pytest.mark.parametrize(
    "shift",
    [(1, 1, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)],
    ids=["moved", "shorter", "longer", "smaller", "larger"],
)
def test_a_wrong_content_range(server, shift):
    """The answer is to another question: right values by chance, an error, but never wrong ones."""

    def fault(request):
        part = request.headers.get("Range")
        if part is None:
            return True
        data = server.files[request.path]
        first, _, last = part.removeprefix("bytes=").partition("-")
        start = max(0, len(data) - int(last)) if not first else int(first)
        stop = len(data) if not first else min(len(data), int(last) + 1)
        said = f"bytes {start + shift[0]}-{stop - 1 + shift[1]}/{len(data) + shift[2]}"
        return request.send(206, data[start:stop], {"Content-Range": said})

    for path in list(server.files):
        if path != "/zarr.json":
            server.fail(path, fault)
    try:
        found = read(server)
    except BlazarrError:
        return
    assert np.array_equal(found, VALUES)


@pytest.mark.filterwarnings("ignore:.*no range requests")
@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_wrong_content_length(server, wrong):
    data = server.files["/c/1/2"]

    def fault(request):
        request.close_connection = True
        request.send(200, data, length=len(data) + wrong)

    server.fail("/c/1/2", fault)
    with pytest.raises((StoreError, CorruptError)):
        read(server)


def test_web_servers_are_not_listed_or_written():
    files = {}
    blazarr.create_array(files, name="a", shape=(3,), dtype="u1")[:] = 7
    with servers.serve(files) as server:
        group = blazarr.open_group(server.url, mode="r")
        assert list(group["a"][:]) == [7, 7, 7]
        with pytest.raises(UnsupportedError, match="listings"):
            list(group.keys())
        with pytest.raises(BlazarrError, match="read-only"):
            blazarr.open_group(server.url, mode="r+")


def endless(sent, status=200, **headers):
    """A fault: a body without an end, or nearly so; `sent` gets how many bytes were taken of it."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}

    def fault(request):
        request.send_response(status)
        for name, value in names.items():
            request.send_header(name, value)
        request.end_headers()
        request.close_connection = True
        if request.command == "HEAD":
            return
        block = bytes(1 << 20)
        sent.append(0)
        while sent[-1] < 200 << 20:
            request.wfile.write(block)
            sent[-1] += len(block)

    return fault


@pytest.mark.filterwarnings("ignore:.*no range requests")
@pytest.mark.parametrize("form", ["a length", "no length"])
def test_a_chunk_without_an_end_is_refused_before_it_is_all_there(server, form):
    sent = []
    headers = {"Content_Length": str(200 << 20)} if form == "a length" else {"Connection": "close"}
    server.fail("/c/1/2", endless(sent, **headers))
    with pytest.raises(StoreError, match=r"c/1/2.* is longer than"):
        read(server)
    # What metadata allows, and what was on its way.
    assert sum(sent) < 100 << 20


def test_an_answer_that_is_longer_than_it_says_is_refused(server):
    size, sent = len(server.files["/c/1/2"]), []

    def fault(request):
        part = request.headers.get("Range")
        if part is None:
            headers = {}
            status = 200
        else:
            first, _, last = part.removeprefix("bytes=").partition("-")
            start = size - int(last) if not first else int(first)
            stop = size if not first else int(last) + 1
            headers, status = {"Content_Range": f"bytes {start}-{stop - 1}/{size}"}, 206
        return endless(sent, status, Content_Length=str(200 << 20), **headers)(request)

    server.fail("/c/1/2", fault)
    with pytest.raises(StoreError, match="is longer than"):
        read(server)
    assert sum(sent) < 50 << 20


@pytest.mark.parametrize("form", ["a length", "no length"])
@pytest.mark.filterwarnings("ignore:.*no range requests")
def test_a_document_without_an_end_is_refused_before_it_is_all_there(server, form):
    sent = []
    headers = {"Content_Length": str(200 << 20)} if form == "a length" else {"Connection": "close"}
    server.fail("/zarr.json", endless(sent, **headers))
    with pytest.raises(LimitError, match=r"limits\.document_bytes"):
        read(server)
    assert sum(sent) < 100 << 20


def test_a_password_in_an_address_is_sent_and_never_shown(server):
    sent = []

    def look(request):
        sent.append(request.headers["Authorization"])
        return True

    server.fail("/zarr.json", look)
    server.fail("/c/1/2", servers.status(500))
    url = server.url.replace("http://", "http://user:pass%40word@")
    options = {"retry_config": {"max_retries": 0}}
    array = blazarr.open_array(url, mode="r", storage_options=options)
    assert sent == ["Basic " + b64encode(b"user:pass@word").decode()] * len(sent) != []
    with pytest.raises(StoreError) as caught:
        array[:]
    for text in (str(caught.value), repr(array.store), str(array.store), repr(caught.value)):
        assert "user" not in text
        assert "word" not in text


def test_the_value_of_a_header_is_not_repeated():
    headers = {"Authorization": "Bearer SECRET\n"}
    with pytest.raises(BlazarrError, match="Authorization") as caught:
        ObjectStore(
            "https://example.org", storage_options={"client_options": {"default_headers": headers}}
        )
    assert "SECRET" not in str(caught.value)
