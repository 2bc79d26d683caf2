"""The section "Verdict" of a report: the answer, differences between settings, and reasons for missing verdicts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, listed, message, plural, verbatim
from reports.document.drawing import COUNT
from reports.document.model import Datum, Section, Strip, Table, traced, words
from reports.document.shapes import Col, arm_col, col, table
from reports.document.values import ratio, whole
from reports.facts.cells import Row, grouped
from reports.facts.commands import more_blocks_command
from reports.facts.comparisons import Comparison, answering
from reports.facts.figures import MORE
from reports.facts.measures import THROUGHPUT
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import of_row, together
from reports.statistics.verdict import amount
from reports.topics.answer import ONLY_ONE, STEP_NAMES, answer, gains, headline, labelled, rank, ratio_text
from reports.topics.comparisons import RATIO, forest, more_blocks, ratio_datum
from reports.topics.results import BARS, ROOM
from reports.topics.validity import checks_line
from reports.view import View

PLACE = 10
TITLE = message("Verdict")
MOST_BARS = 8
OPEN = ("inconclusive", "invalid")


def section(view: View) -> Section:
    """Return the report's first section: headline, compared runtimes with intervals, checks, bars and notes."""
    brief = tuple(answer(view)) if view.compared or not view.plan.view else ()
    if not brief:
        return Section(key="verdict", title=TITLE)
    checks = replace(labelled([(message("Checks"), checks_line(view))]), kind="notes")
    notes = [replace(part, kind="notes") for part in brief[-1:] if isinstance(part, Table)]
    return Section(
        key="verdict",
        title=TITLE,
        answer=tuple(_headlines(view)),
        tables=tuple(filter(None, [_steps(view), checks, _bars(view), *notes])),
        notes=tuple(filter(None, [_spread_sentence(view), *_open_sentences(view)])),
        terminal=brief,
    )


def _headlines(view: View) -> list[Message]:
    """Return the headline of the run, as the terminal shows it. With several settings, it may have two sentences."""
    settings = _settings(view)
    cells = together(one.cells for setting in settings for one in setting if one.step != "aa")
    sentences = [traced(sentence, cells) for sentence in gains(view) if len(settings) > 1]
    main = main_comparison(view.compared)
    return sentences or [traced(headline(main), main.cells, "verdict") if main else ONLY_ONE]


def _settings(view: View) -> list[list[Comparison]]:
    """Return the run's comparisons of runtimes, as one list for each setting."""
    return [*grouped((one for one in view.compared if one.system != OVER_ALL), attrgetter("key")).values()]


def main_comparison(compared: Sequence[Comparison]) -> Comparison | None:
    """Return the comparison that the report's headline states: usually that of the first runtime with the last.

    With several settings, it is the comparison over all settings. None if there are several settings and none over all.
    A step without measurements counts only if no step was measured.
    """
    about = answering(compared)
    measured = [one for one in about if one.ratio is not None or one.verdict == "invalid"] or about
    if len({one.key for one in measured}) != 1:
        return None
    return min((one for one in measured if one.step != "aa"), key=rank, default=None)


# ---- tables of the first screen --------------------------------------------------------------------------------------


def _steps(view: View) -> Table:
    """Return a forest plot of the compared runtimes: for the only setting, or for all together if there are several."""
    settings = _settings(view)
    named = settings[0] if len(settings) == 1 else [one for one in view.compared if one.system == OVER_ALL]
    shown = sorted(named, key=lambda one: one.step == "aa")
    cols: list[Col[Comparison]] = [
        col(message("step"), lambda one: words(STEP_NAMES[one.step], cells=one.cells, leads=True)),
        col(message("from → to"), lambda one: f"{one.denominator} → {one.numerator}"),
    ]
    made = forest(message("Steps"), [(NOTHING, shown)], lambda one: one, cols)
    return replace(made, key="", caption=NOTHING)


