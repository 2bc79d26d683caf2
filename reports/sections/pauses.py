"""Pauses: garbage collections of the services, and how many of the slow requests they held up."""

from collections.abc import Sequence

from core.messages import NOTHING, Message, message
from reports.document.model import (
    Group,
    Line,
    Section,
    Table,
    arm,
    bounds,
    columns,
    estimate,
    estimated,
    number,
    traced,
    words,
)
from reports.document.values import hundredths, milliseconds, percent, tenths, whole_percent
from reports.rows.pauses import Pauses, held_up_between, pauses
from reports.rows.traces import of_rows
from reports.view import View

PLACE = 82
UNKEPT = 0.01
HEADS = (
    *(message("collections/s"), message("share of time"), message("longest [ms]")),
    *(message("overlap one"), message("by chance"), message("held up"), message("threads waiting for a core")),
)


def section(view: View) -> Section:
    """A sentence for each arm whose slow requests collections held up, and the figures of all."""
    groups = [pauses(rows) for rows in view.groups]
    findings = tuple(_finding(each, view) for group in groups for each in group if each.is_finding)
    changes = tuple(_changes([each for group in groups for each in group], view))
    return Section(
        key="pauses",
        title=message("Pauses"),
        sentences=(*findings, *changes),
        tables=(_table(groups, view),),
        notes=_notes([each for group in groups for each in group]),
        terminal=(*findings, *changes),
    )


def _finding(each: Pauses, view: View) -> Message:
    assert each.slow
    return traced(
        message(
            "{runtime}, {setting}: garbage collections held up {held_up} of the requests slower than {percentile} for "
            "most of their time. They take {share} of a process's time; the longest took {longest} ms.",
            runtime=each.row.runtime,
            setting=view.settings.name(each.row.system, each.row.params),
            held_up=estimate(each.slow.held_up, whole_percent),
            percentile=each.slow.percentile,
            share=percent(each.share),
            longest=milliseconds(each.longest_ns),
        ),
        of_rows([each.row]),
    )


def _changes(every: Sequence[Pauses], view: View) -> list[Message]:
    """Steps at which collections began, or ceased, to hold up slow requests."""
    changes = []
    for comparison in view.compared:
        found = {comparison.denominator, comparison.numerator} & {
            each.row.runtime for each in every if each.is_finding and each.row.params == comparison.params
        }
        change = held_up_between(comparison, every) if found and comparison.step != "aa" else None
        if change and (change.low > 0 or change.high < 0):
            sentence = message(
                "{denominator} → {numerator}, {setting}: the share of slow requests that collections held up changes "
                "by {change} {interval}.",
                denominator=comparison.denominator,
                numerator=comparison.numerator,
                setting=view.settings.name(comparison.system, comparison.params),
                change=_points(change.value),
                interval=bounds(change.low, change.high, _points),
            )
            changes.append(traced(sentence, view.traces.of(comparison)))
    return changes


def _points(share: float) -> str:
    """A difference of shares, in percentage points of the slow requests."""
    return f"{share:+.0%}"


def _table(groups: Sequence[Sequence[Pauses]], view: View) -> Table:
    return Table(
        name=message("Garbage collections, and slow requests that overlap them"),
        columns=columns((message("Runtime"), message("Slower than")), HEADS),
        groups=tuple(
            Group(
                head=view.settings.name(group[0].row.system, group[0].row.params),
                lines=tuple(_line(each, view) for each in group),
            )
            for group in groups
            if group
        ),
        folded=True,
        caption=message(
            "Of all services in the timed window, medians over the blocks; the longest of all. Share of time: of a "
            "process. Of the requests slower than the percentile: those during which their service collected, how many "
            "would be at other times, and those that spent at least half of their time under collections."
        ),
    )


def _line(each: Pauses, view: View) -> Line:
    cells, slow = of_rows([each.row]), each.slow
    shares = (slow.overlapping, slow.by_chance) if slow else (None, None)
    return (
        arm(each.row.runtime, view.looks[each.row.runtime], cells),
        words(slow.percentile if slow else NOTHING),
        number(each.per_s, tenths, cells, "collections per s"),
        number(each.share, percent, cells, "share of time in collections"),
        number(each.longest_ns, milliseconds, cells, "longest collection"),
        *(number(share, whole_percent, cells, "slow requests") for share in shares),
        estimated(slow.held_up if slow else None, whole_percent, cells, "slow requests held up"),
        number(each.waiting, hundredths, cells, "threads waiting for a core"),
    )


def _notes(every: Sequence[Pauses]) -> tuple[Message, ...]:
    """How to read it, where there is anything to read."""
    if not every:
        return ()
    how = message(
        "A collection is timed from callback to callback (gc.callbacks): without a GIL that includes waiting until "
        "every thread has stopped. Requests of native load generators and services without Python are not known."
    )
    unkept = max(each.unkept for each in every)
    if unkept <= UNKEPT:
        return (how,)
    more = message(
        "The times of up to {share} of an arm's collections were overwritten by newer ones: more requests may overlap.",
        share=whole_percent(unkept),
    )
    return how, more
