"""Give advice on the causes of lost time that a run found. Each piece of advice names the web page that supports it.

A rule is general: it applies to every program for which its fact was found. Without a fact there is no advice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from core.messages import AND, NOTHING, SENTENCES, Message, listed, message, verbatim
from core.program import PROGRAM
from core.runtime import RuntimeName
from reports.document.model import ABSENT, Section, Table, estimate
from reports.document.shapes import Col, col, table
from reports.document.values import milliseconds, percent, tenths
from reports.facts.causes import (
    LOCKS,
    Collecting,
    CostlyFact,
    Fact,
    LockWait,
    SharedCounts,
    SlowRelease,
    Stops,
    Stressed,
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
HOWTO = "https://docs.python.org/3/howto/free-threading-python.html"
LIBRARY = "https://docs.python.org/3/library"
GUIDE = "https://py-free-threading.github.io"
FUNCTIONS = "https://github.com/python/cpython/blob/3.14/Objects/funcobject.c"

NOTABLE_SHARE = 0.02  # of time; a smaller share is not worth advice, because its gain cannot be measured
MUCH_COLLECTING = 0.05
LONG_PAUSE_NS = 5_000_000
OFTEN = 0.5  # pauses per request; garbage collections alone pause threads far less often
CONTAINERS = ("dict", "list", "set", "collections.deque", "collections.defaultdict", "collections.OrderedDict")
QUEUES = ("list", "collections.deque")
INTERPRETERS = ("[python", "[libpython")


class Rule(NamedTuple):
    """A rule that gives a piece of advice if a fact about a run meets its condition.

    about: the type of fact that the rule looks at
    holds: returns whether the advice applies to a fact
    source: the web page that supports the advice
    """

    name: str
    about: type[Fact]
    holds: Callable[[Any], bool]
    advice: Message
    source: str


class Advice(NamedTuple):
    """A piece of advice: a rule, together with the facts about a run to which the rule applies."""

    rule: Rule
    facts: list[Fact]


def _is_always(fact: Fact) -> bool:
    return True


def _logs(fact: LockWait) -> bool:
    return any("logging/" in file for file in fact.files)


def _holds_long(fact: LockWait) -> bool:
    return not _logs(fact) and (fact.owner in LOCKS or (fact.under_gil and not fact.owner))


def _decorates(fact: Stops) -> bool:
    return fact.function == "update_wrapper"


RULES = (
    Rule(
        "compare patch releases",
        SlowRelease,
        _is_always,
        message(
            "The cause of the slowdown may be this patch release of CPython, not free threading. Patch releases differ "
            "in which operations stop all threads. Measure the previous patch release, too."
        ),
        FUNCTIONS,
    ),
    Rule(
        "one for each thread",
        LockWait,
        lambda fact: fact.owner in CONTAINERS,
        message(
            "Without the GIL, every dict, list or other container object has its own lock. Give each thread its own "
            "object (threading.local), or split the object into several by key."
        ),
        f"{GUIDE}/porting/#converting-global-state-to-thread-local-state",
    ),
    Rule(
        "queue",
        LockWait,
        lambda fact: fact.owner in QUEUES,
        message(
            "If threads pass work to each other through the contended list or deque, replace it with a queue, such as "
            "queue.SimpleQueue."
        ),
        f"{LIBRARY}/queue.html",
    ),
    Rule(
        "hold it for less",
        LockWait,
        _holds_long,
        message(
            "Threads wait for a lock that another thread holds. Use one lock per key or per part of the data, and hold "
            "each lock only while shared data is accessed."
        ),
        f"{GUIDE}/porting/#making-mutable-global-caches-thread-safe-with-locking",
    ),
    Rule(
        "logging",
        LockWait,
        _logs,
        message(
            "A logging handler writes while it holds its lock, so threads wait for each other. Let the threads put "
            "records into a queue (QueueHandler), and let one thread write the records (QueueListener)."
        ),
        "https://docs.python.org/3/howto/logging-cookbook.html#dealing-with-handlers-that-block",
    ),
    Rule(
        "extension",
        LockWait,
        lambda fact: fact.owner.startswith("[") and not fact.owner.startswith(INTERPRETERS),
        message(
            "The contended mutex belongs to an extension module, so only the authors of the extension can split the "
            "mutex. Report the line that waits for the mutex to the authors."
        ),
        f"{GUIDE}/porting-extensions/",
    ),
    Rule(
        "decorate once",
        Stops,
        _decorates,
        message(
            "functools.wraps sets a function's name, docstring and other attributes. On a free-threaded build, most of "
            "these assignments stop all threads. Create decorated functions and views once at start-up, not in each "
            "request."
        ),
        FUNCTIONS,
    ),
    Rule(
        "set attributes once",
        Stops,
        lambda fact: not _decorates(fact),
        message(
            "On a free-threaded build, setting a function's name, docstring, defaults or code stops all threads. If "
            "the line of code that stops the threads runs such an assignment, move the assignment to start-up."
        ),
        FUNCTIONS,
    ),
    Rule(
        "freeze",
        Collecting,
        lambda fact: fact.longest_ns >= LONG_PAUSE_NS,
        message("Call gc.freeze() after all long-lived objects are loaded. Later collections then skip these objects."),
        f"{LIBRARY}/gc.html#gc.freeze",
    ),
    Rule(
        "collect less often",
        Collecting,
        _is_always,
        message("Raise the threshold (gc.set_threshold) to make collections less frequent."),
        f"{LIBRARY}/gc.html#gc.set_threshold",
    ),
    Rule(
        "constants",
        SharedCounts,
        _is_always,
        message(
            "All threads change the reference counts of the objects that they share. Since 3.14, constants in the code "
            "(numbers, strings and tuples of them) and strings from sys.intern() are immortal, so nothing counts their "
            "references. Share only such objects, and give each thread its own copy of other objects."
        ),
        f"{HOWTO}#immortalization",
    ),
    Rule(
        "lock",
        Stressed,
        lambda fact: fact.kind == "wrong" and fact.only_without_gil,
        message(
            "Use a threading.Lock to guard data that several threads read and write. The locks of dict and list "
            "protect only single operations, not sequences of operations."
        ),
        f"{HOWTO}#thread-safety",
    ),
    Rule(
        "iteration",
        Stressed,
        lambda fact: fact.kind == "notice" and any("during iteration" in line for line in fact.lines),
        message(
            "One thread iterated over a container while another thread added or removed entries. Guard both with one "
            "lock, or iterate over a copy that was made under the lock."
        ),
        f"{LIBRARY}/stdtypes.html#dictionary-view-objects",
    ),
    Rule(
        "audit",
        Stressed,
        lambda fact: fact.kind == "notice" and any("GIL) has been enabled" in line for line in fact.lines),
        message(
            "An extension module that does not declare support for free threading switches the GIL on. `{program} "
            "audit` finds this module.",
            program=PROGRAM,
        ),
        "https://docs.python.org/3/howto/free-threading-extensions.html",
    ),
    Rule(
        "sanitizer",
        Stressed,
        lambda fact: fact.kind == "crash" and fact.only_without_gil,
        message(
            "A crash that occurs only without the GIL comes from an extension module or from CPython. Run the service "
            "on a build with ThreadSanitizer, which names the two conflicting accesses."
        ),
        f"{GUIDE}/thread_sanitizer/",
    ),
)


def advise(facts: Iterable[Fact]) -> list[Advice]:
    """Return the advice of each rule that applies to any of *facts*, in the order of RULES."""
    notable = list(filter(_is_notable, facts))
    applying = (
        Advice(rule, [one for one in notable if isinstance(one, rule.about) and rule.holds(one)]) for rule in RULES
    )
    return [advice for advice in applying if advice.facts]


def _is_notable(fact: Fact) -> bool:
    """Return whether the event that *fact* reports takes enough time, or occurs often enough, to be worth advice."""
    match fact:
        case Collecting():
            return fact.holds_up or fact.share >= MUCH_COLLECTING
        case Stops():
            return fact.share >= NOTABLE_SHARE and fact.per_request >= OFTEN
        case CostlyFact():
            return fact.share >= NOTABLE_SHARE
    return True


# ---- the section ---------------------------------------------------------------------------------------------------


def section(view: View) -> Section:
    """Return the report's section of advice, one line per piece of advice; empty if no cause of lost time was found."""
    found = facts(view)
    useful, little = (advise(fact for fact in found if fact.is_little == is_little) for is_little in (False, True))
    cannot = table(
        message("Causes of lost time whose removal would gain less than 3 %"), [FOUND, *BOUNDS], [(NOTHING, little)]
    )
    return Section(
        "advice",
        message("Suggested improvements"),
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
    helps: Col[Advice] = col("Suggested improvements", "rule.advice")
    return table(
        message("Suggested improvements"),
        [FOUND, helps, *BOUNDS, col("Source of the advice", "rule.source")],
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


FOUND: Col[Advice] = col("Finding", _found)
BOUNDS: tuple[Col[Advice], ...] = (
    col("throughput gain if fixed, at most", lambda piece: _bound(piece, "throughput")),
    col("p99 reduction if fixed, at most", lambda piece: _bound(piece, "p99")),
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
