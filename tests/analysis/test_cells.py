"""Rows from cells: figures worked out by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from analysis.cell_index import Cells, reasons
from analysis.comparing import compare
from analysis.metrics import computed_completion_ns, pooled
from core.messages import verbatim
from record.child_lines import Turns
from reports.parts.run_words import loop_words
from reports.sections.results import section
from reports.view import View
from tests.analysis.timed_cells import timed
from tests.reports.sample import MS, SMALL, cell_of, measured, run_of, with_clients
from tests.reports.sweeps import served


def p99_of(*blocks: Sequence[int]) -> tuple[int | None, bool]:
    """Return the p99 of a row whose blocks have these latencies in ns, and whether it is pooled over the blocks."""
    cells = [measured(cell_of("1", "3.11", SMALL), block, [MS], latencies) for block, latencies in enumerate(blocks, 1)]
    row, _ = Cells(run_of(cells, blocks=len(blocks))).rows
    assert row.figures
    return row.figures["p99_ns"], "p99" in pooled(row.good)


def test_there_is_no_p99_of_fewer_than_a_thousand_requests() -> None:
    assert p99_of([10] * 999) == (None, True)


def test_a_rows_p99_is_the_median_of_its_blocks_and_of_all_requests_if_a_block_has_too_few() -> None:
    """The third block has a p99 ten times as long, which is the 99th percentile of all requests together, too."""
    blocks = [[10] * 1000, [20] * 1000, [10] * 900 + [200] * 100]
    assert p99_of(*blocks) == (20, False)
    assert p99_of(*(block[1:] for block in blocks)) == (200, True)


def test_a_row_leaves_out_the_blocks_that_do_not_count_in_its_comparison() -> None:
    """One verdict was 0.74x and the row's ratio 0.88, because of a block that was too short for later requests."""
    cells = []
    for arm, speeds, tail_ms in (("3.14", (100, 300, 300), 80), ("3.14t", (900, 200, 200), 200)):
        for block, (speed, length_ms) in enumerate(zip(speeds, (300, 500, 500), strict=True), 1):
            turns = Turns(slices=1, length_ns=length_ms * MS, tail_ns=tail_ms * MS if block == 3 else MS)
            cells.append(replace(served(arm, block, speed, {}), turns=turns))
    run = run_of(cells)
    rows = Cells(run).rows
    assert [row.columns["requests_per_s"] for row in rows] == [300, 200]
    assert [row.columns["blocks_ok"] for row in rows] == [2, 2]
    assert rows[1].ratio == pytest.approx(2 / 3)
    assert (compare(run)[0].ratio, compare(run)[0].blocks) == (rows[1].ratio, 2)
    assert any("too short for the longest requests" in str(note) for note in section(View(run)).notes)


def test_requests_that_were_due_and_never_sent_are_named() -> None:
    late = with_clients(timed("3.11", 1, 1000, {"RATE": 100}), requests=100, overdue=300)
    (_, words) = loop_words(Cells(run_of([late], runtimes=["3.11"])).rows)
    assert str(words).startswith("75.0% of the due requests were never sent")


def test_the_time_for_the_requests_of_the_original_experiment_is_computed_from_the_throughput() -> None:
    """3 services x 2 clients x 1,000 requests at 6,000 requests/s."""
    sizes = {"NUM_API_SERVICES": 3, "NUM_CLIENTS": 2, "NUM_REQUESTS_PER_CLIENT": 1000}
    cell = served("3.14", 1, 6000, sizes)
    assert computed_completion_ns(cell) is None, "it was measured"
    in_slices = replace(cell, turns=Turns(slices=2, length_ns=10**9))
    assert computed_completion_ns(in_slices) == 1_000_000_000
    assert computed_completion_ns(replace(in_slices, system="own")) is None


def test_of_a_long_reason_the_exception_stays() -> None:
    log = "ERROR: Traceback (most recent call last):\n  File 'app.py', line 3\nKeyError: 'DATABASE_URL'\n\nBye."
    cell = replace(measured(cell_of("1", "3.11", SMALL), 1, [MS]), status="failed", reason=verbatim(log))
    (reason,) = reasons([cell])
    assert str(reason) == "ERROR: Traceback (most recent call last): [...] KeyError: 'DATABASE_URL' [...] Bye."
