"""`runner.py report`, `list` and `export` on saved runs, in this process."""

import json
import webbrowser
from pathlib import Path

import pytest

from commands.compare import NO_VERDICT, THRESHOLD_MISSED
from commands.compare import main as compare
from commands.export import main as export
from commands.list import main as list_runs
from commands.report import main as report
from core.errors import BadInput
from core.result import RunFile
from lab import experiment
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def saved(folder: Path, factor: float = 1.0, blocks: int = 6) -> Path:
    cells = [
        measured(cell_of("1", runtime, SMALL), block, [round((2000 + block) * factor * MS)])
        for runtime in ("3.14t+gil", "3.14t")
        for block in range(1, blocks + 1)
    ]
    RunFile(folder).save(run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=blocks))
    return folder


def test_several_runs_are_each_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [saved(tmp_path / name) for name in ("a", "b")]
    assert report([*map(str, folders), "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(folder) for folder in folders]
    assert all((folder / "report.html").is_file() for folder in folders)


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
    assert lines[-1] == f"The page: {folder}/report.html"
    assert lines[-2].startswith("Removing the GIL ")
    assert lines[-3] == ""


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


def test_export_writes_the_format_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "a")
    assert export([str(folder), str(tmp_path / "to"), "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "to" / name) for name in ("cells.csv", "table.csv")]
    with pytest.raises(BadInput, match="--format is xml; accepted are pyperf, parquet, csv, hgrm, markdown"):
        export([str(folder), str(tmp_path / "to"), "--format", "xml"])


def test_compare_passes_fails_or_says_that_nothing_can_be_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, same, slower = (saved(tmp_path / name, factor) for name, factor in (("a", 1), ("b", 1), ("c", 1.2)))
    few = saved(tmp_path / "d", 1.2, blocks=3)
    threshold = ("--fail-if-slower", "5%")
    assert compare([str(before), str(same), *threshold]) == 0
    assert compare([str(before), str(slower), *threshold]) == THRESHOLD_MISSED
    assert capsys.readouterr().err == ""
    assert compare([str(before), str(few), *threshold]) == NO_VERDICT
    assert capsys.readouterr().err.startswith("Not passed: system 1 (3.14t+gil): no verdict to pass or fail by")
    assert compare([str(before), str(few)]) == 0


def test_compare_writes_junit_and_annotations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    before, slower = saved(tmp_path / "a"), saved(tmp_path / "b", 1.2)
    more = ("--fail-if-slower", "5%", "--github", "--junit", str(tmp_path / "junit.xml"))
    assert compare([str(before), str(slower), *more]) == THRESHOLD_MISSED
    assert capsys.readouterr().out.count("::error title=Slower%3A system 1 (3.14t") == 2
    assert 'failures="2"' in (tmp_path / "junit.xml").read_text()
    assert (tmp_path / "summary.md").read_text().startswith("# Comparison")
