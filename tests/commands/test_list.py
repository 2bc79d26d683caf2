"""`runner.py list` in this process."""

import json
from pathlib import Path

import pytest

from commands.list import main as list_runs
from lab import experiment
from tests.commands.saved import saved


def test_list_shows_runs_and_as_json_all_that_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path / "a")
    assert list_runs([str(tmp_path)]) == 0
    assert "2026-01-02 03:04  quick " in capsys.readouterr().out
    assert list_runs([str(tmp_path), "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["cells_ok"], only["folder"]) == (12, str(tmp_path / "a"))


def test_list_of_an_empty_folder_says_how_to_make_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "RUNS", tmp_path / "out")
    assert list_runs([]) == 0
    assert capsys.readouterr() == ("", f"There is no run in {tmp_path / 'out'} yet; make one with: make run\n")
