"""What is known to help against what was found: a rule for each piece of advice, with the page that it comes from.

A rule is general: it holds for any program of which its fact holds. No fact, no advice.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from core.messages import Message, message
from core.program import PROGRAM
from reports.facts.bounds import LOCKS, Bound
from reports.facts.stress import CRASH, NOTICE, WRONG

HOWTO = "https://docs.python.org/3/howto/free-threading-python.html"
LIBRARY = "https://docs.python.org/3/library"
GUIDE = "https://py-free-threading.github.io"
FUNCTIONS = "https://github.com/python/cpython/blob/3.14/Objects/funcobject.c"

NOTABLE_SHARE = 0.02  # of time; below, there is less to gain than a benchmark shows
MUCH_COLLECTING = 0.05
LONG_PAUSE_NS = 5_000_000
OFTEN = 0.5  # stops per request; collections alone stop far more seldom
CONTAINERS = ("dict", "list", "set", "collections.deque", "collections.defaultdict", "collections.OrderedDict")
QUEUES = ("list", "collections.deque")
INTERPRETERS = ("[python", "[libpython")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What takes *share* of something, 0..1, under a runtime. bound: how much can be gained; None if that is unknown"""

    runtime: str
    share: float
    bound: Bound | None = None


@dataclass(frozen=True, kw_only=True)
class Collecting(Cost):
    """Garbage collections of a service. share: of the time of its processes

    holds_up: whether they were found to hold up its slow requests (reports.facts.pauses)
    """

    longest_ns: int
    holds_up: bool = False


@dataclass(frozen=True, kw_only=True)
class LockWait(Cost):
    """Threads that wait for a lock at a line. share: of the time of requests, or of the threads' time at work

    owner: type of the object whose lock it is, [FILE] of which it is a variable, "" where that is not known
    files: of the line, then of those that led there
    under_gil: where containers have no locks, so that it is one of the program's or of an extension
    """

    owner: str
    place: str
    files: tuple[str, ...] = ()
    under_gil: bool = False


@dataclass(frozen=True, kw_only=True)
class Stops(Cost):
    """Stops of all threads at a line. share: of the time of requests; function: that has the line"""

    per_request: float
    place: str
    function: str = ""


@dataclass(frozen=True, kw_only=True)
class SharedCounts(Cost):
    """Reference counts that several threads change. share: of CPU time, a lower bound"""


@dataclass(frozen=True, kw_only=True)
class Stressed:
    """A finding of a stress: its kind (reports.facts.stress) and the lines that were noticed."""

    kind: str
    only_without_gil: bool
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SlowRelease:
    """A patch release of the free-threaded build that is slower than another runtime, and stops all threads.

    release: such as 3.14.7t; before: the one before it, 3.14.6t
    """

    release: str
    than: str
    before: str


Fact: TypeAlias = Cost | Stressed | SlowRelease


@dataclass(frozen=True, kw_only=True)
class Rule:
    """holds: whether the advice applies to a fact of the kind that it is *about*. source: the page it comes from"""

    name: str
    about: type[Fact]
    holds: Callable[[Any], bool]
    advice: Message
    source: str


@dataclass(frozen=True, kw_only=True)
class Advice:
    """A rule, and the facts that it applies to: those that cannot gain anything that matters are apart."""

    rule: Rule
    facts: tuple[Fact, ...]

    @property
    def is_little(self) -> bool:
        """Whether none of its facts can gain anything that matters."""
        return all(map(is_little, self.facts))


def _waits(fact: LockWait) -> bool:
    return fact.share >= NOTABLE_SHARE


def _logs(fact: LockWait) -> bool:
    return any("logging/" in file for file in fact.files)


def _holds_long(fact: LockWait) -> bool:
    return not _logs(fact) and (fact.owner in LOCKS or (fact.under_gil and not fact.owner))


def _decorates(fact: Stops) -> bool:
    return fact.function == "update_wrapper"


def _stops(fact: Stops) -> bool:
    return fact.share >= NOTABLE_SHARE and fact.per_request >= OFTEN


def _collects(fact: Collecting) -> bool:
    return fact.holds_up or fact.share >= MUCH_COLLECTING


