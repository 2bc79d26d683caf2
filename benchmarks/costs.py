"""Measure what an instrument, or a crowd of other peers, costs a service: ratios of throughput and p99.

Usage: python -m benchmarks.costs pauses|stacks|locks|crowd [--runtime 3.14,3.14t] [--row 2,leader,alt-uvloop]
           [--repeats 7] [--duration 0.5]

pauses, stacks: parts that run inside the service; locks: --profile locks, which observes the service from outside
crowd: 500 connections stay silent, and 50 peers send invalid data. The throughput must reach 0.95 of the throughput
    without these peers.
row: a DISPATCH of system 4, or a system with the same protocol

The benchmark measures one service, whose 8 workers 4 native clients call, with and without the cost in turns. A ratio
is the median of the pairs with its 95 % interval. 0.995 is a cost of 0.5 %, which only a quiet machine can show. Only a
cell of at least 100 requests has a p99.
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

from benchmarks.bench import cell_of, compared, measured, opened, options, print_table, runtimes
from core.cell import Cell, Value, parameter
from core.method import Method, Warmup
from core.runtime import NATIVE
from lab.profile.locks import record_locks
from lab.run.cell_run import Bench
from lab.run.runtimes import Runtime
from reports.facts.figures import requests_per_s
from systems import find

SILENT, BAD, EVERY_S = 500, 50, 0.02
NONSENSE = (b"\0\0\0\x64half a frame", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0", b"")
OPEN_FILES = 4096
SIZE: dict[str, Value] = {
    "NUM_API_SERVICES": 1,
    "NUM_CLIENTS": 4,
    "NUM_WORKERS_PER_API_SERVICE": 8,
    "NUM_MULTI_SOCKET": 1,
}


def main() -> None:
    """Print a Markdown table of medians over alternating repeats, and ratios with their intervals."""
    given = options(__doc__, "what", runtime="3.14,3.14t", row="2", repeats=7, duration=0.5)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES if hard < 0 else min(OPEN_FILES, hard), hard))
    method = Method(client_runtime=NATIVE, duration_s=given.duration, warmup=Warmup(share=0.1))
    print_table(
        f"runtime | row | requests/s | with {given.what} | ratio | p99 us | with {given.what} | ratio",
        (
            [str(runtime.name), row, *_costs(given.what, _cell(row, runtime), runtime, given.repeats, method)]
            for runtime in runtimes(given.runtime)
            for row in given.row.split(",")
        ),
    )


def _cell(row: str, runtime: Runtime) -> Cell:
    system, own = ("4", {"DISPATCH": row}) if row in parameter("DISPATCH").choices else (row, {})
    size = {name: value for name, value in SIZE.items() if find(system).takes(name)}
    return cell_of(system, runtime, {**size, **own})


def _costs(what: str, cell: Cell, runtime: Runtime, repeats: int, method: Method) -> Iterator[str]:
    with opened(runtime, method=method, inside={}) as plain:
        benches = (plain, _changed(plain, what))
        cells = [partial(measured, cell, bench) for bench in benches]
        yield from compared(repeats, cells, requests_per_s, lambda one: one.latency["p99_ns"] / 1e3)


def _changed(plain: Bench, what: str) -> Bench:
    if what == "crowd":
        return replace(plain, watch=partial(_crowd, plain.sandbox.folder))
    return replace(plain, watch=record_locks) if what == "locks" else replace(plain, inside={what: {}})


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
