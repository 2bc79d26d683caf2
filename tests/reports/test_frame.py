"""A run as a pandas frame. docs/explore.ipynb shows the frame of docs/example-run."""

from pathlib import Path

from record.run_file import RunFile
from reports.frame import frame
from tests.reports.sample import MS, cell_of, faulty, measured, run_of


def test_durations_are_integers_and_what_a_failed_cell_has_not_is_missing_and_not_0(tmp_path: Path) -> None:
    good = measured(cell_of("2", "3.14t"), 1, [499 * MS], [250_000] * 1000)
    RunFile(tmp_path).save(run_of([good, faulty(cell_of("4", "3.11"), 1, "failed", "died")]))
    cells = frame(tmp_path)
    assert list(cells["status"]) == ["ok", "failed"]
    for name in ("requests_per_s", "latency_p50_ns", "service_cpu_ns_per_request", "completion_median_ns"):
        assert list(cells[name].isna()) == [False, True]
    assert str(cells["latency_p50_ns"].dtype) == "Int64"
