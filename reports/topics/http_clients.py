"""The experiment http-clients: what each client's workers did at once, and what the GIL does to that."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, log
from operator import attrgetter, itemgetter
from statistics import median
from typing import Any

from core.messages import NOTHING, SEMICOLON, Message, listed, message, verbatim
from core.runtime import NATIVE
from reports.document.drawing import Axis, Curve, Mark, Panel, Span
from reports.document.model import ABSENT, Figure, Form, Section, Table, bounds, estimate, traced, words
from reports.document.shapes import Col, arm_col, col, table, tip
from reports.document.values import hundredths, milliseconds, tenths
from reports.facts.http_workers import (
    BEAST,
    HELD,
    RELEASED,
    UNDECLARED,
    ClientRow,
    bench_ratio,
    by_setting,
    client_rows,
    telling_timelines,
)
from reports.facts.series import about
from reports.facts.traces import of_rows
from reports.statistics.stats import Estimate
from reports.topics import contest as shared
from reports.view import View

PLACE = 12
VIEW = "http-clients"
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 50)
BEYOND = 1.15
ROW_STEP, ARM_STEP = 1.6, 0.22  # of a client's line in the plot of serialisation, and of the runtimes within it
SAMPLES_FOR_P999 = 10_000
MOST_SHOWN = 99.0  # an interval of few blocks may end far beyond the number of workers
CELLS = attrgetter("cells")
KINDS = {"thread": message("sync"), "task": message("async")}
NAMES = {
    HELD: message("Beast, GIL held through I/O"),
    RELEASED: message("Beast, GIL released through I/O"),
    UNDECLARED: message("Beast, GIL held, module not declared for free-threading"),
}
HOW = message(
    "Mean, P99, P999 and Max are of single requests, nearest rank, of all blocks together; P999 needs 10,000 samples. "
    "LMean and Bench are medians over the blocks. Serialisation is Bench / LMean: 1 where all workers work at once. A "
    "worker that holds the GIL is asked for it after 5 ms, so loops much longer than that take turns, all last as long "
    "as Bench, and their serialisation is near 1 although one works at a time: that shows in the number in flight, the "
    "median latency x requests / Bench. Few requests have a turn's wait in them, and the median none. The connect is "
    "apart, and no request of the warm-up is counted."
)
# What the seed's records published. Python's beast holds the GIL in the first table and releases it in the second.
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
    "An Apple M2's figures, one run each, 10 workers x 100 requests in a fixed order. There was no warm-up, and the "
    "first request of each client includes its connect: 10 of 1,000 samples, so P999 and Max mostly measure "
    "connecting. The clients differed in whether they read the body."
)
Settings = Mapping[str, Sequence[ClientRow]]


def section(view: View) -> Section:
    """Return the answer across held, released and undeclared, and every client under every runtime."""
    settings = by_setting(client_rows(view.rows, view.titles))
    clients = [client for group in settings.values() for client in group]
    first = answer(settings)
    told = [text for setting, group in settings.items() for text in _story(setting, group)]
    sentences = (*(told if settings else [shared.NOTHING_MEASURED]), *shared.absent_sentences(view))
    name, columns = message("All clients"), _columns(view)
    groups = [(verbatim(setting), group) for setting, group in settings.items()]
    bars = shared.bar_col(attrgetter("mean_ns"), clients)
    return Section(
        key=shared.KEY,
        title=message("HTTP clients"),
        answer=(first,) if first else (),
        sentences=sentences,
        figures=(*_serialisation(settings, view), *_timelines(next(iter(settings.values()), []), view)),
        tables=(table(name, columns, groups, caption=HOW), _side_by_side(settings)),
        parts=(_seeds(),),
        terminal=(table(name, [*columns, bars], groups), first, *sentences),
    )


def answer(settings: Settings) -> Message:
    """Return what the experiment asks, across held, released and undeclared; nothing if held never had a GIL.

    The answer is of the first setting that has one: the shorter the loops, the less do turns of the GIL hide in them.
    """
    for setting, group in settings.items():
        parts = listed(_answer_parts(group), SEMICOLON)
        if parts:
            where = message("{parts} ({setting})", parts=parts, setting=setting) if setting else parts
            return message("{parts}.", parts=where)
    return NOTHING


def _answer_parts(group: Sequence[ClientRow]) -> Iterator[Message]:
    found = {(client.row.system, client.build.gil_enabled): client for client in reversed(group)}
    held, free, undeclared = (found.get(key) for key in ((HELD, True), (HELD, False), (UNDECLARED, False)))
    if held is None:
        return
    yield message("Beast (GIL held): serialisation {values}", values=_values([held, free]))
    released = [found.get((RELEASED, state)) for state in (True, False)]
    if any(released):
        yield message("released: {values}", values=_values(released))
    if undeclared is None:
        return
    value = _value(undeclared)
    if free and _distance(undeclared, held) < _distance(undeclared, free):
        yield message(
            "a module that does not declare free-threading support turns the GIL back on and is at {value} again",
            value=value,
        )
    else:
        yield message(
            "a module that does not declare free-threading support turns the GIL back on and is at {value}",
            value=value,
        )


def _values(group: Sequence[ClientRow | None]) -> Message:
    known = [client for client in group if client]
    return listed(message("{value} under {runtime}", value=_value(client), runtime=client.runtime) for client in known)


def _value(client: ClientRow) -> Message:
    return traced(tenths(client.serialisation.value), client.cells)


def _distance(one: ClientRow, other: ClientRow) -> float:
    """Return how far the ratio of two serialisations is from 1."""
    return abs(log(one.serialisation.value / other.serialisation.value))


def _story(setting: str, group: Sequence[ClientRow]) -> Iterator[Message]:
    """Yield each build of the extension under every runtime, and released beside the native program."""
    for system, name in NAMES.items():
        clauses = listed(map(_clause, (client for client in group if client.row.system == system)), SEMICOLON)
        if clauses:
            yield about(message("{name} - {clauses}.", name=name, clauses=clauses), setting)
    native = next((client for client in group if (client.row.system, client.runtime) == (BEAST, NATIVE)), None)
    values = listed(
        message(
            "{value} under {runtime}",
            value=traced(ratio_text(ratio), of_rows([client.row, native.row])),
            runtime=client.runtime,
        )
        for client in group
        if native and client.row.system == RELEASED and (ratio := bench_ratio(client, native))
    )
    if values:
        yield about(message("Bench of Beast released over that of native Beast: {values}.", values=values), setting)


def _clause(client: ClientRow) -> Message:
    return message(
        "{runtime}: serialisation {ratio}, {in_flight:.1f} in flight",
        runtime=client.runtime,
        ratio=traced(ratio_text(client.serialisation), client.cells),
        in_flight=client.in_flight,
    )


def ratio_text(ratio: Estimate) -> str:
    """Return '7.02 [6.50, 7.40]'; the end of an interval that says no more is '> 99'."""
    return estimate(ratio, _up_to_most(ratio))


def _up_to_most(ratio: Estimate) -> Form:
    """Return a form with two decimals, except for ends that are beyond MOST_SHOWN and the value."""
    most = max(MOST_SHOWN, ratio.value)
    return lambda shown: f"> {most:.0f}" if shown > most else hundredths(shown)


def _columns(view: View) -> list[Col[ClientRow]]:
    return [
        col(message("client"), lambda client: words(client.client, cells=client.cells, leads=True)),
        arm_col(message("runtime"), attrgetter("runtime"), view.looks, CELLS),
        col(
            message("async/sync"),
            lambda client: KINDS.get(client.row.good[-1].clients[0].get("worker"), ABSENT),
            rank=9,
        ),
        *_latencies(),
        col(message("[95 %]"), _interval, str, CELLS, rank=7),
        col(message("in flight"), attrgetter("in_flight"), tenths, CELLS),
        _ms(message("connect (ms)"), _connect_ns, rank=7),
    ]


def _latencies() -> list[Col[ClientRow]]:
    """Return the columns of times in ms, and of the serialisation."""
    serial = message("serialisation")
    return [
        _ms(message("Mean (ms)"), attrgetter("mean_ns"), brief=message("Mean"), rank=2),
        _ms(message("P99 (ms)"), lambda client: client.row.latency.quantile(0.99), rank=4),
        _ms(message("P999 (ms)"), _p999_ns, rank=8),
        _ms(message("Max (ms)"), attrgetter("row.latency.max_ns"), rank=6),
        _ms(message("LMean (ms)"), attrgetter("lmean_ns"), rank=5),
        _ms(message("Bench (ms)"), attrgetter("bench_ns"), brief=message("Bench")),
        col(serial, attrgetter("serialisation.value"), hundredths, CELLS, brief=message("serial."), rank=1),
    ]


def _ms(head: Message, read: Callable[[ClientRow], float | None], **more: Any) -> Col[ClientRow]:
    return col(head, read, milliseconds, CELLS, **more)


def _p999_ns(client: ClientRow) -> int | None:
    latency = client.row.latency
    return latency.quantile(0.999) if latency.count >= SAMPLES_FOR_P999 else None


def _connect_ns(client: ClientRow) -> float | None:
    means = [cell.connect["mean_ns"] for cell in client.row.good if cell.connect.get("count")]
    return median(means) if means else None


def _interval(client: ClientRow) -> str:
    """Return the interval of the serialisation."""
    ratio = client.serialisation
    return bounds(ratio.low, ratio.high, _up_to_most(ratio)) if isfinite(ratio.high) else ABSENT


def _side_by_side(settings: Settings) -> Table:
    """Return a table with a line for each of Python's clients, and for each runtime a set of columns."""
    python = {setting: [client for client in group if client.runtime != NATIVE] for setting, group in settings.items()}
    runtimes = dict.fromkeys(client.runtime for group in python.values() for client in group)
    columns: list[Col[Mapping[str, ClientRow]]] = [
        col(message("client"), lambda line: next(iter(line.values())).client),
        *(_under(runtime, one) for runtime in runtimes for one in _latencies()),
    ]
    groups = []
    for setting, group in python.items():
        lines: dict[str, dict[str, ClientRow]] = {}
        for client in group:
            lines.setdefault(client.row.system, {})[client.runtime] = client
        groups.append((verbatim(setting), lines.values()))
    return table(message("Runtimes side by side"), columns, groups, folded=True, titled=True)


