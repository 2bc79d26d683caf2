"""What a profile of locks comes to: sentences and shares of facts made by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.profile.frames import NO_OWNER, SourceLine
from lab.profile.lock_report import sentence, to_json
from lab.profile.lock_watcher import LockFacts, Waiting, is_notification
from record.decode import decoded
from record.result_parts import Profile
from tests.tables import each_row

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


# Stacks that wait or stop threads. There are too few samples in FEW. In ONCE all are of one part of the time.
STOPPING = (Waiting(owner="", stack=PUT[:1], samples=30), Waiting(owner="", stack=PUT[2:], samples=10))
STACKS = {
    "LITTLE": (Waiting(owner="dict", stack=PUT, samples=400, by_time=(20,) * 20),),
    "ONCE": (Waiting(owner="dict", stack=PUT, samples=400, by_time=(400,) + (0,) * 19),),
    "DICT": (
        Waiting(owner="dict", stack=PUT, samples=62, by_time=(2, 4) * 9 + (4, 4)),
        Waiting(owner=NO_OWNER, stack=(), samples=38, by_time=(2,) * 18 + (1, 1)),
    ),
    "STOPPING": STOPPING,
    "FEW": STOPPING[1:],
}
CLAIMS = Path(__file__).with_name("claims.txt").read_text("utf-8")


@pytest.mark.parametrize("line", CLAIMS.splitlines())
def test_what_is_claimed_of_a_service_is_a_sentence_of_its_facts(line: str) -> None:
    """Of 100 requests that took 10 s together. claims.txt has the facts and the beginning of the sentence.

    Every pause is counted, and only the code that causes it is sampled. What was lost makes a lower bound.
    """
    given, _, told = line.partition(" -> ")
    facts = QUIET
    for field in given.split():
        name, _, value = field.partition("=")
        changed: dict[str, Any] = {name: STACKS[value] if value in STACKS else json.loads(value)}
        facts = facts._replace(**changed)
    assert str(sentence(facts, 100, 10 * SECOND)).startswith(told)


@each_row
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
