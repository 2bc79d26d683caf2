"""Who serves most at each setting, and what share of that the others reach, with figures divided in the head."""

import pytest

from reports.facts.cells import Cells
from reports.topics.contest import (
    Contest,
    contests,
    rate_share,
)
from tests.reports.contestants import TITLES, blocks_of, contest_run


def names(contest: Contest) -> list[str]:
    """The contestants' names, the first first."""
    return [str(standing.name) for standing in contest.standings]


def test_threads_that_one_system_alone_varies_tell_its_rows_apart_and_are_no_setting() -> None:
    """Netty runs with one thread and with two; libuv, which reads the parameter too, with one."""
    netty = [blocks_of("echo-netty", rate, NUM_SERVER_THREADS=number) for number, rate in ((1, 30_000), (2, 45_000))]
    (contest,) = contests(Cells(contest_run(blocks_of("echo-libuv", 40_000), *netty)).rows, TITLES)
    assert names(contest) == [
        "Netty (Java), NUM_SERVER_THREADS 2",
        "libuv (C)",
        "Netty (Java), NUM_SERVER_THREADS 1",
    ]


def test_a_share_is_of_the_same_block_and_not_of_medians() -> None:
    """Ratios within the blocks are 2, 2 and 0.5: 2. The medians, 200 and 120, would say 1.67."""
    rates = ((200, 100), (240, 120), (100, 200))
    row, base = (
        [cell for block, pair in enumerate(rates, 1) for cell in blocks_of(system, pair[side], blocks=(block,))]
        for side, system in enumerate(("load-own", "load-wrk"))
    )
    share = rate_share(*Cells(contest_run(row, base)).rows)
    assert share
    assert share.value == pytest.approx(2)
