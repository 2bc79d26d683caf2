"""How much a lock can gain at most, in blocks of 1 s on two cores, worked out by hand."""

from typing import Any

import pytest

from analysis.causes import bound_of_lock
from record.saved_plan import Machine
from record.saved_run import Run
from reports.sections import lost_time
from reports.view import View
from tests.docs.pages import DOCS
from tests.reports.sample import MS, cell_of, measured, run_of
from tests.tables import each_row, table

WHY = DOCS / "why.md"
PROFILES = table(__file__)


def run(cpu_ms: int, rate: int = 0, **changes: Any) -> Run:
    """Six blocks, in which service and client use twice *cpu_ms* each."""
    cell = cell_of("2", "3.14t", {"RATE": rate})
    cells = [measured(cell, block, [999 * MS], cpu_ns=cpu_ms * MS) for block in range(1, 7)]
    made = run_of(cells, runtimes=["3.14t"], blocks=6)
    made.machine = Machine(cores=2)
    made.profiles = [{**PROFILES["locks"], "params": cell.params, **changes}]
    return made


def bound(made: Run, owner: str = "_thread.RLock") -> float | None:
    """Return the bound of a lock that requests wait for in 32 % of their time."""
    return bound_of_lock(made, View(made).rows, made.profiles[0], 0.32, [owner])


@each_row
def test_a_lock_gains_neither_more_than_idle_cores_nor_than_its_share(
    cpu_ms: int, changes: dict[str, Any], gain: float
) -> None:
    assert bound(run(cpu_ms, **changes)) == pytest.approx(gain)


def test_at_a_fixed_rate_there_is_no_bound_of_the_throughput() -> None:
    """The rate sets the throughput, whatever the service waits for."""
    assert bound(run(100, rate=100)) is None


def test_what_spinning_takes_is_not_known_without_a_profile_of_locks() -> None:
    made = run(490)
    del made.profiles[0]["waiting_cpu_share"]
    assert bound(made) == pytest.approx(0.32 / 0.68)
    assert bound(made, "dict") is None


def test_what_cannot_gain_3_percent_is_said_to_gain_little() -> None:
    """As on the page of Django under 3.14.6t, where services and clients used 98 % of both cores."""
    useful, full = View(run(400)), View(run(490))
    place = "asgiref/local.py:143 in __getattr__"
    found = f"3.14t: threads wait for the mutex of a _thread.RLock object at {place} for 32.0% of the time"
    for view, gain in ((useful, "25.0%"), (full, "2.0%")):
        bounded = f"{found}. Eliminating this time alone would raise throughput by at most {gain}."
        shown = lost_time.section(view)
        sentence, where = map(str, shown.terminal)
        assert sentence == f"{bounded} What may help: docs/why.md#python-locks."
        assert where == "The named pages are in gilscope's documentation. --help names its folder."
        assert where == str(shown.notes[-1])


@pytest.mark.parametrize(("kind", "of_locks"), [("contended", PROFILES["locks"]), ("stopping", PROFILES["stops"])])
def test_a_line_that_both_profiles_know_is_one_cause(kind: str, of_locks: dict[str, Any]) -> None:
    """The profile of locks knows why its threads wait; the other line is in the profile of Python only."""
    made = run(400, **of_locks)
    (known,) = made.profiles
    (frame,) = known[kind][0]["stack"]
    lines = [{**frame, "line": line, "waits": {"lock": [50] * 20}, "states": {}} for line in (143, 7)]
    python = {**known, "kind": "python", "lines": lines, "batches": [100] * 20, "rate_hz": 100}
    made.profiles = [python, known]
    other, one = [str(cause.found) for cause in lost_time.causes(View(made))]
    assert f"{frame['file']}:7 " in other
    assert f"{frame['file']}:143 " in one
    assert ("pauses" in one) == (kind == "stopping")
    made.profiles = [python, {**known, "runtime": "3.14"}]
    assert len(lost_time.causes(View(made))) == 3


def test_a_cause_names_its_setting_if_there_are_several() -> None:
    cells = [cell_of("2", "3.14t", {"NUM_CLIENTS": clients}) for clients in (1, 2)]
    made = run_of([measured(cell, block, [999 * MS]) for cell in cells for block in (1, 2)], runtimes=["3.14t"])
    made.profiles = [{**PROFILES["locks"], "params": cell.params} for cell in cells]
    said = [str(cause.found).partition(": ")[0] for cause in lost_time.causes(View(made))]
    assert said == ["3.14t, NUM_CLIENTS 1", "3.14t, NUM_CLIENTS 2"]


@each_row
def test_a_cause_links_to_the_paragraph_on_it(owner: str, files: str, about: str) -> None:
    known, kind = (PROFILES["stops"], "stopping") if owner == "stops" else (PROFILES["locks"], "contended")
    (cause,) = known[kind]
    stack = [{"file": file, "line": 143, "function": "__getattr__"} for file in files.split()]
    view = View(run(400, **{**known, kind: [{**cause, "owner": owner, "stack": stack}]}))
    assert [cause.page.partition("#")[2] for cause in lost_time.causes(view)] == [about]
    heads = {line[4:].lower().replace(" ", "-") for line in WHY.read_text().splitlines() if line.startswith("### ")}
    assert about in {*heads, ""}
    assert " ".join(map(str, lost_time.section(view).terminal)).count("What may help: docs/why.md#") == bool(about)


@each_row
def test_a_cause_is_listed_if_its_share_is_notable(changes: dict[str, Any], count: int) -> None:
    assert len([*lost_time.causes(View(run(400, **changes)))]) == count
