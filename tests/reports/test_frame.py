"""A run as a pandas frame, and its flat cells."""

from pathlib import Path

import pytest

from core.result_file import RunFile
from reports.exports.texts import cell_lines
from reports.frame import frame
from tests.reports.sample import MS, cell_of, faulty, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}
CELLS = [
    measured(cell_of("2", "3.14t", SMALL), 1, [499 * MS], [250_000] * 1000, cpu_ns=5 * MS),
    faulty(cell_of("4", "3.11", SMALL), 1, "failed", "died"),
]


def test_a_frame_has_parameters_rates_percentiles_and_cpu_of_every_cell(tmp_path: Path) -> None:
    RunFile(tmp_path).save(run_of(CELLS))
    cells = frame(tmp_path)
    assert cells.shape[0] == 2
    first = cells.iloc[0]
    assert (first["status"], first["NUM_CLIENTS"], first["requests_per_s"]) == ("ok", 1, 2000)
    assert first["latency_p50_ns"] == pytest.approx(250_000, rel=0.004)
    assert first["client_cpu_ns_per_request"] == 10_000
    assert str(cells["latency_p50_ns"].dtype) == "Int64"


def test_what_a_failed_cell_has_not_is_missing_and_not_0() -> None:
    failed = cell_lines(run_of(CELLS))[1]
    assert failed["status"] == "failed"
    for name in ("requests_per_s", "latency_p50_ns", "service_cpu_ns_per_request", "completion_median_ns"):
        assert failed[name] is None
