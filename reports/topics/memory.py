"""Memory: of every setting and arm, against the number of clients if that was swept, and what it is made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from operator import attrgetter, itemgetter, methodcaller
from statistics import median
from typing import Any

import numpy as np

from core.messages import COMMA, NOTHING, SEMICOLON, Message, listed, message, plural, verbatim
from core.program import PROGRAM
from core.result import CellResult, Run
from reports.document.drawing import Axis, Curve, Mark, Panel
from reports.document.model import Datum, Figure, Section, Strip, Table, estimate, traced
from reports.document.shapes import Col, arm_col, col, table, tip
from reports.document.values import MIB, kib, mib, size, whole
from reports.facts.series import about, is_proportional, labels, memory_bytes, number, series
from reports.facts.summary import Row
from reports.facts.traces import of_cells, of_row
from reports.statistics.scaling import line_fit
from reports.statistics.stats import Estimate, least_squares
from reports.view import View

PLACE = 110
WANTED = message("Memory against the number of clients")
COMMAND = f"{PROGRAM} --experiment memory"
HOW = message(
    "Memory is the proportional set size at the end of a cell, with all connections open, or the peak resident set "
    "size where the system does not report that. The slope is fitted to all cells, one point each, with its 95 % "
    "interval; what ends with the first clients (pages shared among more processes, first buffers) is fitted apart."
)
CLIENTS = "NUM_CLIENTS"
FEWEST_COUNTS, FEWEST_POINTS = 3, 5
CURVE_POINTS = 60
LEAST_BYTES = 2**20  # and LEAST_SHARE of the other runtime's: a smaller difference is not worth a sentence
LEAST_SHARE = 0.05
LEAST_PART_BYTES = 2**17
FEWEST_CONNECTIONS = 10  # memory comes in pages
RUNTIME = message("Runtime")
SIDES: Mapping[str, Message] = {"services": message("services"), "clients": message("clients")}
PARTS: Mapping[str, Message] = {
    "objects": message("objects"),
    "c_heap": message("malloc"),
    "stacks": message("thread stacks"),
    "files": message("programs and libraries"),
}
MOMENTS: Mapping[str, Message] = {
    "start": message("interpreter started"),
    "listening": message("before any client"),
    "before": message("before the load"),
    "after": message("after the load"),
    "idle": message("2 s later"),
}
Profile = Mapping[str, Any]  # of the first service of a cell: its moments are a part of MOMENTS, bytes by kind


def is_measured(view: View) -> bool:
    """Return whether the number of clients was swept."""
    return bool(growths(view.run))


def section(view: View) -> Section:
    """Return the sizes of every row, the slope of each sweep of clients, and what a profile says of memory."""
    swept, profiled = growths(view.run), _profiled(view)
    by_arm = [list(sides) for _, sides in groupby(swept, attrgetter("label", "arm"))]
    sentences = (
        *map(_growth_words, by_arm),
        *(words for setting, profiles in profiled.items() for words in _differences(setting, profiles)),
        *(words for setting, profiles in profiled.items() for words in _connections(setting, profiles)),
    )
    return Section(
        key="memory",
        title=message("Memory"),
        sentences=sentences,
        figures=tuple(_figure(side, swept, view) for side in SIDES if swept),
        tables=(_sizes(view), _parts(profiled, view)),
        notes=(HOW,) if swept else (),
        terminal=sentences,
    )


# ---- every row -----------------------------------------------------------------------------------------------------


def _taken(row: Row, side: str) -> float | None:
    """Return the memory of all processes of a side, the median over the blocks."""
    sizes = [size_bytes for cell in row.good if (size_bytes := memory_bytes(getattr(cell, side)))]
    return median(sizes) if sizes else None


def _sizes(view: View) -> Table:
    """Return the memory of all services and of all clients of every row, with a bar for the services."""
    groups = [(head, [row for row in rows if _taken(row, "services")]) for head, rows in view.named_groups]
    longest = {id(row): max(_taken(each, "services") or 0 for each in rows) for _, rows in groups for row in rows}

    def bar(row: Row) -> Datum:
        length, look = _taken(row, "services") or 0.0, view.looks[row.runtime]
        drawn, shown = (0.0, length, f"bar r{look} p{look}"), f"{row.runtime}: {mib(length)} MiB"
        return Datum(strip=Strip(low=0.0, high=longest[id(row)], bars=(drawn,), tip=shown), cells=of_row(row))

    cols: list[Col[Row]] = [
        arm_col(RUNTIME, attrgetter("runtime"), view.looks, of_row),
        col(NOTHING, bar, is_strip=True),
        col(message("Services [MiB]"), lambda row: _taken(row, "services"), mib, of_row, "memory services"),
        col(message("Clients [MiB]"), lambda row: _taken(row, "clients"), mib, of_row, "memory clients"),
    ]
    return table(
        message("Memory"),
        cols,
        groups,
        kind="bars",
        key="memory-sizes",
        caption=message("Proportional set size of each side at the end of a cell, median over the blocks."),
    )


# ---- against the number of clients ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Memory of one side of a cell, all its processes together, under one arm.

    points: (clients, bytes), one per cell. services: how many there are
    slope: bytes for each further client, pages that processes share counted once
    fixed, shared: the rest of the fit: bytes = fixed + slope * clients + shared / (clients + services)
    """

    label: Message
    arm: str
    side: str
    services: int
    points: Sequence[tuple[int, int]]
    slope: Estimate
    fixed: float
    shared: float
    cells: Sequence[CellResult]

    def at(self, clients: float) -> float:
        """Return what the fit says, in bytes."""
        return self.fixed + self.slope.value * clients + self.shared / (clients + self.services)

    def measured(self, clients: int) -> float:
        """Return the median over the blocks, in bytes."""
        return median(size_bytes for count, size_bytes in self.points if count == clients)

    def traces(self, clients: int) -> str:
        """Return the cells with so many clients."""
        return of_cells(cell for cell in self.cells if cell.params[CLIENTS] == clients)

    @property
    def ends(self) -> tuple[int, int]:
        """The fewest clients and the most."""
        return self.points[0][0], self.points[-1][0]


