"""Head-of-line blocking under each DISPATCH: p99 of short requests when 1 of 50 is a thousand times as long.

Usage: python -m benchmarks.head_of_line [--runtime 3.14,3.14t] [--clients 8] [--requests 2000] [--repeats 3]
"""

import argparse
import json
import random
import socket
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter_ns

from benchmarks.bench import cell_of, middle, opened, runtime_called
from core.cell import Value, parameter
from core.wire import HEADER, frame
from core.work import calc_request
from lab.places import REPOSITORY
from lab.run.children import Children
from lab.run.measure import Bench, start_services
from systems import find

SHORT, LONG, ONE_OF = 1000, 1_000_000, 50
SIZES: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_MULTI_SOCKET": 1, "DISPATCH": "any"}


def main() -> None:
    """Print p50 and p99 of the short requests, and requests/s: medians over the repeats, dispatches in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", default="3.14,3.14t")
    for name, default in (("clients", 8), ("requests", 2000), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    print("| runtime | DISPATCH | p50 ms | p99 ms | requests/s |\n|---|---|---|---|---|")
    for runtime in given.runtime.split(","):
        figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in parameter("DISPATCH").choices}
        with opened(runtime_called(runtime)) as bench:
            for _ in range(given.repeats):
                for dispatch, rounds in figures.items():
                    rounds.append(_round(runtime, {**SIZES, "DISPATCH": dispatch}, bench, given))
        for dispatch, rounds in figures.items():
            p50, p99, rate = (middle([figure[place] for figure in rounds]) for place in range(3))
            print(f"| {runtime} | {dispatch} | {p50 / 1e6:.2f} | {p99 / 1e6:.2f} | {rate:,.0f} |", flush=True)


def _round(
    runtime: str, values: Mapping[str, Value], bench: Bench, given: argparse.Namespace
) -> tuple[float, float, float]:
    """p50 and p99 of the short requests in ns, and all requests per second."""
    cell = cell_of("4", runtime, values)
    with Children(bench.sandbox, str(REPOSITORY)) as children, ProcessPoolExecutor(given.clients) as clients:
        address = start_services(cell, find("4"), children, bench)[0][0]
        start_ns = perf_counter_ns()
        calls = [clients.submit(_call, address, given.requests, client) for client in range(given.clients)]
        short_ns = sorted(latency_ns for call in calls for latency_ns in call.result())
        rate = given.clients * given.requests * 1e9 / (perf_counter_ns() - start_ns)
    return short_ns[len(short_ns) // 2], short_ns[len(short_ns) * 99 // 100], rate


def _call(address: str, requests: int, seed: int) -> list[int]:
    """Latencies of the short ones among *requests*, one after the other on one connection, in ns."""
    short, long = (frame(json.dumps(calc_request(target)).encode()) for target in (SHORT, LONG))
    choose, latencies_ns = random.Random(seed), []
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(address)
        for _ in range(requests):
            is_long = not choose.randrange(ONE_OF)
            start_ns = perf_counter_ns()
            sock.sendall(long if is_long else short)
            reply = sock.recv(65536)
            while len(reply) < 4 or len(reply) < 4 + HEADER.unpack_from(reply)[0]:
                reply += sock.recv(65536)
            if not is_long:
                latencies_ns.append(perf_counter_ns() - start_ns)
    return latencies_ns


if __name__ == "__main__":
    main()
