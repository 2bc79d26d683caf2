"""Give advice on the causes of lost time that a run found. Each piece of advice names the web page that supports it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from core.messages import AND, NOTHING, SENTENCES, Message, listed, message, verbatim
from core.runtime import RuntimeName
from reports.document.model import ABSENT, Section, Table, estimate
from reports.document.shapes import Col, col, table
from reports.document.values import milliseconds, percent, tenths
from reports.facts.advice import NOTABLE_SHARE, Advice, advise
from reports.facts.causes import (
    Collecting,
    Fact,
    LockWait,
    SharedCounts,
    SlowRelease,
    Stops,
    bound,
    bound_of_lock,
    most,
    row_of,
)
from reports.topics.locks import frame_text, profiles_of, share_of_time, stops_per_request
from reports.topics.pauses import DELAYED, pauses
from reports.topics.waits import Profile, settings, waits
from reports.view import View

PLACE = 24
MOST_FACTS = 3
MOST_LINES = 3
LEAST_SAMPLES = 20
NOTE = message(
    "This advice is general and comes from the named sources. To see whether it helps here, change one thing, run "
    "again and compare the two runs."
)
HOW = message(
    "The gains are upper bounds. Removing a wait cannot gain more throughput than the idle cores allow, nor more than "
    "the wait's share of a request's time. p99 cannot fall by more than the wait's share of the time of slow requests."
)


def section(view: View) -> Section:
    """Return the report's section of advice, one line per piece of advice; empty if no cause of lost time was found."""
    found = facts(view)
    useful, little = (advise(fact for fact in found if fact.is_little == is_little) for is_little in (False, True))
    cannot = table(
        message("Causes of lost time whose removal would gain less than 3 %"), [FOUND, *BOUNDS], [(NOTHING, little)]
    )
    return Section(
        key="advice",
        title=message("Suggested improvements"),
        tables=(advice_table(useful), *([cannot] if little else [])),
        notes=(NOTE, HOW) if useful or little else (),
        terminal=(
            *map(_sentence, useful),
            *(
                message(
                    "{found}. Without this problem, throughput would rise by at most {more}.",
                    found=_found(piece),
                    more=_bound(piece, "throughput"),
                )
                for piece in little
            ),
        ),
    )


def advice_table(advice: Iterable[Advice]) -> Table:
    """Return a table of advice, each piece with its findings, its largest possible gain, and its source page."""
    helps: Col[Advice] = col(message("Suggested improvements"), lambda piece: piece.rule.advice)
    return table(
        message("Suggested improvements"),
        [FOUND, helps, *BOUNDS, col(message("Source of the advice"), lambda piece: piece.rule.source)],
        [(NOTHING, advice)],
    )


def _found(piece: Advice) -> Message:
    """Return the findings that led to a piece of advice as one text, at most MOST_FACTS of them."""
    return listed([fact.found for fact in piece.facts[:MOST_FACTS]], last=AND)


def _bound(piece: Advice, name: str) -> Message:
    """Return the upper bound of the gain, in throughput or p99 latency, from following a piece of advice.

    name: throughput, or p99
    """
    known = [one for fact in piece.facts if fact.bound and (one := getattr(fact.bound, name))]
    return verbatim(estimate(max(known, key=most), percent) if known else ABSENT)


FOUND: Col[Advice] = col(message("Finding"), _found)
BOUNDS: tuple[Col[Advice], ...] = (
    col(message("throughput gain if fixed, at most"), lambda piece: _bound(piece, "throughput")),
    col(message("p99 reduction if fixed, at most"), lambda piece: _bound(piece, "p99")),
)


def _sentence(piece: Advice) -> Message:
    """Return a piece of advice as text, with its findings, its source and how much it can gain at most."""
    said = message(
        "{found}. {advice} ({source})", found=_found(piece), advice=piece.rule.advice, source=piece.rule.source
    )
    more, less = _bound(piece, "throughput"), _bound(piece, "p99")
    gain = message("If you follow this advice, throughput rises by at most {more}.", more=more)
    if str(less) != ABSENT:
        gain = message(
            "If you follow this advice, throughput rises by at most {more}, and p99 falls by at most {less}.",
            more=more,
            less=less,
        )
    return said if str(more) == ABSENT else listed([said, gain], SENTENCES)


def facts(view: View) -> list[Fact]:
    """Return the causes of lost time in a run's measurements and profiles, each with an upper bound of the gain."""
    found = [*_collecting(view), *_waiting(view), *_of_locks(view)]
    return [*found, *_slow_releases(found, view)]