RULES = (
    Rule(
        name="compare patch releases",
        about=SlowRelease,
        holds=lambda fact: True,
        advice=message(
            "A patch release of CPython may be the cause, and not free threading: releases differ in what stops all "
            "threads. Measure the one before it, too."
        ),
        source=FUNCTIONS,
    ),
    Rule(
        name="one for each thread",
        about=LockWait,
        holds=lambda fact: _waits(fact) and fact.owner in CONTAINERS,
        advice=message(
            "Without the GIL every container has a lock of its own. Give each thread one of its own (threading.local), "
            "or divide it into several, by key."
        ),
        source=f"{GUIDE}/porting/#converting-global-state-to-thread-local-state",
    ),
    Rule(
        name="queue",
        about=LockWait,
        holds=lambda fact: _waits(fact) and fact.owner in QUEUES,
        advice=message("If it hands work from thread to thread, use a queue, such as queue.SimpleQueue."),
        source=f"{LIBRARY}/queue.html",
    ),
    Rule(
        name="hold it for less",
        about=LockWait,
        holds=lambda fact: _waits(fact) and _holds_long(fact),
        advice=message(
            "A lock is held while others wait for it. Have one for each key, or each part of the data, rather than one "
            "for all, and hold it only around what is shared."
        ),
        source=f"{GUIDE}/porting/#making-mutable-global-caches-thread-safe-with-locking",
    ),
    Rule(
        name="logging",
        about=LockWait,
        holds=lambda fact: _waits(fact) and _logs(fact),
        advice=message(
            "A handler writes under its lock, and threads wait for each other there. Let them put records into a queue "
            "(QueueHandler), from which one thread writes (QueueListener)."
        ),
        source="https://docs.python.org/3/howto/logging-cookbook.html#dealing-with-handlers-that-block",
    ),
    Rule(
        name="extension",
        about=LockWait,
        holds=lambda fact: _waits(fact) and fact.owner.startswith("[") and not fact.owner.startswith(INTERPRETERS),
        advice=message("The mutex is an extension's own: only its authors can divide it. Tell them, with this line."),
        source=f"{GUIDE}/porting-extensions/",
    ),
    Rule(
        name="decorate once",
        about=Stops,
        holds=lambda fact: _stops(fact) and _decorates(fact),
        advice=message(
            "functools.wraps sets a function's name, doc and more, and on a free-threaded build most of that stops all "
            "threads. Make decorated functions and views once, at start-up, rather than for each request."
        ),
        source=FUNCTIONS,
    ),
    Rule(
        name="set attributes once",
        about=Stops,
        holds=lambda fact: _stops(fact) and not _decorates(fact),
        advice=message(
            "On a free-threaded build, to set a function's name, doc, defaults or code stops all threads. If this line "
            "does so, or what it calls, do it once, at start-up, rather than for each request."
        ),
        source=FUNCTIONS,
    ),
    Rule(
        name="freeze",
        about=Collecting,
        holds=lambda fact: _collects(fact) and fact.longest_ns >= LONG_PAUSE_NS,
        advice=message(
            "Call gc.freeze() once everything that stays is loaded: later collections leave these objects out."
        ),
        source=f"{LIBRARY}/gc.html#gc.freeze",
    ),
    Rule(
        name="collect less often",
        about=Collecting,
        holds=_collects,
        advice=message("Raise the threshold (gc.set_threshold), so that there are fewer collections."),
        source=f"{LIBRARY}/gc.html#gc.set_threshold",
    ),
    Rule(
        name="constants",
        about=SharedCounts,
        holds=lambda fact: fact.share >= NOTABLE_SHARE,
        advice=message(
            "Objects that all threads use are counted by all of them. From 3.14 on, numbers, strings and tuples of "
            "them that stand in the code are immortal and not counted, nor are strings of sys.intern(). Share these, "
            "and give each thread its own of the others."
        ),
        source=f"{HOWTO}#immortalization",
    ),
    Rule(
        name="lock",
        about=Stressed,
        holds=lambda fact: fact.kind == WRONG and fact.only_without_gil,
        advice=message(
            "Guard what several threads read and write with a threading.Lock. The locks of dict and list keep single "
            "operations apart, not what is made of several."
        ),
        source=f"{HOWTO}#thread-safety",
    ),
    Rule(
        name="iteration",
        about=Stressed,
        holds=lambda fact: fact.kind == NOTICE and any("during iteration" in line for line in fact.lines),
        advice=message(
            "Something was gone through while a thread added or removed entries. Guard both with one lock, or go "
            "through a copy that was made under it."
        ),
        source=f"{LIBRARY}/stdtypes.html#dictionary-view-objects",
    ),
    Rule(
        name="audit",
        about=Stressed,
        holds=lambda fact: fact.kind == NOTICE and any("GIL) has been enabled" in line for line in fact.lines),
        advice=message(
            "An extension that does not declare its support switches the GIL on: `{program} audit` finds which.",
            program=PROGRAM,
        ),
        source="https://docs.python.org/3/howto/free-threading-extensions.html",
    ),
    Rule(
        name="sanitizer",
        about=Stressed,
        holds=lambda fact: fact.kind == CRASH and fact.only_without_gil,
        advice=message(
            "A crash comes from an extension or from CPython: run it under a build with ThreadSanitizer, which names "
            "the two accesses."
        ),
        source=f"{GUIDE}/thread_sanitizer/",
    ),
)


def advise(facts: Iterable[Fact]) -> list[Advice]:
    """Each rule that applies to any of *facts*, in the order of RULES; what can gain little comes last, and apart."""
    facts = tuple(facts)
    applying = [(rule, [one for one in facts if isinstance(one, rule.about) and rule.holds(one)]) for rule in RULES]
    return [
        Advice(rule=rule, facts=tuple(some))
        for is_last in (False, True)
        for rule, found in applying
        if (some := [one for one in found if is_little(one) == is_last])
    ]


def is_little(fact: Fact) -> bool:
    """Whether it is known to be no more than can gain next to nothing."""
    return isinstance(fact, Cost) and fact.bound is not None and fact.bound.is_little
