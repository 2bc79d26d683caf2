"""The section "Results" of a report: a table with one line per setting and runtime, and all figures
of each.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
A row of the table is a setting under one runtime. A trace names the cells behind a figure.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from analysis.cell_index import STATES, Row, of_cells, reference
from analysis.comparison_words import confounds_of
from analysis.connections import connection_notes
from analysis.formats import Form, round_values
from analysis.metrics import METRICS, ROW_METRICS, pooled
from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, listed, message, plural
from reports.document import Column, Datum, Line, Section, Strip, Table, arm, number, words
from reports.parts.run_words import absent_sentences, loop_words, method_words, missing_runtimes
from reports.tables import (
    POOLED,
    ROOM,
    are_at_rate,
    bar,
    bars_words,
    marked,
    metric_head,
    most_throughput,
    of_row,
)
from reports.view import View

PLACE = 40  # in the order of sections (reports/sections/__init__.py)
TITLE = message("Results")
MOST_TROUBLES = 4  # sentences on rows with failed cells on a terminal
RATIO = "ratio_to_first_runtime"  # its key in Row.columns (analysis/cell_index.py)
# keys of METRICS whose columns are left out if no cell has a value
WHERE_KNOWN = ("beside_cpu_ns_per_request", "requests_per_connection", "computed_completion_ns")


def section(view: View) -> Section:
    """Return the report's section with the table of results.

    The terminal does not show the table if the experiment has a presentation of its own
    (plan.view).
    """
    absent, lacking = absent_sentences(view), _unmeasured(view)
    cautions = [
        message("{note}.", note=note) for note in connection_notes(view.run.cells, view.run)
    ]
    said = (*_failure_sentences(view), *cautions, *lacking, *absent)
    return Section(
        "results",
        TITLE,
        sentences=(*cautions, *lacking, *missing_runtimes(view), *absent),
        tables=(table(view),),
        notes=tuple(_notes(view)),
        terminal=() if view.plan.view else (table(view, is_brief=True), *said),
    )


def table(view: View, *, is_brief: bool = False) -> Table:
    """Return the table of results, with one group per setting.

    is_brief: for the terminal; a row without figures shows its state instead of the reason, and
        there is no column for the state, because sentences below the table say what failed
    """
    shown = _shown(view)
    has_status = not is_brief and any(row.trouble and row.figures for row in view.rows)
    most = ROOM * most_throughput(view.rows)

    def line(row: Row) -> Line:
        cells, look, state = row.trace, view.looks[row.runtime], STATES[row.state]
        name = arm(row.runtime, look, cells)
        trouble = words(row.trouble or state, state="trouble", cells=cells)
        if not row.figures:
            return (name, Datum(), words(state, state="trouble")) if is_brief else (name, trouble)
        numbers = []
        for key, (_, form) in shown.items():
            # A ratio also comes from the cells under the first runtime.
            trace = of_cells([*row.first, *row.cells]) if key == RATIO else cells
            written = marked(form) if _is_marked(row, key) else form
            numbers.append(number(row.columns.get(key), written, trace, key))
        status = trouble if row.trouble else words(state)
        return name, bar(row, most, look), *numbers, *[status] * has_status

    return Table(
        name=TITLE,
        columns=(
            Column(head=message("Runtime")),
            Column(head=NOTHING, is_strip=True, strip=_ticks(most)),
            *(column for column, _ in shown.values()),
            *[Column(head=message("Status"))] * has_status,
        ),
        groups=[(head, [*map(line, rows)]) for head, rows in view.named_groups],
        kind="bars",
        key="rows",
        caption=_brief_caption(view, shown) if is_brief else bars_words(view.rows),
    )


def _shown(view: View) -> dict[str, tuple[Column, Form]]:
    """Return the columns of the metrics that the table has, with their formats, by key.

    Times of completion are shown if clients sent a number of requests. Some metrics are shown only
    if a cell has them.
    """
    is_wanted = dict.fromkeys(
        ("completion_median_ns", "completion_max_ns", "wall_ns"), not view.is_timed
    )
    is_wanted |= {key: any(map(METRICS[key].read, view.ok_cells)) for key in WHERE_KNOWN}
    is_wanted[RATIO] = _has_ratios(view)
    shown = {}
    for key, metric in ROW_METRICS.items():
        if metric.rank is not None and is_wanted.get(key, True):
            head, form = metric_head(metric, view.rows, of_row)
            shown[key] = replace(head, rank=metric.rank), form
    return shown


def _brief_caption(view: View, shown: Collection[str]) -> Message:
    """Return what the bars and marks of the table mean, for the terminal; NOTHING if no row has
    figures.

    shown: the keys of the table's columns
    """
    measured = [row for row in view.rows if row.figures]
    if not measured:
        return NOTHING
    bars, loops = bars_words(view.rows, is_brief=True), loop_words(view.rows, is_brief=True)
    return listed([bars, *loops, *[POOLED] * _has_marks(view, shown)], SENTENCES)


def _has_marks(view: View, shown: Collection[str]) -> bool:
    """Return whether a percentile of the table is marked *; shown: the keys of its columns."""
    return any(_is_marked(row, key) for row in view.rows for key in shown if row.figures)


def _is_marked(row: Row, key: str) -> bool:
    """Return whether a row shows a percentile of all its blocks together, which is marked *."""
    is_known = row.columns.get(key) is not None
    return is_known and ROW_METRICS[key].percentile in pooled(row.good)


def _has_ratios(view: View) -> bool:
    """Return whether rows show a ratio to the first runtime: the run has several, and requests/s
    are a result.
    """
    return len({row.runtime for row in view.rows}) > 1 and not are_at_rate(view.rows)


def _ticks(most: float) -> Strip:
    ticks = [(value, f"{value:,g}") for value in round_values(0.0, most, 5)]
    return Strip(high=most, ticks=ticks, tip=f"0 - {ticks[-1][1]}")


def _failure_sentences(view: View) -> list[Message]:
    """Return sentences on the first MOST_TROUBLES rows with failed or invalid cells, with the
    reasons.

    If nothing was measured, the headline has the reason.
    """
    if view.compared and not view.ok_cells and len(view.groups) == 1:
        return []
    rows = [row for row in view.rows if row.trouble]
    lines = [
        message(
            "{setting}, {arm}: {trouble}",
            setting=view.settings.short(row), arm=row.runtime, trouble=row.trouble,
        )
        for row in rows[:MOST_TROUBLES]
    ]  # fmt: skip
    more = len(rows) - len(lines)
    left = plural(
        "{count} more row has failed measurements.",
        "{count} more rows have failed measurements.",
        count=more,
    )
    return [*lines, *[left] * bool(more)]


def _unmeasured(view: View) -> list[Message]:
    count = sum(max(0, row.planned - len(row.cells)) for row in view.rows)
    lacking = plural(
        "{count} planned measurement has not been made. Use --resume to make this measurement.",
        "{count} planned measurements have not been made. Use --resume to make these measurements.",
        count=count,
    )
    return [lacking] * bool(count)


def _notes(view: View) -> Iterator[Message]:
    """Yield the notes under the table of results: on columns, ratios, the method, and confounding
    differences.
    """
    counts = {len(row.good) for row in view.rows if row.good}
    if counts and not (view.plan.user_service and view.is_timed):
        yield message(
            "Completion is the time that the median client and the slowest client took for their "
            "requests. With --duration, it is computed from requests/s: the time that a client "
            "would take for NUM_REQUESTS_PER_CLIENT requests to each service."
        )
    if counts:
        blocks = plural("{count} block", "{count} blocks", count=max(counts))
        if len(counts) > 1:
            blocks = message("{least} to {most} blocks", least=min(counts), most=max(counts))
        yield message(
            "CPU is the user and system time per request. All figures, including the latency "
            "percentiles p50 and p99, are medians of {blocks}. A block is a round of measurement. "
            "Measurements that failed or are invalid are excluded.",
            blocks=blocks,
        )
    if _has_marks(view, _shown(view)):
        yield message(
            "A percentile marked * is computed from the requests of all blocks together, because "
            "fewer than 10 requests of a block lie beyond it."
        )
    if any(len(row.good) < len(row.cells) - len(row.bad) for row in view.rows):
        yield message(
            "Blocks whose timed periods were too short for the longest requests do not count: they "
            "are left out here, as in the comparisons."
        )
    if len({cell.requests for row in view.rows for cell in row.cells}) > 1:
        yield message(
            "The measurements have different numbers of requests, so compare systems and settings "
            "by requests/s."
        )
    for first in reference(view.run) if _has_ratios(view) else ():
        yield message(
            "Ratio: requests/s of a row divided by requests/s under {runtime}, paired by block. "
            "Above 1, the runtime of the row is faster.",
            runtime=first,
        )
    yield message("Method: {parts}.", parts=method_words(view.plan.method))
    if confounds := confounds_of(view.comparisons):
        yield message(
            "The compared runtimes also differ in other ways, and the ratio includes the effects "
            "of these differences: {confounds}.",
            confounds=listed(confounds, SEMICOLON),
        )
