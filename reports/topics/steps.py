"""How speed gets from the first runtime to the last, step by step, for each system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from operator import attrgetter
from statistics import fmean

from core.messages import NOTHING, message, verbatim
from reports.document.model import Column, Datum, Group, Line, Section, Strip, Table, number, words
from reports.document.values import ratio, times
from reports.facts.commands import all_runtimes_command
from reports.facts.comparisons import Comparison
from reports.facts.pairs import OVER_ALL
from reports.facts.traces import together
from reports.render.strips import round_values
from reports.topics import of_run
from reports.view import View

PLACE = 40
WANTED = message("The steps of a system, each with a ratio")
COMMAND = of_run(all_runtimes_command)
MOST_TICKS = 6
Step = tuple[Comparison, ...]  # the same step in every setting of a system
_name = attrgetter("step", "denominator", "numerator")


def section(view: View) -> Section:
    """A group of bars for each system whose steps all have a ratio."""
    compared = [one for one in view.compared if one.system != OVER_ALL and not one.between_services]
    systems = dict.fromkeys(comparison.system for comparison in compared)
    ways = {system: _steps([one for one in compared if one.system == system]) for system in systems}
    levels = {system: _levels(steps, view) for system, steps in ways.items() if steps}
    speeds = [
        levels[system][step[0].denominator].speed * factor
        for system, steps in ways.items() for step in steps for factor in (1.0, _mean(step))
    ]  # fmt: skip
    scale = Strip(low=0.0, high=1.05 * max([*speeds, 1.0]), lines=((1.0, "unity"),))
    groups = [
        Group(head=view.settings.head(system), lines=tuple(_lines(steps, levels[system], scale, view)))
        for system, steps in ways.items()
        if steps
    ]
    return Section(key="waterfall", title=message("Step by step"), tables=(_table(groups, scale),))


def _table(groups: Sequence[Group], scale: Strip) -> Table:
    ticks = tuple((value, f"{value:g}") for value in round_values(scale.low, scale.high, MOST_TICKS))
    return Table(
        name=message("Step by step"),
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
            "How speed gets from the first runtime to the last, step by step: each bar begins at the speed of the "
            "runtime that the step starts from. 1 is the speed under the first runtime; the last bar is the whole way "
            "as it was measured. A system of several settings shows their geometric mean."
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


@dataclass(frozen=True, kw_only=True)
class Level:
    """The speed under an arm, that of the first being 1, and the cells that it comes from."""

    speed: float
    cells: str = ""

    def times(self, factor: float, cells: str) -> "Level":
        """Where a step leads from here."""
        return Level(speed=self.speed * factor, cells=together([self.cells, cells]))


def _levels(steps: Sequence[Step], view: View) -> dict[str, Level]:
    """Of each arm, by the first steps that lead there."""
    whole = [step[0].denominator for step in steps if _is_whole(step)]
    levels = {[*whole, steps[0][0].denominator][0]: Level(speed=1.0)}
    single = [step for step in steps if not _is_whole(step)]
    for step in single * len(single):  # some lead to where others begin, or from there
        before, after, cells = step[0].denominator, step[0].numerator, together(map(view.traces.of, step))
        if before in levels:
            levels.setdefault(after, levels[before].times(_mean(step), cells))
        elif after in levels:
            levels[before] = levels[after].times(1 / _mean(step), cells)
    return levels


def _is_whole(step: Step) -> bool:
    return step[0].step == "whole"


def _lines(steps: Sequence[Step], levels: Mapping[str, Level], scale: Strip, view: View) -> list[Line]:
    first = Datum(strip=_bar(0.0, 1.0, "total", scale))
    lines: list[Line] = [(words(verbatim(next(iter(levels)))), first, words(NOTHING), number(1.0, ratio))]
    for step in steps:
        cells, before = together(map(view.traces.of, step)), levels[step[0].denominator]
        after = before.times(_mean(step), cells)
        kind = "total" if _is_whole(step) else "gain" if after.speed >= before.speed else "loss"
        begin = 0.0 if _is_whole(step) else before.speed
        lines.append(
            (
                words(step[0].label, cells=cells, leads=True),
                Datum(strip=_bar(begin, after.speed, kind, scale), cells=cells),
                number(_mean(step), times, cells, "mean_ratio"),
                number(after.speed, ratio, after.cells, "speed"),
            )
        )
    return lines


def _bar(before: float, after: float, kind: str, scale: Strip) -> Strip:
    ends = tuple((end, "level") for end in (before, after) if end)
    return replace(
        scale, bars=((before, after, f"fall {kind}"),), lines=(*scale.lines, *ends), tip=f"{before:.2f} - {after:.2f}"
    )
