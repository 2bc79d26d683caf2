"""How much a lock can gain at most, in blocks of 1 s on two cores, worked out by hand."""

from typing import Any

import pytest

from core.messages import Message, verbatim
from core.result import Run
from reports.facts.causes import bound_of_lock
from reports.topics import advice, locks
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

RLOCK = {"file": "asgiref/local.py", "line": 143, "function": "__getattr__"}
LOCKS: dict[str, Any] = {
    "kind": "locks",
    "system": "2",
    "runtime": "3.14t",
    "params": cell_of("2", "3.14t").params,
    "sentence": verbatim("requests wait for contended locks in 32 % of their time").to_json(),
    **dict.fromkeys(("stops", "stopping_ns", "stood_ns", "cpu_samples", "count_share"), 0),
    "watched_ns": 10**9,
    "requests": 1000,
    "in_flight_ns": 10**9,
    "waiting_ns": 320 * MS,
    "waiting_cpu_share": 0.0,
    "contended": [{"owner": "_thread.RLock", "lock": {}, "share": 0.32, "samples": 640, "stack": [RLOCK]}],
    "stopping": [],
}


def run(cpu_ms: int, **changes: Any) -> Run:
    """Six blocks, in which service and client use twice *cpu_ms* each."""
    cells = [measured(cell_of("2", "3.14t"), block, [999 * MS], cpu_ns=cpu_ms * MS) for block in range(1, 7)]
    made = run_of(cells, runtimes=["3.14t"], blocks=6)
    made.machine = {"cores": 2}
    made.profiles = [{**LOCKS, **changes}]
    return made


@pytest.mark.parametrize(
    ("cpu_ms", "changes", "gain"),
    [
        (490, {}, 1 / 0.98 - 1),  # 1.96 s of 2 s are busy
        (490, {"waiting_cpu_share": 0.5}, 1 / 0.735 - 1),  # of which 0.49 s would be saved
        (490, {"waiting_cpu_share": 1.0}, 0.32 / 0.68),  # 0.49 s would remain: its own share
        (100, {}, 0.32 / 0.68),  # 0.4 s of 2 s are busy
    ],
)
def test_a_lock_gains_neither_more_than_idle_cores_nor_than_its_share(
    cpu_ms: int, changes: dict[str, Any], gain: float
) -> None:
    made = run(cpu_ms, **changes)
    bound = bound_of_lock(made, View(made).rows, made.profiles[0], 0.32, ["_thread.RLock"]).throughput
    assert bound
    assert [bound.low, bound.value, bound.high] == pytest.approx([gain] * 3)


def test_what_spinning_takes_is_not_known_without_a_profile_of_locks() -> None:
    made = run(490)
    del made.profiles[0]["waiting_cpu_share"]
    bound = bound_of_lock(made, View(made).rows, made.profiles[0], 0.32, ["_thread.RLock"])
    assert bound.throughput
    assert bound.throughput.value == pytest.approx(0.32 / 0.68)
    unknown = bound_of_lock(made, View(made).rows, made.profiles[0], 0.32, ["dict"])
    assert (unknown.throughput, unknown.little) == (None, "")


def test_what_cannot_gain_3_percent_is_apart_and_no_reason() -> None:
    """As on the page of Django under 3.14.6t, where services and clients used 98 % of both cores."""
    useful, full = View(run(400)), View(run(490))
    assert [table.name.msgid for table in advice.section(useful).tables] == ["Suggested improvements"]
    assert [str(line[2].words) for line in advice.section(useful).tables[0].lines] == ["25.0% [25.0%, 25.0%]"]
    helps, cannot = advice.section(full).tables
    name = "Causes of lost time whose removal would gain less than 3 %"
    assert (helps.lines, cannot.name.msgid, len(cannot.lines)) == ([], name, 1)
    (sentence,) = [str(one) for one in advice.section(full).terminal if isinstance(one, Message)]
    assert sentence.endswith("rise by at most 2.0% [2.0%, 2.0%].")
    assert "rise by at most 2.0%" in str(locks.section(full).sentences[0])