def _bars(view: View) -> Table:
    """Return a table with bars: the throughput of each runtime, or the throughput ratio of each setting if several."""
    settings = _settings(view)
    if len(settings) > 1:
        return _ratio_bars([min(setting, key=rank) for setting in settings], view)
    rows = [row for row in view.rows if row.figures]
    most = ROOM * THROUGHPUT.most(rows)

    def bar(row: Row) -> Datum:
        return Datum(strip=THROUGHPUT.strip(row, most, view.looks[row.runtime], row.runtime), cells=of_row(row))

    cols: list[Col[Row]] = [
        arm_col(lambda row: row.runtime, view.looks, of_row),
        col(NOTHING, bar, is_strip=True),
        col(THROUGHPUT.label, THROUGHPUT.median, whole, of_row, THROUGHPUT.figure),
    ]
    return table(message("Throughput"), cols, [(NOTHING, rows)], kind="bars wide", caption=BARS)


def _ratio_bars(compared: Sequence[Comparison], view: View) -> Table:
    """Return a table with a bar for the ratio of each comparison. It shows only the first MOST_BARS comparisons."""
    shown = compared[:MOST_BARS]
    most = ROOM * max([1.0, *(one.ratio for one in shown if one.ratio)])

    def bar(one: Comparison) -> Datum:
        look = view.looks.get(one.numerator, 0) % COUNT
        bars = ((0.0, one.ratio or 0.0, f"bar r{look} p{look}"),)
        return Datum(strip=Strip(low=0.0, high=most, bars=bars, lines=((1.0, "unity"),), tip=ratio_text(one)))

    cols: list[Col[Comparison]] = [
        col(
            message("Setting"),
            lambda one: words(view.settings.short(one.system, one.params), cells=one.cells, leads=True),
        ),
        col(NOTHING, bar, is_strip=True),
        col(RATIO, ratio_datum, ratio),
    ]
    caption = message(
        "Bars show the throughput of the newer runtime divided by that of the older runtime. The dashed line marks 1."
    )
    left = plural(
        "{count} more setting is in the section All comparisons.",
        "{count} more settings are in the section All comparisons.",
        count=len(compared) - len(shown),
    )
    caption = listed([caption, MORE, *[left] * (len(compared) > len(shown))], SENTENCES)
    arms = grouped(shown, lambda one: verbatim(f"{one.denominator} → {one.numerator}"))
    return table(message("Throughput ratio of each setting"), cols, arms.items(), kind="bars settings", caption=caption)


# ---- notes -----------------------------------------------------------------------------------------------------------


def _spread_sentence(view: View) -> Message:
    """Return a sentence on the lowest and highest gain from removing the GIL; NOTHING for fewer than two settings."""
    known = [one for one in view.compared if one.step == "lock" and one.ratio and one.system != OVER_ALL]
    if len(known) < 2:
        return NOTHING
    ends = [end(known, key=lambda one: one.ratio or 0.0) for end in (min, max)]
    low, high = (traced(ratio(one.ratio or 0.0), one.cells, "ratio") for one in ends)
    low_where, high_where = (view.settings.short(one.system, one.params) for one in ends)
    return message(
        "Removing the GIL gives {low}x to {high}x the throughput, depending on the setting. Lowest: {low_where}. "
        "Highest: {high_where}.",
        low=low, high=high, low_where=low_where, high_where=high_where,
    )  # fmt: skip


def _open_sentences(view: View) -> Iterator[Message]:
    """Yield sentences on missing verdicts: the reasons, and the number of blocks that the verdicts need."""
    undecided = [one for one in answering(view.compared) if one.step != "aa" and one.verdict in OPEN]
    whys: dict[Message, list[Comparison]] = {}
    for one in undecided:
        is_hopeless = one.verdict == "inconclusive" and one.blocks_needed is None
        if one.verdict != "invalid" or one.obstacle != one.why:  # otherwise its headline has the reason
            whys.setdefault(one.why if is_hopeless else one.obstacle, []).append(one)
    if whys:
        reasons = (traced(why, together(one.cells for one in about)) for why, about in whys.items())
        yield message("Reasons why there is no verdict yet: {reasons}.", reasons=listed(reasons, SEMICOLON))
    needed = [one for one in undecided if one.blocks_needed]
    if more := more_blocks(needed):
        first, last = amount(min(more)), amount(max(more))
        most = traced(last, together(one.cells for one in needed))
        command = more_blocks_command(view.run, max(more))
        if first == last:
            yield message(
                "A verdict needs {amount} more measured rounds (blocks). Use: {command}", amount=most, command=command
            )
        else:
            yield message(
                "The first verdict needs {first} more blocks (measured rounds), and all verdicts together need {last}. "
                "Measure them with: {command}",
                last=most,
                first=first,
                command=command,
            )
