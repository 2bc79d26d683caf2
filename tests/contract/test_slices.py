"""Arms that take turns in slices of time, with real processes: what counts, who is idle, and what a kill costs."""

import itertools
import os
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.gates import background, idle_cores
from config.plan import Entry
from core.cell import Cell
from core.child import Slice
from core.method import ORCHESTRATOR, Method, Warmup
from core.system import System
from lab.run import measure
from lab.run.bench import Bench, Pace, identity, key_of
from lab.run.beside import Standing
from lab.run.cell_run import CellRun
from lab.run.measure import NotEnoughMemory, measure_in_slices, size_slices
from lab.run.runtimes import Runtime
from record.run import CellResult, Status
from systems import find
from tests.contract.own_services import planned
from tests.contract.serving import check_ok, command_or_skip, small_cell

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


def taken(number: str, runtime: Runtime, bench: Bench, **params: Any) -> list[CellResult]:
    """Two arms of a small cell, which took turns."""
    system = find(number)
    command_or_skip(runtime, system, "service")
    cell = small_cell(system, runtime, NUM_CLIENTS=2, **params)
    return measure_in_slices(
        arms(cell, system), 1, replace(bench, method=replace(bench.method, **vars(METHOD)), paces={}), 7
    )


@pytest.mark.parametrize(
    ("number", "params", "clients"),
    [
        ("1", {}, "bench"),
        ("2", {"RATE": 200}, "bench"),
        ("2", {"NUM_API_SERVICES": 2, "NUM_THREADS_PER_CLIENT": 1}, "bench"),
        ("2", {}, "native_client"),
        ("4", {}, "bench"),
    ],
    ids=str,
)
def test_what_is_answered_in_the_counted_time_counts_and_nothing_else(
    number: str, params: dict[str, Any], clients: str, any_runtime: Runtime, request: pytest.FixtureRequest
) -> None:
    for result in taken(number, any_runtime, request.getfixturevalue(clients), **params):
        check_ok(result)
        turns = result.turns
        assert turns["slices"] * turns["length_ns"] == result.wall_ns
        assert result.wall_ns >= 400_000_000  # longer if a request took more than a quarter of a slice
        assert turns["lead_ns"] >= 5_000_000
        uncounted = sum(client["uncounted"] for client in result.clients)
        assert sum(service["requests"] for service in result.services) == result.answered + uncounted
        assert uncounted > 0
        assert result.latency["count"] == result.answered
        by_time = result.slices["counts"] if turns["slices"] == 1 else turns["answered"]
        assert sum(by_time) == result.answered
        assert turns["slices"] == 1 or 0 <= turns["idle_cpu_ns"] < turns["idle_ns"]
        if "RATE" in params:  # 200 requests a second of each of two clients, for 0.4 s
            assert result.wall_ns == 400_000_000
            assert abs(result.answered - 160) <= 16
        if number != "1":
            assert result.connect == {}, "connections stay open between slices"


def test_the_length_of_slices_is_chosen_once_for_a_setting_whichever_arm_comes_first(
    any_runtime: Runtime, bench: Bench
) -> None:
    system = find("2")
    paces: dict[str, Pace] = {}
    command_or_skip(any_runtime, system, "service")
    entries = [
        Entry(arm=str(size), cell=small_cell(system, any_runtime, PAYLOAD_BYTES=size), system=system) for size in (1, 2)
    ]
    own = replace(bench, method=replace(bench.method, **vars(METHOD)), paces=paces)
    lengths = set()
    for block, in_order in enumerate((entries, entries[::-1]), 1):
        for result in measure_in_slices(in_order, block, own, 7):
            check_ok(result)
            lengths.add((result.turns["length_ns"], result.turns["lead_ns"]))
    assert len(lengths) <= 2, "the second block has longer slices only if longer requests turned up"
    assert len(paces) == 2


