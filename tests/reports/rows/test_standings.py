"""Who serves most at each setting, and what share of that the others reach, with figures divided in the head."""

import pytest

from reports.document.model import estimate
from reports.document.values import hundredths
from reports.rows.standings import (
    Contest,
    client_cpu_share,
    contests,
    mean_latency_ns,
    rate_share,
)
from reports.rows.summary import rows
from reports.statistics.stats import Estimate
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.sample import MS, cell_of, faulty


def names(contest: Contest) -> list[str]:
    """The contestants' names, the first first."""
    return [str(standing.name) for standing in contest.standings]


def share_text(share: Estimate | None) -> str:
    return estimate(share, hundredths) if share else "-"


def test_the_one_with_most_requests_is_first_and_the_others_have_their_share_of_its() -> None:
    slow, fast = blocks_of("echo-uvloop", 25_000, runtime="3.14t"), blocks_of("echo-libuv", 50_000)
    (contest,) = contests(rows(contest_run(slow, fast)), TITLES)
    assert names(contest) == ["libuv (C)", "uvloop (Python over libuv), 3.14t"]
    assert [one.requests_per_s for one in contest.standings] == [50_000, 25_000]
    shares = [one.share for one in contest.standings]
    assert [(one.value, one.count) for one in shares if one] == [(1.0, 3), (pytest.approx(0.5), 3)]
    assert contest.reference is contest.standings[0]
    assert not contest.label


def test_a_share_is_paired_by_block() -> None:
    """A machine that is twice as slow in block 2 is so for both: half of it in every block."""
    fast = [*blocks_of("echo-libuv", 40_000, blocks=(1, 3)), *blocks_of("echo-libuv", 20_000, blocks=(2,))]
    slow = [*blocks_of("echo-tokio", 20_000, blocks=(1, 3)), *blocks_of("echo-tokio", 10_000, blocks=(2,))]
    (contest,) = contests(rows(contest_run(fast, slow)), {})
    share = contest.standings[1].share
    assert share is not None
    assert [share.value, share.low, share.high] == pytest.approx([0.5, 0.5, 0.5])


def test_what_all_read_and_what_several_vary_is_a_setting() -> None:
    cells = [
        blocks_of(name, rate, MESSAGE_BYTES=size)
        for size, rates in ((1000, (50_000, 40_000)), (102_400, (5_000, 8_000)))
        for name, rate in zip(("echo-libuv", "echo-asio"), rates, strict=True)
    ]
    small, large = contests(rows(contest_run(*cells)), TITLES)
    assert (str(small.label), str(large.label)) == ("MESSAGE_BYTES 1000", "MESSAGE_BYTES 102400")
    assert (names(small)[0], names(large)[0]) == ("libuv (C)", "echo-asio")


def test_threads_that_one_system_alone_varies_tell_its_rows_apart_and_are_no_setting() -> None:
    """Netty runs with one thread and with two; libuv, which reads the parameter too, with one."""
    netty = [blocks_of("echo-netty", rate, NUM_SERVER_THREADS=number) for number, rate in ((1, 30_000), (2, 45_000))]
    (contest,) = contests(rows(contest_run(blocks_of("echo-libuv", 40_000), *netty)), TITLES)
    assert contest.setting == {}
    assert names(contest) == [
        "Netty (Java), NUM_SERVER_THREADS 2",
        "libuv (C)",
        "Netty (Java), NUM_SERVER_THREADS 1",
    ]


def test_messages_of_a_size_that_only_one_system_was_measured_at_are_a_setting_of_their_own() -> None:
    cells = [blocks_of("echo-libuv", 9000, MESSAGE_BYTES=size) for size in (1000, 10_240)]
    found = contests(rows(contest_run(*cells, blocks_of("echo-asio", 8000, MESSAGE_BYTES=1000))), TITLES)
    assert [len(one.standings) for one in found] == [2, 1]


def test_one_system_that_is_swept_alone_has_a_contest_for_each_value() -> None:
    cells = [blocks_of("echo-libuv", 1000 * count, NUM_CONNECTIONS_PER_CLIENT=count) for count in (1, 10)]
    found = contests(rows(contest_run(*cells)), TITLES)
    assert [str(contest.label) for contest in found] == [
        "NUM_CONNECTIONS_PER_CLIENT 1",
        "NUM_CONNECTIONS_PER_CLIENT 10",
    ]


