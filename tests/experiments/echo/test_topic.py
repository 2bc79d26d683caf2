"""The experiment echo: in the seed's form, with its own faults said; and no 40 ms row unseen."""

import pytest

from core.histogram import Histogram
from core.result import CellResult
from tests.reports.contestants import blocks_of, contest_run, lines_of, sentences, table_of

FAST = [100_000, 100_000, 200_000, 200_000]


def echoing(system: str, asleep: float, awake: float) -> list[CellResult]:
    """Its cells with idle cores as they are, and held awake."""
    rates = {False: asleep, True: awake}
    return [cell for kept, rate in rates.items() for cell in blocks_of(system, rate, KEEP_AWAKE=kept)]


def test_cores_held_awake_stand_beside_the_others_and_who_overtakes_whom_is_named() -> None:
    run = contest_run(
        echoing("echo-netty", 30_000, 35_000),
        echoing("echo-libuv", 24_000, 43_000),
        echoing("echo-asyncio", 20_000, 30_000),
    )
    assert sentences(run)[1].endswith(
        "libuv (C) is the fastest with 43,000 requests/s; libuv (C) becomes faster than Netty (Java)."
    )
    rates = [line[2:4] for line in lines_of(table_of(run))]
    assert rates == [["30,000", "35,000"], ["24,000", "43,000"], ["20,000", "30,000"]]


def test_a_run_with_nagles_algorithm_says_so() -> None:
    run = contest_run(blocks_of("echo-libuv", 20_000, latencies_ns=FAST, NODELAY=False))
    assert sentences(run)[1].startswith("TCP_NODELAY is off in some measurements. Even there, no server")


def test_a_run_in_which_all_failed_says_that_nothing_was_measured() -> None:
    assert sentences(contest_run([])) == ["No system was measured."]


@pytest.mark.parametrize(("values", "expected"), [([100, 200], 50.0), ([7, 7, 7], 0.0), ([0, 0, 0, 200], 86.6025)])
def test_the_deviation_of_small_values_is_that_of_the_textbook(values: list[int], expected: float) -> None:
    latency = Histogram()
    for value in values:
        latency.record(value)
    assert latency.deviation_ns == pytest.approx(expected, rel=1e-5)
