"""The report's section for the experiment http-clients: how parallel each client's workers run.

LMean is the mean time of a worker's loop, in which it sends all its requests. Bench is the total
time, from the start of the workers to the end of the last one. The seed uses the same figures.
Bench / LMean is 1 if all workers run in parallel, and the number of workers if they run one after
the other. Times are in ns, medians over the blocks.

reports/sections/__init__.py finds this module by its name, and calls section() for each report of
such a plan. What it shows comes from the View and from analysis/. Only the orchestrator imports it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import log
from statistics import mean, median

from analysis.cell_index import Row
from analysis.formats import hundredths, milliseconds, tenths
from analysis.settings import about, titled
from analysis.stats import Estimate, effect
from core.messages import NOTHING, SEMICOLON, Message, listed, message
from core.runtime import RuntimeName
from record.saved_run import CellResult
from reports.document import (
    ABSENT,
    Axis,
    Curve,
    Figure,
    Panel,
    Section,
    Span,
    estimate,
    traced,
)
from reports.parts import contest as shared
from reports.tables import col
from reports.view import View

PLACE = 12  # in the order of sections (reports/sections/__init__.py)
VIEW = "http-clients"  # the plan that has this section, by its key `view`
# names of systems (http_systems.py)
HELD, RELEASED, UNDECLARED = "http-beast-held", "http-beast-released", "http-beast-undeclared"
KINDS = {"thread": message("sync"), "task": message("async")}
HOW = message(
    "p50 and p99 are latencies of single requests. The worker time is the mean time in which "
    "one worker sends all its requests (LMean in the published tables). The total time is the "
    "time until all workers have ended (Bench in the published tables). All are medians over "
    "the blocks. If all workers run in parallel, the total time divided by the worker time is "
    "1. This ratio is also near 1 if workers take turns: the GIL changes hands after 5 ms, so "
    "workers that need much longer all end at about the same time. The number of requests in "
    "flight (median latency x requests / total time) tells these cases apart. If workers take "
    "turns, this number is at most about 1, because the median latency excludes the few "
    "requests that wait for the GIL. All figures exclude the opening of connections and the "
    "warm-up."
)
# Figures that the seed published. Python's beast holds the GIL in the first table and releases it
# in the second.
SEED_HELD = """
Language  Library   Mean(ms)  P99(ms)  P999(ms)  Max(ms)  LMean(ms)  Bench(ms)  async/sync
C++       beast     0.18      0.45     2.56      2.59     17.93      18.46      sync
Rust      reqwest   0.17      0.33     1.57      1.57     16.65      23.63      async
Python    requests  3.28      10.04    14.55     15.34    328.27     336.20     sync
Python    beast     0.06      0.09     5.87      11.48    5.64       39.68      sync
Python    aiohttp   0.47      0.63     1.36      1.48     47.45      48.34      async
Python    reqwest   0.38      1.06     2.15      2.44     37.94      40.20      async
"""
SEED_RELEASED = """
Language  Library   Mean(ms)  P99(ms)  P999(ms)  Max(ms)  LMean(ms)  Bench(ms)  async/sync
C++       beast     0.16      0.27     1.45      1.48     15.77      16.23      sync
Rust      reqwest   0.14      0.37     0.62      0.64     13.88      18.01      async
Python    requests  3.07      6.12     7.04      7.95     307.41     314.91     sync
Python    beast     0.15      0.28     0.40      0.53     15.54      16.36      sync
Python    aiohttp   0.47      0.78     1.37      1.50     47.50      48.49      async
Python    reqwest   0.38      0.90     1.87      2.13     38.35      40.42      async
"""
SEED_FAULTS = message(
    "These figures are from an Apple M2, with one run each of 10 workers x 100 requests in a "
    "fixed order. There was no warm-up. The first request of each worker includes the time to "
    "connect. This affects 10 of 1,000 samples, so P999 and Max mostly measure the time to "
    "connect. Some clients read the response's body and others did not."
)


def clients(rows: Iterable[Row]) -> list[Row]:
    """Return the results of HTTP clients. The second arms of A/A comparisons are left out."""
    firsts = [row for row in rows if row.good and row.runtime == row.good[0].runtime]
    return [row for row in firsts if all(map(_loops_ns, row.good))]


def _loops_ns(cell: CellResult) -> list[int]:
    """Return the time in which each worker sent all its requests, in ns."""
    return [loop_ns for client in cell.clients for loop_ns in client.workers_ns]


def _bench_ns(cell: CellResult) -> int:
    return max(client.bench_ns for client in cell.clients)


def lmean_ns(row: Row) -> float:
    """Return LMean, the mean time in which a worker sent all its requests, in ns."""
    return median(mean(_loops_ns(cell)) for cell in row.good)


def bench_ns(row: Row) -> float:
    """Return Bench, the time from the start of the workers to the end of the last one, in ns."""
    return median(map(_bench_ns, row.good))


def serialisation(row: Row) -> Estimate:
    """Return the workers' total time divided by the mean time of a worker. Its interval does not go
    below 1.

    The result is Bench / LMean: 1 if the workers ran in parallel, and more if they ran one after
    another.
    """
    ratio = effect([log(_bench_ns(cell) / mean(_loops_ns(cell))) for cell in row.good]).ratio
    return replace(ratio, low=min(ratio.value, max(1.0, ratio.low)))


def _in_flight(row: Row) -> float:
    """Return the typical number of requests that were in flight at the same time.

    It is median latency x requests / Bench, the total time of the workers.
    The mean latency is not suitable. Threads wait for the GIL mostly within a request, so the sum
    of all latencies is the sum of the loops, and the result would only be workers /
    serialisation().
    """
    return median(
        (cell.latency.percentile("p50") or 0) * cell.latency.count / _bench_ns(cell)
        for cell in row.good
    )


def _timeline(row: Row) -> list[list[tuple[int, int]]]:
    """Return when each worker's first requests started and ended in the last block, in ns after the
    workers' start.
    """
    return [worker for client in row.good[-1].clients for worker in client.timeline]


def _typical_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the results of three typical clients with Boost.Beast, each under the newest build of
    Python.

    They are the client that holds the GIL and the client that releases it, both under a default
    build, and the client that would hold the GIL, under a free-threaded build with its GIL off.
    """
    chosen = []
    for system, has_gil in ((HELD, True), (RELEASED, True), (HELD, False)):
        fitting = {}
        for row in rows:
            name = RuntimeName(row.runtime)
            is_as_built = name.gil_enabled == has_gil != name.free_threaded
            if row.system == system and is_as_built and _timeline(row):
                fitting[name.minor] = row
        if fitting:
            chosen.append(fitting[max(fitting)])
    return chosen


