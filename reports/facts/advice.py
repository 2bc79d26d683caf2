"""Rules that turn facts into advice. Each rule names the page that it comes from.

A rule is general: it applies to every program for which its fact was found. Without a fact there is no advice.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from core.messages import Message, message
from core.program import PROGRAM
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
