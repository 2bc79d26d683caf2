"""Give advice on the causes of lost time that a run found. Each piece of advice names the web page that supports it.

A rule is general: it applies to every program for which a fact was found. Without a fact there is no advice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from core.messages import AND, NOTHING, SENTENCES, Message, listed, message, verbatim
from core.program import PROGRAM
from core.runtime import RuntimeName
from reports.document.model import ABSENT, Section, Table, estimate
from reports.document.shapes import Col, col, table
from reports.document.values import milliseconds, percent, tenths
from reports.facts.causes import LOCKS, Bound, bound, bound_of_lock, most, row_of
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


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A finding about a measured service or client, as a sentence.

    rules: the names of the rules of advice that apply to it
    bound: how much removing its cause can gain at most; None if unknown
    """

    found: Message
    rules: tuple[str, ...]
    bound: Bound | None = None


class Advice(NamedTuple):
    """A piece of advice: a rule of RULES, together with the facts about a run to which the rule applies."""

    rule: str
    advice: Message
    source: str
    facts: list[Fact]


RULES: Mapping[str, tuple[Message, str]] = {  # by name: the advice, and the web page that supports it
    "compare patch releases": (
        message(
            "The cause of the slowdown may be this patch release of CPython, not free threading. Patch releases differ "
            "in which operations stop all threads. Measure the previous patch release, too."
        ),
        FUNCTIONS,
    ),
    "one for each thread": (
        message(
            "Without the GIL, every dict, list or other container object has its own lock. Give each thread its own "
            "object (threading.local), or split the object into several by key."
        ),
        f"{GUIDE}/porting/#converting-global-state-to-thread-local-state",
    ),
    "queue": (
        message(
            "If threads pass work to each other through the contended list or deque, replace it with a queue, such as "
            "queue.SimpleQueue."
        ),
        f"{LIBRARY}/queue.html",
    ),
    "hold it for less": (
        message(
            "Threads wait for a lock that another thread holds. Use one lock per key or per part of the data, and hold "
            "each lock only while shared data is accessed."
        ),
        f"{GUIDE}/porting/#making-mutable-global-caches-thread-safe-with-locking",
    ),
    "logging": (
        message(
            "A logging handler writes while it holds its lock, so threads wait for each other. Let the threads put "
            "records into a queue (QueueHandler), and let one thread write the records (QueueListener)."
        ),
        "https://docs.python.org/3/howto/logging-cookbook.html#dealing-with-handlers-that-block",
    ),
    "extension": (
        message(
            "The contended mutex belongs to an extension module, so only the authors of the extension can split the "
            "mutex. Report the line that waits for the mutex to the authors."
        ),
        f"{GUIDE}/porting-extensions/",
    ),
    "decorate once": (
        message(
            "functools.wraps sets a function's name, docstring and other attributes. On a free-threaded build, most of "
            "these assignments stop all threads. Create decorated functions and views once at start-up, not in each "
            "request."
        ),
        FUNCTIONS,
    ),
    "set attributes once": (
        message(
            "On a free-threaded build, setting a function's name, docstring, defaults or code stops all threads. If "
            "the line of code that stops the threads runs such an assignment, move the assignment to start-up."
        ),
        FUNCTIONS,
    ),
    "freeze": (
        message("Call gc.freeze() after all long-lived objects are loaded. Later collections then skip these objects."),
        f"{LIBRARY}/gc.html#gc.freeze",
    ),
    "collect less often": (
        message("Raise the threshold (gc.set_threshold) to make collections less frequent."),
        f"{LIBRARY}/gc.html#gc.set_threshold",
    ),
    "constants": (
        message(
            "All threads change the reference counts of the objects that they share. Since 3.14, constants in the code "
            "(numbers, strings and tuples of them) and strings from sys.intern() are immortal, so nothing counts their "
            "references. Share only such objects, and give each thread its own copy of other objects."
        ),
        f"{HOWTO}#immortalization",
    ),
    "lock": (
        message(
            "Use a threading.Lock to guard data that several threads read and write. The locks of dict and list "
            "protect only single operations, not sequences of operations."
        ),
        f"{HOWTO}#thread-safety",
    ),
    "iteration": (
        message(
            "One thread iterated over a container while another thread added or removed entries. Guard both with one "
            "lock, or iterate over a copy that was made under the lock."
        ),
        f"{LIBRARY}/stdtypes.html#dictionary-view-objects",
    ),
    "audit": (
        message(
            "An extension module that does not declare support for free threading switches the GIL on. `{program} "
            "audit` finds this module.",
            program=PROGRAM,
        ),
        "https://docs.python.org/3/howto/free-threading-extensions.html",
    ),
    "sanitizer": (
        message(
            "A crash that occurs only without the GIL comes from an extension module or from CPython. Run the service "
            "on a build with ThreadSanitizer, which names the two conflicting accesses."
        ),
        f"{GUIDE}/thread_sanitizer/",
    ),
}


