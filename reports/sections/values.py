"""The section that compares the values of a swept parameter with its first value, under each
runtime.

A section of a run's report: reports/sections/__init__.py finds this module and calls section(view)
for the page and for the terminal. section() only makes a value, which reports/render/ writes.
In a comparison of values, the denominator is the first value of the parameter. The step "value" is
between two values under one runtime, and "interaction" compares that ratio between two runtimes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from operator import attrgetter

from analysis.cell_index import grouped
from analysis.comparing import Comparison
from analysis.settings import value_text
from core.cell import PARAMETERS, Value
from core.messages import SENTENCES, Message, listed, message, verbatim
from reports.document import Axis, Curve, Figure, Mark, Panel, Section
from reports.parts.comparison_table import STEP_COL, ends_words, forest
from reports.parts.headline import ratio_text
from reports.parts.swept_values import TITLE, sweep_sentences, sweeps
from reports.tables import tip
from reports.view import View

PLACE = 45  # in the order of sections (reports/sections/__init__.py)
ROOM = 0.05  # above and below the curves, as a share of the ratio
LOG_FROM_RATIO = 8  # of the largest value to the smallest; from here on, the x axis is logarithmic
MARGIN = 0.04  # left and right of the values, as a share of the x axis
MOST_TICKS = 9  # with more values, the axis has round numbers instead
READING = message(
    "Marks show throughput at each value divided by throughput at the first value, in the same "
    "blocks (rounds of measurement)."
)
CAPTION = message(
    "Throughput at the second value of the parameter divided by throughput at its first value, in "
    "the same blocks (rounds of measurement). In the lines with two runtimes, this ratio under the "
    "second runtime is divided by the ratio under the first."
)


def section(view: View) -> Section:
    """Return the report's section on the values of swept parameters: sentences, charts, and a
    forest plot.
    """
    found = sweeps(view)
    plot = forest(TITLE, found, lambda one: one, [STEP_COL])
    caption = listed([CAPTION, *ends_words(view.of_values)], SENTENCES)
    return Section(
        "values",
        TITLE,
        sentences=[
            sentence
            for label, compared in found
            for sentence in sweep_sentences(label, compared, view)
        ],
        figures=[
            _figure(number, label, compared, view)
            for number, (label, compared) in enumerate(found, 1)
        ],
        tables=(replace(plot, key="values-forest", caption=caption),),
    )


def _figure(number: int, label: Message, compared: Sequence[Comparison], view: View) -> Figure:
    """Return the chart of a sweep: throughput at each value divided by that at the first value, a
    line per runtime.

    number: the number of the chart on the page
    """
    by_arm = grouped(
        (one for one in compared if one.step == "value" and one.ratio), attrgetter("numerator")
    )
    name, first, _ = compared[0].change
    places = _places_of([first, *(one.change[2] for ones in by_arm.values() for one in ones)])
    curves = [_curve(arm, ones, first, places, view) for arm, ones in by_arm.items()]
    ends = [1.0, *chain.from_iterable(_ends(one) for ones in by_arm.values() for one in ones)]
    label_of = PARAMETERS[name].label if name in PARAMETERS else name
    across = _swept_axis(places, verbatim(label_of))
    up = Axis(
        message("Throughput relative to {name} {first}", name=name, first=value_text(first)),
        low=min(ends) * (1 - ROOM),
        high=max(ends) * (1 + ROOM),
    )
    return Figure(
        f"values-{number}-{name.lower()}",
        message("Throughput by {parameter}", parameter=name),
        caption=listed(
            [READING, *ends_words([one for ones in by_arm.values() for one in ones])], SENTENCES
        ),
        panels=[Panel(title=label, across=across, up=up, curves=curves, level=1.0)],
    )


def _curve(
    arm: str,
    compared: Sequence[Comparison],
    first: Value,
    places: Mapping[Value, float],
    view: View,
) -> Curve:
    marks = [Mark(x=places[first], y=1.0)]
    for one in compared:
        assert one.ratio is not None, "only comparisons with a ratio are drawn"
        place = places[one.change[2]]
        text = tip(arm, ratio_text(one))
        marks.append(
            Mark(x=place, y=one.ratio, tip=text, cells=one.trace, low=one.low, high=one.high)
        )
    return Curve(
        name=arm, look=view.looks[arm], line=sorted((mark.x, mark.y) for mark in marks), marks=marks
    )


def _ends(one: Comparison) -> list[float]:
    """Return the ratio of a comparison, and the finite ends of its interval."""
    return [end for end in (one.ratio, one.low, one.high) if end is not None and isfinite(end)]


def _places_of(values: Iterable[Value]) -> dict[Value, float]:
    """Return each parameter value's x position: the value itself, or its index if one of the values
    is no number.
    """
    different = [*dict.fromkeys(values)]
    numbers = sorted(value for value in different if type(value) is int)
    if len(numbers) == len(different):
        return {value: float(value) for value in numbers}
    others = [value for value in different if value not in numbers]
    return {value: float(place) for place, value in enumerate([*numbers, *others])}


def _swept_axis(places: Mapping[Value, float], label: Message) -> Axis:
    """Return the x axis of a swept parameter: logarithmic for a wide range, with a tick per value
    for few values.
    """
    low, high = min(places.values()), max(places.values())
    ticks = (
        tuple((place, value_text(value)) for value, place in places.items())
        if len(places) <= MOST_TICKS
        else ()
    )
    is_number = all(type(value) is int for value in places)
    if is_number and low > 0 and high >= LOG_FROM_RATIO * low:
        room = (high / low) ** MARGIN
        return Axis(label, low=low / room, high=high * room, is_log=True, ticks=ticks)
    room = (high - low) * MARGIN
    return Axis(label, low=low - room, high=high + room, ticks=ticks)
