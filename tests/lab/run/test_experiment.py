"""A run: every block of a plan, cell by cell, saved after each; and going on with one. Nothing is measured here."""

import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.plan import Plan, Row
from core.cell import Cell
from core.errors import BadInput
from core.messages import verbatim
from core.result import CellResult, Run, load
from core.runtime import RuntimeName
from lab.machine import host, quiet
from lab.python.interpreters import Interpreter
from lab.run import experiment
from lab.run.commit import commit
from lab.run.experiment import carry_out
from lab.run.feasible import files_needed, preflight
from lab.run.runs import RUNS, Order, check_same_runtimes, new_run, resumed, run_folder
from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find

SEED = 7
FACTS = {"version": "3.14.7", "build": "(main)", "gil_disabled_build": False}
REQUESTS = (10, 20)
Key = tuple[str, int, int]


def runtime(name: str) -> Runtime:
    """A runtime that is never started."""
    parsed = RuntimeName.parse(name)
    interpreter = Interpreter(name=parsed.interpreter, executable=Path("/no/python"), source="given", facts=FACTS)
    return Runtime(name=parsed, interpreter=interpreter)


def key(arm: str, cell: Cell | CellResult, block: int) -> Key:
    """What tells the measurements of the plan apart."""
    params = cell.params
    return arm, int(params["NUM_REQUESTS_PER_CLIENT"] or 0), block


class Journal:
    """Stands for measure() and for the progress display; notes what it is asked and what is saved then."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.measured: list[Key] = []
        self.progress: list[tuple[str, int, int]] = []
        self.saved: list[int] = []
        self.stop_at = 0
        self.fails = False

    def measure(self, cell: Cell, system: object, block: int, bench: object, arm: str = "") -> CellResult:
        """A result without figures; Ctrl-C at the cell with number stop_at."""
        if self.stop_at and len(self.measured) + 1 == self.stop_at:
            raise KeyboardInterrupt
        self.measured.append(key(arm or cell.runtime, cell, block))
        return CellResult(
            cell_id=cell.cell_id,
            system=cell.system,
            runtime=cell.runtime,
            arm=arm or cell.runtime,
            block=block,
            params=cell.params,
            status="failed" if self.fails else "ok",
        )

    def cell_started(self, cell: Cell, block: int, done: int, total: int) -> None:
        """Note it."""
        self.progress.append(("started", done, total))

    def cell_ended(self, result: CellResult, done: int, total: int) -> None:
        """Note it, and how many cells are saved by now."""
        self.progress.append(("ended", done, total))
        self.saved.append(len(load(self.folder).cells))


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """How busy the machine is takes a while to see, and is nothing to these tests."""
    monkeypatch.setattr(quiet, "facts", lambda window_s: {"busy": 0})


@pytest.fixture
def plan() -> Plan:
    """Two cells under two runtimes, three times."""
    rows = (Row(system=find("2"), values={"NUM_REQUESTS_PER_CLIENT": REQUESTS}),)
    return Plan(name="tiny", rows=rows, runtimes=("3.14", "3.14t"), blocks=3)


@pytest.fixture
def order(plan: Plan, tmp_path: Path) -> Order:
    """The plan, its runtimes and a folder."""
    return Order(plan=plan, runtimes={name: runtime(name) for name in plan.runtimes}, folder=tmp_path / "run")


@pytest.fixture
def journal(order: Order, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal in measure()'s place."""
    order.folder.mkdir()
    journal = Journal(order.folder, sandbox)
    monkeypatch.setattr(experiment, "measure", journal.measure)
    return journal


Begin = Callable[[], Run]


@pytest.fixture
def begin(order: Order) -> Begin:
    """Makes a new run of the order."""
    return lambda: new_run(order, SEED, ["runner.py", "--seed", "7"], {"3.11": verbatim("not found")})


# ---- carrying out --------------------------------------------------------------------------------------------------


def test_every_block_measures_every_cell_once(order: Order, journal: Journal, begin: Begin) -> None:
    carry_out(order, begin(), journal.sandbox, journal)
    wanted = [(arm, requests, block) for block in (1, 2, 3) for arm in order.plan.runtimes for requests in REQUESTS]
    assert Counter(journal.measured) == Counter(wanted)
    assert [block for _, _, block in journal.measured] == [1] * 4 + [2] * 4 + [3] * 4


def test_the_order_is_random_and_the_seeds_own(order: Order, journal: Journal, begin: Begin) -> None:
    carry_out(order, begin(), journal.sandbox, journal)
    first = list(journal.measured)
    journal.measured.clear()
    (order.folder / "result.json").unlink()
    carry_out(order, begin(), journal.sandbox, journal)
    assert journal.measured == first
    journal.measured.clear()
    (order.folder / "result.json").unlink()
    carry_out(order, replace_seed(begin(), SEED + 1), journal.sandbox, journal)
    assert journal.measured != first
    blocks = [[(arm, requests) for arm, requests, block in first if block == number] for number in (1, 2, 3)]
    assert blocks[0] != blocks[1] or blocks[1] != blocks[2]


