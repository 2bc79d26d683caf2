"""`runner.py export` in this process."""

from pathlib import Path

import pytest

from commands.export import main as export
from tests.commands.saved import saved


def test_export_writes_the_format_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved(tmp_path / "a")
    assert export([str(folder), str(tmp_path / "to"), "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "to" / name) for name in ("table.csv", "cells.csv")]
