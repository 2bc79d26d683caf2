"""Files for pyperf, and files of pyperf: what is written, what is read, and that pyperf itself agrees."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from core.errors import BadInput
from core.method import Method
from core.result import Run, RunFile
from reports.compare.members import times_fs
from reports.compare.runs import PER_PROCESS
from reports.exports.pyperf_files import export, saved_at
from reports.view import View
from tests.reports.compare.test_runs import cells, compared, run

TIMES_MS = (2000, 2010, 1995, 2005, 1990, 2002)
SLOWER_MS = tuple(round(1.2 * time_ms) for time_ms in TIMES_MS)

# As pyperf 2.10 writes it: a run that only calibrates, then a process each with warm-ups and values.
THEIRS: dict[str, Any] = {
    "version": "1.0",
    "metadata": {"cpu_count": 2, "cpu_model_name": "Sample CPU", "python_version": "3.14.7 (64-bit)", "unit": "second"},
    "benchmarks": [
        {
            "metadata": {"name": "loads", "loops": 4},
            "runs": [
                {"metadata": {"calibrate_loops": 4}, "warmups": [[1, 2e-8], [4, 2.5e-8]]},
                {"metadata": {"duration": 0.5}, "values": [2.1e-8, 2.0e-8, 9.9e-8], "warmups": [[4, 2.2e-8]]},
                {"values": [2.3e-8, 2.2e-8]},
            ],
        },
        {"metadata": {"name": "memory", "unit": "byte"}, "runs": [{"values": [1024]}]},
        {"metadata": {"name": "nothing"}, "runs": [{"metadata": {"calibrate_loops": 1}, "warmups": [[1, 1e-8]]}]},
    ],
}


def exported(made: Run, to: Path) -> tuple[Path, ...]:
    return export(View(made), to).paths


def written(content: Any, folder: Path, name: str = "theirs.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_file_name_is_kept_for_one_arm_and_gets_the_arm_for_several(tmp_path: Path) -> None:
    assert exported(run(cells(TIMES_MS)), tmp_path / "out.json") == (tmp_path / "out.json",)
    several = exported(run(cells(TIMES_MS), cells(TIMES_MS, "3.14t+gil")), tmp_path / "out.json")
    assert [path.name for path in several] == ["out-3.14t.json", "out-3.14t+gil.json"]


def test_exported_files_are_compared_like_the_runs_they_come_from(tmp_path: Path) -> None:
    runs = [run(cells(times_ms)) for times_ms in (TIMES_MS, SLOWER_MS)]
    files = [exported(one, tmp_path / f"{number}.json")[0] for number, one in enumerate(runs)]
    (of_runs,) = compared(*runs).cells
    (of_files,) = compared(*map(saved_at, files)).cells
    where = {name: getattr(of_runs.comparison, name) for name in ("system", "params", "denominator", "numerator")}
    assert replace(of_files.comparison, **where) == of_runs.comparison
    assert of_runs.comparison.verdict == "slower"
    assert of_files.comparison.system == "system 1 NUM_API_SERVICES=1"


def test_exported_files_of_another_method_must_not_be_compared(tmp_path: Path) -> None:
    runs = [run(cells(TIMES_MS)) for _ in range(2)]
    runs[1].plan["method"] = Method(client_runtime="3.11").to_json()
    files = [saved_at(exported(one, tmp_path / f"{number}.json")[0]) for number, one in enumerate(runs)]
    with pytest.raises(BadInput, match=r"the clients' runtime: same \(A\); 3\.11 \(B\)"):
        compared(*files)


def test_a_process_of_pyperf_counts_once_with_the_median_of_its_values_and_what_has_no_times_is_named(
    tmp_path: Path,
) -> None:
    saved = saved_at(written(THEIRS, tmp_path))
    (row,) = View(saved).rows
    assert (row.system, row.runtime) == ("loads", "")
    assert times_fs(row) == {1: 21_000_000, 2: 22_500_000}
    assert (saved.machine["cpu"], saved.machine["cores"]) == ("Sample CPU", 2)
    assert [*map(str, saved.damaged)] == [
        "memory: the benchmark is measured in byte, not in seconds",
        "nothing: the benchmark has no values",
    ]
    both = compared(saved, saved)
    assert PER_PROCESS in both.notes
    assert "This result of run B is not used: nothing: the benchmark has no values." in map(str, both.troubles)


def with_runs(runs: Any, **metadata: Any) -> dict[str, Any]:
    return {"version": "1.0", "benchmarks": [{"metadata": {"name": "x", **metadata}, "runs": runs}]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[" * 100_000, "is not JSON"),
        ({"version": 5, "benchmarks": []}, "has version 5 of pyperf's format, but only 6 and 1.0 are supported"),
        ({"version": "1.0", "benchmarks": [{"runs": [{"values": [1.0]}]}]}, "is not a complete pyperf file: 'name'"),
        (with_runs([]), r"no benchmark in it has times \(x: the benchmark has no values\)"),
        (with_runs(None), "is not a complete pyperf file"),
        (with_runs([{"values": [1.0]}], name=3), "is not a complete pyperf file"),
        (with_runs([{"values": [0.0]}]), "x has the value 0.0; it must be seconds above 0"),
        (with_runs([{"values": [float("nan")]}]), "x has the value nan"),
        (with_runs([{"values": [True]}]), "x has the value True"),
        (with_runs([{"values": [1e-20]}]), "x has the value 1e-20"),
        (with_runs([{"values": [1.0]}], gilscope_method="{}"), "is not a complete pyperf file"),
        ({"version": "1.0", "benchmarks": with_runs([{"values": [1.0]}])["benchmarks"] * 2}, "two benchmarks called"),
    ],
)
def test_a_file_that_is_none_is_bad_input(content: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=why):
        saved_at(written(content, tmp_path))


@pytest.mark.parametrize("name", ["absent", "broken.json.gz", "."])
def test_a_file_that_cannot_be_read_is_bad_input(name: str, tmp_path: Path) -> None:
    (tmp_path / "broken.json.gz").write_bytes(gzip.compress(b"{}" * 1000)[:20])
    with pytest.raises(BadInput, match="cannot be read"):
        saved_at(tmp_path / name)


def test_runs_and_files_of_pyperf_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run(cells(TIMES_MS)))
    renamed = tmp_path / "baseline.json"
    renamed.write_bytes((tmp_path / "result.json").read_bytes())
    for where in (tmp_path, tmp_path / "result.json", renamed):
        assert [row.runtime for row in View(saved_at(where)).rows] == ["3.14t"]
    compressed = tmp_path / "theirs.json.gz"
    compressed.write_bytes(gzip.compress(written(THEIRS, tmp_path).read_bytes()))
    assert [row.system for row in View(saved_at(compressed)).rows] == ["loads"]
    with pytest.raises(BadInput, match="has schema None"):
        saved_at(written({}, tmp_path))


def test_a_file_that_pyperf_wrote_is_read(tmp_path: Path) -> None:
    path = tmp_path / "timeit.json"
    options = ["--quiet", "-p2", "-n3", "-w1", "-l1000", "--name=sum", "sum(range(99))", "-o"]
    subprocess.run([sys.executable, "-m", "pyperf", "timeit", *options, path], check=True, timeout=60)
    saved = saved_at(path)
    (row,) = View(saved).rows
    values = [one["values"] for one in json.loads(path.read_text())["benchmarks"][0]["runs"]]
    assert [*times_fs(row).values()] == [round(median(some) * 1e15) for some in values]
    assert compared(saved, saved).cells[0].comparison.ratio == 1
