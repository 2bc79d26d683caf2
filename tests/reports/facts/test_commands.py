"""Commands of a run as one types them: to repeat it, and to go on with it in its own folder."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.result_file import RunFile, load
from reports.facts.commands import resume_command
from tests.reports.sample import run_of


@pytest.mark.parametrize(
    ("folder", "resumed"),
    [("run-base", "python runner.py --resume run-base"), ("/tmp/a b", "python runner.py --resume '/tmp/a b'")],
)
def test_a_run_goes_on_in_its_own_folder(folder: str, resumed: str) -> None:
    assert resume_command(replace(run_of([]), folder=folder)) == resumed


def test_a_run_that_was_moved_goes_on_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    RunFile(tmp_path / "first").save(run_of([]))
    shutil.move(tmp_path / "first", tmp_path / "second")
    assert resume_command(load(tmp_path / "second")).endswith(f" --resume {tmp_path / 'second'}")
