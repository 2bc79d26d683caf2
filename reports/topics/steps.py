"""The section "Throughput from the first runtime to the last": how each step changes throughput, by system."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import geometric_mean
from typing import NamedTuple

from core.messages import NOTHING, Message, message, verbatim
from reports.document.model import Datum, Section, Strip, number, words
from reports.document.shapes import Col, col, table
from reports.document.values import ratio, round_values, times
from reports.facts.cells import grouped, together
from reports.facts.commands import all_runtimes_command
from reports.facts.comparisons import Comparison
from reports.topics.comparisons import STEP
from reports.view import View

PLACE = 50
WANTED = message("The throughput ratio of each step: Python version, build, GIL")
COMMAND = all_runtimes_command
TITLE, SPEED = message("Throughput from the first runtime to the last"), message("Relative throughput")
MOST_TICKS = 6


class WaterfallBar(NamedTuple):
    """One bar of a waterfall chart of throughput.

    start, end: throughput relative to the first runtime
    trace, end_cells: names of the cells that the factor and the end are computed from
    """

    label: Message
    kind: str
    start: float
    end: float
    factor: float | None = None
    trace: str = ""
    end_cells: str = ""


def section(view: View) -> Section:
    """Return the report's section with waterfall charts of throughput from the first runtime to the last.

    Each system has a chart, unless a step between two runtimes has no throughput ratio in any setting.
    """
    compared = [one for one in view.compared if not one.is_over_all and not one.between_services]
    groups = [
        (view.settings.head(system), _bars(steps))
        for system, some in grouped(compared, attrgetter("system")).items()
        if (steps := _steps(some))
    ]
    most = max((speed for _, bars in groups for bar in bars for speed in (bar.start, bar.end)), default=1.0)
    scale = Strip(high=1.05 * most, lines=((1.0, "unity"),))
    ticks = [(value, f"{value:g}") for value in round_values(scale.low, scale.high, MOST_TICKS)]

    def drawn(bar: WaterfallBar) -> Datum:
        strip = replace(
            scale,
            bars=((bar.start, bar.end, f"fall {bar.kind}"),),
            lines=(*scale.lines, *((end, "level") for end in (bar.start, bar.end) if end)),
            tip=f"{bar.start:.2f} - {bar.end:.2f}",
        )
        return Datum(strip=strip, cells=bar.trace)

    cols: list[Col[WaterfallBar]] = [
        col(STEP, "label", leads=True),
        col(SPEED, drawn, is_strip=True, strip=replace(scale, ticks=ticks)),
        col("Ratio", lambda bar: bar.factor or words(NOTHING), times, "mean_ratio"),
        col(SPEED, lambda bar: number(bar.end, ratio, bar.end_cells, "speed" if bar.trace else ""), ratio),
    ]
    caption = message(
        "The bars show how throughput changes from the first runtime to the last. The throughput under the first "
        "runtime is 1. A step leads from one runtime to the next, such as from 3.14t+gil to 3.14t. The bar of a "
        "step starts at the throughput under the first of these two runtimes and ends at the throughput under the "
        "second. The last bar is the measured comparison of the first runtime with the last. For a system with "
        "several settings, bars show the geometric mean."
    )
    shown = table(TITLE, cols, groups, kind="waterfall", key="waterfalls", caption=caption)
    return Section("waterfall", TITLE, tables=(shown,), folded=True)


def _steps(mine: Iterable[Comparison]) -> list[Comparison]:
    """Return a system's steps: each runtime compared with the previous one, then the last with the first.

    The ratio of a step is the geometric mean over the settings. Settings in which a step has no ratio are left out,
    because every bar must be the mean over the same settings. Returns no steps if a step has a ratio in none of them.
    """
    compared = [one for one in mine if one.step != "aa"]
    broken = [one.params for one in compared if not one.ratio]
    every = grouped(compared, attrgetter("step", "denominator", "numerator")).values()
    kept = [[one for one in way if one.params not in broken] for way in every]
    if not all(kept):
        return []
    means = [
        replace(
            way[0],
            ratio=geometric_mean(one.ratio or 1.0 for one in way),
            trace=together(one.trace for one in way),
        )
        for way in kept
    ]
    return sorted(means, key=lambda one: one.step == "whole")


def _bars(steps: Sequence[Comparison]) -> list[WaterfallBar]:
    """Return the waterfall bars of a system: one for the first runtime, and one for each step."""
    first = max(steps, key=lambda one: one.step == "whole").denominator
    levels = {first: (1.0, "")}  # relative throughput under each arm, and the names of its cells

    def after(arm: str, factor: float, cells: str) -> tuple[float, str]:
        """Return the relative throughput after a step from *arm*, and the names of the cells behind it."""
        speed, before = levels[arm]
        return speed * factor, together([before, cells])

    # The steps are repeated, because a step may need the level that a later step sets.
    for one in [one for one in steps if one.step != "whole"] * len(steps):
        factor = one.ratio or 1.0
        if one.denominator in levels:
            levels.setdefault(one.numerator, after(one.denominator, factor, one.trace))
        elif one.numerator in levels:
            levels[one.denominator] = after(one.numerator, 1 / factor, one.trace)
    bars = [WaterfallBar(verbatim(first), "total", 0.0, 1.0)]
    for one in steps:
        start, factor = levels[one.denominator][0], one.ratio or 1.0
        end, end_cells = after(one.denominator, factor, one.trace)
        kind = "gain" if end >= start else "loss"
        if one.step == "whole":
            kind, start = "total", 0.0
        bars.append(WaterfallBar(one.label, kind, start, end, factor, one.trace, end_cells))
    return bars