def lock_rules(share: float, owner: str, files: Sequence[str] = (), *, under_gil: bool = False) -> tuple[str, ...]:
    """Return the names of the rules that apply if threads wait for a contended lock at a line of code.

    share:     of request time, or of threads' working time
    owner:     type of the object that has the lock, or [FILE] if the lock is a C variable; "" if unknown
    files:     the file of the line, then the files of its callers
    under_gil: whether the runtime has a GIL; containers then have no locks, so the lock belongs to the program or
        to an extension module
    """
    logs = any("logging/" in file for file in files)
    names = {
        "one for each thread": owner in CONTAINERS,
        "queue": owner in QUEUES,
        "hold it for less": not logs and (owner in LOCKS or (under_gil and not owner)),
        "logging": logs,
        "extension": owner.startswith("[") and not owner.startswith(INTERPRETERS),
    }
    return _chosen(names) if share >= NOTABLE_SHARE else ()


def stop_rules(share: float, per_request: float, function: str) -> tuple[str, ...]:
    """Return the name of the rule that applies if a line of code in *function* causes stop-the-world pauses.

    share: of request time
    """
    if share < NOTABLE_SHARE or per_request < OFTEN:
        return ()
    return ("decorate once" if function == "update_wrapper" else "set attributes once",)


def collection_rules(share: float, longest_ns: int, *, holds_up: bool = False) -> tuple[str, ...]:
    """Return the names of the rules that apply to the garbage collections of a service.

    share: of the time of the service's processes
    holds_up: whether the collections were found to delay slow requests (reports.topics.pauses)
    """
    is_notable = holds_up or share >= MUCH_COLLECTING
    return _chosen({"freeze": is_notable and longest_ns >= LONG_PAUSE_NS, "collect less often": is_notable})


def count_rules(share: float) -> tuple[str, ...]:
    """Return the name of the rule that applies if several threads change the same reference counts.

    share: a lower bound of their share of CPU time
    """
    return _chosen({"constants": share >= NOTABLE_SHARE})


def stress_rules(kind: str, lines: Sequence[str], *, only_without_gil: bool) -> tuple[str, ...]:
    """Return the names of the rules that apply to a finding of a stress test.

    kind: a key of KINDS in reports.terminal.stress; lines: what shows the finding
    """
    noticed = lines if kind == "notice" else ()
    return _chosen(
        {
            "lock": kind == "wrong" and only_without_gil,
            "iteration": any("during iteration" in line for line in noticed),
            "audit": any("GIL) has been enabled" in line for line in noticed),
            "sanitizer": kind == "crash" and only_without_gil,
        }
    )


def _chosen(names: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, applies in names.items() if applies)


def advise(facts: Sequence[Fact]) -> list[Advice]:
    """Return the advice of each rule that applies to any of *facts*, in the order of RULES."""
    by_rule = {name: [fact for fact in facts if name in fact.rules] for name in RULES}
    return [Advice(name, *RULES[name], found) for name, found in by_rule.items() if found]


# ---- the section ---------------------------------------------------------------------------------------------------


def section(view: View) -> Section:
    """Return the report's section of advice, one line per piece of advice; empty if no cause of lost time was found."""
    found = facts(view)
    of_little = [fact for fact in found if fact.bound and fact.bound.little]
    useful, little = advise([fact for fact in found if fact not in of_little]), advise(of_little)
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


