"""The report's section for the experiment http-clients: how parallel each client's workers run.

reports/sections/__init__.py finds this module by its name, and calls section() for each report of
such a plan. What it shows comes from the View and from analysis/. Only the orchestrator imports it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analysis.contests import Contest, Standing, contests, titled
from analysis.formats import hundredths, milliseconds, tenths
from analysis.settings import about
from core.messages import NOTHING, SEMICOLON, Message, listed, message
from experiments.http_clients import http_clients_section_workers as workers
from experiments.http_clients.http_clients_section_workers import (
    HELD,
    RELEASED,
    UNDECLARED,
    serialisation,
)
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


def _kind(standing: Standing) -> Message | str:
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
            lambda standing: workers.lmean_ns(standing.row),
            milliseconds,
            rank=1,
        ),
        shared.number_col(
            message("total time (ms)"),
            lambda standing: workers.bench_ns(standing.row),
            milliseconds,
            rank=3,
        ),
        shared.number_col(
            message("total time divided by worker time"),
            lambda standing: serialisation(standing.row),
            hundredths,
        ),
        shared.number_col(
            message("in flight"), lambda standing: workers.in_flight(standing.row), tenths
        ),
    ],
    caption=HOW,
)


def section(view: View) -> Section:
    """Return the report section: how parallel the Boost.Beast clients ran, a ranking, and timelines
    of requests.
    """
    ranked = contests(workers.clients(view.rows), view.titles)
    made = shared.ranking_section(RANKING, ranked, view)
    answer, timelines = answers(ranked), _timelines(ranked, view)
    terminal, parts = (*made.terminal, *answer), (*made.parts, _seeds())
    return replace(made, answer=answer, figures=tuple(timelines), parts=parts, terminal=terminal)


def answers(ranked: Sequence[Contest]) -> list[Message]:
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


def _timelines(ranked: Sequence[Contest], view: View) -> Iterator[Figure]:
    """Yield a figure of the first requests of each worker, with a panel for each of a few typical
    clients.
    """
    chosen = workers.typical_rows(
        [standing.row for contest in ranked[:1] for standing in contest.standings]
    )
    ends_ns = [end for row in chosen for worker in workers.timeline(row) for _, end in worker]
    across = Axis(
        label=message("time since the workers' start [ms]"),
        low=0.0,
        high=max(ends_ns, default=1) / 1e6,
    )
    panels = []
    for row in chosen:
        numbered = list(enumerate(workers.timeline(row), 1))
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
            in_flight=workers.in_flight(row),
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
