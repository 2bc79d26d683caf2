"""The report's section for the experiment http-clients: how parallel each client's workers run."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import inf, isfinite
from operator import attrgetter

from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.runtime import NATIVE, RuntimeName
from experiments.http_clients import topic_workers as workers
from experiments.http_clients.topic_workers import BEAST, HELD, RELEASED, UNDECLARED, bench_ratio, serialisation
from reports.document.model import (
    ABSENT,
    Axis,
    Curve,
    Figure,
    Form,
    Mark,
    Panel,
    Section,
    Span,
    Table,
    arm,
    bounds,
    estimate,
    traced,
    words,
)
from reports.document.shapes import Col, col, table, tip
from reports.document.values import hundredths, milliseconds, tenths
from reports.facts.cells import Row, grouped, of_rows
from reports.facts.contests import titled
from reports.facts.settings import about
from reports.statistics.stats import Estimate
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "http-clients"
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 50)
BEYOND = 1.15
ROW_STEP, ARM_STEP = 1.6, 0.22  # distance between clients in the plot, and between the runtimes of a client
SAMPLES_FOR_P999 = 10_000
MOST_SHOWN = 99.0  # with few blocks, an interval may end far beyond the number of workers
KINDS = {"thread": message("sync"), "task": message("async")}
HOW = message(
    "Mean, P99, P999 and Max are latencies of single requests in all blocks, by nearest rank. P999 needs 10,000 "
    "samples. The worker time is the mean time in which one worker sends all its requests (LMean in the published "
    "tables). The total time is the time until all workers have ended (Bench in the published tables). Both are "
    "medians over the blocks. If all workers run in parallel, total time / worker time is 1. This ratio is also near "
    "1 if workers take turns: the GIL changes hands after 5 ms, so workers that need much longer all end at about the "
    "same time. The number of requests in flight (median latency x requests / total time) tells these cases apart. If "
    "workers take turns, this number is at most about 1, because the median latency excludes the few requests that "
    "wait for the GIL. All figures exclude connects and the warm-up."
)
# Figures that the seed published. Python's beast holds the GIL in the first table and releases it in the second.
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
    "These figures are from an Apple M2, with one run each of 10 workers x 100 requests in a fixed order. There was no "
    "warm-up. The first request of each worker includes its connect: 10 of 1,000 samples, so P999 and Max mostly "
    "measure connects. Some clients read the response's body and others did not."
)
Settings = Mapping[str, Sequence[Row]]
ms_col = partial(col, form=milliseconds, trace="trace")


def section(view: View) -> Section:
    """Return the report section: how parallel the Boost.Beast clients ran, and charts and tables of all clients."""
    settings = workers.clients_by_setting(view.rows)
    first = answer(settings)
    told = [text for setting, group in settings.items() for text in _story(setting, group, view)]
    sentences = (*(told if settings else [shared.NOTHING_MEASURED]), *shared.absent_sentences(view))
    name, columns = message("All clients"), _columns(view)
    groups = [(verbatim(setting), group) for setting, group in settings.items()]
    bars = shared.bar_col(_mean_ns, chain(*settings.values()))
    return Section(
        key=shared.KEY,
        title=message("HTTP clients"),
        answer=(first,) * bool(first),
        sentences=sentences,
        figures=(*_serialisation(settings, view), *_timelines(next(iter(settings.values()), []), view)),
        tables=(table(name, columns, groups, caption=HOW), _side_by_side(settings, view)),
        parts=(_seeds(),),
        terminal=(table(name, [*columns, bars], groups), first, *sentences),
    )


def answer(settings: Settings) -> Message:
    """Return a sentence that says how parallel the clients with Boost.Beast ran, or NOTHING.

    It is NOTHING if no setting has a result of the client HELD under an enabled GIL. Otherwise it is about the first
    setting that has such a result, because short loops show the GIL's effect best.
    """
    for setting, group in settings.items():
        parts = listed(_answer_parts(group), SEMICOLON)
        if parts:
            where = message("{parts} ({setting})", parts=parts, setting=setting) if setting else parts
            return message("{parts}.", parts=where)
    return NOTHING


def _answer_parts(group: Sequence[Row]) -> Iterator[Message]:
    found = {(row.system, RuntimeName(row.runtime).gil_enabled): row for row in reversed(group)}
    held, free, undeclared = (found.get(key) for key in ((HELD, True), (HELD, False), (UNDECLARED, False)))
    if held is None:
        return
    yield message(
        "Boost.Beast client with the GIL held: the time until all workers ended, divided by the mean time of one "
        "worker (1 if workers run in parallel), is {values}",
        values=_values([held, free]),
    )
    released = [found.get((RELEASED, state)) for state in (True, False)]
    if any(released):
        yield message(
            "Boost.Beast client with the GIL released: the time until all workers ended, divided by the mean time of "
            "one worker, is {values}",
            values=_values(released),
        )
    if undeclared is None:
        return
    value = _value(undeclared)
    middle = serialisation(held).value * serialisation(free).value if free else inf
    if serialisation(undeclared).value ** 2 > middle:  # closer to held than to free, as a ratio
        yield message(
            "a client module without declared free-threading support enables the GIL: as with the GIL held, the time "
            "until all workers ended is {value} times the mean time of one worker",
            value=value,
        )
    else:
        yield message(
            "a client module without declared free-threading support enables the GIL, and the time until all workers "
            "ended is {value} times the mean time of one worker",
            value=value,
        )


def _values(group: Sequence[Row | None]) -> Message:
    known = [row for row in group if row]
    return listed(message("{value} under {runtime}", value=_value(row), runtime=row.runtime) for row in known)


def _value(row: Row) -> Message:
    return traced(tenths(serialisation(row).value), row.trace)


def _story(setting: str, group: Sequence[Row], view: View) -> Iterator[Message]:
    """Yield a sentence for each Python client with Boost.Beast, and one that compares Python with C++.

    The last sentence compares two clients that both use Boost.Beast: Python that releases the GIL during I/O, and C++.
    """
    for system in (HELD, RELEASED, UNDECLARED):
        clauses = [
            message(
                "under {runtime}, the time until all workers ended is {ratio} times the mean time of one worker, with "
                "{in_flight:.1f} requests in flight",
                runtime=row.runtime,
                ratio=traced(_ratio_text(serialisation(row)), row.trace),
                in_flight=workers.in_flight(row),
            )
            for row in group
            if row.system == system
        ]
        if clauses:
            yield about(
                message("{name}: {clauses}.", name=titled(system, view.titles), clauses=listed(clauses, SEMICOLON)),
                setting,
            )
    native = next((row for row in group if (row.system, row.runtime) == (BEAST, NATIVE)), None)
    values = [
        message(
            "{value} under {runtime}",
            value=traced(_ratio_text(ratio), of_rows([row, native])),
            runtime=row.runtime,
        )
        for row in group
        if native and row.system == RELEASED and (ratio := bench_ratio(row, native))
    ]
    if values:
        beside = message(
            "Total time of the Python client with Boost.Beast and the GIL released, divided by the total time of the "
            "C++ client with Boost.Beast: {values}.",
            values=listed(values),
        )
        yield about(beside, setting)


def _ratio_text(ratio: Estimate) -> str:
    """Return a text such as '7.02 [6.50, 7.40]'. An end of the interval above MOST_SHOWN is '> 99'."""
    return estimate(ratio, _up_to_most(ratio))


def _up_to_most(ratio: Estimate) -> Form:
    """Return a function that formats numbers with two decimals. Very large numbers become '> 99'."""
    most = max(MOST_SHOWN, ratio.value)
    return lambda shown: f"> {most:.0f}" if shown > most else hundredths(shown)


def _columns(view: View) -> list[Col[Row]]:
    def interval(row: Row) -> str:
        ratio = serialisation(row)
        return bounds(ratio.low, ratio.high, _up_to_most(ratio)) if isfinite(ratio.high) else ABSENT

    return [
        col("client", lambda row: words(titled(row.system, view.titles), cells=row.trace, leads=True)),
        col("runtime", lambda row: arm(row.runtime, view.looks[row.runtime], row.trace)),
        col("sync or async", lambda row: KINDS.get(row.good[-1].clients[0].get("worker", ""), ABSENT), rank=9),
        *_latencies(),
        col("95 % interval", interval, str, trace="trace", rank=7),
        col("in flight", workers.in_flight, tenths, trace="trace"),
        ms_col(message("connect (ms)"), lambda row: shared.mean_ns(cell.connect for cell in row.good), rank=7),
    ]


def _latencies() -> list[Col[Row]]:
    """Return the columns of latencies, worker time and total time in ms, and a column of the ratio of these times."""

    def p999_ns(row: Row) -> int | None:
        return row.latency.quantile(0.999) if row.latency.count >= SAMPLES_FOR_P999 else None

    total_share, brief = message("total time / worker time"), message("total/worker")
    return [
        ms_col(message("Mean (ms)"), _mean_ns, brief=message("Mean"), rank=2),
        ms_col(message("P99 (ms)"), lambda row: row.latency.quantile(0.99), rank=4),
        ms_col(message("P999 (ms)"), p999_ns, rank=8),
        ms_col(message("Max (ms)"), "latency.max_ns", rank=6),
        ms_col(message("worker time (ms)"), workers.lmean_ns, brief=message("worker ms"), rank=5),
        ms_col(message("total time (ms)"), workers.bench_ns, brief=message("total")),
        col(total_share, lambda row: serialisation(row).value, hundredths, trace="trace", brief=brief, rank=1),
    ]


def _mean_ns(row: Row) -> float:
    return row.latency.total_ns / row.latency.count


def _side_by_side(settings: Settings, view: View) -> Table:
    """Return a table with a line for each Python client and a set of columns for each runtime."""
    python = {setting: [row for row in group if row.runtime != NATIVE] for setting, group in settings.items()}
    runtimes = dict.fromkeys(row.runtime for row in chain(*python.values()))
    columns: list[Col[Sequence[Row]]] = [
        col("client", lambda rows: titled(rows[0].system, view.titles)),
        *(_under(runtime, one) for runtime in runtimes for one in _latencies()),
    ]
    groups = [(verbatim(setting), grouped(group, attrgetter("system")).values()) for setting, group in python.items()]
    return table(message("Runtimes side by side"), columns, groups, folded=True, titled=True)


def _under(runtime: str, one: Col[Row]) -> Col[Sequence[Row]]:
    """Copy a table column (*one*), so that the copy shows only the results of *runtime*."""
    head = message("{runtime} {figure}", runtime=runtime, figure=one.column.brief or one.column.head)
    return col(head, lambda rows: next((one.datum(row) for row in rows if row.runtime == runtime), ABSENT), str)


def _serialisation(settings: Settings, view: View) -> Iterator[Figure]:
    """Yield a chart, for all clients, of the time until all workers ended, divided by the mean time of one worker.

    It shows 95 % intervals. It has a panel for each setting and a line for each client.
    """
    most = max([2.0, *(BEYOND * serialisation(row).value for row in chain(*settings.values()))])
    ticks = tuple((float(tick), f"{tick:g}") for tick in TICKS if tick <= most)
    label = message("time until all workers ended / mean time of one worker")
    across = Axis(label=label, low=0.95, high=most, is_log=True, ticks=ticks)
    if settings:
        yield Figure(
            key="serialisation",
            title=message("Time until all workers ended, compared with the mean time of one worker"),
            caption=message(
                "Each mark is the time until all workers ended, divided by the mean time in which one worker sends "
                "its requests, with its 95 % interval. If the mark is at 1, all workers run in parallel. If it is at "
                "the number of workers, they run one after the other. An interval that reaches the edge of the chart "
                "continues beyond it."
            ),
            panels=tuple(_serial_panel(setting, group, across, view) for setting, group in settings.items()),
        )


def _serial_panel(setting: str, group: Sequence[Row], across: Axis, view: View) -> Panel:
    systems = list(dict.fromkeys(row.system for row in group))
    by_runtime = grouped(group, attrgetter("runtime"))
    curves = []
    for turn, (runtime, rows) in enumerate(by_runtime.items()):
        marks = []
        for row in rows:
            ratio = serialisation(row)
            mark = Mark(
                x=ratio.value,
                y=ROW_STEP * systems.index(row.system) + ARM_STEP * (turn - (len(by_runtime) - 1) / 2),
                left=ratio.low,
                right=min(ratio.high, across.high),
                tip=tip(listed([titled(row.system, view.titles), runtime]), _ratio_text(ratio)),
                cells=row.trace,
            )
            marks.append(mark)
        curves.append(Curve(name=runtime, look=view.looks[runtime], marks=tuple(marks)))
    ticks = tuple((ROW_STEP * place, titled(system, view.titles)) for place, system in enumerate(systems))
    return Panel(
        title=verbatim(setting),
        across=across,
        up=Axis(label=NOTHING, low=ROW_STEP * len(systems) - 0.6, high=-1.0, ticks=ticks),
        curves=tuple(curves),
        level=1.0,
        upright=True,
    )


def _timelines(group: Sequence[Row], view: View) -> Iterator[Figure]:
    """Yield a figure of the first requests of each worker, with a panel for each of a few typical clients."""
    chosen = workers.typical_rows(group)
    ends_ns = [end for row in chosen for worker in workers.timeline(row) for _, end in worker]
    across = Axis(label=message("time since the workers' start [ms]"), low=0.0, high=max(ends_ns, default=1) / 1e6)
    panels = []
    for row in chosen:
        numbered = list(enumerate(workers.timeline(row), 1))
        spans = tuple(
            Span(y=float(place), start=start / 1e6, end=end / 1e6, height=0.8, faint=bool(turn % 2))
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
                "Each line is a worker, and each bar a request. Bars above one another were in flight at the same time."
            ),
            panels=tuple(panels),
        )


def _seeds() -> Section:
    """Return a report section with both tables of the published experiment that gilscope repeats, and their limits."""
    tables = (
        shared.published(message("GIL held"), SEED_HELD, titled=True),
        shared.published(message("GIL released"), SEED_RELEASED, titled=True),
    )
    title = message("Figures of the published experiment that gilscope repeats, from an Apple M2")
    return Section(key="seed-figures", title=title, tables=tables, notes=(SEED_FAULTS,))
