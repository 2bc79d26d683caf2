"""The rows of a run: a line for each setting and arm, with all of its figures."""

from collections.abc import Mapping, Sequence

from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, listed, message, plural
from reports.document.model import Column, Datum, Group, Line, Section, Strip, Table, arm, number, words
from reports.facts.cells import STATES, Row, has_same_work, reference
from reports.facts.comparisons import confounds_of
from reports.facts.figures import ROW_COLUMNS, Shown
from reports.facts.measures import loop_words
from reports.facts.traces import of_row, of_rows
from reports.render.strips import round_values
from reports.topics.contest import absent_sentences
from reports.topics.machine import method_words
from reports.view import View

PLACE = 15
TITLE = message("Results")
ROOM = 1.02
MOST_TROUBLES = 4


def section(view: View) -> Section:
    """Return the table; a terminal has no notes, and nothing at all if the experiment has a view of its own."""
    absent, lacking = absent_sentences(view), _lacking(view)
    brief: tuple[Message | Table, ...] = (table(view, is_brief=True), *_failures(view), *lacking, *absent)
    return Section(
        key="results",
        title=TITLE,
        sentences=(*lacking, *missing_runtimes(view), *absent),
        tables=(table(view),),
        notes=readings(view),
        terminal=() if view.plan.view else brief,
    )


def table(view: View, *, is_brief: bool = False) -> Table:
    """Return a group for each setting. is_brief: with no more than the state of a row that has no figures"""
    shown, how, first = _columns(view.rows), view.measure, reference(view.run)
    has_status = not is_brief and any(row.trouble and row.figures for row in view.rows)
    most = {*view.scales.values()}

    def line(row: Row, group: Sequence[Row]) -> Line:
        cells, look, state = of_row(row), view.looks[row.runtime], STATES[row.state]
        name = arm(row.runtime, look, cells)
        trouble = words(row.trouble or state, state="trouble", cells=cells)
        if not row.figures:
            return (name, Datum(), words(state, state="trouble")) if is_brief else (name, trouble)
        both = of_rows([*(other for other in group if other.runtime in first), row])
        bar = Datum(strip=how.strip(row, ROOM * view.scales[id(row)], look, row.runtime), cells=cells)
        numbers = [
            number(row.columns.get(name), one.form, both if name == "ratio_to_first_runtime" else cells, one.key)
            for name, one in shown.items()
        ]
        return name, bar, *numbers, *[trouble if row.trouble else words(state)] * has_status

    return Table(
        name=TITLE,
        columns=(
            Column(head=message("Runtime")),
            Column(head=NOTHING, is_strip=True, strip=_ticks(ROOM * max(most)) if len(most) == 1 else None),
            *(one.column for one in shown.values()),
            *[Column(head=message("Status"))] * has_status,
        ),
        groups=tuple(
            Group(head=head, lines=tuple(line(row, rows) for row in rows)) for head, rows in view.named_groups
        ),
        kind="bars",
        key="rows",
        caption=_caption(view, is_brief=is_brief),
    )


def _columns(rows: Sequence[Row]) -> Mapping[str, Shown]:
    """Return the columns that say something: no ratio where there is one runtime, and nothing beside without any."""
    said = {"ratio_to_first_runtime": len({row.runtime for row in rows}) > 1}
    said["beside_cpu_ns_per_request"] = any(cell.beside for row in rows for cell in row.cells)
    return {name: one for name, one in ROW_COLUMNS.items() if said.get(name, True)}


def _ticks(most: float) -> Strip:
    ticks = tuple((value, f"{value:,g}") for value in round_values(0.0, most, 5))
    return Strip(low=0.0, high=most, ticks=ticks, tip=f"0 - {ticks[-1][1]}")


def _caption(view: View, *, is_brief: bool) -> Message:
    how = view.measure
    if is_brief:
        bars = message("Bars: {label}. {better}", label=how.label, better=how.better)
        return listed([bars, *loop_words(view.rows, is_brief=True)], SENTENCES)
    return message(
        "Bars: {label}, median over the blocks. Marks: each block. {better}", label=how.label, better=how.better
    )


def _failures(view: View) -> list[Message]:
    """Return which cells of the first rows are not ok, and why."""
    rows = [row for row in view.rows if row.trouble]
    lines = [
        message(
            "{setting}, {arm}: {trouble}",
            setting=view.settings.short(row.system, row.params), arm=row.runtime, trouble=row.trouble,
        )
        for row in rows[:MOST_TROUBLES]
    ]  # fmt: skip
    more = len(rows) - len(lines)
    left = plural("{count} more row has failed cells.", "{count} more rows have failed cells.", count=more)
    return [*lines, *[left] * bool(more)]


def _lacking(view: View) -> list[Message]:
    planned = blocks = view.plan.blocks
    if view.plan.until:  # it may end after any block
        blocks = max((cell.block for cell in view.run.cells), default=0)
    count = sum(max(0, row.planned * blocks // planned - len(row.cells)) for row in view.rows)
    lacking = plural(
        "{count} cell of the plan is not measured; --resume goes on with it.",
        "{count} cells of the plan are not measured; --resume goes on with them.",
        count=count,
    )
    return [lacking] * bool(count)


def missing_runtimes(view: View) -> tuple[Message, ...]:
    """Return which runtimes of the plan are not on the machine, and what to do."""
    return tuple(
        message("{runtime}: not measured. {reason}", runtime=runtime, reason=reason)
        for runtime, reason in view.run.missing.items()
    )


def readings(view: View) -> tuple[Message, ...]:
    """Return what the columns mean, which way the ratio goes, how it was measured, and what confounds it."""
    counts = {len(row.good) for row in view.rows if row.good}
    blocks = plural("{count} block", "{count} blocks", count=max(counts, default=0))
    if len(counts) > 1:
        blocks = message("{least} to {most} blocks", least=min(counts), most=max(counts))
    figures = message(
        "Completion: what a client process takes for all of its requests, the median over the clients, and of the "
        "slowest client; medians of {blocks}. Latency (p50, p99): of all requests of all blocks. CPU: user and "
        "system time per request. No figure includes cells that failed or are invalid.",
        blocks=blocks,
    )
    unlike = message("Cells differ in their number of requests: compare systems and settings by requests/s.")
    several = len({row.runtime for row in view.rows}) > 1
    ratios = (
        message(
            "Ratio: requests/s of the row over those under {runtime}, paired by block; above 1 it is faster.",
            runtime=first,
        )
        for first in reference(view.run)
    )
    confounds = confounds_of(view.comparisons)
    apart = message(
        "More than the step differs, and a ratio cannot tell these causes apart: {confounds}.",
        confounds=listed(confounds, SEMICOLON),
    )
    return (
        *[figures] * bool(counts),
        *[unlike] * (not has_same_work(view.rows)),
        *(ratios if several else ()),
        message("Method: {parts}.", parts=method_words(view.plan.method)),
        *[apart] * bool(confounds),
    )
