"""What a profile of locks comes to: sentences and shares of facts made by hand."""

import pytest

from lab.profile.frames import NO_OWNER, SourceLine
from lab.profile.lock_report import sentence, to_json
from lab.profile.locks import LockFacts, Waiting, is_notification
from record.decode import decoded
from record.profile import Profile

SECOND = 10**9
PUT = (
    SourceLine(file="/home/me/shop/app.py", line=31, function="Cache.put"),
    SourceLine(file="/home/me/shop/app.py", line=40, function="view"),
    SourceLine(file="/v/lib/python3.14t/site-packages/flask/app.py", line=9, function="dispatch"),
)
QUIET = LockFacts(
    watched_ns=2 * SECOND,
    waiting_ns=0,
    contended=(),
    stops=0,
    stopping_ns=0,
    stood_ns=0,
    stopping=(),
    cpu_samples=900,
    count_share=0.0,
    waiting_cpu_share=0.0,
    lost=0,
)


LITTLE = (Waiting(owner="dict", stack=PUT, samples=400, by_time=(20,) * 20),)
ONCE = (Waiting(owner="dict", stack=PUT, samples=400, by_time=(400,) + (0,) * 19),)
SMALL = "each of these takes less than 2 % of the time: stop-the-world pauses, contended locks"
DICT = (
    Waiting(owner="dict", stack=PUT, samples=62, by_time=(2, 4) * 9 + (4, 4)),
    Waiting(owner=NO_OWNER, stack=(), samples=38, by_time=(2,) * 18 + (1, 1)),
)
STOPPING = (Waiting(owner="", stack=PUT[:1], samples=30), Waiting(owner="", stack=PUT[2:], samples=10))


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (QUIET, SMALL),
        (QUIET._replace(waiting_ns=SECOND // 6, contended=LITTLE), SMALL),
        (  # the table beside it says 50 % and 3.6 %
            QUIET._replace(waiting_ns=5 * SECOND, contended=ONCE),
            f"{SMALL.partition(', contended')[0]}; not known, because there are too few samples: contended locks",
        ),
        (
            QUIET._replace(cpu_samples=500, count_share=0.03),
            f"{SMALL}; not known, because there are too few samples: reference counts of shared objects",
        ),
        (  # every pause is counted, and only the code that causes it is sampled
            QUIET._replace(stops=900, stood_ns=9 * SECOND // 10, stopping=STOPPING[1:]),
            "each request causes 9.0 stop-the-world pauses of 1.0 ms, so threads are paused 45 % of the time",
        ),
        (QUIET._replace(waiting_ns=SECOND, contended=LITTLE), "requests spend 10 %"),
        (  # the type of the object, the line and its caller
            QUIET._replace(waiting_ns=5 * SECOND, contended=DICT),
            (
                "requests spend 50 % [45 %, 55 %] of their time waiting for contended locks; 62 % of the waiting time "
                "is for the mutex of a dict object, at app.py:31 in Cache.put, called from flask/app.py:9 in dispatch"
            ),
        ),
        (
            QUIET._replace(stops=900, stood_ns=9 * SECOND // 10, stopping=STOPPING),
            (
                "each request causes 9.0 stop-the-world pauses of 1.0 ms, so threads are paused 45 % of the time; "
                "75 % of the pause time is caused by code at the source line app.py:31 in Cache.put"
            ),
        ),
        (QUIET._replace(stops=3, stood_ns=SECOND // 2, stopping=STOPPING), "each request causes 0.03 stop-the-world"),
        (  # a lower bound
            QUIET._replace(count_share=0.124, lost=1200),
            "at least 12 % of CPU time is spent on counting references to objects that threads share; 1,200 probed ",
        ),
    ],
)
def test_what_is_claimed_of_a_service_is_a_sentence_of_its_facts(facts: LockFacts, told: str) -> None:
    """Of 100 requests that took 10 s together."""
    assert str(sentence(facts, 100, 10 * SECOND)).startswith(told)


@pytest.mark.parametrize(
    ("function", "idle"),
    [("Condition.wait", True), ("Condition._acquire_restore", True), ("Condition.__enter__", False)],
)
def test_an_idle_worker_of_a_pool_waits_for_work_and_for_no_lock(function: str, idle: bool) -> None:
    """Also if it was woken for nothing, and takes the lock of the pool's queue again."""
    get = SourceLine(file="/usr/lib/python3.14t/queue.py", line=210, function="Queue.get")
    assert is_notification((SourceLine(file="/usr/lib/threading.py", line=7, function=function), get)) is idle
    assert not is_notification(())


def test_what_is_kept_fits_the_schema_and_its_shares_are_of_the_time_that_requests_took() -> None:
    waits = (Waiting(owner="dict", stack=PUT, samples=60), Waiting(owner="list", stack=(), samples=20))
    facts = QUIET._replace(waiting_ns=4 * SECOND, contended=waits)
    told = to_json(facts, 100, 10 * SECOND)
    decoded({"kind": "locks", "system": "4", "runtime": "3.14t", "params": {}, **told}, Profile)
    assert [line["share"] for line in told["contended"]] == [0.3, 0.1]
    assert told["contended"][0]["stack"][0] == {"file": "app.py", "line": 31, "function": "Cache.put"}