def _kind(standing: shared.Standing) -> Message | str:
    return KINDS.get(standing.row.good[-1].clients[0].worker, ABSENT)


RANKING = shared.Ranking(
    title=message("HTTP clients"),
    name=message("client"),
    # a metric (analysis/metrics.py) and its rank: if the table is too wide, the highest goes first
    columns=[
        col("sync or async", _kind, rank=9),
        ("requests_per_s", 0),
        ("p50_ns", 2),
        ("p99_ns", 4),
        shared.number_col(
            message("worker time (ms)"),
            lambda standing: lmean_ns(standing.row),
            milliseconds,
            rank=1,
        ),
        shared.number_col(
            message("total time (ms)"),
            lambda standing: bench_ns(standing.row),
            milliseconds,
            rank=3,
        ),
        shared.number_col(
            message("total time divided by worker time"),
            lambda standing: serialisation(standing.row),
            hundredths,
        ),
        shared.number_col(message("in flight"), lambda standing: _in_flight(standing.row), tenths),
    ],
    caption=HOW,
)


def section(view: View) -> Section:
    """Return the report section: how parallel the Boost.Beast clients ran, a ranking, and timelines
    of requests.
    """
    ranked = shared.contests(clients(view.rows), view.titles)
    made = shared.ranking_section(RANKING, ranked, view)
    answer, timelines = answers(ranked), _timelines(ranked, view)
    terminal, parts = (*made.terminal, *answer), (*made.parts, _seeds())
    return replace(made, answer=answer, figures=tuple(timelines), parts=parts, terminal=terminal)


def answers(ranked: Sequence[shared.Contest]) -> list[Message]:
    """Return a sentence on how parallel the Python clients with Boost.Beast ran; empty without such
    clients.

    The sentence is about the first setting, because short loops show the GIL's effect best.
    """
    clauses = [
        message(
            "{name}: {ratio}",
            name=standing.name,
            ratio=traced(estimate(serialisation(standing.row), tenths), standing.trace),
        )
        for contest in ranked[:1]
        for standing in contest.standings
        if standing.row.system in (HELD, RELEASED, UNDECLARED)
    ]
    sentence = message(
        "Time until all workers ended, divided by the mean time of one worker (1 if workers run in "
        "parallel): {clauses}.",
        clauses=listed(clauses, SEMICOLON),
    )
    return [about(sentence, ranked[0].label)] * bool(clauses)


def _timelines(ranked: Sequence[shared.Contest], view: View) -> Iterator[Figure]:
    """Yield a figure of the first requests of each worker, with a panel for each of a few typical
    clients.
    """
    chosen = _typical_rows(
        [standing.row for contest in ranked[:1] for standing in contest.standings]
    )
    ends_ns = [end for row in chosen for worker in _timeline(row) for _, end in worker]
    across = Axis(
        label=message("time since the workers' start [ms]"),
        low=0.0,
        high=max(ends_ns, default=1) / 1e6,
    )
    panels = []
    for row in chosen:
        numbered = list(enumerate(_timeline(row), 1))
        spans = tuple(
            Span(y=float(place), start=start / 1e6, end=end / 1e6, faint=bool(turn % 2))
            for place, requests in numbered
            for turn, (start, end) in enumerate(requests)
        )
        ticks = tuple((float(place), str(place)) for place, _ in numbered)
        title = message(
            "{client}, {runtime}: {in_flight:.1f} requests in flight",
            client=titled(row.system, view.titles),
            runtime=traced(row.runtime, row.trace),
            in_flight=_in_flight(row),
        )
        up = Axis(label=NOTHING, low=len(numbered) + 0.7, high=0.3, ticks=ticks)
        curve = Curve(name="", look=view.looks[row.runtime], spans=spans)
        panels.append(Panel(title=title, across=across, up=up, curves=(curve,)))
    if panels:
        yield Figure(
            key="timeline",
            title=message("First requests of each worker"),
            caption=message(
                "Each line is a worker, and each bar a request. Bars above one another were in "
                "flight at the same time."
            ),
            panels=tuple(panels),
        )


def _seeds() -> Section:
    """Return a report section with both tables of the published experiment that gilscope repeats,
    and their limits.
    """
    tables = (
        shared.published(message("GIL held"), SEED_HELD, titled=True),
        shared.published(message("GIL released"), SEED_RELEASED, titled=True),
    )
    title = message("Figures of the published experiment that gilscope repeats, from an Apple M2")
    return Section(key="seed-figures", title=title, tables=tables, notes=(SEED_FAULTS,))
