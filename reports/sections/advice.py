"""What is known to help against what a run shows of its services, each piece with the page that says so."""

from collections.abc import Sequence

from core.messages import AND, Message, listed, message
from reports.document.model import Section, Table, plain_table, words
from reports.document.values import milliseconds, percent, tenths
from reports.rows.advice import Advice, Collecting, Fact, LockWait, SharedCounts, Stops, Stressed, advise
from reports.rows.evidence import facts
from reports.rows.stress import CRASH, NOTICE, WRONG
from reports.view import View

PLACE = 84
MOST_FACTS = 3
STRESSED = {
    CRASH: message("crashes"),
    NOTICE: message("warnings"),
    WRONG: message("wrong answers"),
}


def section(view: View) -> Section:
    """A line for each piece; empty where nothing was found."""
    advice = advise(facts(view.run, view.groups))
    sentences = tuple(map(_sentence, advice))
    return Section(
        key="advice",
        title=message("What helps"),
        tables=(advice_table(advice),),
        notes=(NOTE,) if advice else (),
        terminal=sentences,
    )


NOTE = message(
    "Each is true in general, and of the pages named. Whether it helps here, another run shows: change one thing, and "
    "compare."
)


def advice_table(advice: Sequence[Advice]) -> Table:
    """What was found, what helps, and the page that says so."""
    lines = [(_found(piece), piece.rule.advice, words(piece.rule.source)) for piece in advice]
    return plain_table(message("What helps"), (message("Found"), message("What helps"), message("Source")), lines)


def _sentence(piece: Advice) -> Message:
    return message(
        "{found}. {advice} ({source})", found=_found(piece), advice=piece.rule.advice, source=piece.rule.source
    )


def _found(piece: Advice) -> Message:
    """The facts, as many as are worth a line."""
    return listed(map(_fact, piece.facts[:MOST_FACTS]), last=AND)


def _fact(fact: Fact) -> Message:
    if isinstance(fact, Stressed):
        return STRESSED[fact.kind]
    share = percent(fact.share)
    if isinstance(fact, Collecting):
        return message(
            "{runtime}: {share} of the time goes into garbage collections, for up to {longest} ms",
            runtime=fact.runtime,
            share=share,
            longest=milliseconds(fact.longest_ns),
        )
    if isinstance(fact, LockWait):
        where = {"runtime": fact.runtime, "share": share, "place": fact.place}
        if not fact.owner:
            return message("{runtime}: {share} of the time waits for a lock at {place}", **where)
        return message(
            "{runtime}: {share} of the time waits for the lock of {owner} at {place}", owner=fact.owner, **where
        )
    if isinstance(fact, Stops):
        return message(
            "{runtime}: a request stops all threads {times} times, most of all at {place}",
            runtime=fact.runtime,
            times=tenths(fact.per_request),
            place=fact.place,
        )
    assert isinstance(fact, SharedCounts)
    return message("{runtime}: {share} of CPU time counts references", runtime=fact.runtime, share=share)
