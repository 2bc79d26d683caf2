"""The answer of runs with several systems, of which the golden outputs keep the last screen."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.request_plan import Request
from core.secret import Secret
from record.child_lines import Turns
from record.saved_run import CellResult, Run
from reports.document import Table
from reports.parts.answer import answer
from reports.sections.verdict import section
from reports.view import View
from tests.analysis.timed_cells import in_blocks
from tests.reports.sample import RUNTIMES, cell_of, faulty, run_of, set_plan, with_service

ONE, WIDE = (0.97, 1.0, 1.03), (0.7, 1.0, 1.4)  # what the blocks of the last arm differ by, in turn
# ms under 3.11, 3.14, 3.14t+gil, 3.14t
SYSTEMS = {"1": (600, 600, 700, 500), "2": (600, 580, 640, 300), "3": (600, 590, 650, 660)}


def cells_of(
    system: str, times: Mapping[str, float], spread: Sequence[float] = ONE, services: int = 1
) -> list[CellResult]:
    """Cells of each arm; all blocks of an arm but the last are alike."""
    cells, last = [], [*times][-1]
    for arm, ms in times.items():
        times_ms = [ms * (spread[block % 3] if arm == last else 1.0) for block in range(1, 10)]
        cells += in_blocks(arm, times_ms, {"NUM_API_SERVICES": services}, system=system)
    return cells


def several(runtimes: Sequence[str] = RUNTIMES) -> Run:
    cells = []
    for system, times in SYSTEMS.items():
        of_runtimes = {arm: ms for arm, ms in zip(RUNTIMES, times, strict=True) if arm in runtimes}
        cells += cells_of(system, of_runtimes, WIDE if system == "3" else ONE)
    if "3.14t+gil" in runtimes:
        cells += cells_of("2", {"3.14t+gil": 500, "3.14t": 500}, (0.995, 1.0, 1.005), services=2)
    run = run_of(cells, runtimes=runtimes, blocks=9)
    set_plan(run, judged_steps=["lock", "whole"])
    run.machine = replace(run.machine, cores_usable=2)
    return run


def test_page_and_terminal_have_the_same_headline_if_no_step_leads_from_the_first_runtime_to_the_last() -> None:
    arms = {"3.14": 600, "3.14+jit": 560, "3.14t": 300}
    shown = section(View(run_of(cells_of("2", arms), blocks=9)))
    assert str(shown.answer[0]) == str(shown.terminal[0])


def test_a_caution_on_blocks_that_do_not_count_names_its_setting_if_there_are_several() -> None:
    def sliced(cell: CellResult, length_ns: int) -> CellResult:
        return replace(cell, turns=Turns(slices=1, length_ns=length_ns, tail_ns=400_000_000))

    cells = cells_of("1", {"3.14": 6000, "3.14t": 5000}) + cells_of("2", {"3.14": 6000, "3.14t": 3000})
    cells = [sliced(cell, 500_000_000 if cell.system == "1" and cell.block < 3 else 900_000_000) for cell in cells]
    (caution,) = noted("Caution", run_of(cells, blocks=9))
    assert caution.startswith("System 1, build and GIL: 3.14 → 3.14t: 2 of 9 blocks do not count"), caution


def test_services_too_slow_to_take_turns_are_told_at_the_terminal() -> None:
    """The others take turns, as README says."""
    cells = cells_of("1", {"3.14": 6000, "3.14t": 5000})
    said = "runtimes or services measured one after the other, for 0.90 s each: their requests take too long for "
    for slices, order in ((1, [f"{said}time slices."]), (2, [])):
        turns = Turns(slices=slices, length_ns=900_000_000)
        run = run_of([replace(cell, turns=turns) for cell in cells], blocks=9)
        run.plan = replace(run.plan, method=replace(run.plan.method, slices=True))
        assert noted("Order", run) == order


def noted(label: str, run: Run) -> list[str]:
    """The notes of the answer that have this label."""
    (*_, notes) = answer(View(run))
    assert isinstance(notes, Table)
    return [str(line[-1].words) for line in notes.lines if str(line[0].words) == label]


def next_step(reason: str, *requests: Request, wrong: int = 0) -> str:
    """What to do next after a run in which every measurement failed with *reason*."""
    cells = [faulty(cell_of("2", arm), block, "failed", reason) for arm in ("3.14", "3.14t") for block in (1, 2)]
    run = run_of([replace(cell, wrong=wrong) for cell in cells], blocks=2)
    *_, notes = answer(View(with_service(run, *requests)))
    assert isinstance(notes, Table)
    return str(notes.lines[-1][-1].words)


def test_an_invalid_comparison_has_its_verdict_and_no_ratio() -> None:
    cells = cells_of("1", {"3.14": 600, "3.14t": 500})
    long = Turns(slices=1, length_ns=500_000_000, tail_ns=3_000_000_000)
    shown = answer(View(run_of([replace(cell, turns=long) for cell in cells], blocks=9)))
    (steps,) = [one for one in shown if isinstance(one, Table) and str(one.name).startswith("Comparisons")]
    ((*_, gain, verdict),) = steps.lines
    assert (str(gain.words), str(verdict.words)) == ("-", "invalid")


def test_after_failures_the_next_step_is_a_request_by_hand() -> None:
    headers = {"X-Token": Secret("...", name="--header X-Token", value="s3cret")}
    asked = Request(method="POST", path="/items", headers=headers, body='{"name": "cup"}', expect_status=201)
    words = ["curl", "-i", "-X", "POST", "-H", "X-Token: ...", "-H", "Content-Type: application/json"]
    command = shlex.join([*words, "--data-binary", '{"name": "cup"}', "http://127.0.0.1:8000/items"])
    assert f"the status 201: {command}" in next_step("no answer", asked)


def test_a_request_by_hand_has_nothing_that_only_a_client_can_fill_in() -> None:
    """Neither a placeholder, nor a request whose session does not exist yet."""
    item, random = Request(path="/items/3"), Request(path="/items/{{random.int 1 500}}")
    assert next_step("no answer", random, item).endswith("curl -i http://127.0.0.1:8000/items/3")
    login = Request(path="/login?u={{user}}", first=True)
    for wrong in (0, 1):
        assert "curl" not in next_step("no login", item, login, wrong=wrong)
        said = next_step("no login", item, replace(login, path="/login"), wrong=wrong)
        assert said.endswith("curl -i http://127.0.0.1:8000/login")


def test_after_wrong_answers_the_next_step_says_what_was_expected() -> None:
    """A status 200 with another body was followed by the advice to look for a status 200."""
    said = "the first wrong answer to GET / was body 3, expected 4"
    assert f"({said}). Correct the expected answer, or the service" in next_step(said, Request(), wrong=1)
