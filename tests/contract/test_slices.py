"""Arms that take turns in slices of time, with real processes: what counts, who is idle, and what a kill costs."""

import itertools
import os
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from analysis.gates import background, idle_cores
from config.run_plan import Entry
from core.cell import Cell
from core.child import Slice
from core.method import ORCHESTRATOR, Method, Warmup
from core.system import System
from lab.run import measure
from lab.run.cell_processes import Bench, identity, key_of
from lab.run.cell_results import Pace
from lab.run.cell_run import CellRun
from lab.run.measure import NotEnoughMemory, measure_in_slices, size_slices
from lab.run.measured_runtimes import Runtime
from lab.run.running_sidecars import RunningBeside
from record.child_lines import Turns
from record.saved_run import CellResult
from systems import find
from tests.contract.own_services import planned
from tests.contract.serving import check_ok, small_cell
from tests.tables import each_row

METHOD = Method(warmup=Warmup(seconds=0.05), duration_s=0.4, slices=True)
BACKGROUND = """
import threading, time, runpy, sys
def burn():
    while True:
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass
        time.sleep(0.04)
threading.Thread(target=burn, daemon=True).start()
sys.argv[0] = "items.py"
runpy.run_path("items.py", run_name="__main__")
"""


def arms(cell: Cell, system: System, count: int = 2) -> list[Entry]:
    """So many arms of the same cell."""
    return [Entry(arm=f"arm {number}", cell=cell, system=system) for number in range(count)]


def small_arms(runtime: Runtime, count: int = 2, number: str = "2", **params: Any) -> list[Entry]:
    """So many arms of a small cell."""
    system = find(number)
    return arms(small_cell(system, runtime, **params), system, count)


def sliced(
    entries: list[Entry], bench: Bench, paces: Mapping[str, Pace] = MappingProxyType({}), **method: Any
) -> list[CellResult]:
    """What the arms measured, which took turns in one block."""
    how = replace(METHOD, client_runtime=bench.method.client_runtime, **method)
    return measure_in_slices(entries, 1, replace(bench, method=how, paces={**paces}), 7)


@each_row
def test_what_is_answered_in_the_counted_time_counts_and_nothing_else(
    number: str, params: dict[str, Any], clients: str, any_runtime: Runtime, request: pytest.FixtureRequest
) -> None:
    entries = small_arms(any_runtime, number=number, NUM_CLIENTS=2, **params)
    results = sliced(entries, request.getfixturevalue(clients))
    assert results[0].turns.length_ns == results[1].turns.length_ns
    for result in results:
        check_ok(result)
        turns = result.turns
        assert turns.slices * turns.length_ns == result.wall_ns
        assert result.wall_ns >= 400_000_000  # longer if a request took more than a quarter of a slice
        assert turns.lead_ns >= 5_000_000
        uncounted = sum(client.uncounted or 0 for client in result.clients)
        assert sum(service.requests for service in result.services) == result.answered + uncounted
        assert uncounted > 0
        assert result.latency.count == result.answered
        by_time = result.slices.counts if turns.slices == 1 else turns.answered
        assert sum(by_time) == result.answered
        assert turns.slices == 1 or 0 <= turns.idle_cpu_ns < turns.idle_ns
        if "RATE" in params:  # 200 requests a second of each of two clients, for 0.4 s
            assert result.wall_ns == 400_000_000
            assert abs(result.answered - 160) <= 16
        if number != "1":
            assert result.connect.count == 0, "connections stay open between slices"


@pytest.mark.alone
def test_a_service_that_works_in_the_background_is_named(any_runtime: Runtime, bench: Bench, folder: Path) -> None:
    (folder / "burning.py").write_text(BACKGROUND)
    given = {"command": "{python} burning.py {port}"}
    cell, system = planned(folder, str(any_runtime.name), given, NUM_CLIENTS=1)
    own = replace(bench, method=replace(METHOD, client_runtime=ORCHESTRATOR))
    results = sliced(arms(cell, system), own, duration_s=1.0)
    for result in results:
        check_ok(result)
    assert all(0.03 < cores < 0.4 for cores in idle_cores(results).values()), idle_cores(results)
    assert [str(said).partition(" used ")[0] for said in background(results)] == ["arm 0", "arm 1"]


@pytest.mark.parametrize("role", ["services", "clients"])
def test_a_kill_in_a_slice_costs_its_arm_and_the_others_go_on(
    role: str, any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_turn = CellRun.take_turn
    killed: list[int] = []

    def kill_first(run: Any, part: Slice | None = None) -> None:
        if run._result.arm == "arm 1" and run._turns and not killed:
            killed.append(getattr(run, role)[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)
        take_turn(run, part)

    monkeypatch.setattr(CellRun, "take_turn", kill_first)
    entries = small_arms(any_runtime, 3)
    paces = {key_of(entry): Pace(cycle_ns=10**6, tail_ns=10**6) for entry in entries}  # four slices, however busy
    results = sliced(entries, bench, paces)
    assert [result.status for result in results] == ["ok", "failed", "ok"]
    assert "SIGKILL" in str(results[1].reason)
    assert not any(Path(f"/proc/{pid}").exists() for pid in killed)


def test_arms_with_longer_requests_or_no_answer_are_measured_again_in_longer_slices_and_one_that_failed_is_not(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer takes 0.3 s, so a slice of 100 ms has none, which is no failure."""
    tries: list[tuple[list[str], int]] = []

    def measured(entries: Sequence[Entry], block: int, bench: Bench, *_: Any, in_slices: bool) -> list[CellResult]:
        length_ns = size_slices([bench.paces.get(key_of(entry), Pace()) for entry in entries], 0.2)[1].length_ns
        failed = {} if tries else {"arm 1": 9, "arm 2": 0}  # and their answers
        tries.append(([entry.arm for entry in entries], length_ns))
        results = []
        for entry in entries:
            bench.paces[key_of(entry)] = Pace(tail_ns=100_000_000)
            more: Any = {"requests": failed.get(entry.arm, 9), "turns": Turns(slices=1, length_ns=length_ns)}
            more["status"] = "failed" if entry.arm in failed else "ok"
            results.append(CellResult(**identity(entry, block), **more))
        return results

    monkeypatch.setattr(measure, "measure_together", measured)
    results = sliced(small_arms(any_runtime, 3), bench, duration_s=0.2)
    assert tries == [(["arm 0", "arm 1", "arm 2"], 100_000_000), (["arm 0", "arm 2"], 400_000_000)]
    assert [result.status for result in results] == ["ok", "failed", "ok"]
    assert [result.turns.length_ns for result in results] == [400_000_000, 100_000_000, 400_000_000]


def test_arms_that_do_not_fit_into_memory_are_not_started(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "memory_available_bytes", lambda: 1 << 20)
    with pytest.raises(NotEnoughMemory, match="only 1 MiB"):
        sliced(small_arms(any_runtime), bench)


class Ticking(RunningBeside):
    """A database that uses 10 ms of CPU time between two looks at it."""

    looks = itertools.count()

    def cpu_ns(self) -> Counter[str]:
        """So much for each look so far."""
        return Counter({"database": next(self.looks) * 10_000_000})


def test_what_runs_beside_is_counted_in_each_arms_own_slices_without_their_lead(
    any_runtime: Runtime, bench: Bench
) -> None:
    beside: Any = {"database": ...}
    for result in sliced(small_arms(any_runtime), replace(bench, beside=Ticking(running=beside))):
        counted = result.answered / (result.answered + sum(client.uncounted or 0 for client in result.clients))
        assert result.beside == {"database": round(result.turns.slices * 10_000_000 * counted)}
