"""Compare a run with the original experiment that gilscope repeats: its published times and its
findings.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
The figures and findings are quoted in seed.yaml.
"""

from collections.abc import Sequence
from pathlib import Path

import yaml

from analysis.cell_index import Row, runtimes
from analysis.comparison_words import Comparison
from analysis.formats import seconds
from core.cell import PARAMETERS
from core.messages import NOTHING, Json, Message, listed, message, plural, verbatim
from record.comparison import DECIDED
from reports.document import ABSENT, Datum, Section, Table, plain_table, words
from reports.parts.comparison_table import ratio_datum
from reports.view import View

PLACE = 51  # in the order of sections (reports/sections/__init__.py)
RANGE = message("{start} to {end}")
REQUESTS = 400_000  # of each measurement in the original experiment
# the published times and the findings, whose fields seed.yaml explains
SEED = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
Quoted = Json  # a table, a row or a finding of SEED


def section(view: View) -> Section:
    """Return the section that compares a run with the original experiment. It is empty if cells ran
    for a duration.
    """
    return Section(
        "seed",
        message("Comparison with the experiment that gilscope repeats"),
        parts=() if view.is_timed else (_times_section(view), _findings(view)),
        folded=True,
    )


# ---- times ---------------------------------------------------------------------------------------


def _times_section(view: View) -> Section:
    tables = [*filter(None, (_table(table, view) for table in SEED["times"]))]
    note = message(
        "Times of this run ({blocks}) are the median over the clients, in seconds, with the "
        "slowest client in parentheses. Each original time comes from one run on another machine "
        "({machine}) and is not a target.",
        blocks=plural("{count} block", "{count} blocks", count=view.plan.blocks),
        machine="i9-13900K",
    )
    return Section(
        "times",
        message("Comparison with the published times of the experiment that gilscope repeats"),
        sentences=[*filter(None, (note, _size_warning(view)))] if tables else (),
        tables=tables,
    )


def _size_warning(view: View) -> Message:
    """Return a warning if this run has fewer or more requests than the original experiment, or a
    scale; else return NOTHING.
    """
    sizes = sorted({cell.requests for row in view.rows for cell in row.cells})
    if view.plan.scale == 1 and sizes == [REQUESTS]:
        return NOTHING
    ends = [f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1]))]
    return message(
        "Each measurement has {ours} requests in this run, but {theirs:,} in the original "
        "experiment that gilscope repeats, so the times cannot be compared.",
        ours=listed(ends, RANGE),
        theirs=REQUESTS,
    )


def _table(published: Quoted, view: View) -> Table:
    """Return a table of this run's times beside the published times, with a line for each row that
    was measured.
    """
    system, arms, lines = published["system"], runtimes(view.run), []
    for row in published["rows"]:
        ours = [_matching_row(view.rows, system, row["params"], arm) for arm in arms]
        # A published row that no runtime of this run repeats gets no line.
        if any(one and one.figures for one in ours):
            what = Message(msgid=row["title"]) if "title" in row else verbatim(row["name"])
            figures = [words(figure, state="theirs") for figure in row["seconds"]]
            lines.append((what, *map(_times, ours), *figures))
    interpreters = [*map(verbatim, published.get("interpreters", ()))]
    theirs = [
        message("published time: {interpreter}", interpreter=one)
        for one in interpreters or [message("unknown Python interpreter")]
    ]
    title = message(
        "{system}. {table}",
        system=view.settings.head(system),
        table=Message(msgid=published["title"]),
    )
    return plain_table(
        title, (NOTHING,), lines, [*map(verbatim, arms), *theirs], kind="seed", titled=True
    )


def _matching_row(rows: Sequence[Row], system: str, params: Quoted, runtime: str) -> Row | None:
    """Return the row of this run that repeats a published measurement; None if no row does.

    Of several matches, the row with the most default values is returned, because that experiment
    used the defaults.
    """

    def likeness(row: Row) -> int:
        return sum(
            value == PARAMETERS[name].default
            for name, value in row.params.items()
            if name in PARAMETERS
        )

    fitting = [
        row
        for row in rows
        if (row.runtime, row.system) == (runtime, system) and params.items() <= row.params.items()
    ]
    return max(fitting, key=likeness, default=None)


def _times(row: Row | None) -> Datum | str:
    """Return a row's completion time in seconds: median over the clients (slowest client), such as
    '5.51 (5.60)'.
    """
    if not row or not row.figures:
        return ABSENT
    middle, most = (
        seconds(row.figures[name]) for name in ("completion_median_ns", "completion_max_ns")
    )
    return words(f"{middle} ({most})", cells=row.trace, figure="completion_median_ns")


# ---- findings ------------------------------------------------------------------------------------


def _findings(view: View) -> Section:
    """Return the section on the original experiment's findings, each with the comparisons of this
    run about it.
    """
    lines = [
        (
            Message(msgid=finding["title"]),
            one.label,
            ratio_datum(one),
            words(one.word, state=one.verdict),
            _holds(finding, one),
        )
        for finding in SEED["findings"]
        for one in (*view.of_values, *view.compared)
        if _answers(finding, one)
    ]
    heads = (
        message("the original experiment found"),
        message("compared here"),
        message("Ratio [95 %]"),
        message("Verdict"),
        message("does it hold?"),
    )
    name = message(
        "Findings of the experiment that gilscope repeats, and what this run says about them"
    )
    return Section(
        "findings", message("Findings"), tables=(plain_table(name, heads, lines, kind="seed"),)
    )


def _answers(finding: Quoted, one: Comparison) -> bool:
    """Return whether a comparison is about a finding: the same change, or the step from the first
    runtime to the last.
    """
    change = finding.get("change")
    if one.step != ("value" if change else "whole") or one.system != finding["system"]:
        return False
    has_params = finding["params"].items() <= one.params.items()
    return has_params and (not change or [*one.change] == change)


def _holds(finding: Quoted, one: Comparison) -> Message:
    if one.verdict not in DECIDED:
        return message("not known")
    return message("yes") if one.verdict == finding["verdict"] else message("no")
