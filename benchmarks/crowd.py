"""Measure how silent and misbehaving peers of a service affect its clients: ratios of throughput and p99.

Usage: python -m benchmarks.crowd [--runtime 3.14,3.14t] [--row any,leader,alt-uvloop] [--repeats 7] [--duration 0.5]

row: a DISPATCH of system 4, or a system with the same protocol

500 connections stay silent, and 50 peers send invalid data. The throughput must reach 0.95 of the throughput without
these peers. Only a cell of at least 100 requests has a p99.
"""

import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median

from benchmarks.bench import cell_of, in_turns, measured, opened, options, print_table, ratio, runtimes
from core.cell import Cell, Value, parameter
from core.method import Method, Warmup
from core.runtime import NATIVE
from lab.run.runtimes import Runtime
from reports.document.values import hundredths
from reports.facts.figures import requests_per_s

SILENT, BAD, EVERY_S = 500, 50, 0.02
NONSENSE = (b"\0\0\0\x64half a frame", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0", b"")
OPEN_FILES = 4096
DISPATCHES = parameter("DISPATCH").choices
SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 4}
POOL: dict[str, Value] = {"NUM_WORKERS_PER_API_SERVICE": 8, "NUM_MULTI_SOCKET": 1}


def main() -> None:
    """Print a Markdown table of medians over alternating repeats, and ratios with their intervals."""
    given = options(__doc__, runtime="3.14,3.14t", row=",".join(DISPATCHES), repeats=7, duration=0.5)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES if hard < 0 else min(OPEN_FILES, hard), hard))
    method = Method(client_runtime=NATIVE, duration_s=given.duration, warmup=Warmup(share=0.1))
    print_table(
        "runtime | row | requests/s alone | beside | ratio | p99 us alone | beside | ratio",
        (
            [str(runtime.name), row, *_compared(_cell(row, runtime), runtime, given.repeats, method)]
            for runtime in runtimes(given.runtime)
            for row in given.row.split(",")
        ),
    )


def _cell(row: str, runtime: Runtime) -> Cell:
    if row in DISPATCHES:
        return cell_of("4", runtime, {**SIZE, **POOL, "DISPATCH": row})
    return cell_of(row, runtime, SIZE)


def _compared(cell: Cell, runtime: Runtime, repeats: int, method: Method) -> Iterator[str]:
    """Yield throughput, then p99: without the other peers, with them, and the ratio."""
    with opened(runtime, method=method) as alone:
        beside = replace(alone, watch=partial(_crowd, alone.sandbox.folder))
        benches = {"alone": alone, "beside": beside}
        results = in_turns(repeats, {name: partial(measured, cell, bench) for name, bench in benches.items()})
    for figure in (requests_per_s, lambda cell: cell.latency["p99_ns"] / 1e3):
        few, many = ([figure(one) for one in results[name]] for name in benches)
        yield f"{median(few):,.0f}"
        yield f"{median(many):,.0f}"
        yield ratio(many, few, hundredths)


@contextmanager
def _crowd(folder: Path, pid: int) -> Iterator[None]:
    """Connect the peers to the service that listens in *folder*. Silent peers connect before the first request."""
    (address,) = [str(path) for path in folder.rglob("*") if path.is_socket()]
    ended = threading.Event()
    with ExitStack() as connections:
        for _ in range(SILENT):
            connections.enter_context(_connected(address))
        pests = threading.Thread(target=_pester, args=(address, ended))
        pests.start()
        try:
            yield
        finally:
            ended.set()
            pests.join()


def _pester(address: str, ended: threading.Event) -> None:
    """Keep BAD connections open that have sent invalid data. Every EVERY_S, one of them is closed and replaced."""
    kinds = cycle(NONSENSE)
    peers = [_bad_peer(address, next(kinds)) for _ in range(BAD)]
    for place in cycle(range(BAD)):
        if ended.wait(EVERY_S):
            break
        peers[place].close()
        peers[place] = _bad_peer(address, next(kinds))
    for peer in peers:
        peer.close()


def _bad_peer(address: str, nonsense: bytes) -> socket.socket:
    peer = _connected(address)
    peer.sendall(nonsense)
    return peer


def _connected(address: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(address)
    return sock


if __name__ == "__main__":
    main()
