"""`runner.py report`, `list`, `export` and `compare` on saved runs, in this process.

They draw no figures: tests/reports/test_write.py does.
"""

import json
import re
from pathlib import Path

import pytest

import runner
from commands.compare import main as compare
from commands.export import main as export
from commands.list import main as list_runs
from commands.output import NO_VERDICT, THRESHOLD_MISSED
from commands.report import main as report
from commands.report import write
from record.run_file import RunFile, load
from record.saved_run import FILE_NAME
from reports.exports import texts
from reports.render import figures
from reports.render.listing import saved_runs
from tests.analysis.searches import searched, steep
from tests.commands.saved import saved


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "page_panels", lambda *_: [""])
    monkeypatch.setattr(figures, "sheet", lambda *_: "")


def test_the_report_is_chinese_where_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "a")
    assert runner.main(["report", str(folder), "--lang", "zh"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"网页：{folder}/report.html"
    assert '<html lang="zh-Hans">' in (folder / "report.html").read_text(encoding="utf-8")


def test_json_is_one_document_with_the_comparisons_of_the_file_that_was_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        saved(tmp_path / name)
    old = (tmp_path / "a" / FILE_NAME).rename(tmp_path / "old.json")
    assert report([str(old), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert ([one["step"] for one in document["comparisons"]], len(document["cells"])) == (["lock"], 12)
    assert not (tmp_path / FILE_NAME).exists()
    shown = document["figures"][0]["figures"]
    # The blocks take from 2.002 to 2.007 s, each for 1000 requests.
    assert shown["requests_per_s"] == {"value": pytest.approx((1000 / 2.004 + 1000 / 2.005) / 2), "unit": "1/s"}
    assert shown["blocks_ok"] == {"value": 6, "unit": ""}
    old.write_text(json.dumps(document))
    assert load(old).cells == load(tmp_path / "b").cells


def test_a_file_that_cannot_be_made_is_named_and_the_rest_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> str:
        raise KeyError("pgo")

    monkeypatch.setattr(texts, "cells_sheet", broken)
    folder = saved(tmp_path / "a")
    assert report([str(folder)]) == 1
    told = capsys.readouterr()
    assert told.err.startswith("error: cells.csv could not be created (KeyError: 'pgo', in test_saved_runs.py:")
    assert (folder / "report.html").is_file()


def test_the_headline_of_a_search_is_the_capacity(tmp_path: Path) -> None:
    run = searched(steep, arms=("3.14",))
    write(tmp_path, run)
    RunFile(tmp_path).save(run)
    (found,) = saved_runs(tmp_path)
    assert re.fullmatch(r"3\.14 serves [0-9]+ .* requests/s with p99<60ms\.", str(found.verdict))


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
