"""What `runner.py stress` found, as a document for every renderer."""

from collections import Counter
from collections.abc import Mapping

from core.messages import Message, listed, message, plural, verbatim
from core.stress import Stress
from reports.document.model import Document, Section, Table, number, plain_table, words
from reports.document.values import whole
from reports.facts.advice import Stressed, advise
from reports.facts.stress import (
    CRASH,
    FAILURE,
    HANG,
    INVALID,
    NOTICE,
    SILENT,
    WRONG,
    Seen,
    answered,
    findings,
    started,
)
from reports.topics.advice import advice_table

CHECKS: Mapping[str, Message] = {
    "declared": message("as declared"),
    "body": message("same answer as one client gets, byte by byte"),
    "common": message("values that one client always gets"),
    "status": message("status only: one client gets different answers"),
}
KINDS: Mapping[str, Message] = {
    CRASH: message("crashes"),
    HANG: message("no answer"),
    WRONG: message("wrong answers"),
    FAILURE: message("broken connections"),
    NOTICE: message("warnings"),
    INVALID: message("GIL not as promised"),
    SILENT: message("not started"),
}
RULE_OF_THREE = 3  # an event of probability p is missed in n tries with probability (1-p)**n, 5 % for p = 3/n


def stress_document(stress: Stress) -> Document:
    """The findings, where each was seen, the traces, how answers were checked, and what all this does not prove."""
    seen = findings(stress)
    title = message("Stress: {name} without the GIL and with it", name=stress.name)
    section = Section(
        key="stress",
        title=message("What was found"),
        answer=(verdict(stress),),
        sentences=tuple(sentence for one in seen for sentence in _sentences(one, stress)),
        tables=(_rounds(stress, seen),),
        notes=(*_notes(stress, seen),),
    )
    return Document(
        name=str(title), title=title, about=(_about(stress),),
        sections=(section, *_advice(seen), *_traces(seen), *_checks(stress)),
        has_cells=False,
    )  # fmt: skip


def verdict(stress: Stress) -> Message:
    """In one sentence."""
    seen = findings(stress)
    if not seen:
        counts = answered(stress)
        each = [message("{count:,} under {runtime}", count=count, runtime=name) for name, count in counts.items()]
        return message("Nothing was found: no wrong answer in {counts}, no crash, no hang.", counts=listed(each))
    only = [KINDS[one.kind] for one in seen if one.only_without_gil]
    if only:
        return message("Only without the GIL: {kinds}.", kinds=listed(only))
    return message("Found, and not only without the GIL: {kinds}.", kinds=listed(KINDS[one.kind] for one in seen))


def _about(stress: Stress) -> Message:
    return message(
        "{rounds} in {spent_s:.0f} s, {connections}; with the GIL, threads switched every {interval_us:g} us.",
        rounds=plural("{count} round", "{count} rounds", count=len(stress.rounds)),
        spent_s=stress.spent_s,
        connections=_connections(stress),
        interval_us=stress.switch_interval_s * 1e6,
    )


def _connections(stress: Stress) -> Message:
    """Of gilscope's own clients none has bursts."""
    if stress.checks:
        return plural("{count} connection in bursts", "{count} connections in bursts", count=stress.connections)
    return plural("{count} connection", "{count} connections", count=stress.connections)


def _sentences(seen: Seen, stress: Stress) -> list[Message]:
    """What was seen where, then the first of it."""
    where = listed(_where(seen, stress))
    said = {
        CRASH: message("The service crashed: {where}. {reason}", where=where, reason=seen.reason),
        HANG: message("Requests were not answered in time: {where}. Stacks of all threads are below.", where=where),
        WRONG: message("Answers were wrong: {where}.", where=where),
        FAILURE: message("Connections broke: {where} ({codes}).", where=where, codes=listed(seen.lines)),
        NOTICE: message("The service warned: {where}: {lines}", where=where, lines=listed(seen.lines)),
        INVALID: message("Nothing is known of an arm: {reason}.", reason=seen.reason),
        SILENT: message("An arm did not start: {reason}", reason=seen.reason),
    }[seen.kind]
    example = message("First: {request} was answered with {got}; expected {expected}.", **seen.example)
    return [said, *([example] if seen.kind == WRONG and seen.example else [])]