def growths(run: Run) -> list[Growth]:
    """Return both sides of every series with three numbers of clients or more, arm by arm."""
    every = [swept for swept in series(run, (CLIENTS,)) if len(swept.values(CLIENTS)) >= FEWEST_COUNTS]
    made = []
    for swept, label in zip(every, labels(every), strict=True):
        for arm, side in product(swept.arms, SIDES):
            sizes = [(cell, memory_bytes(getattr(cell, side))) for cell in swept.cells if cell.arm == arm]
            points = sorted((number(cell, CLIENTS), size_bytes) for cell, size_bytes in sizes if size_bytes is not None)
            if len({count for count, _ in points}) < FEWEST_COUNTS or len(points) < FEWEST_POINTS:
                continue
            services = number(swept.cells[0], "NUM_API_SERVICES")
            has_shares = all(is_proportional(getattr(cell, side)) for cell, _ in sizes)
            slope, fixed, shared = _fit(points, services if has_shares else None)
            made.append(
                Growth(
                    label=label,
                    arm=arm,
                    side=side,
                    services=services,
                    points=points,
                    slope=slope,
                    fixed=fixed,
                    shared=shared,
                    cells=[cell for cell, size_bytes in sizes if size_bytes is not None],
                )
            )
    return made


def _fit(points: Sequence[tuple[int, int]], services: int | None) -> tuple[Estimate, float, float]:
    """Return slope, constant, and the coefficient of 1 / (clients + services), by least squares with t intervals.

    points: (clients, bytes); services: how many share the interpreter's pages with the clients, or None if the
    memory is not proportional. A proportional set size counts a page that n processes share as 1/n of it, so
    a service seems to shrink as clients come: a plain line would take that for what clients cost.
    """
    if services is None:
        line = line_fit(points)
        return line.slope, line.intercept.value, 0.0
    clients, sizes = np.array(points, dtype=np.float64).T
    fixed, slope, shared = least_squares([np.ones_like(clients), clients, 1 / (clients + services)], sizes)
    return slope, fixed.value, shared.value


