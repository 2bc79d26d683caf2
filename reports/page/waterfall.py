"""How speed gets from the first runtime to the last, step by step, for each system. Pure."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import exp, log
from operator import mul
from statistics import fmean

from reports.page.pieces import together
from reports.page.settings import Settings
from reports.page.svg import Html, Scale, percent, tag
from reports.page.tables import Datum, Group, Line, Table, axis, drawing, heads, number
from reports.page.traces import Traces
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.words.wording import ratio_text

HEIGHT = 20


def waterfall(compared: Sequence[Comparison], settings: Settings, traces: Traces, words: Mapping[str, str]) -> Table:
    """A group of bars for each system whose steps all have a ratio."""
    systems = dict.fromkeys(one.system for one in compared if one.system != OVER_ALL)
    found = {system: _steps([one for one in compared if one.system == system]) for system in systems}
    known = {system: some for system, some in found.items() if some}
    levels = [level for some in known.values() for level in _levels(some)]
    scale = Scale(low=0.0, high=1.05 * max([*levels, 1.0]))
    groups = [
        Group(head=settings.head(system), lines=tuple(_lines(some, scale, traces, words)))
        for system, some in known.items()
    ]
    ticks = [(scale.at(one), f"{one:g}") for one in scale.ticks(6)]
    plot = Datum(drawing=axis(ticks, words["speed"]), kind="plot")
    names = heads(
        words["step"], plot, words["ratio_plain"], words["speed"], numbers=[words["ratio_plain"], words["speed"]]
    )
    return Table(name=words["waterfall"], heads=names, groups=tuple(groups), kind="waterfall")


Step = tuple[Comparison, ...]  # the same step in every setting of a system


def _steps(mine: Sequence[Comparison]) -> list[Step]:
    """The steps in order, the whole way last where it was compared; empty if one of them lacks a ratio everywhere.

    Settings in which a step lacks its ratio are left out, so that every bar is the mean over the same ones.
    """
    names = dict.fromkeys((one.step, one.denominator, one.numerator) for one in mine if one.step != "aa")
    broken = [dict(one.params) for one in mine if one.step != "aa" and not one.ratio]
    kept = [one for one in mine if one.step != "aa" and one.params not in broken]
    steps = [tuple(one for one in kept if (one.step, one.denominator, one.numerator) == name) for name in names]
    steps.sort(key=lambda some: bool(some) and some[0].step == "whole")
    return steps if steps and all(steps) else []


def _mean(some: Step) -> float:
    return exp(fmean(log(one.ratio) for one in some if one.ratio))


def _levels(steps: Sequence[Step]) -> list[float]:
    """The speed before the first step and after each, that of the first runtime being 1; then of the whole way."""
    single = [_mean(some) for some in steps if some[0].step != "whole"]
    return [*accumulate([1.0, *single], mul), *(_mean(some) for some in steps if some[0].step == "whole")]


def _lines(steps: Sequence[Step], scale: Scale, traces: Traces, words: Mapping[str, str]) -> list[Line]:
    levels = _levels(steps)
    first = steps[0][0].denominator
    lines: list[Line] = [
        (Datum(text=first), Datum(drawing=_bar(0, 1, scale, "total"), kind="plot"), number(""), number("1.00"))
    ]
    so_far = ""
    for place, some in enumerate(steps):
        is_whole = some[0].step == "whole"
        before, after = (0.0, levels[place + 1]) if is_whole else (levels[place], levels[place + 1])
        kind = "total" if is_whole else "gain" if after >= before else "loss"
        cells = together(traces.of(one) for one in some)
        so_far = cells if is_whole else together([so_far, cells])
        lines.append(
            (
                Datum(text=_name(some[0], words), cells=cells, leads=True),
                Datum(drawing=_bar(before, after, scale, kind), kind="plot", cells=cells),
                number(f"× {ratio_text(_mean(some))}", cells, "mean_ratio"),
                number(ratio_text(after), so_far, "speed"),
            )
        )
    return lines


def _name(one: Comparison, words: Mapping[str, str]) -> str:
    return f"{words[f'step_{one.step}']}: {one.denominator} → {one.numerator}"


def _bar(before: float, after: float, scale: Scale, kind: str) -> Html:
    left, right = sorted((scale.at(before), scale.at(after)))
    ends = [
        tag("line", x1=percent(scale.at(one)), x2=percent(scale.at(one)), y1="0", y2=str(HEIGHT), class_="level")
        for one in (before, after)
        if one
    ]
    unity = tag("line", x1=percent(scale.at(1)), x2=percent(scale.at(1)), y1="0", y2=str(HEIGHT), class_="unity")
    bar = tag("rect", x=percent(left), width=percent(max(right - left, 0.3)), y="4", height="12", class_=f"fall {kind}")
    return drawing(HEIGHT, f"{before:.2f} - {after:.2f}", unity, *ends, bar)
