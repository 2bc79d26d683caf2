"""Pauses: garbage collections of the services, and what the slow requests waited for: these, a core, or the host."""

from collections.abc import Iterator, Sequence
from typing import Any

from core.messages import NOTHING, Message, message
from reports.document.model import (
    Line,
    Section,
    Table,
    arm,
    bounds,
    columns,
    estimate,
    estimated,
    groups,
    number,
    traced,
    words,
)
from reports.document.values import milliseconds, percent, tenths, whole_percent
from reports.facts.comparisons import Comparison
from reports.facts.pauses import CAUSES, WITHOUT_A_CORE, Pauses, change, held_up, pauses, taken_by
from reports.facts.traces import of_rows
from reports.statistics.stats import Estimate
from reports.view import View

PLACE = 82
UNKEPT = 0.01
HEADS = (
    *(message("collections/s"), message("share of time"), message("longest [ms]")),
    *(message("overlap one"), message("by chance"), message("held up")),
    *(message("no core: service"), message("any time"), message("no core: client"), message("steal")),
)
UNKNOWN = message("not known")
OF_THEIR_TIME = {
    "service": message("the time of slow requests in which threads of their service had no core"),
    "client": message("the time of slow requests in which threads of their client had no core"),
    "steal": message("the time of slow requests in which the host had taken the cores"),
}


def section(view: View) -> Section:
    """A sentence for each arm whose slow requests collections held up, and the figures of all."""
    named = [(head, pauses(rows)) for head, rows in view.named_groups]
    every = [each for _, group in named for each in group]
    findings = (
        *(_finding(each, view) for each in every if each.is_finding),
        *(_causes(each, view) for each in every if each.lacks_cores),
    )
    changes = tuple(_changes(every, view))
    return Section(
        key="pauses",
        title=message("Pauses"),
        sentences=(*findings, *changes),
        tables=(_table(named, view),),
        notes=_notes(every),
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


def _causes(each: Pauses, view: View) -> Message:
    assert each.slow
    causes = each.slow.causes
    shares: dict[str, Any] = dict.fromkeys(CAUSES, UNKNOWN)
    shares |= {name: estimate(cause.share, whole_percent) for name, cause in causes.items()}
    return traced(
        message(
            "{runtime}, {setting}: requests slower than {percentile} spent {collection} of their time under "
            "collections. Without a core were those threads of their service that could run in {service} of it, those "
            "of their client in {client}; the host had taken the cores (steal) in {steal}. At any time that is "
            "{usual}.",
            runtime=each.row.runtime,
            setting=view.settings.name(each.row.system, each.row.params),
            percentile=each.slow.percentile,
            usual=", ".join(whole_percent(causes[name].window) if name in causes else "-" for name in CAUSES),
            **shares,
        ),
        of_rows([each.row]),
    )


def _changes(every: Sequence[Pauses], view: View) -> Iterator[Message]:
    """Steps at which something began, or ceased, to hold up slow requests."""
    for comparison in view.compared:
        arms = [
            each
            for each in every
            if each.row.params == comparison.params
            and each.row.runtime in (comparison.denominator, comparison.numerator)
            and comparison.step != "aa"
        ]
        for what, by in _changed(comparison, arms):
            if by and not by.is_range and (by.low > 0 or by.high < 0):
                sentence = message(
                    "{denominator} → {numerator}, {setting}: the share of {what} changes by {change} {interval}.",
                    denominator=comparison.denominator,
                    numerator=comparison.numerator,
                    setting=view.settings.name(comparison.system, comparison.params),
                    what=what,
                    change=_points(by.value),
                    interval=bounds(by.low, by.high, _points),
                )
                yield traced(sentence, view.traces.of(comparison))


def _changed(comparison: Comparison, arms: Sequence[Pauses]) -> Iterator[tuple[Message, Estimate | None]]:
    """What is a finding under one of the runtimes, and its change."""
    if any(each.is_finding for each in arms):
        yield message("slow requests that collections held up"), change(comparison, arms, held_up)
    for cause, what in OF_THEIR_TIME.items():
        known = [each.slow.causes[cause] for each in arms if each.slow and cause in each.slow.causes]
        if len(known) == len(arms) and any(each.is_finding for each in known):
            yield what, change(comparison, arms, taken_by(cause))


def _points(share: float) -> str:
    """A difference of shares, in percentage points of the slow requests."""
    return f"{share:+.0%}"


def _table(named: Sequence[tuple[Message, Sequence[Pauses]]], view: View) -> Table:
    return Table(
        name=message("Garbage collections, and what slow requests waited for"),
        columns=columns((message("Runtime"), message("Slower than")), HEADS),
        groups=groups((head, (_line(each, view) for each in group)) for head, group in named if group),
        folded=True,
        caption=message(
            "Of all services in the timed window, medians over the blocks; the longest of all. Share of time: of a "
            "process. Of the requests slower than the percentile: those during which their service collected, how many "
            "would be at other times, and those that spent at least half of their time under collections. No core: "
            "share of their time in which a thread that could run had none, and of all time at their service."
        ),
    )


def _line(each: Pauses, view: View) -> Line:
    cells, slow = of_rows([each.row]), each.slow
    causes = slow.causes if slow else {}
    service, client, steal = (causes.get(cause) for cause in WITHOUT_A_CORE)
    shares = (slow.overlapping, slow.by_chance) if slow else (None, None)
    return (
        arm(each.row.runtime, view.looks[each.row.runtime], cells),
        words(slow.percentile if slow else NOTHING),
        number(each.per_s, tenths, cells, "collections per s"),
        number(each.share, percent, cells, "share of time in collections"),
        number(each.longest_ns, milliseconds, cells, "longest collection"),
        *(number(share, whole_percent, cells, "slow requests") for share in shares),
        estimated(slow.held_up if slow else None, whole_percent, cells, "slow requests held up"),
        estimated(service.share if service else None, whole_percent, cells, "time without a core, service"),
        number(service.window if service else None, whole_percent, cells, "time without a core, any"),
        estimated(client.share if client else None, whole_percent, cells, "time without a core, client"),
        estimated(steal.share if steal else None, whole_percent, cells, "time stolen"),
    )


def _notes(every: Sequence[Pauses]) -> tuple[Message, ...]:
    """How to read it, where there is anything to read."""
    if not every:
        return ()
    how = message(
        "A collection is timed from callback to callback (gc.callbacks): without a GIL that includes waiting until "
        "every thread has stopped. Waits for a core are the scheduler's, read while the clients call (docs/why.md). "
        "Services without Python, and clients that keep no times of requests, are not known."
    )
    unkept = max(each.unkept for each in every)
    if unkept <= UNKEPT:
        return (how,)
    more = message(
        "The times of up to {share} of an arm's collections were overwritten by newer ones: more requests may overlap.",
        share=whole_percent(unkept),
    )
    return how, more