def _growth_words(sides: Sequence[Growth]) -> Message:
    """Return what each further client costs the services of an arm, and what a client takes."""
    sentence = message("{sizes}.", sizes=listed(map(_size_words, sides), SEMICOLON))
    cells = of_cells(cell for growth in sides for cell in growth.cells)
    return traced(about(sentence, sides[0].label, sides[0].arm), cells)


def _size_words(growth: Growth) -> Message:
    slope = estimate(growth.slope, size)
    if growth.side == "clients":
        return message("a client takes {slope}", slope=slope)
    few, many = growth.ends
    taken = message(
        "{who} {least} at {few} and {most} at {many}",
        who=plural("the service takes", "the {count} services together take", count=growth.services),
        least=size(growth.measured(few)),
        few=plural("{count} client", "{count} clients", count=few),
        most=size(growth.measured(many)),
        many=plural("{count} client", "{count} clients", count=many),
    )
    if growth.slope.low <= 0 <= growth.slope.high:
        return message("{taken}: no growth is shown ({slope} for each further client)", taken=taken, slope=slope)
    return message("{taken}: {slope} for each further client", taken=taken, slope=slope)


def _figure(side: str, swept: Sequence[Growth], view: View) -> Figure:
    """Return the figure of one side, a panel for each setting whose clients were swept."""
    mine = [growth for growth in swept if growth.side == side]
    most = max((size_bytes for growth in mine for _, size_bytes in growth.points), default=1) / MIB
    counts = [end for growth in mine for end in growth.ends] or [0, 1]
    room = 0.04 * (max(counts) - min(counts))
    figure = f"memory {side} at one count"
    cols: list[Col[Growth]] = [
        arm_col(RUNTIME, attrgetter("arm"), view.looks, _cells),
        col(message("Setting"), attrgetter("label")),
        col(message("at fewest clients [MiB]"), lambda one: one.measured(one.ends[0]), mib,
            lambda one: one.traces(one.ends[0]), figure),
        col(message("at most clients [MiB]"), lambda one: one.measured(one.ends[1]), mib,
            lambda one: one.traces(one.ends[1]), figure),
        col(message("KiB / client [95 %]"), attrgetter("slope"), kib, _cells, "memory slope"),
    ]  # fmt: skip
    return Figure(
        key=f"memory-{side}",
        title=message("Memory of all {side} against the number of clients", side=SIDES[side]),
        caption=message("Marks: single cells. Line: the fit whose slope is given."),
        panels=tuple(
            Panel(
                title=label,
                across=Axis(label=verbatim(CLIENTS), low=min(counts) - room, high=max(counts) + room),
                up=Axis(label=message("memory [MiB]"), low=0.0, high=1.05 * most),
                curves=tuple(_curve(growth, view) for growth in mine if growth.label == label),
            )
            for label in dict.fromkeys(growth.label for growth in mine)
        ),
        table=table(message("Memory of {side}", side=SIDES[side]), cols, [(NOTHING, mine)]),
    )


def _cells(growth: Growth) -> str:
    return of_cells(growth.cells)


def _curve(growth: Growth, view: View) -> Curve:
    """Return the line of the fit, and a mark for each cell."""
    low, high = growth.ends
    counts = [low + (high - low) * step / CURVE_POINTS for step in range(CURVE_POINTS + 1)]
    marks = (
        Mark(x=count, y=size_bytes / MIB, tip=tip(growth.arm, f"{mib(size_bytes)} MiB"), cells=growth.traces(count))
        for count, size_bytes in growth.points
    )
    line = tuple((count, growth.at(count) / MIB) for count in counts)
    return Curve(name=growth.arm, look=view.looks[growth.arm], line=line, marks=tuple(marks))


