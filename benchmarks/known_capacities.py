"""Search for the capacity of services whose capacity is known, and compare the result and time with
theory.

Usage: python -m benchmarks.known_capacities [--only mmc,mmc-500,mmc-1000,mdc,bucket,stall]
    [--searches 20] [--runtimes 3.14t]

A WSGI application on gunicorn with 8 threads sleeps in each request: exponential times make an
M/M/8 queue, constant times an M/D/8 queue. mmc-500 and mmc-1000 are M/M/8 with objectives of 500 ms
and 1 s. `bucket` answers requests above a rate with status 503. `stall` is an M/M/8 queue that
pauses for 0.15 s every 5 s. The true capacity comes from Erlang's C formula (M/M/8), or a
simulation of two million requests (the other cases; the bucket answers fewer requests than it has
tokens for, because it is full at times). A request takes longer than its sleep, because gunicorn
works, too. This is measured first, in a closed loop of constant sleeps that keeps all threads busy.
"""

import heapq
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import exp, factorial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from analysis.capacity_ratios import ratios
from analysis.capacity_search import capacities
from benchmarks.bench import in_turns, options, print_table, run_of
from reports.document import interval

SERVERS, MEAN_S, LIMIT_S = 8, 0.02, 0.12
PLAN = ("--plan", "plan.yaml")
CLOSED_LOOP = "--num-clients 2 --num-connections-per-client 16 --blocks 1 --duration 5"
BUCKET_RATE, BUCKET_SIZE, STALL_S, STALL_EVERY_S = 200.0, 20.0, 0.15, 5.0
SIMULATED = 2_000_000
APP = f"""import os, random, threading, time
KIND, LOCK = os.environ["KIND"], threading.Lock()
tokens, filled_s = {BUCKET_SIZE}, time.monotonic()
def admitted():
    global tokens, filled_s
    with LOCK:
        now_s = time.monotonic()
        tokens, filled_s = min({BUCKET_SIZE}, tokens + (now_s - filled_s) * {BUCKET_RATE}), now_s
        if tokens < 1:
            return False
        tokens -= 1
        return True
def app(environ, start_response):
    if KIND == "bucket":
        status = "200 OK" if admitted() else "503 Service Unavailable"
        start_response(status, [("Content-Length", "0")])
        return [b""]
    if KIND == "stall":
        left_s = {STALL_S} - time.monotonic() % {STALL_EVERY_S}
        if left_s > 0:
            time.sleep(left_s)
    time.sleep({MEAN_S} if KIND == "mdc" else random.expovariate(1 / {MEAN_S}))
    start_response("200 OK", [("Content-Length", "0")])
    return [b""]
"""


def main() -> None:
    """Repeat the searches of all cases in turn. Then print how far the results are from theory."""
    given = options(__doc__, only="mmc,mdc,bucket", searches=20, runtimes="3.14t")
    asked = {case: partial(_search, case, given.runtimes) for case in given.only.split(",")}
    work_s = _work_s(given.runtimes.split(",")[0])
    print(f"gunicorn works {1e3 * work_s:.2f} ms for each request", flush=True)
    searches = in_turns(given.searches, asked)
    print_table(
        "service | theory [1/s] | found, median | within 5 % | probes | time [s]",
        [_row(case, lines, work_s) for case, lines in searches.items()],
    )


def _work_s(runtime: str) -> float:
    """Return the time that a thread of the service is busy with a request beside its sleep."""
    with _application("mdc", runtime) as folder:
        (cell,) = run_of(*PLAN, *CLOSED_LOOP.split(), folder=folder).cells
    return SERVERS * cell.wall_ns / 1e9 / cell.answered - MEAN_S


def _row(case: str, lines: Sequence[Mapping[str, Any]], work_s: float) -> list[str]:
    truth = theory(case, work_s)
    found = [line["rate"] for line in lines if line["rate"]]
    near = sum(abs(rate / truth - 1) < 0.05 for rate in found)
    return [
        case,
        f"{truth:.1f}",
        f"{median(found):.1f}" if found else "none",
        f"{near} of {len(lines)}",
        f"{median(line['probes'] for line in lines):.0f}",
        f"{median(line['seconds'] for line in lines):.0f}",
    ]


