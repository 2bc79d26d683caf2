"""The table of comparisons with a forest plot, its columns and sentences, and the section of a
report that has all comparisons.

Many sections of reports/sections/ use the table, and reports/compare/compared_runs.py does for two
saved runs. reports/sections/__init__.py finds section(), which only makes a value. A ratio is the
numerator's throughput divided by the denominator's, or the denominator's time divided by the
numerator's. Above 1, the numerator is faster. An interval covers 95 %. With fewer than
FEWEST_FOR_INTERVAL blocks, low and high are the range of the blocks instead.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import TypeVar

from analysis.cell_index import grouped
from analysis.comparison_words import Comparison
from analysis.formats import percent, probability, ratio
from analysis.pair_verdicts import BUSY
from analysis.stats import FEWEST_FOR_INTERVAL
from core.languages import ENGLISH
from core.messages import NOTHING, SEMICOLON, SENTENCES, Message, listed, message
from record.comparison import DECIDED, JudgedRatio, RatioInterval
from reports.document import Datum, Section, Strip, Table, number, words
from reports.tables import Col, col, table
from reports.view import View

PLACE = 41  # in the order of sections (reports/sections/__init__.py)
Item = TypeVar("Item")
BEYOND = 2.5  # how far beyond the outermost ratio the scale reaches at most, as a factor
MOST_TICKS = 5  # on a scale
TICKS = (  # a scale has the first of these that puts at most MOST_TICKS on it
    (0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3),
    (0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0),
    (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0),
    (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    (0.01, 0.1, 1.0, 10.0, 100.0),
)
# by verdict; if the state of a Datum begins with "word ", render/html.py takes its text up to the
# first blank as the sign, and hides the sign from screen readers
SIGNS = {
    "faster": "▲",
    "slower": "▼",
    "equivalent": "=",
    "inconclusive": "?",
    "invalid": "×",
    "unjudged": "·",
}
# names each comparison, such as 'GIL: 3.14t+gil → 3.14t', with a link to its cells
STEP_COL: Col[Comparison] = col("Step", "label", leads=True)


def _caption(compared: Sequence[Comparison]) -> Message:
    """Return the caption of a forest plot, which explains the marks of the plot."""
    reading = message(
        "Throughput of the newer runtime or service divided by throughput of the older one. To the "
        "right of 1, the newer runtime or service is faster. Filled marks have a verdict, hollow "
        "marks have none. All rows share one logarithmic scale."
    )
    band = message(
        "The grey band shows the noise (A/A): how far the interval of a runtime's ratio to itself "
        "extends from 1."
    )
    has_band = any(one.noise_floor for one in compared)
    return listed([reading, *[band] * has_band, *ends_words(compared)], SENTENCES)


def ends_words(compared: Sequence[Comparison]) -> list[Message]:
    """Return sentences on what lines, brackets and parentheses beside a ratio show: intervals,
    ranges or both.
    """
    kinds = _kinds(compared)
    intervals = message("Brackets, and lines if there are any, show 95 % intervals.")
    ranges = message(
        "With fewer than {count} blocks (rounds of measurement), parentheses, and lines if there "
        "are any, show the range from the lowest to the highest ratio of a block, because an "
        "interval needs more blocks.",
        count=FEWEST_FOR_INTERVAL,
    )
    return [*[intervals] * (False in kinds), *[ranges] * (True in kinds)]


def ratio_head(compared: Sequence[Comparison]) -> Message:
    """Return the head of a column of ratios, which says whether they have intervals, only ranges,
    or neither.
    """
    kinds = _kinds(compared)
    if not kinds:
        return message("Ratio")
    return message("Ratio [95 %]") if False in kinds else message("Ratio (range)")


def _kinds(compared: Iterable[Comparison]) -> set[bool]:
    """Return whether ratios have ranges instead of intervals, for those that have either."""
    return {one.is_range for one in compared if one.low is not None}


def forest(
    name: Message,
    grouped_items: Iterable[tuple[Message, Sequence[Item]]],
    comparison: Callable[[Item], Comparison],
    first: Sequence[Col[Item]],
    last: Sequence[Col[Item]] = (),
) -> Table:
    """Return a forest plot as a table. Each line draws a comparison's interval and shows its ratio
    and verdict.

    comparison: returns the comparison of an item
    first, last: the columns before and after these
    """
    by_head = [*grouped_items]
    compared = [comparison(item) for _, items in by_head for item in items]
    scale = _ratio_scale(compared)
    # lines repeat the scale of the head as grid lines, without texts
    drawn = replace(
        scale, ticks=(), lines=(*((tick, "grid") for tick, _ in scale.ticks), (1.0, "unity"))
    )

    def word(item: Item) -> Datum:
        one = comparison(item)
        if lacks_verdict(one):
            return words(NOTHING, hint=one.why)
        return words(
            message("{sign} {word}", sign=SIGNS[one.verdict], word=one.word),
            state=f"word {one.verdict}",
            hint=one.why,
        )

    cols = [
        *first,
        col("Ratio", lambda item: _strip(comparison(item), drawn), is_strip=True, strip=scale),
        col(ratio_head(compared), lambda item: ratio_datum(comparison(item)), ratio),
        col("Verdict", word),
        *last,
    ]
    return table(name, cols, by_head, kind="forest", key="forest", caption=_caption(compared))


def lacks_verdict(one: Comparison, part: JudgedRatio | None = None) -> bool:
    """Return whether a comparison of a runtime with itself shows no difference, so it needs no
    verdict.

    part: a compared percentile or route, for which this is asked instead
    """
    return (one.step, (part or one).verdict) == ("aa", "inconclusive")


def part_verdict(part: JudgedRatio | None, one: Comparison, word: Message = NOTHING) -> Datum:
    """Return the verdict on a latency percentile or a route of a comparison; nothing if it needs
    no verdict.

    word: the verdict as text, if it says more than that of *part*
    """
    if not part or lacks_verdict(one, part):
        return words(NOTHING)
    is_withheld = part.verdict == "invalid" or one.obstacle.code == BUSY
    hint = one.why if is_withheld and one.verdict == part.verdict else NOTHING
    return words(word or part.word, state=f"word {part.verdict}", hint=hint)


def _ratio_scale(compared: Sequence[Comparison]) -> Strip:
    """Return a scale that fits all ratios and their intervals. Very wide intervals do not fit
    completely.

    Its ticks are round numbers: at most MOST_TICKS, if possible.
    """
    ratios = [1.0, *(one.ratio for one in compared if one.ratio)]
    ends = [
        end for one in compared for end in (one.low, one.high) if end is not None and isfinite(end)
    ]
    # at least 0.9 to 1.1, with 4 % of room at each end
    low = max(min([*ends, *ratios, 0.9]) / 1.04, min(ratios) / BEYOND)
    high = min(max([*ends, *ratios, 1.1]) * 1.04, max(ratios) * BEYOND)
    ticks: list[float] = []
    for values in TICKS:
        ticks = [value for value in values if low <= value <= high]
        if len(ticks) <= MOST_TICKS:
            break
    return Strip(low=low, high=high, is_log=True, ticks=[(value, f"{value:g}") for value in ticks])


def ratio_datum(comparison: Comparison, figure: str = "ratio") -> Datum:
    """Return the ratio of a comparison with its interval, or with the range over the blocks if
    there are few blocks.
    """
    return interval_datum(comparison, comparison, figure)


def interval_datum(known: RatioInterval, comparison: Comparison, figure: str = "") -> Datum:
    """Return a ratio that belongs to a comparison, such as that of a latency percentile, with its
    interval or range.

    figure: the name of the figure on the page (Datum.figure)
    """
    ends = {"low": known.low, "high": known.high}
    return number(
        known.ratio, ratio, comparison.trace, figure, is_range=comparison.is_range, **ends
    )


def _strip(comparison: Comparison, scale: Strip) -> Datum:
    """Return a drawing of a comparison on *scale*: the ratio, its interval and the noise band of
    A/A.
    """
    datum, floor = ratio_datum(comparison), comparison.noise_floor
    low, high = datum.low, datum.high
    state = comparison.verdict if comparison.verdict in DECIDED else "open"
    strip = replace(
        scale,
        band=(1 / (1 + floor), 1 + floor) if floor else None,
        dot=(datum.value, state) if datum.value is not None else None,
        whisker=(low, high) if low is not None and high is not None else None,
        tip=datum.text(ENGLISH),
    )
    return Datum(strip=strip, cells=comparison.trace)


def of_settings(
    compared: Iterable[Comparison], view: View
) -> list[tuple[Message, list[Comparison]]]:
    """Group comparisons by the name of their setting. The group of comparisons over all settings
    comes first.
    """
    means_first = sorted(compared, key=lambda one: not one.is_over_all)
    return [*grouped(means_first, view.settings.name).items()]


# ---- the section of all comparisons --------------------------------------------------------------


def section(view: View) -> Section:
    """Return the report's section on comparisons: a forest plot, and a collapsed table of the
    reasons for verdicts, with p values and noise floors.
    """
    title, settings = message("All comparisons"), of_settings(view.compared, view)
    # The items of the plot are the comparisons themselves.
    shown = forest(title, settings, lambda one: one, [STEP_COL])
    # A noise floor links to the cells of the A/A comparison that measured it at the same setting.
    floors = {one.key: one.trace for one in view.compared if one.step == "aa"}
    cols: list[Col[Comparison]] = [
        col("Setting", view.settings.short),
        col("Step", "label", trace="trace"),
        col("p value", "p", probability, "p"),
        col("Noise floor", "noise_floor", percent, trace=lambda one: floors.get(one.key, "")),
        col("Why", lambda one: listed([one.why, *one.limits], SEMICOLON)),
    ]
    name = message("Reason for the verdict, p value and noise floor of each comparison")
    reasons = table(name, cols, [(NOTHING, view.compared)], kind="reasons", folded=True)
    # the first screen has the only setting already
    is_folded = len(settings) == 1
    return Section("comparisons", title, tables=(shown, reasons), folded=is_folded)
