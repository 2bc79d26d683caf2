"""`runner.py list`, `export` and `compare` in this process."""

import json
from pathlib import Path

import pytest

from commands.compare import main as compare
from commands.export import main as export
from commands.list import main as list_runs
from commands.output import NO_VERDICT, THRESHOLD_MISSED
from tests.commands.saved import saved


def test_list_shows_runs_as_json_all_that_is_known_and_in_an_empty_folder_how_to_make_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "a")
    assert list_runs([str(tmp_path)]) == 0
    assert "2026-01-02 03:04  quick " in capsys.readouterr().out
    assert list_runs([str(tmp_path), "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["cells_ok"], only["folder"]) == (12, str(tmp_path / "a"))
    monkeypatch.setattr("commands.list.RUNS", tmp_path / "out")
    assert list_runs([]) == 0
    out, err = capsys.readouterr()
    assert (out, "--experiment quick" in err) == ("", True)


def test_export_prints_the_files_that_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "a")
    assert export([str(folder), str(tmp_path / "to")]) == 0
    assert [*map(Path, capsys.readouterr().out.splitlines())] == [*(tmp_path / "to").iterdir()]


def test_compare_passes_fails_or_says_that_nothing_can_be_said_and_writes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, same, slower = (saved(tmp_path / name, factor) for name, factor in (("a", 1), ("b", 1), ("c", 1.2)))
    few = saved(tmp_path / "d", 1.2, blocks=3)
    threshold = ("--fail-if-slower", "5%")
    assert compare([str(before), str(same), *threshold]) == 0
    page = tmp_path / "new" / "page.html"
    assert compare([str(before), str(slower), *threshold, "--out", str(page)]) == THRESHOLD_MISSED
    assert page.read_text().count('class="word slower"') == 2
    assert capsys.readouterr().err == ""
    assert compare([str(before), str(few), *threshold]) == NO_VERDICT
    assert capsys.readouterr().err.startswith("No verdict on ")
    assert compare([str(before), str(few)]) == 0