def advice_table(advice: Sequence[Advice]) -> Table:
    """Return a table of advice, each piece with its findings, its largest possible gain, and its source page."""
    return table(
        message("Suggested improvements"),
        [FOUND, col("Suggested improvements", "advice"), *BOUNDS, col("Source of the advice", "source")],
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
    said = message("{found}. {advice} ({source})", found=_found(piece), advice=piece.advice, source=piece.source)
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
    return [*_collecting(view), *_waiting(view), *_of_locks(view), *_slow_releases(view)]


def _collecting(view: View) -> Iterator[Fact]:
    """Yield a fact per runtime and setting: the share of time in garbage collections, and the longest collection."""
    for each in chain.from_iterable(map(pauses, view.groups)):
        slow = each.shares.get("collection")
        yield Fact(
            found=message(
                "{runtime}: garbage collections take {share} of the time, and up to {longest} ms each",
                runtime=each.row.runtime,
                share=percent(each.share),
                longest=milliseconds(each.longest_ns),
            ),
            bound=bound(each.row, view.run, each.share, None, slow.estimate if slow else None),
            rules=collection_rules(each.share, each.longest_ns, holds_up=DELAYED in each.findings),
        )


def _waiting(view: View) -> Iterator[Fact]:
    """Yield the source lines at which threads wait longest for a lock, as measured by `--profile python`."""
    for profiles in settings(view.run):
        for profile in profiles:
            for wait in waits(profile, profiles)[:MOST_LINES]:
                yield Fact(
                    found=_wait(wait.runtime, wait.share.value, f"{wait.place} in {wait.function}"),
                    bound=bound_of_lock(view.run, view.rows, profile, min(1.0, wait.share.high)),
                    rules=lock_rules(
                        wait.share.value,
                        "",
                        (wait.file, wait.caller),
                        under_gil=RuntimeName(wait.runtime).gil_enabled,
                    ),
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
            yield Fact(
                found=_wait(runtime, line["share"], _place(line), line["owner"]),
                bound=bound_of_lock(view.run, view.rows, profile, line["share"], [line["owner"]]),
                rules=lock_rules(line["share"], line["owner"], [frame["file"] for frame in line.get("stack", ())]),
            )
        for line in _sampled(profile["stopping"])[:1]:
            per_request, share = stops_per_request(profile), share_of_time(profile, "stopping_ns")
            stood = profile["stood_ns"] / max(1, profile["watched_ns"])  # the other threads are paused
            function = next((frame["function"] for frame in line.get("stack", ())), "")
            yield Fact(
                found=message(
                    "{runtime}: each request causes {times} stop-the-world pauses, most of them at {place}",
                    runtime=runtime,
                    times=tenths(per_request),
                    place=_place(line),
                ),
                bound=bound(row_of(view.rows, profile), view.run, min(1.0, share + stood), None),
                rules=stop_rules(share, per_request, function),
            )
        counted = profile["count_share"]  # a lower bound, so the possible gain is unknown
        if profile["cpu_samples"] * counted >= LEAST_SAMPLES:
            found = message(
                "{runtime}: counting references to shared objects takes at least {share} of CPU time",
                runtime=runtime, share=percent(counted),
            )  # fmt: skip
            yield Fact(found=found, rules=count_rules(counted))


def _sampled(lines: Sequence[Profile]) -> list[Profile]:
    """Return the lines of a lock profile that have enough samples to be reported."""
    return [line for line in lines if line["samples"] >= LEAST_SAMPLES]


def _place(line: Profile) -> str:
    """Return where in Python code an entry of a lock profile waited: file, line and function; "" if unknown."""
    return str(frame_text(line.get("stack", ()), NOTHING))


def _slow_releases(view: View) -> Iterator[Fact]:
    """Yield the free-threaded patch releases that are slower than another runtime and have stop-the-world pauses.

    If the run compares patch releases, yield nothing, because its verdict says it.
    """
    if any(one.step == "patch" for one in view.comparisons):
        return
    stopped = {
        profile["runtime"]
        for profile in profiles_of(view.run)
        if _sampled(profile["stopping"]) and share_of_time(profile, "stopping_ns") >= NOTABLE_SHARE
    }
    slower = {one.numerator: one.denominator for one in view.comparisons if one.verdict == "slower"}
    for runtime, than in slower.items():
        name = RuntimeName(runtime).of_release(str(view.run.runtimes.get(runtime, {}).get("version", "")))
        if runtime in stopped and name.free_threaded and name.patch.isdecimal() and int(name.patch):
            yield Fact(
                rules=("compare patch releases",),
                found=message(
                    "{release} is slower than {than}, possibly because of its stop-the-world pauses; to check, compare "
                    "patch releases with --runtime {before},{release}",
                    release=name,
                    than=than,
                    before=name.having(patch=str(int(name.patch) - 1)),
                ),
            )
