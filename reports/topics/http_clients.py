"""The experiment http-clients: what each client's workers did at once, and what the GIL does to that."""

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import median

from core.messages import NOTHING, Message, listed, message, verbatim
from core.runtime import NATIVE
from reports.document.drawing import Axis, Curve, Mark, Panel, Span
from reports.document.model import ABSENT, Column, Datum, Figure, Section, Table, arm, bounds, number, traced, words
from reports.document.shapes import tip
from reports.document.values import hundredths, milliseconds, tenths
from reports.facts.http_story import Settings, answer, story
from reports.facts.http_workers import (
    ClientRow,
    by_setting,
    client_rows,
    ratio_text,
    telling_timelines,
    timeline,
    up_to_most,
)
from reports.seed import http_clients as seed
from reports.topics import contest as shared
from reports.topics.absent import absent_sentences
from reports.view import View

PLACE = 12
VIEW = "http-clients"
SAMPLES_FOR_P999 = 10_000
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 50)
BEYOND = 1.15
ROW_STEP, ARM_STEP = 1.6, 0.22  # of a client's line in the plot of serialisation, and of the runtimes within it
SERIALISATION = message("Bench / LMean")
KINDS = {"thread": message("sync"), "task": message("async")}
HOW = message(
    "Mean, P99, P999 and Max are of single requests, nearest rank, of all blocks together; P999 needs 10,000 samples. "
    "LMean and Bench are medians over the blocks. Serialisation is Bench / LMean: 1 where all workers work at once. A "
    "worker that holds the GIL is asked for it after 5 ms, so loops much longer than that take turns, all last as long "
    "as Bench, and their serialisation is near 1 although one works at a time: that shows in the number in flight, the "
    "median latency x requests / Bench. Few requests have a turn's wait in them, and the median none. The connect is "
    "apart, and no request of the warm-up is counted."
)


def section(view: View) -> Section:
    """The answer across held, released and undeclared, and every client under every runtime."""
    title = message("HTTP clients")
    if view.plan.view != VIEW:
        return Section(key=VIEW, title=title)
    settings = by_setting(client_rows(view.rows, view.titles))
    clients = [client for group in settings.values() for client in group]
    first = answer(settings)
    told = [text for setting, group in settings.items() for text in story(setting, group)]
    sentences = (*(told if settings else [shared.NOTHING_MEASURED]), *absent_sentences(view))
    table = _table(settings, view)
    return Section(
        key=shared.KEY,
        title=title,
        answer=(first,) if first else (),
        sentences=sentences,
        figures=(*_serialisation(settings, view), *_timelines(next(iter(settings.values()), []), view)),
        tables=(table, _side_by_side(settings)),
        parts=(_seeds(),),
        terminal=(shared.with_bars(table, [_mean_ns(client) for client in clients]), first, *sentences),
    )


def _table(settings: Settings, view: View) -> Table:
    columns: list[shared.Of[ClientRow]] = [
        (Column(head=message("client")), lambda client: words(client.client, cells=client.groups, leads=True)),
        (
            Column(head=message("runtime")),
            lambda client: arm(client.runtime, view.looks[client.runtime], client.groups),
        ),
        (Column(head=message("async/sync"), rank=9), lambda client: words(KINDS.get(client.worker, ABSENT))),
        *_latencies(),
        (_column(message("in flight")), lambda client: number(client.in_flight, tenths, client.groups)),
        (_column(message("connect (ms)"), rank=7), lambda client: _ms(_connect_ns(client), client)),
    ]
    groups = [(verbatim(setting), group) for setting, group in settings.items()]
    return shared.table_of(message("All clients"), columns, groups, caption=HOW)


def _latencies() -> list[shared.Of[ClientRow]]:
    """Times in ms, and the serialisation."""
    return [
        (_column(message("Mean (ms)"), brief=message("Mean"), rank=2), lambda client: _ms(_mean_ns(client), client)),
        (_column(message("P99 (ms)"), rank=4), lambda client: _ms(client.row.latency.quantile(0.99), client)),
        (_column(message("P999 (ms)"), rank=8), lambda client: _ms(_p999_ns(client), client)),
        (_column(message("Max (ms)"), rank=6), lambda client: _ms(client.row.latency.max_ns, client)),
        (_column(message("LMean (ms)"), rank=5), lambda client: _ms(client.lmean_ns, client)),
        (_column(message("Bench (ms)"), brief=message("Bench")), lambda client: _ms(client.bench_ns, client)),
        (_column(message("serialisation"), brief=message("serial."), rank=1), _serial),
        (_column(message("[95 %]"), rank=7), _serial_interval),
    ]


def _column(head: Message, brief: Message = NOTHING, rank: int = 0) -> Column:
    return Column(head=head, is_number=True, brief=brief, rank=rank)


def _ms(value_ns: float | None, client: ClientRow) -> Datum:
    return number(value_ns, milliseconds, client.groups)


def _mean_ns(client: ClientRow) -> float:
    return client.row.latency.total_ns / client.row.latency.count


def _p999_ns(client: ClientRow) -> int | None:
    latency = client.row.latency
    return latency.quantile(0.999) if latency.count >= SAMPLES_FOR_P999 else None


def _connect_ns(client: ClientRow) -> float | None:
    means = [cell.connect["mean_ns"] for cell in client.row.good if cell.connect.get("count")]
    return median(means) if means else None


def _serial(client: ClientRow) -> Datum:
    return number(client.serialisation.value, hundredths, client.groups)


def _serial_interval(client: ClientRow) -> Datum:
    ratio = client.serialisation
    text = bounds(ratio.low, ratio.high, up_to_most(ratio.value)) if isfinite(ratio.high) else ABSENT
    return words(text, cells=client.groups)


