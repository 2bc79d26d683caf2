"""Memory: of every setting and arm, and against the number of clients where that was swept."""

from collections.abc import Mapping, Sequence
from statistics import median

from core.messages import COMMA, NOTHING, SEMICOLON, Message, listed, message, plural, verbatim
from core.program import PROGRAM
from reports.document.drawing import Axis, Curve, Mark, Panel
from reports.document.model import (
    Column,
    Datum,
    Figure,
    Group,
    Line,
    Section,
    Strip,
    Table,
    arm,
    columns,
    estimate,
    estimated,
    groups,
    number,
    plain_table,
    traced,
    words,
)
from reports.document.shapes import tip
from reports.document.values import MIB, kib, mib, size, whole
from reports.facts.cells import Row, memory_bytes
from reports.facts.footprints import Beyond, Footprint, beyond, footprints
from reports.facts.growth import CLIENTS, SIDES, Growth, Side, growths, of_side
from reports.facts.settings import about
from reports.facts.traces import of_cells, of_rows
from reports.view import View

PLACE = 110
WANTED = message("Memory against the number of clients")
COMMAND = f"{PROGRAM} --experiment memory"
HOW = message(
    "Memory is the proportional set size at the end of a cell, with all connections open, or the peak resident set "
    "size where the system does not report that. The slope is fitted to all cells, one point each, with its 95 % "
    "interval; what ends with the first clients (pages shared among more processes, first buffers) is fitted apart."
)
CURVE_POINTS = 60
NAMES: Mapping[Side, Message] = {"services": message("services"), "clients": message("clients")}
RUNTIME, SETTING = message("Runtime"), message("Setting")
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


def is_measured(view: View) -> bool:
    """Whether the number of clients was swept."""
    return bool(growths(view.run))