@pytest.mark.alone
def test_a_service_that_works_in_the_background_is_named(any_runtime: Runtime, bench: Bench, folder: Path) -> None:
    (folder / "burning.py").write_text(BACKGROUND)
    given = {"command": "{python} burning.py {port}"}
    cell, system = planned(folder, str(any_runtime.name), given, NUM_CLIENTS=1)
    method = replace(METHOD, client_runtime=ORCHESTRATOR, duration_s=1.0)
    results = measure_in_slices(arms(cell, system), 1, replace(bench, method=method), 7)
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
            killed.append(getattr(run, f"_{role}")[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)
        take_turn(run, part)

    monkeypatch.setattr(CellRun, "take_turn", kill_first)
    system = find("2")
    entries = arms(small_cell(system, any_runtime), system, 3)
    paces = {key_of(entry): Pace(cycle_ns=10**6, tail_ns=10**6) for entry in entries}  # four slices, however busy
    results = measure_in_slices(entries, 1, replace(bench, method=METHOD, paces=paces), 7)
    assert [result.status for result in results] == ["ok", "failed", "ok"]
    assert "SIGKILL" in str(results[1].reason)
    assert not any(Path(f"/proc/{pid}").exists() for pid in killed)


def test_an_arm_that_failed_is_not_measured_again_with_longer_slices(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first try, one arm fails, and requests turn up that need slices eight times as long."""
    tries: list[list[str]] = []

    def measured(entries: Sequence[Entry], block: int, bench: Bench, *_: Any) -> list[CellResult]:
        tries.append([entry.arm for entry in entries])
        bench.paces.update({key_of(entry): Pace(cycle_ns=10**6, tail_ns=2 * 10**8) for entry in entries})
        length_ns = 10**9 if len(tries) > 1 else 10**8
        return [
            CellResult(
                **identity(entry, block),
                status="failed" if (entry.arm, len(tries)) == ("arm 1", 1) else "ok",
                requests=9,
                client_runtime="3.14",
                turns={"slices": 2, "length_ns": length_ns},
            )
            for entry in entries
        ]

    monkeypatch.setattr(measure, "measure_together", measured)
    system = find("2")
    own = replace(bench, method=replace(METHOD, duration_s=20.0), paces={})
    results = measure_in_slices(arms(small_cell(system, any_runtime), system, 3), 1, own, 7)
    assert tries == [["arm 0", "arm 1", "arm 2"], ["arm 0", "arm 2"]]
    assert [(result.arm, result.status) for result in results] == [
        ("arm 0", "ok"),
        ("arm 1", "failed"),
        ("arm 2", "ok"),
    ]
    assert [result.turns["length_ns"] for result in results] == [10**9, 10**8, 10**9]


def test_a_time_in_which_no_request_was_answered_is_too_short_and_no_failure(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths_ns: list[int] = []

    def measured(entries: Sequence[Entry], block: int, bench: Bench, seed: int, sized: Any) -> list[CellResult]:
        _, part = size_slices([bench.paces.get(key_of(entry), Pace()) for entry in entries], 0.2)
        lengths_ns.append(part.length_ns)
        counts = 5 if part.length_ns > 6 * 10**8 else 0  # as if an answer took 0.6 s
        no_answer = Pace.of({"latency": {}}, least_ns=part.length_ns)
        bench.paces.update({key_of(entry): no_answer for entry in entries if not counts})
        status: Status = "ok" if counts else "failed"
        figures: dict[str, Any] = {"status": status, "requests": counts, "turns": {"length_ns": part.length_ns}}
        return [CellResult(**identity(entry, block), **figures) for entry in entries]

    monkeypatch.setattr(measure, "measure_together", measured)
    system = find("2")
    own = replace(bench, method=replace(METHOD, duration_s=0.2), paces={})
    (result,) = measure_in_slices(arms(small_cell(system, any_runtime), system, 1), 1, own, 7)
    assert (result.status, lengths_ns) == ("ok", [200_000_000, 800_000_000])


def test_arms_that_do_not_fit_into_memory_are_not_started(
    any_runtime: Runtime, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "memory_available_bytes", lambda: 1 << 20)
    system = find("2")
    with pytest.raises(NotEnoughMemory, match="only 1 MiB"):
        measure_in_slices(arms(small_cell(system, any_runtime), system), 1, replace(bench, method=METHOD, paces={}), 7)


class Ticking(Standing):
    """A database that uses 10 ms of CPU time between two looks at it."""

    looks = itertools.count()

    def cpu_ns(self) -> Counter[str]:
        """So much for each look so far."""
        return Counter({"database": next(self.looks) * 10_000_000})


def test_what_runs_beside_is_counted_in_each_arms_own_slices_without_their_lead(
    any_runtime: Runtime, bench: Bench
) -> None:
    beside: Any = {"database": ...}
    for result in taken("2", any_runtime, replace(bench, beside=Ticking(running=beside))):
        counted = result.answered / (result.answered + sum(client["uncounted"] for client in result.clients))
        assert result.beside == {"database": round(result.turns["slices"] * 10_000_000 * counted)}
