"""Reads from an S3 server on loopback with added latency, beside peers and what the machine allows.

    python benchmarks/cloud/run.py

It needs Go, Cargo, the S3 server versitygw (`go install github.com/versity/versitygw/cmd/versitygw@latest`) and the
group `bench`. A relay adds 20 ms to each request. In each turn everybody runs once, in a process of its own:

- the contenders (contend.py) read all of a sharded zstd array of 1 GiB, and one element of each of 1,000 random inner
  chunks in one call;
- the link: a bare client of the HTTP library that blazarr uses (crates/cloud/examples/drain.rs) fetches the same bytes
  and throws them away, with the best of some numbers of requests and sizes of parts;
- the decoder: blazarr reads the same bytes from memory.

Server, relay and client share the processors. What link and decoder allow is therefore the larger of the link's time
and of what both together need of the processors: (CPU seconds of the link, of all processes, and of the decoder) /
processors. Figures are medians of the turns.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from contend import INNER, SHARD, cells_of

SIDE = 16384
LATENCY = "20ms"
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
CONTENDERS = ("blazarr", "tensorstore", "zarrs-python", "zarr-python")
TASKS = ("whole", "chunks")
HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
# Of the links: how many requests are under way; the most bytes of each, or of the gaps in it.
LINKS = {
    "whole": ((8, 1 << 30), (16, 1 << 30), (16, 4 << 20), (64, 4 << 20)),
    "chunks": ((64, 0), (256, 0), (64, 64 << 10), (64, 1 << 20)),
}
# The stored size of a shard's index.
INDEX = (SHARD // INNER) ** 2 * 16 + 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=SIDE, help="rows and columns of the array")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the bucket stays for another run")
    parser.add_argument("--only", nargs="*", default=CONTENDERS, help="these contenders")
    options = parser.parse_args()
    os.environ.update(KEYS)
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tools = Tools(stack, folder)
        if not (folder / "bucket").exists():
            (folder / "bucket").mkdir(parents=True)
            fill(tools.direct, options.side)
        measured = defaultdict(list)
        for number in range(options.turns):
            # Nobody is always the first or the last.
            contenders = list(options.only)
            contenders = (
                contenders[number % len(contenders) :] + contenders[: number % len(contenders)]
            )
            turn(tools, contenders, measured)
        report(measured)


class Tools:
    """The server, the relay before it, and the bare client."""

    def __init__(self, stack, folder):
        gateway = shutil.which("versitygw") or sys.exit("versitygw is not installed")
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.drain = build_drain()
        relay = scratch / "relay"
        subprocess.run(["go", "build", "-o", relay, HERE / "relay.go"], check=True)
        port = free_port()
        command = [gateway, "--access", "key", "--secret", "secret", "--port", f"127.0.0.1:{port}"]
        folder.mkdir(parents=True, exist_ok=True)
        server = stack.enter_context(started([*command, "posix", str(folder)]))
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.05)
        relay = stack.enter_context(started([relay, f"127.0.0.1:{port}", LATENCY], subprocess.PIPE))
        self.direct = f"http://127.0.0.1:{port}"
        self.delayed = f"http://127.0.0.1:{int(relay.stdout.readline())}"
        self.processes = (server.pid, relay.pid)

    def cpu(self):
        """Return the seconds that server, relay and ended children have had of the processors."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime + sum(map(cpu_of, self.processes))


@contextlib.contextmanager
def started(command, stdout=subprocess.DEVNULL):
    with subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def build_drain():
    command = ["cargo", "build", "--release", "--locked", "--package", "blazarr-cloud"]
    command += ["--example", "drain", "--message-format", "json"]
    built = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout
    messages = map(json.loads, built.splitlines())
    return next(found["executable"] for found in messages if found.get("executable"))


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


def turn(tools, contenders, measured):
    """Run everybody once."""
    stored = Stored(tools.direct)
    for task in TASKS:
        for requests, size in LINKS[task]:
            lines = stored.parts(size) if task == "whole" else stored.chunks(size)
            name = f"link: {requests} requests, {size >> 10} KiB"
            measured[name, task].append(link(tools, requests, lines))
        for contender in ("decoder", *contenders):
            endpoint = tools.direct if contender == "decoder" else tools.delayed
            command = [sys.executable, HERE / "contend.py", contender, task, endpoint]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(contender, task, done.stderr.strip().splitlines()[-1:], flush=True)
                continue
            measured[contender, task].append(tuple(json.loads(done.stdout)))


def link(tools, requests, phases):
    lines = "\n\n".join("\n".join(phase) for phase in phases)
    before = tools.cpu()
    command = [tools.drain, tools.delayed, "bucket", str(requests)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    seconds, size = done.stdout.split()
    return float(seconds), tools.cpu() - before, int(size)


class Stored:
    """Where the shards' bytes are."""

    def __init__(self, endpoint):
        import blazarr

        options = {"endpoint_url": endpoint}
        store = blazarr.storage.ObjectStore("s3://bucket/a", storage_options=options)
        self.sizes = dict(found for page in store.list("c/") for found in page)
        keys = list(self.sizes)
        tails = store.get_many(keys, [slice(-INDEX, None)] * len(keys))
        self.tails = dict(zip(keys, tails, strict=True))
        self.side = SHARD * max(int(key.split("/")[1]) + 1 for key in keys)

    def parts(self, size):
        """Return the parts of all shards, each of at most so many bytes."""
        whole = ((key, range(0, total, size), total) for key, total in self.sizes.items())
        return [
            [
                f"a/{key} {start} {min(start + size, total)}"
                for key, starts, total in whole
                for start in starts
            ]
        ]

    def chunks(self, gap):
        """Return the indexes of shards, then the chunks wanted, those together that are so near."""
        wanted = defaultdict(list)
        for row, column in zip(*cells_of(self.side), strict=True):
            key = f"c/{row * INNER // SHARD}/{column * INNER // SHARD}"
            per = SHARD // INNER
            index = np.frombuffer(self.tails[key][0][:-4], "<u8").reshape(per, per, 2)
            wanted[key].append(tuple(map(int, index[row % per, column % per])))
        ends = [f"a/{key} {self.sizes[key] - INDEX} {self.sizes[key]}" for key in wanted]
        lines = [
            f"a/{key} {start} {end}" for key in wanted for start, end in joined(wanted[key], gap)
        ]
        return [ends, lines]


def joined(spans, gap):
    """Return starts and ends of offsets and lengths, those together that are so near."""
    ranges = []
    for offset, length in sorted(spans):
        if ranges and offset - ranges[-1][1] <= gap:
            ranges[-1][1] = offset + length
        else:
            ranges.append([offset, offset + length])
    return ranges


def report(measured):
    cores = len(os.sched_getaffinity(0))
    for task in TASKS:
        print(f"\n{task}: seconds, of the processors, MiB or sum")
        medians = {}
        for (name, of), figures in measured.items():
            if of == task:
                medians[name] = [statistics.median(column) for column in zip(*figures, strict=True)]
                seconds = " ".join(f"{figure[0]:.2f}" for figure in figures)
                print(f"  {name:30} {medians[name][0]:6.2f} {medians[name][1]:6.2f}  ({seconds})")
        name = min((name for name in medians if name.startswith("link")), key=medians.get)
        seconds, cpu, size = medians[name]
        both = (cpu + medians["decoder"][1]) / cores
        print(f"  best link: {name}, {size / 2**20:.0f} MiB")
        print(
            f"  link and decoder allow {max(seconds, both):.2f}: link {seconds:.2f}, CPU {both:.2f}"
        )


if __name__ == "__main__":
    main()