def section(view: View) -> Section:
    """Sizes of every row, the slope of each sweep of clients, and what a profile saw the memory to be made of."""
    swept, profiled = growths(view.run), footprints(view.run)
    sentences = (
        *_sentences(swept),
        *(_beyond(pair, view) for of_setting in profiled for pair in beyond(of_setting)),
        *(_per_connection(each, view) for of_setting in profiled for each in of_setting if each.connections),
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


def _sentences(swept: Sequence[Growth]) -> list[Message]:
    """What each further client costs the services, and what a client takes, for each setting and arm."""
    by_arm: dict[tuple[Message, str], list[Growth]] = {}
    for growth in swept:
        by_arm.setdefault((growth.label, growth.arm), []).append(growth)
    return [
        traced(
            about(message("{sizes}.", sizes=listed(map(_size_words, sides), SEMICOLON)), *subject),
            of_cells(cell for growth in sides for cell in growth.cells),
        )
        for subject, sides in by_arm.items()
    ]


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


def _figure(side: Side, swept: Sequence[Growth], view: View) -> Figure:
    """A panel for each setting whose clients were swept."""
    mine = [growth for growth in swept if growth.side == side]
    most = max((size_bytes for growth in mine for _, size_bytes in growth.points), default=1) / MIB
    counts = [end for growth in mine for end in growth.ends] or [0, 1]
    room = 0.04 * (max(counts) - min(counts))
    panels = tuple(
        Panel(
            title=label,
            across=Axis(label=verbatim(CLIENTS), low=min(counts) - room, high=max(counts) + room),
            up=Axis(label=message("memory [MiB]"), low=0.0, high=1.05 * most),
            curves=tuple(_curve(growth, view) for growth in mine if growth.label == label),
        )
        for label in dict.fromkeys(growth.label for growth in mine)
    )
    return Figure(
        key=f"memory-{side}",
        title=message("Memory of all {side} against the number of clients", side=NAMES[side]),
        caption=message("Marks: single cells. Line: the fit whose slope is given."),
        panels=panels,
        table=_slopes(mine, side, view),
    )


def _curve(growth: Growth, view: View) -> Curve:
    low, high = growth.ends
    counts = [low + (high - low) * step / CURVE_POINTS for step in range(CURVE_POINTS + 1)]
    marks = [
        Mark(x=count, y=size_bytes / MIB, tip=tip(growth.arm, f"{mib(size_bytes)} MiB"), cells=_at(growth, count))
        for count, size_bytes in growth.points
    ]
    line = tuple((count, growth.at(count) / MIB) for count in counts)
    return Curve(name=growth.arm, look=view.looks[growth.arm], line=line, marks=tuple(marks))


def _at(growth: Growth, clients: int) -> str:
    """The cells with so many clients."""
    return of_cells(cell for cell in growth.cells if cell.params[CLIENTS] == clients)


def _slopes(mine: Sequence[Growth], side: Side, view: View) -> Table:
    lines = [_slope(growth, side, view) for growth in mine]
    heads = (message("at fewest clients [MiB]"), message("at most clients [MiB]"), message("KiB / client [95 %]"))
    return plain_table(message("Memory of {side}", side=NAMES[side]), (RUNTIME, SETTING), lines, heads)


def _slope(growth: Growth, side: Side, view: View) -> Line:
    cells = of_cells(growth.cells)
    ends = (number(growth.measured(end), mib, _at(growth, end), f"memory {side} at one count") for end in growth.ends)
    return (
        arm(growth.arm, view.looks[growth.arm], cells),
        words(growth.label),
        *ends,
        estimated(growth.slope, kib, cells, "memory slope"),
    )


def _sizes(view: View) -> Table:
    """Memory of all services and of all clients of every row: a bar for the services."""
    drawn = []
    for head, rows in view.named_groups:
        known = [(row, {side: _median(row, side) for side in SIDES}) for row in rows if _median(row, "services")]
        most = max((sizes["services"] or 0.0 for _, sizes in known), default=1.0)
        lines = tuple(_line(row, sizes, most, view) for row, sizes in known)
        drawn.append(Group(head=head, lines=lines))
    return Table(
        name=message("Memory"),
        columns=(
            Column(head=RUNTIME),
            Column(head=NOTHING, is_strip=True),
            *columns((), (message("Services [MiB]"), message("Clients [MiB]"))),
        ),
        groups=tuple(drawn),
        kind="bars",
        key="memory-sizes",
        caption=message("Proportional set size of each side at the end of a cell, median over the blocks."),
    )


def _median(row: Row, side: Side) -> float | None:
    sizes = [size_bytes for cell in row.good if (size_bytes := memory_bytes(of_side(cell, side)))]
    return median(sizes) if sizes else None


def _line(row: Row, sizes: Mapping[Side, float | None], most: float, view: View) -> Line:
    cells, look = of_rows([row]), view.looks[row.runtime]
    length = sizes["services"] or 0.0
    strip = Strip(
        low=0.0, high=most, bars=((0.0, length, f"bar r{look} p{look}"),), tip=f"{row.runtime}: {mib(length)} MiB"
    )
    return (
        arm(row.runtime, look, cells),
        Datum(strip=strip, cells=cells),
        *(number(sizes[side], mib, cells, f"memory {side}") for side in SIDES),
    )


def _beyond(pair: Beyond, view: View) -> Message:
    """What one runtime takes, the one before it, and what the difference is made of."""
    parts = [
        message("{part} {size}", part=PARTS[kind], size=_change(size_bytes)) for kind, size_bytes in pair.parts.items()
    ]
    return message(
        "{setting}: after the load its first service takes {size} under {runtime} and {other_size} under {other}: "
        "{parts}.",
        setting=view.settings.name(pair.one.system, pair.one.params),
        size=size(pair.other.total("after")),
        runtime=pair.other.runtime,
        other_size=size(pair.one.total("after")),
        other=pair.one.runtime,
        parts=listed(parts, COMMA),
    )


def _per_connection(each: Footprint, view: View) -> Message:
    """What connections take, divided among them."""
    return message(
        "{setting}, {runtime}: for each of its {count:,} connections the first service takes {open} when they are open "
        "and idle, {after} after the load and {idle} 2 s later, beyond what it took before any client.",
        setting=view.settings.name(each.system, each.params),
        runtime=each.runtime,
        count=each.connections,
        open=size(each.per_connection("before")),
        after=size(each.per_connection("after")),
        idle=size(each.per_connection("idle")),
    )


def _change(size_bytes: float) -> str:
    return f"{'+' if size_bytes >= 0 else '-'}{size(abs(size_bytes))}"


def _parts(profiled: Sequence[Sequence[Footprint]], view: View) -> Table:
    heads = (
        *(message("together [MiB]"), *PARTS.values()),
        *(message("in use"), message("free"), message("threads"), message("sockets")),
    )
    return Table(
        name=message("What the memory of the first service is made of"),
        columns=columns((RUNTIME, message("Moment")), heads),
        groups=groups(
            (
                view.settings.name(mine[0].system, mine[0].params),
                (_part_line(each, moment, view) for each in mine for moment in MOMENTS if moment in each.moments),
            )
            for mine in profiled
        ),
        caption=message(
            "Of one more cell of each runtime, which is in no other figure; proportional set sizes in MiB. Objects: "
            "all that has no file and is neither stack nor malloc's, which is Python's own allocator. In use and free: "
            "what that says of itself; under a free-threaded build it says nothing."
        ),
    )


def _part_line(each: Footprint, moment: str, view: View) -> Line:
    sizes = each.moments[moment]
    known: list[float | None] = [each.total(moment), *(sizes.get(key) for key in (*PARTS, "in_use", "free"))]
    return (
        arm(each.runtime, view.looks.get(each.runtime)),
        words(MOMENTS[moment]),
        *(number(value, mib) for value in known),
        *(number(sizes.get(key), whole) for key in ("threads", "sockets")),
    )