def _where(seen: Seen, stress: Stress) -> list[Message]:
    """How often under each runtime; of wrong answers and crashes also out of how many."""
    totals = answered(stress)
    if seen.kind == CRASH:
        rounds = Counter(one.runtime for one in stress.rounds)
        return [
            message("in {count} of {total} rounds under {runtime}", count=count, total=rounds[name], runtime=name)
            for name, count in seen.counts.items()
        ]
    if seen.kind != WRONG:
        return [message("{count:,} under {runtime}", count=count, runtime=name) for name, count in seen.counts.items()]
    return [
        message("{count:,} of {total:,} under {runtime}", count=count, total=totals[name], runtime=name)
        for name, count in seen.counts.items()
    ]


def _notes(stress: Stress, seen: list[Seen]) -> list[Message]:
    """How far the findings go, and what is not proved."""
    notes, without_gil = [], {one.runtime for one in stress.rounds if not one.gil_enabled}
    if any(one.kind == WRONG and not one.only_without_gil for one in seen):
        notes.append(
            message(
                "Answers that are wrong under the GIL, too, are no fault of its absence: requests may depend on each "
                "other, and then their right answers have to be declared, or threads get in each other's way as it is."
            )
        )
    if not any(one.kind == WRONG for one in seen):
        notes += [
            message(
                "What this does not prove: no wrong answer in {total:,} under {runtime} leaves room for a race that "
                "spoils less than {rate:.1g} of the answers to these requests (3/n, 95 %), and says nothing of others.",
                total=count,
                runtime=name,
                rate=min(1.0, RULE_OF_THREE / count),
            )
            for name, count in answered(stress).items()
            if count and name in without_gil
        ]
    else:
        notes.append(message("What this does not prove: that no other request, or no other state, is affected."))
    return notes


def _rounds(stress: Stress, seen: list[Seen]) -> Table:
    """A line for each runtime."""
    heads = (message("rounds"), message("answers"), *(KINDS[one.kind] for one in seen))
    totals, rounds = answered(stress), started(stress)
    lines = [
        (
            name,
            *(number(value, whole) for value in (rounds[name], totals[name], *(one.counts[name] for one in seen))),
        )
        for name in totals
    ]
    return plain_table(message("Rounds"), (message("runtime"),), lines, heads)


def _advice(seen: list[Seen]) -> list[Section]:
    facts = [Stressed(kind=one.kind, only_without_gil=one.only_without_gil, lines=one.lines) for one in seen]
    advice = advise(facts)
    return [Section(key="advice", title=message("What helps"), tables=(advice_table(advice),))] if advice else []


def _traces(seen: list[Seen]) -> list[Section]:
    titles = {
        CRASH: message("Trace of the crash"),
        HANG: message("Where threads stood when answers did not come"),
    }
    return [
        Section(
            key=f"{one.kind}-trace",
            title=titles[one.kind],
            sentences=(
                message("What faulthandler wrote, in the first such round; without the GIL, if it happened there."),
            ),
            texts=tuple(verbatim(trace) for trace in one.traces),
        )
        for one in seen
        if one.traces and one.kind in titles
    ]


def _checks(stress: Stress) -> list[Section]:
    if not stress.checks:
        return []
    lines = [(request, words(CHECKS[check])) for request, check in stress.checks.items()]
    heads = (message("request"), message("a right answer"))
    table = plain_table(message("How answers were checked"), heads, lines)
    return [Section(key="checks", title=message("How answers were checked"), tables=(table,))]
