"""Who serves most at each setting, and what share of that the others reach, with figures divided in the head."""

from dataclasses import replace

import pytest

from analysis.cell_index import Cells
from core.messages import verbatim
from record.saved_run import Status
from reports.parts.contest import contests, doubts, rate_share
from reports.view import View
from tests.reports.contestants import TITLES, blocks_of, contest_run


def test_threads_that_one_system_alone_varies_tell_its_rows_apart_and_are_no_setting() -> None:
    """Netty runs with one thread and with two; libuv, which reads the parameter too, with one."""
    netty = [blocks_of("echo-netty", rate, NUM_SERVER_THREADS=number) for number, rate in ((1, 30_000), (2, 45_000))]
    (contest,) = contests(Cells(contest_run(blocks_of("echo-libuv", 40_000), *netty)).rows, TITLES)
    assert [str(standing.name) for standing in contest.standings] == [
        "Netty (Java), NUM_SERVER_THREADS 2",
        "libuv (C)",
        "Netty (Java), NUM_SERVER_THREADS 1",
    ]


def test_a_share_is_of_the_same_block_and_not_of_medians() -> None:
    """Ratios within the blocks are 2, 2 and 0.5: 2. The medians, 200 and 120, would say 1.67."""
    rates = ((200, 100), (240, 120), (100, 200))
    row, base = [], []
    for block, (own, wrk) in enumerate(rates, 1):
        row += blocks_of("load-own", own, blocks=(block,))
        base += blocks_of("load-wrk", wrk, blocks=(block,))
    share = rate_share(*Cells(contest_run(row, base)).rows)
    assert share
    assert share.value == pytest.approx(2)


@pytest.mark.parametrize("status", ["invalid", "failed"])
def test_one_bad_block_withholds_the_share_and_is_told(status: Status) -> None:
    row, base = blocks_of("load-own", 200), blocks_of("load-wrk", 100)
    row[1] = replace(row[1], status=status, reason=verbatim("the GIL was on"))
    run = contest_run(row, base)
    assert rate_share(*Cells(run).rows) is None
    (said,) = doubts(View(run))
    assert "1 of 3 blocks " in str(said)
    assert f"{status}: the GIL was on." in str(said)


def test_a_contestant_of_which_every_block_failed_is_told_although_it_is_in_no_ranking() -> None:
    failed = [replace(cell, status="failed", reason=verbatim("no answer")) for cell in blocks_of("load-own", 200)]
    view = View(contest_run(failed, blocks_of("load-wrk", 100)))
    (contest,) = contests(view.rows, TITLES)
    assert [standing.row.system for standing in contest.standings] == ["load-wrk"]
    (said,) = doubts(view)
    assert "load-own" in str(said)
    assert "no answer" in str(said)


def test_a_a_that_differs_is_told_beside_a_ranking() -> None:
    first = blocks_of("load-own", 200, blocks=range(1, 9))
    again = [replace(cell, arm=f"{cell.arm} again", wall_ns=2 * cell.wall_ns) for cell in first]
    run = contest_run(first, again)
    assert [str(said).partition(",")[0] for said in doubts(View(run))] == ["A/A: two measurements of native differ"]