def replace_seed(run: Run, seed: int) -> Run:
    """The same run with another seed."""
    return replace(run, seed=seed)


def test_the_run_is_saved_after_every_cell(order: Order, journal: Journal, begin: Begin) -> None:
    run = begin()
    carry_out(order, run, journal.sandbox, journal)
    assert journal.saved == list(range(1, 13))
    saved = load(order.folder)
    assert [key(cell.arm, cell, cell.block) for cell in saved.cells] == journal.measured
    assert saved.finished_at >= saved.started_at
    assert saved.spent_ns["cells"] > 0
    assert [path.name for path in order.folder.iterdir()] == ["result.json"]


def test_progress_is_told_before_and_after_every_cell(order: Order, journal: Journal, begin: Begin) -> None:
    carry_out(order, begin(), journal.sandbox, journal)
    expected = [(what, done, 12) for number in range(12) for what, done in (("started", number), ("ended", number + 1))]
    assert journal.progress == expected


def test_a_failed_cell_does_not_stop_the_sweep(order: Order, journal: Journal, begin: Begin) -> None:
    journal.fails = True
    run = begin()
    carry_out(order, run, journal.sandbox, journal)
    assert (len(run.cells), len(run.failed_cells)) == (12, 12)


def test_an_arm_against_itself_runs_the_last_runtime_twice_under_two_names(
    order: Order, journal: Journal, begin: Begin
) -> None:
    order = replace(order, plan=replace(order.plan, aa=True, blocks=1))
    run = begin()
    carry_out(order, run, journal.sandbox, journal)
    assert len(run.cells) == 6
    arms = {arm for arm, _, _ in journal.measured}
    assert len(arms) == 3
    assert {cell.runtime for cell in run.cells} == {"3.14", "3.14t"}


def test_a_run_ends_after_the_block_that_was_enough(order: Order, journal: Journal, begin: Begin) -> None:
    asked: list[int] = []

    def enough(run: Run, spent_ns: int) -> bool:
        assert spent_ns > 0
        asked.append(len(run.cells))
        return len(asked) == 2

    run = begin()
    carry_out(order, run, journal.sandbox, journal, enough)
    assert (asked, len(run.cells)) == ([4, 8], 8)
    assert run.finished_at


# ---- going on ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop_at", [1, 2, 6, 12])
def test_a_run_that_was_stopped_goes_on_with_what_is_missing(
    order: Order, journal: Journal, begin: Begin, stop_at: int
) -> None:
    journal.stop_at = stop_at
    with pytest.raises(KeyboardInterrupt):
        carry_out(order, begin(), journal.sandbox, journal)
    before = load(order.folder)
    assert len(before.cells) == stop_at - 1
    assert before.finished_at == ""
    journal.stop_at = 0
    again = resumed(order.folder)
    carry_out(replace(order, plan=Plan.from_json(again.plan)), again, journal.sandbox, journal)
    assert len(journal.measured) == len(set(journal.measured)) == 12
    after = load(order.folder)
    assert after.cells[: stop_at - 1] == before.cells
    assert (after.run_id, after.started_at, after.seed) == (before.run_id, before.started_at, SEED)
    assert journal.progress[-1] == ("ended", 12, 12)


def test_going_on_keeps_the_order_of_the_seed(order: Order, journal: Journal, begin: Begin) -> None:
    carry_out(order, begin(), journal.sandbox, journal)
    straight = list(journal.measured)
    (order.folder / "result.json").unlink()
    journal.measured.clear()
    journal.stop_at = 6
    with pytest.raises(KeyboardInterrupt):
        carry_out(order, begin(), journal.sandbox, journal)
    journal.stop_at = 0
    again = resumed(order.folder)
    carry_out(replace(order, plan=Plan.from_json(again.plan)), again, journal.sandbox, journal)
    assert journal.measured == straight


def test_a_run_that_is_whole_measures_nothing_more(order: Order, journal: Journal, begin: Begin) -> None:
    carry_out(order, begin(), journal.sandbox, journal)
    before = load(order.folder).cells
    journal.measured.clear()
    carry_out(order, resumed(order.folder), journal.sandbox, journal)
    assert journal.measured == []
    assert load(order.folder).cells == before