# ---- what it is made of --------------------------------------------------------------------------------------------


def _profiled(view: View) -> dict[Message, list[Profile]]:
    """Return the memory profiles of each setting, in the plan's order of runtimes."""
    by_setting: dict[Message, list[Profile]] = {}
    for profile in view.run.profiles:
        if profile.get("kind") == "memory" and "after" in profile.get("moments", {}):
            setting = view.settings.name(profile["system"], profile["params"])
            by_setting.setdefault(setting, []).append(profile)
    return by_setting


def _total(sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(part, 0) for part in PARTS)


def _differences(setting: Message, profiles: Sequence[Profile]) -> Iterator[Message]:
    """Return what a runtime takes after the load, the one before it, and what the difference is made of if large."""
    for one, other in pairwise(profiles):
        before, after = one["moments"]["after"], other["moments"]["after"]
        if abs(_total(after) - _total(before)) < max(LEAST_BYTES, LEAST_SHARE * _total(before)):
            continue
        changes = {part: after.get(part, 0) - before.get(part, 0) for part in PARTS}
        large = sorted(PARTS, key=lambda part: -abs(changes[part]))
        parts = [
            message("{part} {size}", part=PARTS[part], size=f"{'+' if changes[part] > 0 else ''}{size(changes[part])}")
            for part in large
            if abs(changes[part]) >= LEAST_PART_BYTES
        ]
        yield message(
            "{setting}: after the load its first service takes {size} under {runtime} and {other_size} under {other}: "
            "{parts}.",
            setting=setting,
            size=size(_total(after)),
            runtime=other["runtime"],
            other_size=size(_total(before)),
            other=one["runtime"],
            parts=listed(parts, COMMA),
        )


def _connections(setting: Message, profiles: Sequence[Profile]) -> Iterator[Message]:
    """Return what connections take, divided among them, if there are enough."""
    for profile in profiles:
        moments = profile["moments"]
        listening, before = (moments.get(moment, {}).get("sockets", 0) for moment in ("listening", "before"))
        count = before - listening
        if not listening or count < FEWEST_CONNECTIONS:
            continue
        beyond = {
            moment: size((_total(moments[moment]) - _total(moments["listening"])) / count)
            for moment in ("before", "after", "idle")
        }
        yield message(
            "{setting}, {runtime}: for each of its {count:,} connections the first service takes {open} when they are "
            "open and idle, {after} after the load and {idle} 2 s later, beyond what it took before any client.",
            setting=setting,
            runtime=profile["runtime"],
            count=count,
            open=beyond["before"],
            after=beyond["after"],
            idle=beyond["idle"],
        )


def _parts(profiled: Mapping[Message, Sequence[Profile]], view: View) -> Table:
    """Return the parts of each profile at each moment."""
    sizes = {"together": message("together [MiB]"), **PARTS, "in_use": message("in use"), "free": message("free")}
    counts = {"threads": message("threads"), "sockets": message("sockets")}
    cols: list[Col[Mapping[str, Any]]] = [
        arm_col(RUNTIME, itemgetter("runtime"), view.looks),
        col(message("Moment"), itemgetter("moment")),
        *(col(head, methodcaller("get", key), mib) for key, head in sizes.items()),
        *(col(head, methodcaller("get", key), whole) for key, head in counts.items()),
    ]
    groups = [
        (
            setting,
            [
                {"runtime": one["runtime"], "moment": words, "together": _total(one["moments"][moment])}
                | one["moments"][moment]
                for one in profiles
                for moment, words in MOMENTS.items()
                if moment in one["moments"]
            ],
        )
        for setting, profiles in profiled.items()
    ]
    return table(
        message("What the memory of the first service is made of"),
        cols,
        groups,
        caption=message(
            "Of one more cell of each runtime, which is in no other figure; proportional set sizes in MiB. Objects: "
            "all that has no file and is neither stack nor malloc's, which is Python's own allocator. In use and free: "
            "what that says of itself; under a free-threaded build it says nothing."
        ),
    )
