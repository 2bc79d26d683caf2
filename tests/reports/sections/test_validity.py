"""The checks of a run: passed or not by what was seen, and not known where nothing was there to be seen."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from core.hosts import Host, Layout
from core.messages import message
from core.method import Method
from core.result import CellResult, Run
from reports.rows.traces import of_cells
from reports.sections.validity import STATES, section
from reports.view import View
from tests.reports.sample import MS, cell_of, faulty, measured, run_of

CELLS, ANSWERS, GIL, WINDOW = (
    "Cells measured",
    "Answers",
    "GIL as the runtime's name says",
    "Timed for at least 2 s in all blocks",
)
BUILDS, CLIENTS = "Builds differ only in the step", "Clients are not the bottleneck"
RUNNER = "The runner took no part"
QUIET, NOISE = "The machine was quiet", "Noise floor (A/A)"


def short(ms: int = 2000, blocks: int = 2) -> Run:
    numbers = range(1, blocks + 1)
    cells = [measured(cell_of("2", arm), block, [ms * MS]) for arm in ("3.11", "3.14t") for block in numbers]
    return run_of(cells, blocks=blocks)


@dataclass(frozen=True)
class Check:
    """A line of the table as a reader has it."""

    state: str
    seen: str
    cells: str


def found(run: Run) -> dict[str, Check]:
    (table,) = section(View(run)).tables
    return {
        str(what.words): Check(state=sign.state.removeprefix("state "), seen=str(seen.words), cells=seen.cells)
        for what, sign, seen in table.lines
    }


def states(run: Run) -> dict[str, str]:
    return {what: check.state for what, check in found(run).items()}


def telling(cell: CellResult, gil: bool) -> CellResult:
    return replace(cell, services=[{**one, "gil_enabled_end": gil} for one in cell.services])


def test_an_arm_that_was_timed_for_less_than_2_s_in_all_fails_its_check() -> None:
    assert states(short(980))[WINDOW] == "failed"
    assert states(short(1000))[WINDOW] == "passed"


def test_a_cell_that_failed_and_one_without_its_gil_state_fail_theirs_and_are_named() -> None:
    run = short()
    bad = faulty(cell_of("2", "3.14t"), 3, "invalid", "the GIL was on")
    run.cells.append(bad)
    assert (found(run)[CELLS].state, found(run)[CELLS].cells) == ("failed", of_cells([bad]))
    assert (found(run)[GIL].state, found(run)[GIL].cells) == ("failed", of_cells([bad]))


def test_a_gil_that_processes_told_is_as_it_should_be() -> None:
    run = short()
    run.cells = [telling(cell, cell.arm == "3.11") for cell in run.cells]
    assert (found(run)[GIL].state, found(run)[GIL].seen) == ("passed", "4 of 4 cells report it, 0 invalid")


def test_a_wrong_answer_fails_its_check() -> None:
    run = short()
    run.cells[0] = replace(run.cells[0], wrong=1)
    assert found(run)[ANSWERS].state == "failed"
    assert found(run)[ANSWERS].cells == of_cells(run.cells[:1])


def test_builds_that_differ_are_to_be_looked_at() -> None:
    run = short()
    run.runtimes["3.14t"]["compiler"] = "Clang 18"
    assert found(run)[BUILDS].state == "look"
    assert "compiler GCC 13.2.0 against Clang 18" in found(run)[BUILDS].seen


def test_the_busiest_clients_are_told_with_how_many_rows_are_too_busy() -> None:
    """One client that spends 2 x 900 ms of 2.001 s uses 90 % of the one core it can have; the other 1 %."""
    busy = [measured(cell_of("2", "3.11"), block, [2000 * MS], cpu_ns=900 * MS) for block in (1, 2)]
    run = run_of([*busy, *short().cells[2:]], blocks=2)
    check = found(run)[CLIENTS]
    assert (check.state, check.cells) == ("look", of_cells(busy))
    assert check.seen == "at most 90% of the cores they could have had; above 80% in 1 of 2 rows"


def test_disturbances_are_counted_over_all_cells_and_named() -> None:
    run = short()
    run.cells[:2] = [replace(cell, disturbances=[message("load: 3.0", code="load")]) for cell in run.cells[:2]]
    check = found(run)[QUIET]
    assert (check.state, check.seen) == ("look", "the machine was not quiet in 2 of 4 cells: load")
    assert check.cells == of_cells(run.cells[:2])


def test_a_quiet_machine_is_one_that_was_looked_at() -> None:
    run = short()
    assert states(run)[QUIET] == "unknown"
    run.machine["quiet"] = {"load_1m": 0.1}
    assert states(run)[QUIET] == "passed"


def test_a_run_without_a_cell_passes_nothing() -> None:
    assert set(states(run_of([], runtimes=["3.14"])).values()) == {"unknown"}


def test_a_run_all_of_whose_cells_failed_passes_nothing_either() -> None:
    cells = [faulty(cell_of("2", arm), 1, "failed", "ended early") for arm in ("3.11", "3.14t")]
    told = states(run_of(cells))
    assert "passed" not in {told[what] for what in (CELLS, ANSWERS, GIL, WINDOW, CLIENTS, QUIET, NOISE)}


@pytest.mark.parametrize("facts", [{"compiler": ""}, {"flags": {}}])
def test_builds_that_nothing_is_known_of_are_not_alike(facts: dict[str, Any]) -> None:
    run = short()
    for one in run.runtimes.values():
        one.update(facts)
    assert states(run)[BUILDS] == "unknown"


def test_one_runtime_alone_has_no_builds_to_differ() -> None:
    run = run_of([measured(cell_of("2", "3.14t"), 1, [2000 * MS])], runtimes=["3.14t"])
    assert (found(run)[BUILDS].state, found(run)[BUILDS].seen) == ("unknown", "nothing is compared")


def test_every_sign_is_another_and_needs_no_colour() -> None:
    assert len({str(words)[0] for words in STATES.values()}) == len(STATES) == 4


# ---- what the verdicts rest on -------------------------------------------------------------------------------------


def rests_on(run: Run) -> list[str]:
    return [str(line) for line in section(View(run)).parts[0].sentences]


def test_what_verdicts_rest_on_is_said_and_leads_to_all_cells() -> None:
    run = short()
    assert rests_on(run)[:3] == [
        "2 blocks, cells in balanced random order (seed 1).",
        "No A/A arm was measured, so the noise floor is not known: add --aa.",
        "Clients run under the service's runtime, so both sides change: --client-runtime holds them.",
    ]
    assert {vars(line)["cells"] for line in section(View(run)).parts[0].sentences} == {of_cells(run.cells)}


def test_with_a_a_the_noise_floor_is_given() -> None:
    run = short(blocks=6)
    run.cells += [replace(cell, arm="3.14t again") for cell in run.cells if cell.runtime == "3.14t"]
    assert rests_on(run)[1] == "Noise floor (the same runtime twice): 0.0%."
    assert (found(run)[NOISE].state, found(run)[NOISE].seen) == ("passed", "0.0%")


def test_a_client_that_is_held_constant_is_named() -> None:
    run = short()
    run.plan["method"] = Method(client_runtime="3.14").to_json()
    assert "Clients run under 3.14 in every cell: only the service changes." in rests_on(run)


@pytest.mark.parametrize(
    ("cores", "pins", "advised"),
    [(4, (), "--pin services=0-2 clients=3 "), (4, (0,), ""), (3, (), "")],
)
def test_a_run_that_was_not_pinned_is_told_where_its_cores_would_allow_it(
    cores: int, pins: tuple[int, ...], advised: str
) -> None:
    run = short()
    run.machine["cores_usable"] = cores
    run.plan["method"] = Method(pin_services=pins).to_json()
    advice = [line for line in rests_on(run) if "--pin" in line]
    assert len(advice) == bool(advised)
    assert all(advised in line for line in advice)


def test_what_cannot_be_separated_is_said_with_the_runtimes_to_add() -> None:
    run = short()
    assert rests_on(run)[-1].endswith("To separate them, add --runtime 3.11,3.14,3.14t+gil,3.14t.")


def test_a_run_across_hosts_says_whether_its_runner_took_part_and_another_does_not() -> None:
    run = short()
    assert RUNNER not in found(run)
    hosts = {"a": Host(name="a", address="10.0.0.1")}
    run.plan["layout"] = Layout(hosts=hosts, services_on="a", clients_on=("a",)).to_json()
    assert found(run)[RUNNER].state == "unknown"
    run.cells = [
        replace(cell, runner={"window": {"ns": 10**9, "cpu_ns": 0, "link_bytes": 10**6}}) for cell in run.cells
    ]
    assert found(run)[RUNNER].state == "look"
    assert "1000 kB/s" in str(found(run)[RUNNER].seen)
