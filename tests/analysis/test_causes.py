"""How much a lock can gain at most, in blocks of 1 s on two cores, worked out by hand."""

import json
from dataclasses import replace
from typing import Any

import pytest

from analysis.causes import bound_of_lock
from core.messages import verbatim
from record.saved_plan import Machine
from record.saved_run import Run
from reports.sections import lost_time
from reports.view import View
from tests.docs.pages import DOCS
from tests.reports.sample import MS, cell_of, measured, run_of

WHY = DOCS / "why.md"
STOPPING = {"owner": "", "lock": {}, "share": 0.3, "samples": 20, "stack": []}
RLOCK = {"file": "asgiref/local.py", "line": 143, "function": "__getattr__"}
WAITING: dict[str, Any] = {
    "owner": "_thread.RLock",
    "lock": verbatim("the mutex of a _thread.RLock object").to_json(),
    "share": 0.32,
    "samples": 640,
    "stack": [RLOCK],
}
COUNTED = """{
    "kind": "locks", "system": "2", "runtime": "3.14t",
    "sentence": {"msgid": "requests wait", "text": "requests wait for contended locks in 32 % of their time"},
    "stops": 0, "stopping_ns": 0, "stood_ns": 0, "cpu_samples": 0, "count_share": 0, "watched_ns": 1000000000,
    "requests": 1000, "in_flight_ns": 1000000000, "waiting_ns": 320000000, "waiting_cpu_share": 0, "stopping": []
}"""
LOCKS = {**json.loads(COUNTED), "params": cell_of("2", "3.14t").params, "contended": [WAITING]}
OFTEN = {"stops": 500, "stopping_ns": 20 * MS}


def waiting_for(owner: str, files: str) -> dict[str, Any]:
    stack = [{**RLOCK, "file": file} for file in files.split()]
    return {"contended": [{**WAITING, "owner": owner, "stack": stack}]}


def stopped_by(file: str) -> dict[str, Any]:
    return {"contended": [], "stopping": [{**STOPPING, "stack": [{**RLOCK, "file": file}]}], **OFTEN}


def run(cpu_ms: int, **changes: Any) -> Run:
    """Six blocks, in which service and client use twice *cpu_ms* each."""
    cells = [measured(cell_of("2", "3.14t"), block, [999 * MS], cpu_ns=cpu_ms * MS) for block in range(1, 7)]
    made = run_of(cells, runtimes=["3.14t"], blocks=6)
    made.machine = Machine(cores=2)
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
    assert bound_of_lock(made, View(made).rows, made.profiles[0], 0.32, ["_thread.RLock"]) == pytest.approx(gain)


def test_at_a_fixed_rate_there_is_no_bound_of_the_throughput() -> None:
    """The rate sets the throughput, whatever the service waits for."""
    made = run(100)
    params = {**made.cells[0].params, "RATE": 100}
    rows = View(run_of([replace(cell, params=params) for cell in made.cells], runtimes=["3.14t"])).rows
    assert [row.params for row in rows] == [params]
    assert bound_of_lock(made, rows, {**LOCKS, "params": params}, 0.32, ["_thread.RLock"]) is None


def test_what_spinning_takes_is_not_known_without_a_profile_of_locks() -> None:
    made = run(490)
    del made.profiles[0]["waiting_cpu_share"]
    rows = View(made).rows
    assert bound_of_lock(made, rows, made.profiles[0], 0.32, ["_thread.RLock"]) == pytest.approx(0.32 / 0.68)
    assert bound_of_lock(made, rows, made.profiles[0], 0.32, ["dict"]) is None


def test_what_cannot_gain_3_percent_is_said_to_gain_little() -> None:
    """As on the page of Django under 3.14.6t, where services and clients used 98 % of both cores."""
    useful, full = View(run(400)), View(run(490))
    place = "asgiref/local.py:143 in __getattr__"
    found = f"3.14t: threads wait for the mutex of a _thread.RLock object at {place} for 32.0% of the time"
    for view, gain in ((useful, "25.0%"), (full, "2.0%")):
        bounded = f"{found}. Eliminating this time alone would raise throughput by at most {gain}."
        (sentence,) = map(str, lost_time.section(view).terminal)
        assert sentence == f"{bounded} What may help: docs/why.md#python-locks."


# The owner of a lock, or "stops" of what stops all threads, the files of its stack, and what the cause links to.
PAGES = """\
_thread.RLock: asgiref/local.py -> python-locks
dict: app.py -> locks-of-objects
[_extension.so]: app.py -> mutexes-of-extensions
[libpython3.14t.so.1.0]: app.py ->
-: app.py ->
?: app.py ->
_thread.RLock: logging/__init__.py -> logging
_queue.SimpleQueue: concurrent/futures/thread.py ->
_thread.lock: threading.py concurrent/futures/thread.py ->
_thread.lock: threading.py app.py -> python-locks
_thread.lock: asyncio/events.py -> event-loops
stops: asyncio/runners.py -> event-loops
stops: functools.py -> stop-the-world-pauses"""


@pytest.mark.parametrize("line", PAGES.splitlines())
def test_a_cause_links_to_the_paragraph_on_it(line: str) -> None:
    owner, _, rest = line.partition(": ")
    files, _, about = map(str.strip, rest.partition("->"))
    view = View(run(400, **(stopped_by(files) if owner == "stops" else waiting_for(owner, files))))
    assert [cause.page.partition("#")[2] for cause in lost_time.causes(view)] == [about]
    heads = {line[4:].lower().replace(" ", "-") for line in WHY.read_text().splitlines() if line.startswith("### ")}
    assert about in {*heads, ""}
    assert " ".join(map(str, lost_time.section(view).terminal)).count("What may help: docs/why.md#") == bool(about)


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"contended": [{**WAITING, "samples": 19}]}, 0),
        ({"contended": [{**WAITING, "share": 0.019}]}, 0),
        ({"contended": [], "count_share": 0.02, "cpu_samples": 1000}, 1),
        ({"contended": [], "count_share": 0.02, "cpu_samples": 999}, 0),
        (stopped_by("app.py"), 1),
        ({**stopped_by("app.py"), "stops": 499}, 0),
        ({**stopped_by("app.py"), "stopping_ns": 19 * MS}, 0),
    ],
)
def test_a_cause_is_listed_if_its_share_is_notable(changes: dict[str, Any], count: int) -> None:
    assert len([*lost_time.causes(View(run(400, **changes)))]) == count
