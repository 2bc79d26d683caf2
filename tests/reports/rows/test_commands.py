"""Commands of a run as one types them: to repeat it, and to go on with it in its own folder."""

import pytest

from core.result import Run
from reports.rows.commands import command_line, repeat_command, resume_command
from tests.reports.sample import run_of


def run_by(*command: str) -> Run:
    run = run_of([])
    run.command = [*command]
    return run


@pytest.mark.parametrize(
    ("command", "repeated"),
    [
        (["runner.py", "--out", "a b", "--system", "4"], "python runner.py --system 4 --seed 1"),
        (["runner.py", "--seed", "7"], "python runner.py --seed 7"),
        ([], "python runner.py --seed 1"),
    ],
)
def test_a_run_is_repeated_with_its_seed_in_a_new_folder(command: list[str], repeated: str) -> None:
    assert repeat_command(run_by(*command)) == repeated
    assert "--out" not in command_line(run_by(*command))


@pytest.mark.parametrize(
    ("command", "resumed"),
    [
        (["runner.py"], "python runner.py --resume reports/out/20260102T030405-sample"),
        (["runner.py", "--out", "run-base"], "python runner.py --resume run-base"),
        (["runner.py", "--out=/tmp/a b", "--system", "4"], "python runner.py --resume '/tmp/a b'"),
    ],
)
def test_a_run_goes_on_in_the_folder_it_was_begun_in(command: list[str], resumed: str) -> None:
    assert resume_command(run_by(*command)) == resumed
