"""The record of the experiment echo: in the seed's form, with its own faults said; and no 40 ms row unseen."""

import pytest

from core.histogram import Histogram
from reports.contests.echo import block, deviation_ns, echo_page, sentences, shorts
from reports.rows.standings import contests
from reports.rows.summary import rows
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.sample import MS

FAST = [100_000, 100_000, 200_000, 200_000]
LIBUV = blocks_of("echo-libuv", 20_000, latencies_ns=FAST, NUM_CONNECTIONS_PER_CLIENT=3)
UVLOOP = blocks_of("echo-uvloop", 10_000, runtime="3.14t", latencies_ns=FAST, NUM_CONNECTIONS_PER_CLIENT=3)


def test_the_fastest_is_named_with_the_others_shares() -> None:
    run = contest_run(LIBUV, UVLOOP)
    said = sentences(run, rows(run), TITLES)
    assert said[0] == (
        "libuv (C) is first with 20,000 requests/s; uvloop (Python over libuv), 3.14t 0.50 [0.50, 0.50]."
    )
    assert said[1].startswith("No row is a 40 ms row")
    assert said[1].endswith("TCP_NODELAY is on.")
    assert len(said) == 2


def test_a_row_of_40_ms_is_named() -> None:
    slow = blocks_of("echo-asio", 75, latencies_ns=[40 * MS] * 3)
    run = contest_run(blocks_of("echo-libuv", 20_000, latencies_ns=FAST), slow)
    (line,) = (line for line in sentences(run, rows(run), TITLES) if "delayed ACK" in line)
    assert line.startswith("Half of the requests took 35 ms or more")
    assert "echo-asio" in line
    assert "libuv" not in line


def test_a_run_with_nagles_algorithm_says_so() -> None:
    run = contest_run(blocks_of("echo-libuv", 20_000, latencies_ns=FAST, NODELAY=False))
    assert sentences(run, rows(run), TITLES)[1].endswith("TCP_NODELAY is off in some rows.")


def test_a_run_in_which_all_failed_says_that_nothing_was_measured() -> None:
    run = contest_run([])
    assert sentences(run, [], TITLES) == ["Nothing was measured."]


def test_what_is_not_there_is_said_with_its_reason() -> None:
    run = contest_run(LIBUV, absent={("echo-tokio", "native"): "not built: needs cargo"})
    assert sentences(run, rows(run), TITLES)[-1] == "Not measured: echo-tokio: not built: needs cargo."


def test_a_row_is_written_in_the_seeds_form_with_the_real_concurrency_beside_it() -> None:
    """20,000 requests/s of 1,000 B are 19.07 MiB/s; times 0.15 ms they are 3 at once; the deviation is 0.05 ms.

    That is 33.33 %, and 33.37 % from the middles of the buckets.
    """
    (contest,) = contests(rows(contest_run(LIBUV)), TITLES)
    text = block(contest.standings[0])
    assert text.splitlines()[1:-1] == [
        "libuv (C), connections: 3, runtime: native",
        "12 0.98KiB messages in 6 seconds (3 blocks)",
        "Latency: min 0.100ms; max 0.200ms; mean 0.150ms; std: 0.050ms (33.37%)",
        (
            "Latency distribution: 25% under 0.100ms; 50% under 0.100ms; 75% under 0.200ms; 90% under 0.200ms; "
            "99% under 0.200ms"
        ),
        "Requests/sec: 20000.00",
        "Transfer/sec: 19.07MiB",
        "Requests/sec x mean latency: 3.00; TCP_NODELAY on; buffers as the kernel has them",
    ]


@pytest.mark.parametrize(("messages", "is_there"), [(33_333, False), (33_334, True)])
def test_the_last_percentile_needs_ten_messages_above_it(messages: int, is_there: bool) -> None:
    (contest,) = contests(rows(contest_run(blocks_of("echo-libuv", 9, latencies_ns=[50_000] * messages))), TITLES)
    assert ("99.99% under 0.050ms" in block(contest.standings[0])) is is_there  # three blocks


def test_the_page_has_a_table_for_each_setting_each_row_and_the_seeds_figures_as_another_machines() -> None:
    large = blocks_of("echo-libuv", 5_000, latencies_ns=FAST, NUM_CONNECTIONS_PER_CLIENT=3, MESSAGE_BYTES=10_240)
    other = blocks_of("echo-asio", 4_000, latencies_ns=FAST, NUM_CONNECTIONS_PER_CLIENT=3, MESSAGE_BYTES=10_240)
    run = contest_run(LIBUV, UVLOOP, large, other)
    page = echo_page(run, rows(run), TITLES)
    assert page.startswith("# echo: 20260102T030405-sample\n")
    heads = [line for line in page.splitlines() if line.startswith("## ")]
    assert heads == [
        *["## MESSAGE_BYTES 1000", "## MESSAGE_BYTES 10240"],
        *["## Each row in the seed's form", "## The seed's own figures: another machine's"],
    ]
    assert page.count("Requests/sec x mean latency: ") == 4
    cells = [part.strip() for part in _line(page, "| libuv (C)").strip("|").split("|")]
    assert cells[:5] == ["libuv (C)", "-", "20,000", "19.1", "150"]
    assert cells[-1] == "1.00 [1.00, 1.00]"
    assert "| python3 + uvloop" in page
    assert "58,389" in page
    assert "one connection" in page


def _line(page: str, begin: str) -> str:
    return next(line for line in page.splitlines() if line.startswith(begin))


def test_a_terminal_has_room_for_five_columns() -> None:
    (table,) = shorts(rows(contest_run(LIBUV, UVLOOP)), TITLES)
    assert table.title == "All servers"
    assert len(table.heads) == 5
    assert [(line[0], line[1], line[4]) for line in table.lines] == [
        ("libuv (C)", "20,000", "1.00 [1.00, 1.00]"),
        ("uvloop (Python over libuv), 3.14t", "10,000", "0.50 [0.50, 0.50]"),
    ]


@pytest.mark.parametrize(("values", "expected"), [([100, 200], 50.0), ([7, 7, 7], 0.0), ([0, 0, 0, 200], 86.6025)])
def test_the_deviation_of_small_values_is_that_of_the_textbook(values: list[int], expected: float) -> None:
    latency = Histogram()
    for value in values:
        latency.record(value)
    assert deviation_ns(latency) == pytest.approx(expected, rel=1e-5)
