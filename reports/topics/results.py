"""The rows of a run: a line for each setting and arm, with all of its figures."""

from collections.abc import Mapping, Sequence

from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, listed, message, plural
from reports.document.model import Column, Datum, Group, Line, Section, Strip, Table, arm, number, words
from reports.facts.cells import STATES, Row, alike, has_same_work, reference
from reports.facts.comparisons import confounds_of
from reports.facts.figures import ROW_COLUMNS, Shown
from reports.facts.loops import loop_words
from reports.facts.measures import Measure, measure
from reports.facts.traces import of_rows
from reports.render.strips import round_values
from reports.topics.contest import absent_sentences
from reports.topics.machine import method_words
from reports.view import View

PLACE = 15
ROOM = 1.02
MOST_TROUBLES = 4


def section(view: View) -> Section:
    """The table; on a terminal without what columns mean, and only where the experiment has no view of its own."""
    absent = absent_sentences(view)
    return Section(
        key="results",
        title=message("Results"),
        sentences=(*_lacking(view), *missing_runtimes(view), *absent),
        tables=(table(view),),
        notes=readings(view),
        terminal=() if view.plan.view else (table(view, is_brief=True), *_failures(view), *_lacking(view), *absent),
    )


def table(view: View, *, is_brief: bool = False) -> Table:
    """A group for each setting. is_brief: with no more than the state of a row that has no figures"""
    shown, how = _columns(view.rows), measure(is_timed=view.is_timed)
    has_status = not is_brief and any(row.trouble and row.figures for row in view.rows)
    scales = {id(row): ROOM * how.most(rows) for rows in _parts(view) for row in rows}
    groups = [
        Group(
            head=view.settings.name(rows[0].system, rows[0].params),
            lines=tuple(
                (*_line(row, rows, shown, how, scales[id(row)], view), *[_status(row)] * has_status)
                if row.figures
                else _blank(row, view, is_brief=is_brief)
                for row in rows
            ),
        )
        for rows in view.groups
    ]
    heading = Strip(low=0.0, high=max(scales.values(), default=1.0)) if len(set(scales.values())) == 1 else None
    return Table(
        name=message("Results"),
        columns=(
            Column(head=message("Runtime")),
            Column(head=NOTHING, is_strip=True, strip=_ticks(heading) if heading else None),
            *(one.column for one in shown.values()),
            *[Column(head=message("Status"))] * has_status,
        ),
        groups=tuple(groups),
        kind="bars",
        key="rows",
        caption=listed(
            [
                message("Bars: {label}. {better}", label=how.label, better=how.better),
                *loop_words(view.rows, is_brief=True),
            ],
            SENTENCES,
        )
        if is_brief
        else message(
            "Bars: {label}, median over the blocks. Marks: each block. {better}", label=how.label, better=how.better
        ),
    )


def _columns(rows: Sequence[Row]) -> Mapping[str, Shown]:
    """Return the columns that say something: no ratio where there is one runtime."""
    several = len({row.runtime for row in rows}) > 1
    return {name: one for name, one in ROW_COLUMNS.items() if several or name != "ratio_to_first_runtime"}


def _parts(view: View) -> list[Sequence[Row]]:
    """Rows whose bars have one scale."""
    return [view.rows] if view.is_timed else alike(view.rows)


def _ticks(strip: Strip) -> Strip:
    ticks = tuple((value, f"{value:,g}") for value in round_values(strip.low, strip.high, 5))
    return Strip(low=strip.low, high=strip.high, ticks=ticks, tip=f"0 - {ticks[-1][1]}")


def _line(row: Row, group: Sequence[Row], shown: Mapping[str, Shown], how: Measure, most: float, view: View) -> Line:
    look, cells = view.looks[row.runtime], of_rows([row])
    base = [other for other in group if other.runtime in reference(view.run)]
    both = of_rows([*base, row])
    numbers = [
        number(row.columns.get(name), one.form, both if name == "ratio_to_first_runtime" else cells, one.key)
        for name, one in shown.items()
    ]
    return arm(row.runtime, look, cells), Datum(strip=how.strip(row, most, look, row.runtime), cells=cells), *numbers