def _side_by_side(settings: Settings) -> Table:
    """A client a line, for each runtime a set of columns; of Python's clients, which have several."""
    python = {setting: [client for client in group if client.runtime != NATIVE] for setting, group in settings.items()}
    runtimes = list(dict.fromkeys(client.runtime for group in python.values() for client in group))
    columns: list[shared.Of[Mapping[str, ClientRow]]] = [
        (Column(head=message("client")), lambda line: words(next(iter(line.values())).client)),
        *(_under(runtime, of) for runtime in runtimes for of in _latencies()[:-1]),
    ]
    groups = [(verbatim(setting), _by_client(group)) for setting, group in python.items()]
    return shared.table_of(message("Runtimes side by side"), columns, groups, folded=True, titled=True)


def _under(runtime: str, of: shared.Of[ClientRow]) -> shared.Of[Mapping[str, ClientRow]]:
    column, show = of
    head = message("{runtime} {figure}", runtime=runtime, figure=column.brief or column.head)
    return _column(head), lambda line: show(line[runtime]) if runtime in line else words(ABSENT)


def _by_client(group: Sequence[ClientRow]) -> list[dict[str, ClientRow]]:
    """Of each client {runtime: its row}."""
    lines: dict[str, dict[str, ClientRow]] = {}
    for client in group:
        lines.setdefault(client.row.system, {})[client.runtime] = client
    return list(lines.values())


def _serialisation(settings: Settings, view: View) -> list[Figure]:
    """A panel for each setting: Bench / LMean with its interval, a line for each client, a mark for each runtime."""
    most = max([2.0, *(BEYOND * client.serialisation.value for group in settings.values() for client in group)])
    ticks = tuple((float(tick), f"{tick:g}") for tick in TICKS if tick <= most)
    across = Axis(label=SERIALISATION, low=0.95, high=most, is_log=True, ticks=ticks)
    figure = Figure(
        key="serialisation",
        title=message("Serialisation of the workers"),
        caption=message(
            "Bench / LMean with its 95 % interval: at 1 all work at once, at the number of workers one after the "
            "other. An interval that ends at the edge goes on."
        ),
        panels=tuple(_serial_panel(setting, group, across, view) for setting, group in settings.items()),
    )
    return [figure] if settings else []


def _serial_panel(setting: str, group: Sequence[ClientRow], across: Axis, view: View) -> Panel:
    clients = list(dict.fromkeys(client.client for client in group))
    runtimes = list(dict.fromkeys(client.runtime for client in group))
    places = {client: ROW_STEP * place for place, client in enumerate(clients)}
    shift = {runtime: ARM_STEP * (place - (len(runtimes) - 1) / 2) for place, runtime in enumerate(runtimes)}
    ticks = tuple((place, client) for client, place in places.items())
    return Panel(
        title=verbatim(setting),
        across=across,
        up=Axis(label=NOTHING, low=ROW_STEP * len(clients) - 0.6, high=-1.0, ticks=ticks),
        curves=tuple(
            Curve(
                name=runtime,
                look=view.looks[runtime],
                marks=tuple(
                    _serial_mark(client, places[client.client] + shift[runtime], across.high)
                    for client in group
                    if client.runtime == runtime
                ),
            )
            for runtime in runtimes
        ),
        level=1.0,
        upright=True,
    )


def _serial_mark(client: ClientRow, place: float, edge: float) -> Mark:
    ratio = client.serialisation
    name = listed([client.client, client.runtime])
    return Mark(
        x=ratio.value,
        y=place,
        left=ratio.low,
        right=min(ratio.high, edge),
        tip=tip(name, ratio_text(ratio)),
        cells=client.groups,
    )


def _timelines(group: Sequence[ClientRow], view: View) -> list[Figure]:
    """A panel for each client that explains the rest: a line for each worker, a bar for each of its first requests."""
    chosen = telling_timelines(group)
    ends_ns = [end for client in chosen for worker in timeline(client) for _, end in worker]
    across = Axis(label=message("time since the release [ms]"), low=0.0, high=max(ends_ns, default=1) / 1e6)
    figure = Figure(
        key="timeline",
        title=message("What each worker did when"),
        caption=message(
            "Each worker's first requests: a line for each worker, a bar for each request. Bars above one another were "
            "under way at once."
        ),
        panels=tuple(_timeline(client, across, view) for client in chosen),
    )
    return [figure] if chosen else []


def _timeline(client: ClientRow, across: Axis, view: View) -> Panel:
    workers = timeline(client)
    spans = tuple(
        Span(y=float(place), start=start / 1e6, end=end / 1e6, height=0.8, faint=bool(turn % 2))
        for place, requests in enumerate(workers, 1)
        for turn, (start, end) in enumerate(requests)
    )
    return Panel(
        title=message(
            "{client}, {runtime}: {in_flight:.1f} requests in flight",
            client=client.client,
            runtime=traced(client.runtime, client.groups),
            in_flight=client.in_flight,
        ),
        across=across,
        up=Axis(
            label=NOTHING,
            low=len(workers) + 0.7,
            high=0.3,
            ticks=tuple((float(place), str(place)) for place in range(1, len(workers) + 1)),
        ),
        curves=(Curve(name="", look=view.looks[client.runtime], spans=spans),),
    )


def _seeds() -> Section:
    """Both tables as published, and what was wrong."""
    tables = (
        shared.published(message("GIL held"), seed.HEADS, seed.HELD, range(2, 8), titled=True),
        shared.published(message("GIL released"), seed.HEADS, seed.RELEASED, range(2, 8), titled=True),
    )
    return Section(
        key="seed-figures", title=message("The seed's own figures: an Apple M2's"), tables=tables, notes=(seed.FAULTS,)
    )
