"""How speed gets from the first runtime to the last, step by step, for each system."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import exp, log
from operator import attrgetter, mul
from statistics import fmean

from core.messages import NOTHING, message, verbatim
from reports.document.model import Column, Datum, Group, Line, Section, Strip, Table, number, words
from reports.document.values import ratio, times
from reports.render.strips import round_values
from reports.rows.commands import all_runtimes_command
from reports.rows.comparisons import Comparison
from reports.rows.pairs import OVER_ALL
from reports.rows.traces import together
from reports.view import View

PLACE = 40
WANTED = message("The three steps of a system, each with a ratio")
MOST_TICKS = 6

Step = tuple[Comparison, ...]  # the same step in every setting of a system
_name = attrgetter("step", "denominator", "numerator")


def _command(view: View) -> str:
    return all_runtimes_command(view.run)


COMMAND = _command


def section(view: View) -> Section:
    """A group of bars for each system whose steps all have a ratio."""
    compared = [one for one in view.compared if one.system != OVER_ALL and not one.between_services]
    systems = dict.fromkeys(comparison.system for comparison in compared)
    ways = {system: _steps([one for one in compared if one.system == system]) for system in systems}
    levels = [level for steps in ways.values() for level in _levels(steps)]
    scale = Strip(low=0.0, high=1.05 * max([*levels, 1.0]), lines=((1.0, "unity"),))
    groups = [
        Group(head=view.settings.head(system), lines=tuple(_lines(steps, scale, view)))
        for system, steps in ways.items()
        if steps
    ]
    return Section(key="waterfall", title=message("Three steps"), tables=(_table(groups, scale),))


def _table(groups: Sequence[Group], scale: Strip) -> Table:
    ticks = tuple((value, f"{value:g}") for value in round_values(scale.low, scale.high, MOST_TICKS))
    return Table(
        name=message("Three steps"),
        columns=(
            Column(head=message("Step")),
            Column(head=message("Speed"), is_strip=True, strip=replace(scale, ticks=ticks)),
            Column(head=message("Ratio"), is_number=True),
            Column(head=message("Speed"), is_number=True),
        ),
        groups=tuple(groups),
        kind="waterfall",
        key="waterfalls",
        caption=message(
            "How speed gets from the first runtime to the last, step by step: each bar begins where the one above "
            "ends. 1 is the speed under the first runtime; the last bar is the whole way as it was measured. A system "
            "of several settings shows their geometric mean."
        ),
    )


def _steps(mine: Sequence[Comparison]) -> list[Step]:
    """The steps in order, the whole way last where it was compared; empty if one of them lacks a ratio everywhere.

    Settings in which a step lacks its ratio are left out, so that every bar is the mean over the same ones.
    """
    compared = [comparison for comparison in mine if comparison.step != "aa"]
    broken = [comparison.params for comparison in compared if not comparison.ratio]
    kept = [comparison for comparison in compared if comparison.params not in broken]
    steps = [tuple(one for one in kept if _name(one) == name) for name in dict.fromkeys(map(_name, compared))]
    steps.sort(key=lambda step: bool(step) and step[0].step == "whole")
    return steps if all(steps) else []


def _mean(step: Step) -> float:
    return exp(fmean(log(comparison.ratio) for comparison in step if comparison.ratio))


def _levels(steps: Sequence[Step]) -> list[float]:
    """The speed before the first step and after each, that of the first runtime being 1; then of the whole way."""
    single = [_mean(step) for step in steps if step[0].step != "whole"]
    return [*accumulate([1.0, *single], mul), *(_mean(step) for step in steps if step[0].step == "whole")]


def _lines(steps: Sequence[Step], scale: Strip, view: View) -> list[Line]:
    levels = _levels(steps)
    first = Datum(strip=_bar(0.0, 1.0, "total", scale))
    lines: list[Line] = [(words(verbatim(steps[0][0].denominator)), first, words(NOTHING), number(1.0, ratio))]
    so_far = ""
    for before, after, step in zip(levels[:-1], levels[1:], steps, strict=True):
        is_whole = step[0].step == "whole"
        kind = "total" if is_whole else "gain" if after >= before else "loss"
        cells = together(map(view.traces.of, step))
        so_far = cells if is_whole else together([so_far, cells])
        lines.append(
            (
                words(step[0].label, cells=cells, leads=True),
                Datum(strip=_bar(0.0 if is_whole else before, after, kind, scale), cells=cells),
                number(_mean(step), times, cells, "mean_ratio"),
                number(after, ratio, so_far, "speed"),
            )
        )
    return lines


def _bar(before: float, after: float, kind: str, scale: Strip) -> Strip:
    ends = tuple((end, "level") for end in (before, after) if end)
    return replace(
        scale, bars=((before, after, f"fall {kind}"),), lines=(*scale.lines, *ends), tip=f"{before:.2f} - {after:.2f}"
    )