def _under(runtime: str, one: Col[ClientRow]) -> Col[Mapping[str, ClientRow]]:
    """Return a column of the clients under one runtime."""
    head = message("{runtime} {figure}", runtime=runtime, figure=one.column.brief or one.column.head)
    return col(head, lambda line: one.datum(line[runtime]) if runtime in line else ABSENT, str)


def _serialisation(settings: Settings, view: View) -> Iterator[Figure]:
    """Yield a panel for each setting: Bench / LMean with its interval, a line for each client."""
    most = max([2.0, *(BEYOND * client.serialisation.value for group in settings.values() for client in group)])
    ticks = tuple((float(tick), f"{tick:g}") for tick in TICKS if tick <= most)
    across = Axis(label=message("Bench / LMean"), low=0.95, high=most, is_log=True, ticks=ticks)
    if settings:
        yield Figure(
            key="serialisation",
            title=message("Serialisation of the workers"),
            caption=message(
                "Bench / LMean with its 95 % interval: at 1 all work at once, at the number of workers one after the "
                "other. An interval that ends at the edge goes on."
            ),
            panels=tuple(_serial_panel(setting, group, across, view) for setting, group in settings.items()),
        )


def _serial_panel(setting: str, group: Sequence[ClientRow], across: Axis, view: View) -> Panel:
    clients = list(dict.fromkeys(client.client for client in group))
    runtimes = list(dict.fromkeys(client.runtime for client in group))

    def mark(client: ClientRow) -> Mark:
        ratio, beside = client.serialisation, runtimes.index(client.runtime) - (len(runtimes) - 1) / 2
        return Mark(
            x=ratio.value,
            y=ROW_STEP * clients.index(client.client) + ARM_STEP * beside,
            left=ratio.low,
            right=min(ratio.high, across.high),
            tip=tip(listed([client.client, client.runtime]), ratio_text(ratio)),
            cells=client.cells,
        )

    ticks = tuple((ROW_STEP * place, client) for place, client in enumerate(clients))
    return Panel(
        title=verbatim(setting),
        across=across,
        up=Axis(label=NOTHING, low=ROW_STEP * len(clients) - 0.6, high=-1.0, ticks=ticks),
        curves=tuple(
            Curve(
                name=runtime,
                look=view.looks[runtime],
                marks=tuple(mark(client) for client in group if client.runtime == runtime),
            )
            for runtime in runtimes
        ),
        level=1.0,
        upright=True,
    )


