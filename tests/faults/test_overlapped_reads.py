"""Many reads from one event loop: no thread for each, and a read that is cancelled asks no more."""

import asyncio
import contextlib
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

import blazarr
from blazarr.errors import BoundsCheckError, StoreError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")

VALUES = np.arange(3600, dtype="u4").reshape(60, 60)


class Web:
    """A web server in this very event loop, so that it has no threads of its own."""

    def __init__(self, files):
        self.files = {f"/{key}": bytes(data) for key, data in files.items()}
        self.open = 0
        self.asked = 0
        self.refused = ""
        self.pause = 0.0
        self.silent = False
        self.serving = set()

    async def serve(self, reader, writer):
        self.open += 1
        self.serving.add(asyncio.current_task())
        with (
            contextlib.closing(writer),
            contextlib.suppress(ConnectionError, asyncio.IncompleteReadError),
        ):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked += 1
                if self.silent:
                    await reader.read()  # until the client hangs up
                    break
                await asyncio.sleep(self.pause)
                writer.write(self.answer(head.decode()))
                await writer.drain()
        self.open -= 1

    def answer(self, head):
        path = unquote(head.split()[1])
        body = self.files.get(path)
        if path == self.refused or body is None:
            status = "403 Forbidden" if path == self.refused else "404 Not Found"
            return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()
        status = "200 OK"
        if part := re.search(r"range: bytes=(\d+)-(\d+)", head, re.IGNORECASE):
            start, stop = int(part[1]), min(int(part[2]) + 1, len(body))
            status = f"206 Partial Content\r\nContent-Range: bytes {start}-{stop - 1}/{len(body)}"
            body = body[start:stop]
        return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@contextlib.asynccontextmanager
async def opened(values=VALUES, **options):
    files = {}
    blazarr.create_array(files, data=values, **options)
    web = Web(files)
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    options = {"retry_config": {"max_retries": 0}}
    try:
        yield web, await blazarr.aio.open_array(url, mode="r", storage_options=options)
    finally:
        server.close()
        for task in web.serving:
            task.cancel()
        await asyncio.gather(*web.serving, return_exceptions=True)


def threads():
    return len(list(Path("/proc/self/task").iterdir()))


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what the server counts has no event
            await asyncio.sleep(0.01)


def test_a_thousand_reads_at_a_time():
    async def run():
        async with opened(chunks=(10, 10)) as (web, array):
            await array.getitem(...)
            web.pause = 0.02
            before, most = threads(), 0
            reads = [
                asyncio.ensure_future(array.getitem((slice(n % 50, n % 50 + 10), n % 60)))
                for n in range(1000)
            ]
            everything = asyncio.gather(*reads)
            while not everything.done():
                most = max(most, threads())
                await asyncio.sleep(0.01)
            for n, found in enumerate(await everything):
                assert np.array_equal(found, VALUES[n % 50 : n % 50 + 10, n % 60])
            assert most <= before + os.cpu_count()

    asyncio.run(run())


def test_every_way_to_read():
    async def run():
        async with opened(chunks=(10, 10)) as (_, array):
            rows = np.array([3, 50, 7])
            assert await array.getitem((3, 4)) == VALUES[3, 4]
            assert np.array_equal(await array.read((slice(50, 3, -2), 7)), VALUES[50:3:-2, 7])
            assert np.array_equal(await array.vindex.getitem((rows, rows)), VALUES[rows, rows])
            assert np.array_equal(await array.oindex.getitem((rows, rows)), VALUES[rows][:, rows])
            assert np.array_equal(await array.blocks.getitem((1, 2)), VALUES[10:20, 20:30])
            mask = VALUES % 7 == 0
            assert np.array_equal(await array.get_mask_selection(mask), VALUES[mask])
            out = np.zeros((60, 60), ">f8")
            assert await array.get_basic_selection(..., out=out) is out
            assert np.array_equal(out, VALUES)
            with pytest.raises(BoundsCheckError):
                await array.getitem((99, 0))

    asyncio.run(run())


def test_a_read_that_is_cancelled_asks_no_more():
    async def run():
        async with opened(chunks=(10, 10)) as (web, array):
            web.silent = True
            reading = asyncio.ensure_future(array.getitem(...))
            await until(lambda: web.open == 36)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await until(lambda: not web.open)
            asked = web.asked
            web.silent = False
            assert np.array_equal(await array.getitem((5, slice(5))), VALUES[5, :5])
            assert web.asked == asked + 1

    asyncio.run(run())


def test_of_reads_that_wait_their_turn_none_begins_once_cancelled():
    async def run():
        async with opened(chunks=(10, 10)) as (web, array):
            web.silent = True
            reads = [asyncio.ensure_future(array.getitem((n % 60, n % 60))) for n in range(1000)]
            await until(lambda: web.open == 64)
            asked = web.asked
            for reading in reads:
                reading.cancel()
            await asyncio.gather(*reads, return_exceptions=True)
            await until(lambda: not web.open)
            # While some are cancelled, others may still have their turn.
            assert asked < 200
            assert web.asked < 600

    asyncio.run(run())


def test_a_refusal_ends_a_read():
    async def run():
        async with opened(chunks=(10, 10)) as (web, array):
            web.refused = "/c/1/2"
            with pytest.raises(StoreError) as caught:
                await array.getitem(...)
            assert caught.value.kind == "permission"
            assert caught.value.key == "c/1/2"
            assert np.array_equal(await array.getitem((0, 0)), VALUES[0, 0])

    asyncio.run(run())


def test_a_missing_chunk_is_an_error_where_it_shall_be():
    async def run():
        async with opened(chunks=(10, 10)) as (web, array):
            del web.files["/c/1/2"]
            found = await array.getitem(...)
            assert not found[10:20, 20:30].any()
            strict = array.with_config({"read_missing_chunks": False})
            with pytest.raises(blazarr.errors.BlazarrError, match="c/1/2"):
                await strict.getitem(...)

    asyncio.run(run())


def test_stores_whose_answers_have_to_be_waited_for(tmp_path):
    made = blazarr.create_array(tmp_path, shape=(60, 60), chunks=(10, 10), dtype="u4")
    made[:] = VALUES

    async def run():
        array = await blazarr.aio.open_array(tmp_path, mode="r")
        found = await asyncio.gather(*(array.getitem(n) for n in range(60)))
        assert np.array_equal(np.stack(found), VALUES)

    asyncio.run(run())


def test_text():
    values = np.array([f"ü{n}" for n in range(30)], dtype="T")

    async def run():
        async with opened(values, chunks=(7,)) as (_, array):
            assert list(await array.getitem(slice(5, 9))) == ["ü5", "ü6", "ü7", "ü8"]

    asyncio.run(run())
