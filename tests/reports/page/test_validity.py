"""What the page says of the run's validity: checks that passed or did not, what is missing, and the commands."""

from dataclasses import replace

import pytest

from core.result import Run
from reports.page.validity import checks, command_line, gaps, repeat_command
from reports.view import view_of
from tests.reports.page.reading import record_view
from tests.reports.sample import MS, cell_of, faulty, measured, run_of


def short(ms: int = 20) -> Run:
    cells = [measured(cell_of("2", arm), block, [ms * MS]) for arm in ("3.11", "3.14t") for block in (1, 2)]
    return run_of(cells, blocks=2)


def states(run: Run) -> dict[str, str]:
    return {one.what: one.state for one in checks(view_of(run), "en")}


def commands(run: Run) -> list[str]:
    return [one.command for one in gaps(view_of(run), (), "en")]


def test_a_window_below_a_second_fails_its_check() -> None:
    assert states(short(20))["Timed for 1 s at least"] == "failed"
    assert states(short(2000))["Timed for 1 s at least"] == "passed"


def test_a_cell_that_failed_and_one_without_its_gil_state_fail_theirs() -> None:
    run = short(2000)
    run.cells += [faulty(cell_of("2", "3.14t"), 3, "invalid", "the GIL was on")]
    found = states(run)
    assert found["Cells measured"] == "failed"
    assert found["GIL as the runtime's name says"] == "failed"


def test_a_wrong_answer_fails_its_check() -> None:
    run = short(2000)
    run.cells[0] = replace(run.cells[0], wrong=1)
    assert states(run)["Answers"] == "failed"


def test_builds_that_differ_are_to_be_looked_at() -> None:
    run = short(2000)
    run.runtimes["3.14t"]["compiler"] = "Clang 18"
    (check,) = [one for one in checks(view_of(run), "en") if one.what.startswith("Builds")]
    assert check.state == "look"
    assert "compiler GCC 13.2.0 against Clang 18" in check.seen


def test_without_a_a_the_command_that_measures_it_is_told() -> None:
    run = short(2000)
    run.command = ["runner.py", "--experiment", "quick", "--out", "somewhere"]
    assert "python runner.py --experiment quick --aa" in commands(run)


def test_open_verdicts_come_with_the_blocks_they_take() -> None:
    run = short(2000)
    run.command = ["runner.py", "--blocks", "2", "--system", "2"]
    (command,) = [one for one in commands(run) if "--blocks" in one and "--aa" not in one]
    assert command == "python runner.py --system 2 --blocks 6"


def test_cells_that_are_missing_come_with_resume() -> None:
    run = short(2000)
    run.plan["blocks"] = 5
    assert f"python runner.py --resume reports/out/{run.run_id}" in commands(run)


def test_a_runtime_that_was_not_found_comes_with_its_installation() -> None:
    run = run_of(
        short(2000).cells,
        blocks=2,
        missing={"3.14": "Runtime 3.14 was not found. Install it with: uv python install 3.14"},
    )
    assert "uv python install 3.14" in commands(run)


def test_the_record_lacks_the_other_experiments_alone() -> None:
    found = [one.command for one in gaps(record_view(), (), "en")]
    assert [one for one in found if "--experiment" in one] == [
        f"python runner.py --experiment {name}" for name in ("topology", "scaling", "memory")
    ]


@pytest.mark.parametrize(
    ("command", "repeated"),
    [
        (["runner.py", "--out", "a b", "--system", "4"], "python runner.py --system 4 --seed 1"),
        (["runner.py", "--seed", "7"], "python runner.py --seed 7"),
        ([], "python runner.py --seed 1"),
    ],
)
def test_a_run_is_repeated_with_its_seed_in_a_new_folder(command: list[str], repeated: str) -> None:
    run = short()
    run.command = command
    assert repeat_command(run) == repeated
    assert "--out" not in command_line(run)
