"""A run: every block of a plan, cell by cell, saved after each; and going on with one. Nothing is measured here."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from config.run_plan import Entry, Plan, PlanRow
from core.cell import Cell
from core.messages import BadInput, message
from core.method import Method
from core.objective import Objective
from core.program import RUNS
from core.runtime import RuntimeFacts, RuntimeName
from lab.folders import Sandbox
from lab.machine import quiet
from lab.python.interpreters import Interpreter
from lab.run import experiment, runs
from lab.run.cell_end import STARVED
from lab.run.cell_processes import NOT_READY
from lab.run.experiment import RunInProgress, carry_out
from lab.run.feasible import files_needed, preflight
from lab.run.fingerprints import Fingerprinter
from lab.run.measure import search_s
from lab.run.measured_runtimes import Runtime
from lab.run.running_sidecars import RunningBeside
from lab.run.runs import Order, check_unchanged, load_to_resume, new_run, run_folder
from record.run_file import load
from record.saved_plan import Until
from record.saved_run import NOT_TRIED, CellResult, Run
from systems import find
from tests.config.planning import planned
from tests.reports.sample import faulty
from tests.tables import each_row

SEED = 7
FACTS = {"version": "3.14.7", "build": "(main)", "gil_disabled_build": False}
REQUESTS = (10, 20)
RUNTIMES = (RuntimeName("3.14"), RuntimeName("3.14t"))
TINY = Plan(
    name="tiny",
    rows=(PlanRow(system=find("2"), values={"NUM_REQUESTS_PER_CLIENT": REQUESTS}),),
    runtimes=RUNTIMES,
    blocks=3,
)
Key = tuple[str, int, int]


def runtime(name: str) -> Runtime:
    """A runtime that is never started."""
    interpreter = Interpreter(executable=Path("/no/python"), source="given", facts=FACTS)
    return Runtime(name=RuntimeName(name), interpreter=interpreter)


def key(arm: str, cell: Cell | CellResult, block: int) -> Key:
    """What tells the measurements of the plan apart."""
    return arm, int(cell.params["NUM_REQUESTS_PER_CLIENT"] or 0), block


@dataclass
class Journal:
    """Has an order, and stands for what measures and for the progress display; notes what it is asked and what is saved
    then.
    """

    order: Order
    sandbox: Sandbox
    measured: list[Key] = field(default_factory=list)
    group_sizes: list[int] = field(default_factory=list)
    progress: list[tuple[str, int, int]] = field(default_factory=list)
    saved: list[int] = field(default_factory=list)
    stop_at: int = 0

    def begin(self) -> Run:
        """Make a new run of the order."""
        return new_run(self.order, SEED, ["runner.py"], {})

    def under_way(self, run: Run) -> RunInProgress:
        """The run, as it is carried out with this display."""
        return RunInProgress(self.order, run, self.sandbox, self, RunningBeside())

    def carry_out(self, run: Run | None = None) -> Run:
        """Carry out this run, or a new one."""
        run = run or self.begin()
        carry_out(self.under_way(run))
        return run

    def load(self) -> Run:
        """The run as it is saved."""
        return load(self.order.folder)

    def change_plan(self, plan: Plan) -> None:
        """From now on this is the plan of the order."""
        self.order = self.order._replace(plan=plan)

    def measure(self, cell: Cell, block: int, arm: str) -> CellResult:
        """A result without figures; Ctrl-C at the cell with number stop_at."""
        if self.stop_at and len(self.measured) + 1 == self.stop_at:
            raise KeyboardInterrupt
        self.measured.append(key(arm, cell, block))
        return replace(faulty(cell, block, "ok", ""), arm=arm)

    def measure_in_slices(self, entries: Sequence[Entry], block: int, *_: object) -> list[CellResult]:
        """The results of arms that take turns."""
        self.group_sizes.append(len(entries))
        return [self.measure(entry.cell, block, entry.arm) for entry in entries]

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Note it."""
        self.progress.append(("started", done, total))

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Note it, and how many cells are saved by now."""
        self.progress.append(("ended", done, total))
        self.saved.append(len(self.load().cells))


@pytest.fixture
def journal(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal in the place of what measures, for two cells under two runtimes, three times.

    How busy the machine is and what git says takes a while to see, and is nothing to these tests.
    """
    journal = Journal(Order(TINY, {name: runtime(name) for name in RUNTIMES}, tmp_path / "run"), sandbox)
    journal.order.folder.mkdir()
    monkeypatch.setattr(quiet, "facts", lambda window_s: {"busy": 0})
    monkeypatch.setattr(runs, "commit", lambda: "")
    monkeypatch.setattr(experiment, "measure_in_slices", journal.measure_in_slices)
    return journal


