"""`runner.py report` on saved runs, in this process."""

import json
import webbrowser
from pathlib import Path
from shutil import copyfile

import pytest

from commands import Command
from commands.report import main as report
from commands.run import main as run
from core.errors import BadInput
from core.result import FILE_NAME, load
from reports.exports import texts
from reports.terminal.listing import saved_runs
from tests.commands.saved import saved


def test_several_runs_are_each_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [saved(tmp_path / name) for name in ("a", "b")]
    assert report([*map(str, folders), "--quiet"]) == 0
    page = tmp_path / "side-by-side.html"
    assert capsys.readouterr().out.splitlines() == [str(path) for path in (*folders, page)]
    assert all((folder / "report.html").is_file() for folder in folders)
    assert "<h1>Runs side by side</h1>" in page.read_text(encoding="utf-8")


def test_runs_stand_side_by_side_where_out_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(saved(tmp_path / name)) for name in ("a", "b")]
    assert report([*folders, "--out", str(tmp_path / "both.html")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"All of them side by side: {tmp_path}/both.html"
    assert (tmp_path / "both.html").is_file()
    assert not (tmp_path / "side-by-side.html").exists()


def test_a_run_that_is_named_twice_is_one_and_out_wants_two(tmp_path: Path) -> None:
    folder = str(saved(tmp_path / "a"))
    with pytest.raises(BadInput, match="name at least two runs"):
        report([folder, folder, "--out", str(tmp_path / "both.html")])
    assert report([folder, folder, "--quiet"]) == 0
    assert not (tmp_path / "side-by-side.html").exists()


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    folders = [str(saved(tmp_path / name)) for name in ("a", "b")]
    with pytest.raises(BadInput, match="cannot be written"):
        report([*folders, "--quiet", "--out", str(tmp_path / "nowhere" / "both.html")])


def test_the_report_is_chinese_where_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "a")
    assert report([str(folder), "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == f"网页：{folder}/report.html"
    assert "\n步骤  从 → 到" in said
    assert "系统 1：单个 socket，无连接缓存" in said
    assert '<html lang="zh-Hans">' in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [report, run])
def test_a_language_that_there_is_not_is_refused_before_anything_is_done(command: Command) -> None:
    with pytest.raises(BadInput, match="'fr' is not a language; accepted are en, zh"):
        command(["--lang", "fr"])


def test_no_run_is_written_where_one_of_them_cannot_be_read(tmp_path: Path) -> None:
    folder = saved(tmp_path / "a")
    with pytest.raises(BadInput, match="nowhere"):
        report([str(folder), str(tmp_path / "nowhere")])
    assert not (folder / "report.html").exists()


def test_a_report_ends_with_the_verdict_and_where_the_page_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = saved(tmp_path / "a")
    assert report([str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"Page: {folder}/report.html"
    assert len([line for line in lines if line.startswith("System 1: 3.14t and 3.14t+gil serve the same: 1.00x")]) == 1


def test_a_report_without_a_verdict_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report([str(saved(tmp_path / "a", blocks=2))]) == 0
    said = capsys.readouterr().out
    assert "undecided" in said
    assert "inconclusive: a few more blocks" in said
    assert "--blocks +4" in said


@pytest.mark.parametrize("found", [True, False])
def test_open_opens_the_page_or_says_where_it_is(
    found: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def fake(url: str) -> bool:
        opened.append(url)
        return found

    monkeypatch.setattr(webbrowser, "open", fake)
    folder = saved(tmp_path / "a b")
    assert report([str(folder), "--open", "--quiet"]) == 0
    assert opened == [(folder / "report.html").as_uri()]
    assert (str(folder / "report.html") in capsys.readouterr().err) is not found


EARLY = Path(__file__).with_name("early-result.json")  # written by this project's fifth commit


def test_a_run_of_the_first_format_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its cells have no waiting, no disturbances, no proportional memory; its plan no method, its machine no commit."""
    copyfile(EARLY, tmp_path / FILE_NAME)
    assert report([str(tmp_path)]) == 0
    assert "System 4: Multi-socket pool" in capsys.readouterr().out
    names = {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "table.md", "findings.md", "table.csv", "cells.csv", "plots"} <= names
    assert len(load(tmp_path).cells) == 6


def test_what_a_report_concludes_is_saved_so_that_the_list_has_it(tmp_path: Path) -> None:
    folder = saved(tmp_path / "a")
    assert str(saved_runs(tmp_path)[0].verdict) == "no comparison is saved"
    assert report([str(folder), "--quiet"]) == 0
    assert str(saved_runs(tmp_path)[0].verdict).startswith("Removing the GIL ")


def test_json_is_one_document_with_the_comparisons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(saved(tmp_path / name)) for name in ("a", "b")]
    assert report([folders[0], "--json"]) == 0
    assert [one["step"] for one in json.loads(capsys.readouterr().out)["comparisons"]] == ["lock"]
    assert report([*folders, "--json"]) == 0
    assert [len(one["comparisons"]) for one in json.loads(capsys.readouterr().out)] == [1, 1]


def test_json_is_of_the_file_that_was_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = saved(tmp_path / "a") / FILE_NAME
    old = old.rename(tmp_path / "old.json")
    assert report([str(old), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 12
    assert not (tmp_path / FILE_NAME).exists()


def test_a_file_that_cannot_be_made_is_named_and_the_rest_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> str:
        raise KeyError("pgo")

    monkeypatch.setattr(texts, "cells_sheet", broken)
    folder = saved(tmp_path / "a")
    assert report([str(folder)]) == 1
    told = capsys.readouterr()
    assert told.err.startswith("error: cells.csv could not be made (KeyError: 'pgo', in test_report.py:")
    assert "Page: " in told.out
    assert (folder / "report.html").is_file()
