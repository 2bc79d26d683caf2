"""What many peers cost one service of system 4, under each DISPATCH: throughput beside that without them.

Usage: python -m benchmarks.crowd bystanders|clients [--runtime 3.14,3.14t] [--row any,leader,alt-uvloop] [--repeats 7]
                                                     [--duration 0.5]

row: a DISPATCH of system 4, or a system that speaks the same protocol

bystanders: 500 connections that say nothing and 50 peers that send nonsense (none that counts as a request); bar 0.95
clients:    64 clients beside 4 and 16, over the better of these; bar 0.90
"""

import argparse
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import cycle
from math import exp, log
from pathlib import Path

from benchmarks.bench import cell_of, measured, middle, opened, runtime_called
from core.cell import Value, parameter
from core.method import Method, Warmup
from core.runtime import NATIVE
from lab.run.measure import Bench
from reports.document.model import interval
from reports.document.values import hundredths
from reports.facts.figures import requests_per_s
from reports.statistics.stats import effect

SILENT, BAD, EVERY_S = 500, 50, 0.02
NONSENSE = (
    b"\0\0\0\x64half a frame",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\0",
    b"",
)
CASES = {"bystanders": ("alone", "crowd"), "clients": ("4", "16", "64")}  # the last over the best of the others
BARS = {"bystanders": 0.95, "clients": 0.90}
OPEN_FILES = 4096
DISPATCHES = parameter("DISPATCH").choices


def main() -> None:
    """Print a Markdown table: medians over the repeats, which take turns, and the ratio with its interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=CASES)
    parser.add_argument("--runtime", default="3.14,3.14t")
    parser.add_argument("--row", default=",".join(DISPATCHES))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--duration", type=float, default=0.5)
    given = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES if hard < 0 else min(OPEN_FILES, hard), hard))
    cases = CASES[given.what]
    print(f"| runtime | row | {' | '.join(cases)} | ratio | bar |\n|{'---|' * (len(cases) + 4)}", flush=True)
    for name in given.runtime.split(","):
        rates: dict[tuple[str, str], list[float]] = {}
        with opened(runtime_called(name)) as plain:
            method = Method(client_runtime=NATIVE, duration_s=given.duration, warmup=Warmup(share=0.1))
            for _ in range(given.repeats):
                for row in given.row.split(","):
                    for case in cases:
                        rate = _rate(name, row, case, replace(plain, method=method))
                        rates.setdefault((row, case), []).append(rate)
        for row in given.row.split(","):
            _print(name, row, [rates[row, case] for case in cases], BARS[given.what])


def _rate(runtime: str, row: str, case: str, bench: Bench) -> float:
    sizes: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": int(case) if case.isdigit() else 4}
    if row in DISPATCHES:
        pool: dict[str, Value] = {"NUM_WORKERS_PER_API_SERVICE": 8, "NUM_MULTI_SOCKET": 1, "DISPATCH": row}
        cell = cell_of("4", runtime, sizes | pool)
    else:
        cell = cell_of(row, runtime, sizes)
    watch = partial(_crowd, bench.sandbox.folder) if case == "crowd" else nullcontext
    return requests_per_s(measured(cell, replace(bench, watch=watch)))


@contextmanager
def _crowd(folder: Path, pid: int) -> Iterator[None]:
    """The bystanders of the service that listens in *folder*, connected before the first request."""
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
    """Have BAD connections that each sent some nonsense; every EVERY_S the next of them hangs up and comes again."""
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


def _print(runtime: str, row: str, rates: list[list[float]], bar: float) -> None:
    *others, last = rates
    base = max(others, key=middle)
    ratio = effect([log(many / few) for many, few in zip(last, base, strict=True)])
    value, low, high = map(exp, (ratio.value, ratio.low, ratio.high))
    text = interval(value, low, high, hundredths, is_range=ratio.is_range)
    figures = " | ".join(f"{middle(each):,.0f}" for each in rates)
    print(f"| {runtime} | {row} | {figures} | {text} | {bar:.2f} |", flush=True)


if __name__ == "__main__":
    main()