def in_slices(flags: str) -> Plan:
    """A plan of these flags, whose arms take turns."""
    return replace(planned(flags), method=Method(duration_s=1.0, slices=True))


# ---- carrying out --------------------------------------------------------------------------------------------------


def test_every_block_measures_every_cell_once_is_saved_after_each_and_told_of(journal: Journal) -> None:
    journal.carry_out()
    assert Counter(journal.measured) == Counter(product(RUNTIMES, REQUESTS, (1, 2, 3)))
    assert [block for _, _, block in journal.measured] == [1] * 4 + [2] * 4 + [3] * 4
    assert journal.saved == list(range(1, 13))
    told = [(what, done, 12) for number in range(12) for what, done in (("started", number), ("ended", number + 1))]
    assert journal.progress == told
    saved = journal.load()
    assert [key(cell.arm, cell, cell.block) for cell in saved.cells] == journal.measured
    assert saved.finished_at >= saved.started_at
    assert saved.spent_ns["cells"] > 0
    assert [path.name for path in journal.order.folder.iterdir()] == ["result.json"]


def test_a_run_that_goes_on_has_not_finished_and_one_whose_time_is_over_measures_nothing(journal: Journal) -> None:
    journal.carry_out()
    journal.change_plan(replace(TINY, blocks=9, until=Until(seconds=1e-9)))
    count = len(journal.measured)
    journal.carry_out(journal.load())
    assert len(journal.measured) == count
    journal.under_way(journal.load())
    assert journal.load().finished_at == ""


@each_row
def test_the_values_of_a_sweep_take_turns_unless_they_are_too_many_processes(
    services: int, size: int, journal: Journal
) -> None:
    """Of two runtimes at three values, with 20 services and clients each, or with more than 400 processes at once."""
    flags = f"--system 2 --calc-target 0,10,100 --num-api-services {services} --runtime 3.14,3.14t --blocks 2"
    journal.change_plan(in_slices(flags))
    run = journal.carry_out()
    assert {*journal.group_sizes} == {size}
    measured = [(cell.arm, cell.params["CALC_TARGET"], cell.block) for cell in run.cells]
    assert Counter(measured) == Counter(product(RUNTIMES, (0, 10, 100), (1, 2)))