def test_shares_refer_to_the_system_that_is_named_also_where_it_is_not_first() -> None:
    cells = blocks_of("load-own", 100_000), blocks_of("load-wrk", 110_000)
    (contest,) = contests(rows(contest_run(*cells)), TITLES, reference="load-own")
    assert names(contest) == ["wrk", "gilscope's own generator"]
    assert contest.reference.row.system == "load-own"
    shares = [one.share.value for one in contest.standings if one.share]
    assert shares == [pytest.approx(1.1), 1.0]


def test_runtimes_can_be_settings() -> None:
    cells = [
        blocks_of(name, rate, runtime=runtime)
        for runtime in ("3.11", "3.14t")
        for name, rate in (("echo-uvloop", 20_000), ("echo-asyncio", 10_000))
    ]
    found = contests(rows(contest_run(*cells)), TITLES, by_runtime=True)
    assert [str(contest.label) for contest in found] == ["runtime 3.11", "runtime 3.14t"]
    assert names(found[0]) == ["uvloop (Python over libuv)", "asyncio (Python)"]
    assert [one.share.value for one in found[1].standings if one.share] == [1.0, pytest.approx(0.5)]


def test_a_row_without_figures_takes_no_part_and_no_rows_are_no_contest() -> None:
    failed = [faulty(cell_of("echo-tokio", "native"), block, "failed", "it died") for block in (1, 2, 3)]
    (contest,) = contests(rows(contest_run(blocks_of("echo-libuv", 1000), failed)), TITLES)
    assert names(contest) == ["libuv (C)"]
    assert contests(rows(contest_run(failed)), TITLES) == []
    assert contests([], TITLES) == []


def test_rows_that_have_no_block_in_common_have_no_share() -> None:
    first, last = rows(
        contest_run(blocks_of("echo-libuv", 2000, blocks=(1,)), blocks_of("echo-asio", 1000, blocks=(2,)))
    )
    assert rate_share(last, first) is None


def test_with_two_blocks_there_is_a_share_and_no_interval() -> None:
    cells = blocks_of("echo-libuv", 2000, blocks=(1, 2)), blocks_of("echo-asio", 1000, blocks=(1, 2))
    first, last = rows(contest_run(*cells))
    assert share_text(rate_share(last, first)) == "0.50"


def test_client_cpu_is_per_request() -> None:
    """2 x 10 ms for 2,000 requests are 10 us each, for 1,000 are 20 us."""
    one, other = rows(contest_run(blocks_of("load-own", 1000), blocks_of("load-wrk", 500)))
    assert share_text(client_cpu_share(one, other)) == "0.50 (0.50 - 0.50)"
    silent = {"cpu_user_ns": 0, "cpu_system_ns": 0}
    (nothing,) = rows(contest_run(blocks_of("load-ab", 500, client=silent)))
    assert client_cpu_share(one, nothing) is None


def test_a_share_is_of_the_same_block_and_not_of_medians() -> None:
    """Ratios within the blocks are 2, 2 and 0.5: 2. The medians, 200 and 120, would say 1.67."""
    rates = ((200, 100), (240, 120), (100, 200))
    row, base = (
        [cell for block, pair in enumerate(rates, 1) for cell in blocks_of(system, pair[side], blocks=(block,))]
        for side, system in enumerate(("load-own", "load-wrk"))
    )
    share = rate_share(*rows(contest_run(row, base)))
    assert share is not None
    assert share.value == pytest.approx(2)


def test_the_mean_latency_is_the_median_of_the_blocks_means() -> None:
    cells = [
        *blocks_of("echo-libuv", 1000, blocks=(1,), latencies_ns=[1 * MS, 3 * MS]),
        *blocks_of("echo-libuv", 1000, blocks=(2,), latencies_ns=[4 * MS, 6 * MS]),
        *blocks_of("echo-libuv", 1000, blocks=(3,), latencies_ns=[90 * MS]),
    ]
    assert mean_latency_ns(cells) == 5 * MS
    assert mean_latency_ns([]) is None
