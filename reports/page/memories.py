"""Memory: of every setting and arm, and against the number of clients where that was swept. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from core.result import CellResult, Run
from reports.findings.memory import CLIENTS, KIB, MIB, SIDES, Growth, Side, grown, growths
from reports.page.figures import Figure
from reports.page.panels import Axis, Curve, Mark, Panel
from reports.page.settings import Settings
from reports.page.svg import Html, Scale, percent, tag
from reports.page.tables import Datum, Group, Line, Table, drawing, heads, number, runtime
from reports.page.traces import of_cells, of_rows
from reports.rows.series import arms, labels, memory_bytes
from reports.rows.summary import Row

CURVE_POINTS = 60
HEIGHT = 20


def memories(run: Run, settings: Settings, words: Mapping[str, str]) -> list[Figure]:
    """A figure for each side, with a panel for each setting whose clients were swept."""
    found = _named(run, words)
    return [_figure(side, [one for one in found if one.side == side], settings, words) for side in SIDES if found]


def _named(run: Run, words: Mapping[str, str]) -> list[Growth]:
    """Every growth, with its label in the page's language."""
    every = grown(run)
    told = dict(zip(labels(every), labels(every, words["system_in_label"]), strict=True))
    return [replace(one, label=told[one.label]) for one in growths(run)]


def _figure(side: Side, some: Sequence[Growth], settings: Settings, words: Mapping[str, str]) -> Figure:
    labels = list(dict.fromkeys(one.label for one in some))
    most = max((size for one in some for _, size in one.points), default=1) / MIB
    counts = [end for one in some for end in one.ends] or [0, 1]
    room = 0.04 * (max(counts) - min(counts))
    panels = tuple(
        Panel(
            key=f"memory-{side}-{place}",
            title=label,
            across=Axis(label=CLIENTS, low=min(counts) - room, high=max(counts) + room),
            up=Axis(label=words["memory_mib"], low=0.0, high=1.05 * most),
            curves=tuple(_curve(one, settings) for one in some if one.label == label),
        )
        for place, label in enumerate(labels)
    )
    caption = words["memory_caption"].format(side=words[side])
    return Figure(key=f"memory-{side}", caption=caption, panels=panels, table=_slopes(some, side, settings, words))


def _curve(one: Growth, settings: Settings) -> Curve:
    low, high = one.ends
    counts = [low + (high - low) * place / CURVE_POINTS for place in range(CURVE_POINTS + 1)]
    marks = [
        Mark(x=count, y=size / MIB, tip=f"{one.arm}: {size / MIB:,.1f} MiB", cells=_at(one, count))
        for count, size in one.points
    ]
    line = tuple((count, one.at(count) / MIB) for count in counts)
    return Curve(name=one.arm, look=settings.looks[one.arm], line=line, marks=tuple(marks))


def _at(one: Growth, clients: int) -> str:
    """The cells with so many clients."""
    return of_cells(cell for cell in one.cells if cell.params[CLIENTS] == clients)


def _slopes(some: Sequence[Growth], side: Side, settings: Settings, words: Mapping[str, str]) -> Table:
    lines = [
        (
            runtime(one.arm, settings.looks[one.arm], of_cells(one.cells)),
            Datum(text=one.label),
            *(
                number(f"{one.measured(end) / MIB:,.1f}", _at(one, end), f"memory {side} at one count")
                for end in one.ends
            ),
            number(
                f"{one.slope.value / KIB:,.1f} [{one.slope.low / KIB:,.1f}, {one.slope.high / KIB:,.1f}]",
                of_cells(one.cells),
                "memory slope",
            ),
        )
        for one in some
    ]
    numbers = [words["memory_at_fewest"], words["memory_at_most"], words["memory_slope"]]
    titles = heads(words["runtime"], words["setting"], *numbers, numbers=numbers)
    return Table(name=f"{words['memory']}: {words[side]}", heads=titles, groups=(Group(lines=tuple(lines)),))


def sizes(settings: Settings, run: Run, words: Mapping[str, str]) -> Table:
    """Memory of all services and of all clients for every setting and arm: a bar for the services."""
    order = arms(run)
    groups = []
    for some in settings.groups:
        known = [row for row in sorted(some, key=lambda row: order.index(row.runtime)) if _median(row, "services")]
        most = max((_median(row, "services") or 0 for row in known), default=1.0)
        scale = Scale(low=0.0, high=most)
        groups.append(
            Group(
                head=settings.name(some[0].system, some[0].params),
                lines=tuple(_line(row, scale, settings) for row in known),
            )
        )
    numbers = [words["services_mib"], words["clients_mib"]]
    titles = heads(words["runtime"], Datum(kind="plot"), *numbers, numbers=numbers)
    kept = tuple(one for one in groups if one.lines)
    return Table(name=words["memory"], heads=titles, groups=kept, kind="bars")


def _median(row: Row, side: Side) -> float | None:
    told = [size for cell in row.good if (size := memory_bytes(_processes(cell, side)))]
    return median(told) if told else None


def _processes(cell: CellResult, side: Side) -> Sequence[Mapping[str, Any]]:
    return cell.services if side == "services" else cell.clients


def _line(row: Row, scale: Scale, settings: Settings) -> Line:
    cells, look = of_rows([row]), settings.looks[row.runtime]
    told = {side: _median(row, side) for side in SIDES}
    figures = [
        number("-" if told[side] is None else f"{(told[side] or 0) / MIB:,.1f}", cells, f"memory {side}")
        for side in SIDES
    ]
    picture = _bar(row.runtime, told["services"] or 0.0, scale, look.fill, look.name)
    return runtime(row.runtime, look, cells), Datum(drawing=picture, kind="plot", cells=cells), *figures


def _bar(name: str, size: float, scale: Scale, fill: str, kind: str) -> Html:
    length = percent(scale.at(size))
    bar = tag("rect", x="0", width=length, y="3", height="14", fill=fill, class_=f"bar {kind}")
    return drawing(HEIGHT, f"{name}: {size / MIB:,.1f} MiB", bar)
