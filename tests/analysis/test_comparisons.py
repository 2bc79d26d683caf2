"""Comparisons of a run: which way a ratio goes, which cells are a pair, what time is compared, what is kept."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import expm1, log

import pytest

from analysis.comparing import compare
from analysis.comparison_words import Comparison
from analysis.decisions import is_decided, regressions
from analysis.pair_verdicts import AT_RATE, BUSY
from analysis.significance import SHARES
from analysis.stats import effect
from record.comparison import OVER_ALL, SavedComparison
from record.decode import decoded
from record.run_file import plain
from record.saved_run import CellResult
from reports.parts.comparison_table import part_verdict
from reports.parts.headline import headline, opposed_p99
from tests.analysis.timed_cells import BLOCKS, by_step, compared, in_blocks, only, steady
from tests.reports.sample import MS, cell_of, histogram_of, idle, measured, run_of, with_load


def test_a_ratio_above_one_says_that_the_numerator_is_faster() -> None:
    one = only(steady("3.11", 3000) + steady("3.14", 1500))
    assert (one.denominator, one.numerator, one.step) == ("3.11", "3.14", "version")
    assert [one.ratio, one.low, one.high] == pytest.approx([2, 2, 2])
    assert (one.verdict, one.p, one.blocks) == ("faster", 2**-7 / SHARES["throughput"], BLOCKS)


def test_one_starved_client_of_four_makes_the_arm_slower() -> None:
    """The median client takes 2 s in both; the work was done after 2 s and after 4."""
    times_ns = {"3.11": [1999 * MS] * 4, "3.14": [*[1999 * MS] * 3, 3999 * MS]}
    cells = [measured(cell_of("2", arm), block, times_ns[arm]) for arm in times_ns for block in range(1, 9)]
    assert only(cells).ratio == pytest.approx(0.5)


def test_cells_are_compared_within_their_block() -> None:
    """Every block takes twice as long as the one before: only pairs know that the ratio is 2."""
    times_ms = [500 * 2**block for block in range(9)]
    one = only(in_blocks("3.11", times_ms[1:]) + in_blocks("3.14", times_ms[:-1])[1:])
    assert [one.ratio, one.high] == pytest.approx([2, 2])
    assert one.blocks == 7


def test_idle_cells_have_no_figures_in_any_comparison_and_spoil_none() -> None:
    cells = [*steady("3.11", 3000), *steady("3.14", 1500)]
    found = compared([*map(idle, cells), *cells])
    assert {(one.verdict, round(one.ratio, 6)) for one in found if one.ratio} == {("faster", 2)}
    assert all("no block has both of the compared measurements" not in str(one.why) for one in found)


WOBBLE = (1.0, 1.06, 0.94, 1.05, 0.95, 1.06, 0.94, 1.0)


def test_the_noise_floor_is_how_far_the_a_a_interval_reaches_from_1_on_every_line() -> None:
    again = in_blocks("3.14 again", [2000 * one for one in WOBBLE])
    found = by_step(run_of(steady("3.11", 2000) + steady("3.14", 2000) + again))
    seen = effect([-log(one) for one in WOBBLE])
    floor = expm1(max(seen.high, -seen.low))
    assert 0.03 < floor < 0.10
    assert [one.noise_floor for one in found.values()] == pytest.approx([floor] * 2, rel=1e-6)


def two_settings(first: Sequence[CellResult]) -> list[CellResult]:
    second = in_blocks("3.11", [8000] * BLOCKS, system="3") + in_blocks("3.14", [1000] * BLOCKS, system="3")
    return [*first, *second]


def test_over_all_settings_stands_the_geometric_mean() -> None:
    """Of 2 and 8: 4."""
    found = compared(two_settings(steady("3.11", 2000) + steady("3.14", 1000)))
    assert [one.system for one in found] == ["2", "3", OVER_ALL]
    assert [one.ratio for one in found] == pytest.approx([2, 8, 4])
    assert (found[-1].params, found[-1].blocks) == ({}, BLOCKS)


def test_a_setting_that_did_not_pass_its_gates_is_not_in_the_mean() -> None:
    bad = [replace(cell, status="failed") for cell in steady("3.14", 1000)]
    cells = two_settings(steady("3.11", 2000) + bad)
    found = compared(cells)
    assert [one.verdict for one in found] == ["invalid", "faster", "faster"]
    assert found[-1].ratio == pytest.approx(8)
    last = compared([replace(cell, status="failed") for cell in cells])[-1]
    assert (last.system, last.verdict, str(last.why)) == (OVER_ALL, "invalid", "no setting passed its validity checks")


def test_a_comparison_is_kept_with_its_messages_and_reads_the_same_afterwards() -> None:
    run = run_of(steady("3.11", 2000) + steady("3.14", 1000))
    run.runtimes["3.14"] = replace(run.runtimes["3.14"], compiler="Clang 18")
    (one,) = compare(run)
    assert [*map(str, one.confounds)] == ["compiler: GCC 13.2.0 versus Clang 18"]
    kept = json.loads(json.dumps(plain(one), allow_nan=False))
    read = Comparison(**vars(decoded(kept, SavedComparison)))
    assert (str(read.why), [*map(str, read.limits)]) == (str(one.why), [*map(str, one.limits)])


REQUESTS = 1000  # so many that ten of them lie beyond p99
USUAL, TAIL = 200_000, 1_000_000


def answered(
    arm: str, usual_ns: int = USUAL, slow_ns: int = TAIL, *, ms: float = 2000, rate: int = 0
) -> list[CellResult]:
    """Alike blocks of *arm*, in which one request of 50 is slow: enough for verdicts on latency."""
    cell = cell_of("2", arm.removesuffix(" again"), {"NUM_REQUESTS_PER_CLIENT": REQUESTS, "RATE": rate})
    latencies = [slow_ns, *[usual_ns] * 49] * (REQUESTS // 50)
    cells = [measured(cell, block, [round(ms * MS)], latencies) for block in range(1, BLOCKS + 5)]
    return [replace(one, arm=arm, wall_ns=round(ms * MS)) for one in cells]


def tail_verdicts(one: Comparison) -> dict[str, str]:
    return {name: tail.verdict for name, tail in one.tails.items()}


def test_the_median_may_be_better_and_the_tail_worse_where_throughput_is_alike() -> None:
    """Half the median latency and three times the tail, in as much time: of every 50 requests one is slow."""
    one = only(answered("3.11") + answered("3.14", USUAL // 2, 3 * TAIL))
    assert one.verdict == "equivalent"
    assert [one.tails[name].ratio for name in ("p50", "p99")] == pytest.approx([2, 1 / 3], rel=0.01)
    assert tail_verdicts(one) == {"p50": "faster", "p99": "slower"}


def test_a_percentile_in_which_a_runtime_differs_from_itself_has_no_verdict_in_any_step() -> None:
    again = answered("3.14 again", slow_ns=2 * TAIL)
    found = by_step(run_of(answered("3.11", 2 * USUAL) + answered("3.14", slow_ns=3 * TAIL) + again))
    assert tail_verdicts(found["aa"]) == {"p50": "equivalent", "p99": "faster"}
    assert tail_verdicts(found["version"]) == {"p50": "faster", "p99": "invalid"}
    assert not opposed_p99(found["version"])


def test_what_withholds_the_verdict_on_throughput_withholds_those_on_latency() -> None:
    """Throughput of a runtime differs from itself by 10 %, so its p99 says nothing, either."""
    again = answered("3.14 again", ms=2200)
    found = by_step(run_of(answered("3.11") + answered("3.14", slow_ns=3 * TAIL) + again))
    assert (found["aa"].verdict, found["version"].verdict) == ("slower", "invalid")
    assert "two measurements of 3.14 differ" in str(found["version"].why)
    assert tail_verdicts(found["version"]) == {"p50": "invalid", "p99": "invalid"}


def test_a_percentile_that_one_block_lacks_is_not_compared() -> None:
    """The only block of 14 in which both runtimes had a p99 gave a ratio of the opposite direction."""
    cells = answered("3.11") + answered("3.14", slow_ns=3 * TAIL)
    for few, percentiles in ((999, {"p50"}), (1000, {"p50", "p99"})):
        cells[-1] = replace(cells[-1], latency=histogram_of([USUAL] * few))
        assert only(cells).tails.keys() == percentiles


def test_what_other_processes_withhold_is_inconclusive_in_latency_too_and_says_why() -> None:
    """A median latency was called invalid, although no gate failed."""
    cells = [with_load(cell, 0.52) for cell in answered("3.11") + answered("3.14", USUAL // 2, ms=1000)]
    one = only(cells)
    assert (one.verdict, one.obstacle.code) == ("inconclusive", BUSY)
    assert tail_verdicts(one) == {"p50": "inconclusive", "p99": "inconclusive"}
    shown = part_verdict(one.tails["p50"], one)
    assert (str(shown.words), shown.hint) == ("inconclusive", one.why)


def test_at_a_fixed_rate_latency_is_judged_and_throughput_is_not() -> None:
    """Both answer all requests of the rate, so the ratio of throughput is 1 by construction."""
    cells = answered("3.11", rate=500) + answered("3.14", USUAL // 2, 3 * TAIL, rate=500)
    one = only(cells)
    assert (one.verdict, one.why) == ("unjudged", AT_RATE)
    assert str(headline(one, {})) == (
        "System 2, requests at a fixed rate, 3.11 → 3.14: p50 is 50% lower and p99 is 200% higher."
    )
    assert is_decided(run_of(cells))
    assert regressions([one], 0.5) == ([one], [])
    assert regressions([one], 2.5) == ([], [])


def test_the_verdict_on_throughput_at_a_fixed_rate_does_not_weaken_the_others() -> None:
    """A comparison at a rate is no part of the family, so p of the only other one is not adjusted."""
    cells = answered("3.11", rate=100) + answered("3.14", rate=100)
    first, *_ = compared(steady("3.11", 3000) + steady("3.14", 1500) + cells)
    assert first.p == 2**-7 / SHARES["throughput"]
