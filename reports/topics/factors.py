"""What a step's ratio is made of: cores in use and CPU time per request; and what the services could do alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.languages import ENGLISH
from core.messages import SENTENCES, Message, listed, message
from reports.document.model import Datum, Form, Line, Section, Table, columns, number, traced, words
from reports.document.values import ratio, whole
from reports.facts.cells import setting_key
from reports.facts.comparisons import Comparison
from reports.facts.pairs import OVER_ALL
from reports.topics.comparisons import by_setting
from reports.view import View

PLACE = 45
STEPS = (
    "lock",
    "jit",
    "other",
    "whole",
    "build",
    "version",
    "patch",
)  # those that a setting's sentence is on: the first there is
FACTORS = {"cores_used": message("Cores used"), "cpu_per_request": message("CPU per request")}
SIDES: Mapping[str, Message] = {"": message("both sides"), "service": message("service"), "client": message("client")}


HOW = {
    True: message("Measured: native clients on cores of their own, which had room."),
    False: message(
        "Estimated, as if a request took this CPU time on every core that the services can use: one a process under a "
        "GIL, else one a worker thread (--pin and --client-runtime native measure it)."
    ),
}


def section(view: View) -> Section:
    """A line for each step of each setting, those over all settings first."""
    alone = tuple(_alone(view))
    return Section(
        key="factors",
        title=message("What the ratio is made of"),
        sentences=alone,
        tables=(_table(view), _capacities(view)),
        notes=(
            message(
                "Throughput = cores used / CPU time per request, so the ratio of a step is the product of two: above 1 "
                "more cores were in use, or a request took less CPU time. Paired by block, with 95 percent intervals."
            ),
        ),
    )


def _known(view: View) -> list[Comparison]:
    return [one for one in view.compared if one.step != "aa" and one.capacity]


def _alone(view: View) -> list[Message]:
    """Of each setting one step: what both services would serve by themselves; then how that is known."""
    ranked = sorted(_known(view), key=lambda one: STEPS.index(one.step))
    first = {setting_key(one.system, one.params): one for one in reversed(ranked)}
    shown = [one for one in view.compared if one in first.values()]
    return [*(_sentence(one, view) for one in shown), *_how(shown)]


def _sentence(one: Comparison, view: View) -> Message:
    before, after = (one.capacity[side] for side in ("denominator", "numerator"))
    sentence = message(
        "{setting}: the services alone could serve {after} requests/s on {numerator} and {before} on {denominator}, "
        "{ratio} x.",
        setting=view.settings.short(one.system, one.params),
        after=whole(after["requests_per_s"]),
        before=whole(before["requests_per_s"]),
        numerator=one.numerator,
        denominator=one.denominator,
        ratio=_datum(one.capacity, one, "", "").text(ENGLISH),
    )
    return traced(sentence, view.traces.of(one), "capacity")


def _how(known: Sequence[Comparison]) -> list[Message]:
    return [HOW[measured] for measured in dict.fromkeys(one.capacity["measured"] for one in known)]


def _capacities(view: View) -> Table:
    """What the services of each arm could serve by themselves, beside the ratio that this makes."""
    heads = (message("before [requests/s]"), message("cores"), message("after [requests/s]"), message("cores"))
    return Table(
        name=message("What the services could serve alone"),
        columns=columns((message("Step"),), (*heads, message("Ratio [95 %]"))),
        groups=by_setting(_known(view), _capacity_line, view),
        caption=listed(_how(_known(view)), SENTENCES),
    )


def _capacity_line(one: Comparison, view: View) -> Line:
    cells = view.traces.of(one)
    sides = [one.capacity[side] for side in ("denominator", "numerator")]
    numbers = [
        datum
        for side in sides
        for datum in (
            _datum(side, one, cells, "capacity", "requests_per_s", whole),
            number(side["cores"], whole, cells, "cores of the services"),
        )
    ]
    return words(one.label, cells=cells, leads=True), *numbers, _datum(one.capacity, one, cells, "capacity")


def _table(view: View) -> Table:
    known = [one for one in view.compared if one.step != "aa" and one.factors]
    heads = [
        message("{factor}, {side}", factor=name, side=side) for side in SIDES.values() for name in FACTORS.values()
    ]
    return Table(
        name=message("Factors of each step"),
        columns=columns((message("Step"),), heads),
        groups=by_setting(sorted(known, key=lambda one: one.system != OVER_ALL), _line, view),
    )


def _line(comparison: Comparison, view: View) -> Line:
    cells = view.traces.of(comparison)
    sides = [(side, comparison.factors[side] if side else comparison.factors) for side in SIDES]
    numbers = (
        _datum(factors[name], comparison, cells, f"{name} {side}") for side, factors in sides for name in FACTORS
    )
    return words(comparison.label, cells=cells, leads=True), *numbers


def _datum(
    known: Mapping[str, Any], comparison: Comparison, cells: str, figure: str, name: str = "ratio", form: Form = ratio
) -> Datum:
    low, high = known["low"], known["high"]
    return number(known[name], form, cells, figure.strip(), low=low, high=high, is_range=comparison.is_range)
