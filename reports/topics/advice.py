"""What is known to help against what a run shows of its services, each piece with the page that says so."""

from collections.abc import Sequence

from core.messages import AND, SENTENCES, Message, listed, message, verbatim
from reports.document.model import ABSENT, Section, Table, estimate, plain_table, words
from reports.document.values import milliseconds, percent, tenths
from reports.facts.advice import (
    Advice,
    Collecting,
    Cost,
    Fact,
    LockWait,
    SharedCounts,
    SlowRelease,
    Stops,
    Stressed,
    advise,
)
from reports.facts.bounds import most
from reports.facts.evidence import facts, slow_releases
from reports.facts.stress import CRASH, NOTICE, WRONG
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
    found = facts(view.run, view.groups)
    advice = advise([*found, *slow_releases(view.run, view.comparisons, found)])
    little = [piece for piece in advice if piece.is_little]
    useful = [piece for piece in advice if not piece.is_little]
    return Section(
        key="advice",
        title=message("What helps"),
        tables=(advice_table(useful), *([_little_table(little)] if little else [])),
        notes=(NOTE, HOW) if advice else (),
        terminal=(*map(_sentence, useful), *map(_little_sentence, little)),
    )


HOW = message(
    "At most: a wait costs throughput only while a core is idle, so its end cannot gain more than the idle cores, nor "
    "more than its own share of a request. p99 cannot fall by more than the share of slow requests' time."
)
BOUNDS = (message("throughput: at most"), message("p99: at most"))
LITTLE = message("Cannot gain 3 %")
NOTE = message(
    "Each is true in general, and of the pages named. Whether it helps here, another run shows: change one thing, and "
    "compare."
)


def advice_table(advice: Sequence[Advice]) -> Table:
    """What was found, what helps, how much at most, and the page that says so."""
    lines = [(_found(piece), piece.rule.advice, *_bounds(piece), words(piece.rule.source)) for piece in advice]
    heads = (message("Found"), message("What helps"), *BOUNDS, message("Source"))
    return plain_table(message("What helps"), heads, lines)


def _little_table(advice: Sequence[Advice]) -> Table:
    """What was found, and cannot gain anything that matters."""
    return plain_table(LITTLE, (message("Found"), *BOUNDS), [(_found(piece), *_bounds(piece)) for piece in advice])


def _bounds(piece: Advice) -> tuple[Message, Message]:
    """Of the fact that can gain most: more throughput, and less of p99."""
    known = [fact.bound for fact in piece.facts if isinstance(fact, Cost) and fact.bound]
    each = ([one.throughput for one in known if one.throughput], [one.p99 for one in known if one.p99])
    more, less = (verbatim(estimate(max(some, key=most), percent) if some else ABSENT) for some in each)
    return more, less


def _sentence(piece: Advice) -> Message:
    said = message(
        "{found}. {advice} ({source})", found=_found(piece), advice=piece.rule.advice, source=piece.rule.source
    )
    more, less = _bounds(piece)
    if str(more) == ABSENT:
        return said
    gain = message("At most, throughput gains {more}.", more=more)
    if str(less) != ABSENT:
        gain = message("At most, throughput gains {more} and p99 falls by {less}.", more=more, less=less)
    return listed([said, gain], SENTENCES)


def _little_sentence(piece: Advice) -> Message:
    more, _ = _bounds(piece)
    return message("{found}. Without that, throughput would gain at most {more}.", found=_found(piece), more=more)


def _found(piece: Advice) -> Message:
    """The facts, as many as are worth a line."""
    return listed(map(_fact, piece.facts[:MOST_FACTS]), last=AND)


def _fact(fact: Fact) -> Message:
    if not isinstance(fact, Cost):
        return _without_share(fact)
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


def _without_share(fact: Stressed | SlowRelease) -> Message:
    if isinstance(fact, Stressed):
        return STRESSED[fact.kind]
    return message(
        "{release} is slower than {than} and stops all threads; measure --runtime {before},{release}",
        release=fact.release,
        than=fact.than,
        before=fact.before,
    )
