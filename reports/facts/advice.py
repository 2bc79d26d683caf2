"""What is known to help against what was found: a rule for each piece of advice, with the page that it comes from.

A rule is general: it holds for any program of which its fact holds. No fact, no advice.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from core.messages import Message, message
from core.program import PROGRAM
from reports.facts.causes import LOCKS, Collecting, Cost, Fact, LockWait, SharedCounts, SlowRelease, Stops, Stressed

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


class Rule(NamedTuple):
    """holds: whether the advice applies to a notable fact of the kind that it is *about*. source: where it is from"""

    name: str
    about: type[Fact]
    holds: Callable[[Any], bool]
    advice: Message
    source: str


class Advice(NamedTuple):
    """A rule, and the facts that it applies to."""

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
            "A patch release of CPython may be the cause, and not free threading: releases differ in what stops all "
            "threads. Measure the one before it, too."
        ),
        FUNCTIONS,
    ),
    Rule(
        "one for each thread",
        LockWait,
        lambda fact: fact.owner in CONTAINERS,
        message(
            "Without the GIL every container has a lock of its own. Give each thread one of its own (threading.local), "
            "or divide it into several, by key."
        ),
        f"{GUIDE}/porting/#converting-global-state-to-thread-local-state",
    ),
    Rule(
        "queue",
        LockWait,
        lambda fact: fact.owner in QUEUES,
        message("If it hands work from thread to thread, use a queue, such as queue.SimpleQueue."),
        f"{LIBRARY}/queue.html",
    ),
    Rule(
        "hold it for less",
        LockWait,
        _holds_long,
        message(
            "A lock is held while others wait for it. Have one for each key, or each part of the data, rather than one "
            "for all, and hold it only around what is shared."
        ),
        f"{GUIDE}/porting/#making-mutable-global-caches-thread-safe-with-locking",
    ),
    Rule(
        "logging",
        LockWait,
        _logs,
        message(
            "A handler writes under its lock, and threads wait for each other there. Let them put records into a queue "
            "(QueueHandler), from which one thread writes (QueueListener)."
        ),
        "https://docs.python.org/3/howto/logging-cookbook.html#dealing-with-handlers-that-block",
    ),
    Rule(
        "extension",
        LockWait,
        lambda fact: fact.owner.startswith("[") and not fact.owner.startswith(INTERPRETERS),
        message("The mutex is an extension's own: only its authors can divide it. Tell them, with this line."),
        f"{GUIDE}/porting-extensions/",
    ),
    Rule(
        "decorate once",
        Stops,
        _decorates,
        message(
            "functools.wraps sets a function's name, doc and more, and on a free-threaded build most of that stops all "
            "threads. Make decorated functions and views once, at start-up, rather than for each request."
        ),
        FUNCTIONS,
    ),
    Rule(
        "set attributes once",
        Stops,
        lambda fact: not _decorates(fact),
        message(
            "On a free-threaded build, to set a function's name, doc, defaults or code stops all threads. If this line "
            "does so, or what it calls, do it once, at start-up, rather than for each request."
        ),
        FUNCTIONS,
    ),
    Rule(
        "freeze",
        Collecting,
        lambda fact: fact.longest_ns >= LONG_PAUSE_NS,
        message("Call gc.freeze() once everything that stays is loaded: later collections leave these objects out."),
        f"{LIBRARY}/gc.html#gc.freeze",
    ),
    Rule(
        "collect less often",
        Collecting,
        _is_always,
        message("Raise the threshold (gc.set_threshold), so that there are fewer collections."),
        f"{LIBRARY}/gc.html#gc.set_threshold",
    ),
    Rule(
        "constants",
        SharedCounts,
        _is_always,
        message(
            "Objects that all threads use are counted by all of them. From 3.14 on, numbers, strings and tuples of "
            "them that stand in the code are immortal and not counted, nor are strings of sys.intern(). Share these, "
            "and give each thread its own of the others."
        ),
        f"{HOWTO}#immortalization",
    ),
    Rule(
        "lock",
        Stressed,
        lambda fact: fact.kind == "wrong" and fact.only_without_gil,
        message(
            "Guard what several threads read and write with a threading.Lock. The locks of dict and list keep single "
            "operations apart, not what is made of several."
        ),
        f"{HOWTO}#thread-safety",
    ),
    Rule(
        "iteration",
        Stressed,
        lambda fact: fact.kind == "notice" and any("during iteration" in line for line in fact.lines),
        message(
            "Something was gone through while a thread added or removed entries. Guard both with one lock, or go "
            "through a copy that was made under it."
        ),
        f"{LIBRARY}/stdtypes.html#dictionary-view-objects",
    ),
    Rule(
        "audit",
        Stressed,
        lambda fact: fact.kind == "notice" and any("GIL) has been enabled" in line for line in fact.lines),
        message(
            "An extension that does not declare its support switches the GIL on: `{program} audit` finds which.",
            program=PROGRAM,
        ),
        "https://docs.python.org/3/howto/free-threading-extensions.html",
    ),
    Rule(
        "sanitizer",
        Stressed,
        lambda fact: fact.kind == "crash" and fact.only_without_gil,
        message(
            "A crash comes from an extension or from CPython: run it under a build with ThreadSanitizer, which names "
            "the two accesses."
        ),
        f"{GUIDE}/thread_sanitizer/",
    ),
)


def advise(facts: Iterable[Fact]) -> list[Advice]:
    """Return each rule that applies to any of *facts*, in the order of RULES."""
    notable = list(filter(_is_notable, facts))
    applying = (
        Advice(rule, [one for one in notable if isinstance(one, rule.about) and rule.holds(one)]) for rule in RULES
    )
    return [advice for advice in applying if advice.facts]


def _is_notable(fact: Fact) -> bool:
    """Return whether a fact takes so much, or is seen so often, that it is worth advice."""
    match fact:
        case Collecting():
            return fact.holds_up or fact.share >= MUCH_COLLECTING
        case Stops():
            return fact.share >= NOTABLE_SHARE and fact.per_request >= OFTEN
        case Cost():
            return fact.share >= NOTABLE_SHARE
    return True