@pytest.mark.parametrize("name", ["cpu", "cores"])
def test_a_run_of_another_machine_cannot_go_on_here(
    order: Order, journal: Journal, begin: Begin, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    carry_out(order, begin(), journal.sandbox, journal)
    here: dict[str, Any] = {**host.facts(), name: "another"}
    monkeypatch.setattr(host, "facts", lambda: here)
    with pytest.raises(BadInput, match=rf"was measured on a machine with {name} .*; this one has another"):
        resumed(order.folder)


@pytest.mark.parametrize("fact", ["version", "build"])
def test_a_run_goes_on_with_the_same_interpreters_only(order: Order, begin: Begin, fact: str) -> None:
    run = begin()
    check_same_runtimes(run, order.runtimes)
    begun = order.runtimes["3.14t"]
    assert isinstance(begun, Runtime)
    other = replace(begun.interpreter, facts={**FACTS, fact: "another"})
    now = {**order.runtimes, "3.14t": replace(begun, interpreter=other)}
    with pytest.raises(BadInput, match=rf"started with 3\.14t {fact} '.*', which is 'another' now"):
        check_same_runtimes(run, now)
    with pytest.raises(BadInput, match=r"started with 3\.14t version '3\.14\.7', which is None now"):
        check_same_runtimes(run, {"3.14": order.runtimes["3.14"]})


# ---- a new run -----------------------------------------------------------------------------------------------------


def test_a_new_run_knows_what_it_is(order: Order, begin: Begin) -> None:
    run = begin()
    assert (run.run_id, run.seed, run.command) == ("run", SEED, ["runner.py", "--seed", "7"])
    assert run.missing == {"3.11": verbatim("not found")}
    assert run.plan == order.plan.to_json()
    assert run.machine["cores"] == host.facts()["cores"]
    assert run.machine["commit"] == commit()
    assert {name: facts["version"] for name, facts in run.runtimes.items()} == {"3.14": "3.14.7", "3.14t": "3.14.7"}
    assert run.cells == []


def test_a_run_without_a_seed_gets_one(order: Order) -> None:
    seeds = {new_run(order, None, [], {}).seed for _ in range(5)}
    assert len(seeds) == 5
    assert min(seeds) >= 0


def test_a_folder_that_holds_a_run_is_refused_with_the_way_to_go_on(order: Order, begin: Begin) -> None:
    order.folder.mkdir()
    (order.folder / "result.json").write_text("{}")
    with pytest.raises(BadInput, match=rf"{order.folder} holds a run already.*--resume {order.folder}"):
        begin()


def test_two_runs_of_one_second_get_folders_of_their_own(plan: Plan) -> None:
    folders = {run_folder(plan) for _ in range(20)}
    assert len(folders) >= 15  # of the 65,536 endings two are alike in one of 350 times, and six never are
    assert {folder.parent for folder in folders} == {RUNS}
    assert all(folder.name.endswith(f"-tiny-{folder.name[-4:]}") for folder in folders)


# ---- open files ----------------------------------------------------------------------------------------------------


def cell(number: str, **values: Any) -> Cell:
    """A cell of system *number*."""
    return Cell.build(system=number, runtime="3.14", reads=find(number).parameters, values=values)


def test_room_is_made_for_the_process_that_needs_most_files() -> None:
    """200 clients, each with a connection to each of 10 sockets; or one to its own; or none that is kept for long."""
    many = {"NUM_API_SERVICES": 2, "NUM_CLIENTS": 200}
    assert files_needed(cell("4", NUM_MULTI_SOCKET=10, **many)) >= 10 + 200 * 10
    pinned = files_needed(cell("4", NUM_MULTI_SOCKET=10, CLIENT_BINDING="pinned", **many))
    assert 10 + 200 <= pinned < 2000
    assert files_needed(cell("2", NUM_API_SERVICES=1000, NUM_CLIENTS=1)) >= 1000
    assert files_needed(cell("1", **many)) < 2000


def test_the_orchestrators_own_files_are_counted() -> None:
    assert files_needed(cell("1", NUM_API_SERVICES=500, NUM_CLIENTS=500)) >= 3 * 1000


def test_a_plan_that_needs_more_than_the_hard_limit_is_refused_with_both_numbers(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest = replace(plan, rows=(*plan.rows, Row(system=find("1"), values={"NUM_API_SERVICES": (1, 1000)})))
    needed = max(files_needed(one) for one in largest.cells())
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 1024))
    with pytest.raises(BadInput, match=rf"needs {needed} open files in one process; the limit here is 1024"):
        preflight(largest)


def test_http_clients_that_would_leave_services_idle_are_refused(plan: Plan) -> None:
    values = {"NUM_API_SERVICES": (4,), "NUM_CLIENTS": (1,), "NUM_CONNECTIONS_PER_CLIENT": (3, 4)}
    with pytest.raises(BadInput, match="is 3 and NUM_API_SERVICES is 4: 1 of them would not be called"):
        preflight(replace(plan, rows=(Row(system=find("http-stdlib"), values=values),)))
    preflight(
        replace(plan, rows=(Row(system=find("http-stdlib"), values={**values, "NUM_CONNECTIONS_PER_CLIENT": (4,)}),))
    )


def test_every_connection_of_a_client_is_an_open_file() -> None:
    many = cell("echo-libuv", NUM_API_SERVICES=1, NUM_CLIENTS=2, NUM_CONNECTIONS_PER_CLIENT=1000)
    assert 2000 <= files_needed(many) < 2200