def _timelines(group: Sequence[ClientRow], view: View) -> Iterator[Figure]:
    """Yield a panel for each client that explains the rest: a line for each worker, a bar for each first request."""
    chosen = telling_timelines(group)
    ends_ns = [end for client in chosen for worker in client.timeline for _, end in worker]
    across = Axis(label=message("time since the release [ms]"), low=0.0, high=max(ends_ns, default=1) / 1e6)
    if chosen:
        yield Figure(
            key="timeline",
            title=message("What each worker did when"),
            caption=message(
                "Each worker's first requests: a line for each worker, a bar for each request. Bars above one another "
                "were under way at once."
            ),
            panels=tuple(_timeline(client, across, view) for client in chosen),
        )


def _timeline(client: ClientRow, across: Axis, view: View) -> Panel:
    workers = list(enumerate(client.timeline, 1))
    spans = tuple(
        Span(y=float(place), start=start / 1e6, end=end / 1e6, height=0.8, faint=bool(turn % 2))
        for place, requests in workers
        for turn, (start, end) in enumerate(requests)
    )
    ticks = tuple((float(place), str(place)) for place, _ in workers)
    return Panel(
        title=message(
            "{client}, {runtime}: {in_flight:.1f} requests in flight",
            client=client.client,
            runtime=traced(client.runtime, client.cells),
            in_flight=client.in_flight,
        ),
        across=across,
        up=Axis(label=NOTHING, low=len(workers) + 0.7, high=0.3, ticks=ticks),
        curves=(Curve(name="", look=view.looks[client.runtime], spans=spans),),
    )


def _seeds() -> Section:
    """Return both tables as published, and what was wrong with them."""
    forms = [None, None, *[str] * 6, None]  # the figures are shown as they were printed
    tables = []
    for name, text in ((message("GIL held"), SEED_HELD), (message("GIL released"), SEED_RELEASED)):
        heads, *lines = map(str.split, text.strip().splitlines())
        columns = [col(verbatim(head), itemgetter(place), forms[place]) for place, head in enumerate(heads)]
        tables.append(table(name, columns, [(NOTHING, lines)], titled=True))
    title = message("The seed's own figures: an Apple M2's")
    return Section(key="seed-figures", title=title, tables=tuple(tables), notes=(SEED_FAULTS,))