def _collecting(view: View) -> Iterator[Fact]:
    """Yield a fact per runtime and setting: the share of time in garbage collections, and the longest collection."""
    for each in chain.from_iterable(map(pauses, view.groups)):
        slow = each.shares.get("collection")
        yield Collecting(
            found=message(
                "{runtime}: garbage collections take {share} of the time, and up to {longest} ms each",
                runtime=each.row.runtime,
                share=percent(each.share),
                longest=milliseconds(each.longest_ns),
            ),
            bound=bound(each.row, view.run, each.share, None, slow.estimate if slow else None),
            share=each.share,
            longest_ns=each.longest_ns,
            holds_up=DELAYED in each.findings,
        )


def _waiting(view: View) -> Iterator[Fact]:
    """Yield the source lines at which threads wait longest for a lock, as measured by `--profile python`."""
    for profiles in settings(view.run):
        for profile in profiles:
            for wait in waits(profile, profiles)[:MOST_LINES]:
                yield LockWait(
                    found=_wait(wait.runtime, wait.share.value, f"{wait.place} in {wait.function}"),
                    bound=bound_of_lock(view.run, view.rows, profile, min(1.0, wait.share.high)),
                    share=wait.share.value,
                    owner="",
                    files=(wait.file, wait.caller),
                    under_gil=RuntimeName(wait.runtime).gil_enabled,
                )


def _wait(runtime: str, share: float, place: str, owner: str = "") -> Message:
    """Return the finding that threads wait for a lock at a source line.

    owner: the type of the locked object, if known
    """
    where = {"runtime": runtime, "share": percent(share), "place": place}
    if owner:
        return message(
            "{runtime}: threads wait for the lock of {owner} at {place} for {share} of the time", owner=owner, **where
        )
    return message("{runtime}: threads wait for a lock at {place} for {share} of the time", **where)


def _of_locks(view: View) -> Iterator[Fact]:
    """Yield the contended locks, stop-the-world pauses and shared reference counts that `--profile locks` measured."""
    for profile in profiles_of(view.run):
        runtime = profile["runtime"]
        for line in _sampled(profile["contended"]):
            yield LockWait(
                found=_wait(runtime, line["share"], _place(line), line["owner"]),
                bound=bound_of_lock(view.run, view.rows, profile, line["share"], [line["owner"]]),
                share=line["share"],
                owner=line["owner"],
                files=tuple(frame["file"] for frame in line.get("stack", ())),
            )
        for line in _sampled(profile["stopping"])[:1]:
            per_request, share = stops_per_request(profile), share_of_time(profile, "stopping_ns")
            stood = profile["stood_ns"] / max(1, profile["watched_ns"])  # the other threads are paused
            yield Stops(
                found=message(
                    "{runtime}: each request causes {times} stop-the-world pauses, most of them at {place}",
                    runtime=runtime,
                    times=tenths(per_request),
                    place=_place(line),
                ),
                bound=bound(row_of(view.rows, profile), view.run, min(1.0, share + stood), None),
                runtime=runtime,
                per_request=per_request,
                share=share,
                function=next((frame["function"] for frame in line.get("stack", ())), ""),
            )
        counted = profile["count_share"]  # a lower bound, so the possible gain is unknown
        if profile["cpu_samples"] * counted >= LEAST_SAMPLES:
            found = message(
                "{runtime}: counting references to shared objects takes at least {share} of CPU time",
                runtime=runtime, share=percent(counted),
            )  # fmt: skip
            yield SharedCounts(found=found, share=counted)


def _sampled(lines: Sequence[Profile]) -> list[Profile]:
    """Return the lines of a lock profile that have enough samples to be reported."""
    return [line for line in lines if line["samples"] >= LEAST_SAMPLES]


def _place(line: Profile) -> str:
    """Return where in Python code an entry of a lock profile waited: file, line and function; "" if unknown."""
    return str(frame_text(line.get("stack", ()), NOTHING))


def _slow_releases(found: Iterable[Fact], view: View) -> Iterator[Fact]:
    """Yield the free-threaded patch releases that are slower than another runtime and have stop-the-world pauses.

    found: the facts of the run. If the run compares patch releases, yield nothing, because its verdict says it.
    """
    if any(one.step == "patch" for one in view.comparisons):
        return
    stopped = {fact.runtime for fact in found if isinstance(fact, Stops) and fact.share >= NOTABLE_SHARE}
    slower = {one.numerator: one.denominator for one in view.comparisons if one.verdict == "slower"}
    for runtime, than in slower.items():
        name = RuntimeName(runtime).of_release(str(view.run.runtimes.get(runtime, {}).get("version", "")))
        if runtime in stopped and name.free_threaded and name.patch.isdecimal() and int(name.patch):
            yield SlowRelease(
                found=message(
                    "{release} is slower than {than}, possibly because of its stop-the-world pauses; to check, compare "
                    "patch releases with --runtime {before},{release}",
                    release=name,
                    than=than,
                    before=name.having(patch=str(int(name.patch) - 1)),
                )
            )
