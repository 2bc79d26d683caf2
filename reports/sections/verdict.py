"""The section "Verdict" of a report's page: the headline, differences between settings, why
verdicts are missing.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
The terminal gets another form of the same answer (reports/parts/answer.py).
"""

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from analysis.cell_index import Row, together
from analysis.comparison_words import Comparison, answering
from analysis.decisions import more_blocks
from analysis.gates import FAILED
from analysis.judging import amount
from analysis.metrics import THROUGHPUT
from analysis.pair_verdicts import BUSY
from core.messages import (
    NOTHING,
    SEMICOLON,
    Message,
    listed,
    message,
)
from reports.document import Section, Table, traced
from reports.parts import swept_values as sweeps
from reports.parts.answer import FROM_TO, ONLY_ONE, STEP, answer, labelled
from reports.parts.checks import checks_line
from reports.parts.comparison_table import STEP_COL, forest
from reports.parts.headline import by_setting, gains, main_comparison, main_headline
from reports.tables import (
    ROOM,
    Col,
    arm_col,
    bar,
    bars_words,
    col,
    metric_col,
    most_throughput,
    of_row,
    table,
)
from reports.view import View

PLACE = 10  # in the order of sections (reports/sections/__init__.py)
TITLE = message("Verdict")
OPEN = ("inconclusive", "invalid")  # verdicts whose reasons the page states


def section(view: View) -> Section:
    """Return the report's first section: headline, compared runtimes with intervals, checks, bars
    and notes.
    """
    # An experiment with its own section (view) answers there, unless runtimes are compared.
    brief = answer(view) if view.compared or not view.plan.view else ()
    if not brief:
        return Section("verdict", TITLE)
    checks = replace(labelled([(message("Checks"), checks_line(view))]), kind="notes")
    # If runtimes are compared, answer() returns its notes last, as a table.
    notes = [replace(part, kind="notes") for part in brief[-1:] if isinstance(part, Table)]
    return Section(
        "verdict",
        TITLE,
        answer=_headlines(view),
        tables=[*filter(None, [_steps_plot(view), checks, _bars(view), *notes])],
        notes=[*_open_sentences(view)],
        terminal=brief,
    )


def _headlines(view: View) -> list[Message]:
    """Return the headline of the run, as the terminal shows it. With several settings, it may have
    two sentences.
    """
    settings = by_setting(view.compared)
    cells = together(one.trace for setting in settings for one in setting if one.step != "aa")
    sentences = [traced(sentence, cells) for sentence in gains(view) if len(settings) > 1]
    main = main_comparison(view.compared)
    said = main_headline(view.compared, view.headings)
    if sweeps.has_variants(view) and (of_variants := sweeps.headlines(view)):
        return of_variants
    if said:
        return sentences or [traced(said, main.trace if main else cells, "verdict")]
    return sentences or sweeps.headlines(view) or [ONLY_ONE]


# ---- tables of the page --------------------------------------------------------------------------


def _steps_plot(view: View) -> Table:
    """Return a forest plot of the compared runtimes: for the only setting, or for all together if
    there are several.

    If only variants are compared, the plot shows them.
    """
    if _has_only_variants(view):
        made = forest(message("Steps"), sweeps.sweeps(view), lambda one: one, [STEP_COL])
        return replace(made, key="", caption=NOTHING)
    settings = by_setting(view.compared)
    named = settings[0] if len(settings) == 1 else [one for one in view.compared if one.is_over_all]
    shown = sorted(named, key=lambda one: one.step == "aa")
    made = forest(message("Steps"), [(NOTHING, shown)], lambda one: one, [STEP, FROM_TO])
    return replace(made, key="", caption=NOTHING)


def _has_only_variants(view: View) -> bool:
    return sweeps.has_variants(view) and not view.compared


def _bars(view: View) -> Table:
    """Return a table with a bar for the throughput of each runtime in the only setting; no table if
    there are more.
    """
    rows = [row for row in view.rows if row.figures and len(view.groups) == 1]
    most = ROOM * most_throughput(rows)

    cols: list[Col[Row]] = [
        arm_col("runtime", view.looks),
        col(NOTHING, lambda row: bar(row, most, view.looks[row.runtime]), is_strip=True),
        metric_col(THROUGHPUT, rows, of_row),
    ]
    caption = bars_words(rows)
    return table(message("Throughput"), cols, [(NOTHING, rows)], kind="bars wide", caption=caption)


# ---- notes of the page ---------------------------------------------------------------------------


def _open_sentences(view: View) -> Iterator[Message]:
    """Yield sentences on missing verdicts: the reasons, and the number of blocks that the verdicts
    need.
    """
    judged = view.of_values if _has_only_variants(view) else answering(view.compared)
    undecided = [one for one in judged if one.step != "aa" and one.verdict in OPEN]
    whys: dict[Message, list[Comparison]] = {}
    for one in undecided:
        # If too many blocks are needed, the why of a comparison says so, and its obstacle does not.
        is_hopeless = (
            one.verdict == "inconclusive"
            and one.blocks_needed is None
            and one.obstacle.code != BUSY
        )
        # The headline gives such a reason in full, except one of FAILED, which it shortens.
        is_in_headline = (
            one.verdict == "invalid" and one.obstacle == one.why and one.why.code != FAILED
        )
        if not is_in_headline:
            whys.setdefault(one.why if is_hopeless else one.obstacle, []).append(one)
    if whys:
        reasons = (
            traced(why, together(map(attrgetter("trace"), about))) for why, about in whys.items()
        )
        yield message(
            "Reasons why there is no verdict yet: {reasons}.", reasons=listed(reasons, SEMICOLON)
        )
    needed = [one for one in undecided if one.blocks_needed and one.ratio]
    if more := more_blocks(needed):
        first, last = amount(min(more)), amount(max(more))
        most = traced(last, together(one.trace for one in needed))
        if first == last:
            yield message("A verdict needs {amount} more measured rounds (blocks).", amount=most)
        else:
            yield message(
                "The first verdict needs {first} more blocks (measured rounds), and the last "
                "verdict needs {last}.",
                last=most,
                first=first,
            )
