"""What the values of a swept parameter do to throughput under each runtime: sentences and a table
for the terminal, and a section of the page.

A sweep is a parameter that has several values while the other parameters stay the same. The step
`value` compares a later value with the first one under one arm, which is numerator and denominator.
The step `interaction` divides the ratio of two runtimes at the last value by their ratio at the
first. analysis/pairs.py makes both. answer() is for the terminal, and commands/report.py stores
run_headline() in the run. reports/sections/__init__.py finds section(), which only makes a value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from operator import attrgetter

from analysis.cell_index import grouped, together
from analysis.comparison_words import Comparison, packages_at
from analysis.settings import about, parameter_values, value_text, varying
from core.cell import NONE, PARAMETERS, Value
from core.messages import (
    NOTHING,
    SEMICOLON,
    SENTENCES,
    Arg,
    Message,
    listed,
    message,
    plural,
    verbatim,
)
from reports.document import Axis, Curve, Figure, Mark, Panel, Section, Table, traced, words
from reports.parts.comparison_table import STEP_COL, ends_words, forest
from reports.parts.headline import main_headline, ratio_text, tails_text
from reports.tables import Col, col, table, tip
from reports.view import View

PLACE = 45  # in the order of sections (reports/sections/__init__.py)
TITLE = message("Comparison of parameter values")
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
MOST_SWEEPS = 4  # that a terminal shows; the page shows all
MOST_PACKAGES = 20  # that a sentence names
DEPENDS = {  # by the verdict on the ratio of the two ratios
    "faster": message(
        "{numerator} compared with {denominator}: the throughput ratio depends on {name}. At "
        "{after}, it is {ratio} the ratio at {before}."
    ),
    "equivalent": message(
        "{numerator} compared with {denominator}: the throughput ratio does not depend on {name}. "
        "At {after}, it is {ratio} the ratio at {before}."
    ),
    "inconclusive": message(
        "{numerator} compared with {denominator}: it is not decided whether the throughput ratio "
        "depends on {name}. At {after}, it is {ratio} the ratio at {before}."
    ),
}
# a smaller ratio depends on the value as much as a larger one
DEPENDS["slower"] = DEPENDS["faster"]


def headlines(view: View) -> list[Message]:
    """Return for each sweep what its last value does to each runtime."""
    return [_headline(label, compared) for label, compared in sweeps(view)]


def has_variants(view: View) -> bool:
    """Return whether the run compares variants of a service, which its answer is then about."""
    return bool(view.plan.own and view.plan.user_service and view.plan.user_service.variants)


def run_headline(view: View) -> Message:
    """Return the headline of a run: on variants, else on runtimes, else on swept values. NOTHING if
    it has no comparison.
    """
    said = main_headline(view.comparisons, view.names)
    # as plain messages: a saved run has its headline, and Traced is only for reports
    of_values = [Message(msgid=one.msgid, args=one.args) for one in headlines(view)]
    first = [*of_values, said] if has_variants(view) else [said, *of_values]
    return next(filter(None, first), NOTHING)


def answer(view: View) -> list[Message | Table]:
    """Return what a terminal shows of the first sweeps: the last value compared with the first,
    under each runtime, or in one sentence if there is one runtime.

    Sentences say whether the step between the runtimes depends on the value.
    """
    found = sweeps(view)
    shown = found[:MOST_SWEEPS]
    left = plural(
        "The report page compares the values of {count} more parameter.",
        "The report page compares the values of {count} more parameters.",
        count=len(found) - MOST_SWEEPS,
    )  # fmt: skip
    groups = [
        (about(last[-1].step_name, label), last)
        for label, compared in shown
        if (last := _last(compared))
    ]
    sentences = [
        sentence
        for _, compared in shown
        for sentence in (*_dependences(compared), *_packages(compared, view))
    ]
    is_table = any(len(last) > 1 for _, last in groups)
    return [
        *([table(TITLE, COLS, groups)] if is_table else headlines(view)[:MOST_SWEEPS]),
        *sentences,
        *[left] * (len(found) > MOST_SWEEPS),
    ]


def sweeps(view: View) -> list[tuple[Message, list[Comparison]]]:
    """Return (label, comparisons) of each swept parameter. The label has the system, and other
    parameters that vary.

    The comparisons are those of the steps `value` and `interaction`, values in the plan's order.
    """
    by_sweep = grouped(view.of_values, lambda one: (one.key, one.change[0]))
    telling = varying([compared[0] for compared in by_sweep.values()])
    return [
        (
            listed(
                filter(
                    None,
                    [view.settings.number(system), parameter_values(compared[0].params, telling)],
                )
            ),
            compared,
        )
        for ((system, _), _), compared in by_sweep.items()
    ]


def _last(compared: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparison of the last value with the first under each runtime."""
    # later values replace earlier ones of the same runtime
    return [*{one.numerator: one for one in compared if one.step == "value"}.values()]


def _packages(compared: Sequence[Comparison], view: View) -> Iterator[Message]:
    """Yield which packages of the service differ between the first and another value."""
    for one in compared:
        # settings: the denominator's, then the numerator's
        before, after = (packages_at(setting, one, view.run) for setting in one.settings)
        changes = [
            f"{name} {before.get(name, NONE)} → {after.get(name, NONE)}"
            for name in sorted({*before} | {*after})
            if before.get(name) != after.get(name)
        ]
        if one.step == "value" and changes:
            yield message(
                "{step}: these packages differ: {packages}.",
                step=one.label,
                packages=listed(changes[:MOST_PACKAGES]),
            )


def _headline(label: Message, compared: Sequence[Comparison]) -> Message:
    """Return what the last value does to each runtime: 'NUM_MULTI_SOCKET 1 → 10: 3.11 0.93x [0.91,
    0.95] slower'.
    """
    last = _last(compared)
    found = [
        message("{runtime} {ratio} {word}", runtime=one.numerator, ratio=_ratio(one), word=one.word)
        for one in last
    ]
    said = message("{step}: {found}.", step=last[0].step_name, found=listed(found, SEMICOLON))
    return traced(about(said, label), together(one.trace for one in last))


def _ratio(one: Comparison) -> Message | str:
    """Return the ratio of throughput; at a fixed rate, the change of latency."""
    return tails_text(one) if one.is_at_rate else ratio_text(one)


COLS: list[Col[Comparison]] = [
    col("runtime", "numerator", leads=True),
    col("throughput", _ratio),
    col("verdict", lambda one: words(one.word, state=one.verdict)),
]


def _dependences(compared: Iterable[Comparison]) -> Iterator[Message]:
    """Yield a sentence on whether the step between two runtimes depends on the value."""
    for one in compared:
        if one.step == "interaction" and one.verdict in DEPENDS:
            name, before, after = one.change
            args: dict[str, Arg] = {
                "numerator": one.numerator,
                "denominator": one.denominator,
                "name": name,
                "before": value_text(before),
                "after": value_text(after),
                "ratio": ratio_text(one),
            }
            yield traced(replace(DEPENDS[one.verdict], args=args), one.trace)


# ---- the section of the page ---------------------------------------------------------------------


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
            for sentence in (
                _headline(label, compared),
                *_dependences(compared),
                *_packages(compared, view),
            )
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
