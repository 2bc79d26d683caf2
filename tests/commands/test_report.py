"""`runner.py report` on saved runs, in this process, without figures: tests/reports/test_write.py draws them."""

import json
from pathlib import Path
from statistics import median

import pytest

from commands.report import main as report
from record.run_file import load
from record.saved_run import FILE_NAME
from reports.exports import texts
from reports.render import figures
from tests.commands.saved import saved


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "page_panels", lambda *_: [""])
    monkeypatch.setattr(figures, "sheet", lambda *_: "")


def test_the_report_is_chinese_where_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "a")
    assert report([str(folder), "--lang", "zh"]) == 0
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
    good = [cell for cell in load(old).cells if cell.cell_id == document["cells"][0]["cell_id"]]
    wanted = median(cell.answered * 1e9 / cell.wall_ns for cell in good)
    assert shown["requests_per_s"] == {"value": pytest.approx(wanted), "unit": "1/s"}
    assert shown["blocks_ok"] == {"value": len(good), "unit": ""}
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
    assert told.err.startswith("error: cells.csv could not be created (KeyError: 'pgo', in test_report.py:")
    assert (folder / "report.html").is_file()