def _search(case: str, runtimes: str) -> dict[str, Any]:
    """Run one search with runner.py, and print its result. Raises ChildFailed if there is no
    result.
    """
    start_s = monotonic()
    with _application(case, runtimes) as folder:
        run = run_of(*PLAN, "--slo", CASES[case][0], folder=folder)
    found = capacities(run)
    first = found[0].crossing
    line = {
        "case": case,
        "rate": first.rate if first else 0.0,
        "interval": interval(first.rate, first.low, first.high, "{:.1f}".format) if first else "",
        "is_bracket": bool(first and first.is_bracket),
        "probes": sum(len(one.probes) for one in found),
        "ratios": [
            interval(one.ratio, one.low, one.high, "{:.3f}".format) for one in ratios(run, found)
        ],
        "seconds": round(monotonic() - start_s, 1),
    }
    print(json.dumps(line), flush=True)
    return line


def theory(case: str, work_s: float = 0.0) -> float:
    """Return the capacity of a case in requests/s, if each request takes *work_s* longer than it
    sleeps.
    """
    return capacity_of(partial(CASES[case][1], work_s), SERVERS / (MEAN_S + work_s))


def capacity_of(late: Callable[[float], float], high: float) -> float:
    """Return the rate up to *high* at which 1 % of the requests are late, by bisection."""
    low = 1.0
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if late(middle) < 0.01 else (low, middle)
    return low


def late_mmc(
    rate: float, servers: int = SERVERS, mean_s: float = MEAN_S, limit_s: float = LIMIT_S
) -> float:
    """Return P(sojourn > limit) of M/M/c. Source: Erlang's C formula; L. Kleinrock, Queueing
    Systems.
    """
    service, spare = 1 / mean_s, servers / mean_s - rate
    if spare <= 0:
        return 1.0
    load_ = rate * mean_s
    last = load_**servers / factorial(servers) * servers / (servers - load_)
    waits = last / (sum(load_**number / factorial(number) for number in range(servers)) + last)
    part = service / (spare - service * 1.000001)
    return exp(-service * limit_s) * (1 + waits * part) - waits * part * exp(-spare * limit_s)


def paused_s(order: random.Random, begin_s: float) -> float:
    """Return the time in s that the service that pauses takes for a request that it begins at
    *begin_s*.
    """
    return max(0.0, STALL_S - begin_s % STALL_EVERY_S) + order.expovariate(1 / MEAN_S)


def late(
    limit_s: float, service_s: Callable[[random.Random, float], float], work_s: float, rate: float
) -> float:
    """Return the share of requests whose time in a queue with SERVERS servers exceeds *limit_s*,
    simulated.

    A server works *work_s* for a request, and sleeps for the time that *service_s* returns.
    """
    order, now_s, count = random.Random(1), 0.0, 0
    free = [0.0] * SERVERS
    for _ in range(SIMULATED):
        now_s += order.expovariate(rate)
        begin_s = max(now_s, heapq.heappop(free))
        end_s = begin_s + work_s + service_s(order, begin_s)
        heapq.heappush(free, end_s)
        count += end_s - now_s > limit_s
    return count / SIMULATED


def refused(rate: float) -> float:
    """Return the share of requests that the bucket refuses, simulated."""
    order, tokens, count = random.Random(1), BUCKET_SIZE, 0
    for _ in range(SIMULATED):
        tokens = min(BUCKET_SIZE, tokens + order.expovariate(rate) * BUCKET_RATE)
        count += tokens < 1
        tokens -= tokens >= 1
    return count / SIMULATED


def _mmc(limit_s: float, work_s: float, rate: float) -> float:
    return late_mmc(rate, mean_s=MEAN_S + work_s, limit_s=limit_s)


# the objective of each case, and the share of requests that miss it at (work_s, rate)
CASES: dict[str, tuple[str, Callable[[float, float], float]]] = {
    "mmc": ("p99<120ms", partial(_mmc, LIMIT_S)),
    "mmc-500": ("p99<500ms", partial(_mmc, 0.5)),
    "mmc-1000": ("p99<1s", partial(_mmc, 1.0)),
    "mdc": ("p99<60ms", partial(late, 0.06, lambda order, begin_s: MEAN_S)),
    "bucket": ("errors<1%", lambda work_s, rate: refused(rate)),
    "stall": ("p99<180ms", partial(late, 0.18, paused_s)),
}


@contextmanager
def _application(case: str, runtimes: str) -> Iterator[Path]:
    """Yield a temporary folder with the application of a case, its requirements and
    its plan.yaml.
    """
    service = {
        "command": "{python} -m gunicorn busy:app --bind {host}:{port} --workers 1 --threads 8",
        "requirements": "needs.txt", "environment": {"KIND": case}, "requests": ["GET /"],
    }  # fmt: skip
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "busy.py").write_text(APP)
        (folder / "needs.txt").write_text("gunicorn")
        (folder / "plan.yaml").write_text(
            json.dumps({"runtimes": runtimes.split(","), "service": service})
        )
        yield folder


if __name__ == "__main__":
    main()