@pytest.mark.parametrize("code", [NOT_READY, STARVED])
def test_a_service_that_never_starts_or_starves_connections_is_not_tried_a_third_time_and_the_others_are_measured(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """So it is under one of two values. What was not tried has no figures."""
    dead = message("Service 1 of 1 (pid 812) ended", code=code)

    def measured(entries: Sequence[Entry], block: int, *_: object) -> list[CellResult]:
        return [
            replace(one, status="failed", reason=dead, requests=20) if one.params["CALC_TARGET"] == 10 else one
            for one in journal.measure_in_slices(entries, block)
        ]

    monkeypatch.setattr(experiment, "measure_in_slices", measured)
    monkeypatch.setattr("core.system.System.hosted", True)
    monkeypatch.setattr(Fingerprinter, "of", lambda *_: {"code": "", "environment": ""})
    monkeypatch.setattr(Fingerprinter, "__init__", lambda *_: None)
    journal.change_plan(in_slices("--system 2 --calc-target 0,10 --runtime 3.14,3.14t --blocks 5"))
    run = journal.carry_out()
    codes = [(cell.params["CALC_TARGET"], cell.reason.code) for cell in run.cells]
    assert Counter(codes) == {(0, ""): 10, (10, code): 4, (10, NOT_TRIED): 6}
    skipped = [cell for cell in run.cells if cell.reason.code == NOT_TRIED]
    assert all((cell.status, cell.requests, cell.services) == ("failed", 0, []) for cell in skipped)
    assert "812" not in str(skipped[0].reason)


def test_a_run_without_one_right_answer_ends_after_two_blocks_and_again_if_it_goes_on(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cell had 20 requests, of which 15 were answered. In turn: a run in which nothing was right, the same one
    gone on with, and runs with a right answer in the first cell, and one without any answer in all.
    """
    counts: dict[str, Any] = {"status": "failed", "requests": 20, "answered": 15, "wrong": 5}
    counts["errors"] = {"500": 10, "timeout": 5}
    first: dict[str, Any] = {}

    def measured(entries: Sequence[Entry], block: int, *_: object) -> list[CellResult]:
        cells = journal.measure_in_slices(entries, block)
        return [replace(one, **counts, **(first if len(journal.measured) == 1 else {})) for one in cells]

    monkeypatch.setattr(experiment, "measure_in_slices", measured)
    monkeypatch.setattr(experiment, "profiles", lambda order, bench: [{"kind": "python"}])
    journal.change_plan(replace(TINY, blocks=7))
    run = journal.carry_out()
    assert ([cell.block for cell in run.cells], run.profiles) == ([1] * 4 + [2] * 4, [])
    assert [cell.block for cell in journal.carry_out(run).cells] == [block for block in (1, 2, 3, 4) for _ in range(4)]
    counts = {"status": "failed", "requests": 20, "answered": 15, "errors": {"500": 14, "timeout": 5}}
    run = journal.carry_out()
    assert (len(run.cells), len(run.profiles)) == (28, 1)
    counts = {"status": "failed", "requests": 0, "answered": 0}  # killed while it started
    assert len(journal.carry_out().cells) == 28


# ---- going on ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop_at", [1, 6])
def test_a_run_that_was_stopped_goes_on_with_what_is_missing_in_the_order_of_its_seed(
    journal: Journal, stop_at: int
) -> None:
    journal.carry_out()
    straight = list(journal.measured)
    journal.measured.clear()
    journal.stop_at = stop_at
    with pytest.raises(KeyboardInterrupt):
        journal.carry_out()
    before = journal.load()
    assert (len(before.cells), before.finished_at) == (stop_at - 1, "")
    journal.stop_at = 0
    for _ in range(2):  # the second time nothing is missing
        again = load_to_resume(journal.order.folder)
        journal.change_plan(Plan.from_saved(again.plan))
        journal.carry_out(again)
    assert journal.measured == straight
    after = journal.load()
    assert after.cells[: stop_at - 1] == before.cells
    assert (after.run_id, after.started_at, after.seed) == (before.run_id, before.started_at, SEED)
    assert journal.progress[-1] == ("ended", 12, 12)


def test_what_a_run_has_stays_when_it_goes_on_and_a_profile_taken_again_replaces_its_own_only(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In turn a run that was enough, one that was stopped, and two that went on to the end."""
    cell = {"cell_id": "a", "system": "2", "runtime": "3.14", "params": {}, "sentence": {}}
    python, locks = {"kind": "python", **cell}, {"kind": "locks", **cell}
    again = {**locks, "sentence": {"text": "again"}}
    taken = iter([[python, locks], [], [again]])
    monkeypatch.setattr(experiment, "profiles", lambda order, bench: next(taken))
    asked: list[int] = []

    def is_enough(run: Run, until: Until, spent_ns: int) -> bool:
        asked.append(len(run.cells))
        return len(asked) == 2

    monkeypatch.setattr(experiment, "is_enough", is_enough)
    run = journal.carry_out()
    assert (asked, len(run.cells)) == ([4, 8], 8)
    assert run.finished_at
    run.runtimes["3.11"] = RuntimeFacts(version="3.11.9")
    spent_ns = [run.spent_ns["cells"]]
    journal.stop_at = len(journal.measured) + 2
    with pytest.raises(KeyboardInterrupt):
        journal.carry_out(run)
    assert journal.load().spent_ns == run.spent_ns
    spent_ns.append(run.spent_ns["cells"])
    journal.stop_at = 0
    assert journal.carry_out(run).profiles == [python, locks]
    assert journal.carry_out(run).profiles == [python, again]
    spent_ns.append(run.spent_ns["cells"])
    assert asked == [4, 8, 8]  # not before a block that had begun
    assert {*run.runtimes} == {"3.11", *RUNTIMES}
    assert spent_ns == sorted({*spent_ns})  # it only grows


def test_a_run_goes_on_with_the_same_interpreters_only(journal: Journal) -> None:
    run, order = journal.carry_out(), journal.order
    check_unchanged(run, order)
    for fact in ("version", "build"):
        other = replace(runtime("3.14t").interpreter, facts={**FACTS, fact: "another"})
        changed = {**order.runtimes, "3.14t": replace(runtime("3.14t"), interpreter=other)}
        with pytest.raises(BadInput, match=r"3\.14t changed from .* to .*another.* \(under 3\.14t\)"):
            check_unchanged(run, order._replace(runtimes=changed))
    journal.change_plan(replace(TINY, runtimes=RUNTIMES[:1]))
    with pytest.raises(BadInput, match=r"3\.14t changed from .* to not installed \(under 3\.14t\)"):
        check_unchanged(run, journal.order._replace(runtimes={"3.14": order.runtimes["3.14"]}))


# ---- a new run -----------------------------------------------------------------------------------------------------


def test_runs_get_seeds_and_folders_of_their_own_also_two_of_one_second(journal: Journal) -> None:
    """Of the 65,536 endings two are alike in one of 350 times, and six never are."""
    assert len({new_run(journal.order, None, [], {}).seed for _ in range(5)}) == 5
    folders = {run_folder(TINY) for _ in range(20)}
    assert len(folders) >= 15
    assert {folder.parent for folder in folders} == {RUNS}
    assert all(folder.name.endswith(f"-tiny-{folder.name[-4:]}") for folder in folders)


# ---- open files ----------------------------------------------------------------------------------------------------


@each_row
def test_room_is_made_for_the_process_that_needs_most_files(line: str) -> None:
    flags, _, bounds = line.partition(" -> ")
    least, below = map(int, bounds.split())
    assert least <= files_needed(planned(flags).cells()[0]) < below


def test_http_clients_that_would_leave_services_idle_are_refused() -> None:
    flags = "--system http-stdlib --num-api-services 4 --num-clients 1 --num-connections-per-client"
    with pytest.raises(BadInput, match="is 3, but NUM_API_SERVICES is 4"):
        preflight(planned(f"{flags} 4,3"))
    preflight(planned(f"{flags} 4"))


def test_the_time_of_a_search_is_known_before_it_starts_and_depends_on_objective_rate_and_arms() -> None:
    asked = {text: replace(TINY, objectives=(Objective.parse(text),)) for text in ("p99<50ms", "p99<1s", "p99.9<50ms")}
    fast, patient, rare = (search_s(one, 1000) for one in asked.values())
    assert fast < patient  # probes of ten times the objective
    assert fast < rare  # 0.1 % of the requests miss it
    assert fast < search_s(asked["p99<50ms"], 100)
    alone = replace(asked["p99<50ms"], runtimes=RUNTIMES[:1])
    assert search_s(alone, 1000) == pytest.approx(fast / 2)
    # a setting and runtime: closed loop 20.5 s, 3 short probes of 1.5 s, 7 long ones of 7 s, with 0.5 s and 2 s each
    assert fast == pytest.approx(4 * (22.5 + 3 * 4 + 7 * 9.5), rel=0.01)
