"""Files for pyperf: their names, and that pyperf reads from them what the run measured."""

from dataclasses import replace
from pathlib import Path

import pyperf  # type: ignore[import-untyped]
import pytest

from reports.exports.pyperf_files import export
from reports.view import View
from tests.reports.compare.test_runs import cells, run

TIMES_MS = (2000, 2010, 1995, 2005, 1990, 2002)


def test_pyperf_reads_a_benchmark_per_setting_with_a_value_per_block(tmp_path: Path) -> None:
    made = run(cells(TIMES_MS))
    ((file,), _) = export(View(made), tmp_path)
    (benchmark,) = pyperf.BenchmarkSuite.load(str(file)).get_benchmarks()
    assert benchmark.get_name() == "system 1 NUM_API_SERVICES=1"
    assert benchmark.get_unit() == "second"
    assert benchmark.get_values() == pytest.approx([cell.wall_ns / cell.answered / 1e9 for cell in made.cells])
    assert benchmark.get_metadata()["gilscope_arm"] == "3.14t"


def test_arms_whose_names_differ_in_a_replaced_character_have_files_of_their_own(tmp_path: Path) -> None:
    alike = [replace(cell, arm=arm) for arm in ("a b", "a-b") for cell in cells(TIMES_MS)]
    files, _ = export(View(run(alike)), tmp_path)
    assert [file.name for file in files] == ["a-b.json", "a-b-.json"]