def _blank(row: Row, view: View, *, is_brief: bool) -> Line:
    """A row without figures: what became of it."""
    cells, state = of_rows([row]), STATES[row.state]
    name = arm(row.runtime, view.looks[row.runtime], cells)
    if is_brief:
        return name, Datum(), words(state, state="trouble")
    return name, words(row.trouble or state, state="trouble", cells=cells)


def _status(row: Row) -> Datum:
    return words(row.trouble, state="trouble", cells=of_rows([row])) if row.trouble else words(STATES[row.state])


def _failures(view: View) -> list[Message]:
    """Of the first rows with cells that are not ok, which they are and why."""
    rows = [row for row in view.rows if row.trouble]
    lines = [
        message(
            "{setting}, {arm}: {trouble}",
            setting=view.settings.short(row.system, row.params),
            arm=row.runtime,
            trouble=row.trouble,
        )
        for row in rows[:MOST_TROUBLES]
    ]
    more = len(rows) - len(lines)
    left = plural("{count} more row has failed cells.", "{count} more rows have failed cells.", count=more)
    return [*lines, *[left] * bool(more)]


def _lacking(view: View) -> list[Message]:
    blocks = view.plan.blocks
    if view.plan.until:  # it may end after any block
        blocks = max((cell.block for cell in view.run.cells), default=0)
    count = sum(max(0, row.planned * blocks // view.plan.blocks - len(row.cells)) for row in view.rows)
    if not count:
        return []
    return [
        plural(
            "{count} cell of the plan is not measured; --resume goes on with it.",
            "{count} cells of the plan are not measured; --resume goes on with them.",
            count=count,
        )
    ]


def missing_runtimes(view: View) -> tuple[Message, ...]:
    """Runtimes of the plan that are not on the machine, and what to do."""
    return tuple(
        message("{runtime}: not measured. {reason}", runtime=runtime, reason=reason)
        for runtime, reason in view.run.missing.items()
    )


def readings(view: View) -> tuple[Message, ...]:
    """What the columns mean, which way the ratio goes, how it was measured, and what confounds it."""
    method = message("Method: {parts}.", parts=method_words(view.plan.method))
    return (*_figures(view), *_unlike_work(view), *_ratio(view), method, *_builds(view))


def _figures(view: View) -> list[Message]:
    counts = sorted({len(row.good) for row in view.rows if row.good})
    if not counts:
        return []
    return [
        message(
            "Completion: what a client process takes for all of its requests, the median over the clients, and of the "
            "slowest client; medians of {blocks}. Latency (p50, p99): of all requests of all blocks. CPU: user and "
            "system time per request. No figure includes cells that failed or are invalid.",
            blocks=_block_count(counts[0], counts[-1]),
        )
    ]


def _block_count(least: int, most: int) -> Message:
    """'3 blocks', '2 to 3 blocks'."""
    if least != most:
        return message("{least} to {most} blocks", least=least, most=most)
    return plural("{count} block", "{count} blocks", count=least)


def _unlike_work(view: View) -> list[Message]:
    if has_same_work(view.rows):
        return []
    return [message("Cells differ in their number of requests: compare systems and settings by requests/s.")]


def _ratio(view: View) -> list[Message]:
    arms = dict.fromkeys(row.runtime for row in view.rows)
    if len(arms) < 2 or not reference(view.run):
        return []
    (first,) = reference(view.run)
    return [
        message(
            "Ratio: requests/s of the row over those under {runtime}, paired by block; above 1 it is faster.",
            runtime=first,
        )
    ]


def _builds(view: View) -> list[Message]:
    confounds = confounds_of(view.comparisons)
    if not confounds:
        return []
    return [
        message(
            "More than the step differs, and a ratio cannot tell these causes apart: {confounds}.",
            confounds=listed(confounds, SEMICOLON),
        )
    ]
