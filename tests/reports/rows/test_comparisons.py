"""Comparisons of a run: which way a ratio goes, which cells are a pair, which gates hold, and what is one family."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import expm1, log
from typing import Any

import pytest

from core.cell import Value
from core.method import Method
from core.result import CellResult, Run
from reports.rows.comparisons import OVER_ALL, Comparison, compare, second_arms, time_ns
from reports.statistics.stats import effect
from tests.reports.sample import MS, cell_of, facts, faulty, measured, run_of
from tests.reports.sweeps import served

BLOCKS = 8
FEWEST_P = 2.0 ** (1 - BLOCKS)
AGAIN = " again"
NO_VALUES: Mapping[str, Value] = {}


def timed(arm: str, block: int, ms: float, values: Mapping[str, Value] = NO_VALUES, **more: Any) -> CellResult:
    """An ok cell of *arm* whose one client took *ms*."""
    cell = measured(cell_of("2", arm.removesuffix(AGAIN), values), block, [round(ms * MS)])
    return replace(cell, arm=arm, **more)


def steady(arm: str, ms: float, values: Mapping[str, Value] = NO_VALUES, blocks: int = BLOCKS) -> list[CellResult]:
    """As many blocks, all alike."""
    return [timed(arm, block, ms, values) for block in range(1, blocks + 1)]


def compared(cells: Sequence[CellResult], runtimes: Sequence[str] = ("3.11", "3.14")) -> list[Comparison]:
    return compare(run_of(cells, runtimes=runtimes))


def only(cells: Sequence[CellResult], runtimes: Sequence[str] = ("3.11", "3.14")) -> Comparison:
    (one,) = compared(cells, runtimes)
    return one


# ---- ratio and pairs -----------------------------------------------------------------------------------------------


def test_a_ratio_above_one_says_that_the_numerator_is_faster() -> None:
    one = only(steady("3.11", 3000) + steady("3.14", 1500))
    assert (one.denominator, one.numerator, one.step) == ("3.11", "3.14", "version")
    assert [one.ratio, one.low, one.high] == pytest.approx([2, 2, 2])
    assert (one.verdict, one.p, one.blocks) == ("faster", FEWEST_P, BLOCKS)


def test_a_ratio_below_one_says_that_it_is_slower() -> None:
    one = only(steady("3.11", 1500) + steady("3.14", 3000))
    assert one.ratio == pytest.approx(0.5)
    assert one.verdict == "slower"


def test_a_cells_time_is_the_median_over_its_clients() -> None:
    cell = measured(cell_of("2", "3.14"), 1, [1000 * MS, 1100 * MS, 9000 * MS])
    assert time_ns(cell, timed=False) == 1100 * MS


def test_cells_are_compared_within_their_block() -> None:
    """Every block takes twice as long as the one before: only pairs know that the ratio is 2."""
    blocks = range(1, 9)
    slow = [timed("3.11", block, 1000 * 2**block) for block in blocks]
    fast = [timed("3.14", block, 500 * 2**block) for block in blocks if block != 1]
    one = only(slow + fast)
    assert [one.ratio, one.high] == pytest.approx([2, 2])
    assert one.blocks == 7


def test_the_order_of_the_cells_does_not_matter() -> None:
    cells = [timed("3.11", block, 2000 + block) for block in range(1, 9)] + steady("3.14", 1000)
    assert compared(cells) == compared(cells[::-1])


def test_arms_that_share_no_block_are_inconclusive_and_have_no_figures() -> None:
    one = only([timed("3.11", 1, 2000), timed("3.14", 2, 2000)])
    assert (one.verdict, one.ratio, one.p, one.blocks) == ("inconclusive", None, None, 0)
    assert one.why.startswith("no block has both arms")


def test_systems_and_settings_are_compared_apart() -> None:
    cells = [
        one
        for sockets, ms in ((1, 1000), (5, 2000))
        for one in steady("3.11", 4000, {"PAYLOAD_BYTES": sockets}) + steady("3.14", ms, {"PAYLOAD_BYTES": sockets})
    ]
    found = [one for one in compared(cells) if one.system != OVER_ALL]
    assert [one.params["PAYLOAD_BYTES"] for one in found] == [1, 5]
    assert [one.ratio for one in found] == pytest.approx([4, 2])


def test_settings_come_in_the_plans_order() -> None:
    run = run_of(steady("3.11", 1000, {"PAYLOAD_BYTES": 5}) + steady("3.11", 1000, {"PAYLOAD_BYTES": 1}))
    run.cells = run.cells[::-1] + [replace(cell, arm="3.14", runtime="3.14") for cell in run.cells]
    run.plan["runtimes"], run.runtimes = ["3.11", "3.14"], {name: facts(name) for name in ("3.11", "3.14")}
    assert [one.params.get("PAYLOAD_BYTES") for one in compare(run)] == [5, 1, None]


def test_a_setting_has_no_step_between_runtimes_that_it_was_not_planned_under() -> None:
    python, native = {"NUM_CLIENTS": 1}, {"NUM_CLIENTS": 2}
    cells = [*steady("3.11", 1000, python), *steady("3.14", 1000, python), *steady("native", 500, native)]
    run = run_of(cells, runtimes=["native", "3.11", "3.14"])
    rows = [
        {"system": cells[0].system, "params": cells[0].params, "runtimes": ["3.11", "3.14"]},
        {"system": cells[-1].system, "params": cells[-1].params, "runtimes": ["native"]},
    ]
    found = compare(replace(run, plan={**run.plan, "rows": rows}))
    assert [(one.params.get("NUM_CLIENTS"), one.step) for one in found if one.system != OVER_ALL] == [(1, "version")]


def test_a_run_of_one_runtime_compares_nothing() -> None:
    assert compared(steady("3.11", 2000), ["3.11"]) == []


def test_four_runtimes_have_three_steps_and_the_whole_whose_ratio_is_their_product() -> None:
    ms = {"3.11": 4000, "3.14": 2000, "3.14t+gil": 2500, "3.14t": 1000}
    found = compared([cell for arm, one in ms.items() for cell in steady(arm, one)], list(ms))
    assert {one.step: one.ratio for one in found} == {
        "version": pytest.approx(2),
        "build": pytest.approx(0.8),
        "lock": pytest.approx(2.5),
        "whole": pytest.approx(4),
    }


def test_a_comparison_has_the_keys_of_result_json() -> None:
    keys = ["system", "params", "numerator", "denominator", "step", "ratio", "low", "high", "p", "verdict", "why"]
    assert [*only(steady("3.11", 2000) + steady("3.14", 2000)).to_json()][: len(keys)] == keys


# ---- gates ---------------------------------------------------------------------------------------------------------


def gated(bad: CellResult) -> Comparison:
    """The comparison of eight clear blocks, the second of which 3.14 did not pass."""
    cells = steady("3.11", 3000) + steady("3.14", 1500)
    return only([bad if (cell.arm, cell.block) == (bad.arm, bad.block) else cell for cell in cells])


def test_one_invalid_cell_makes_a_comparison_invalid_and_is_named() -> None:
    one = gated(faulty(cell_of("2", "3.14"), 2, "invalid", "the GIL was on at the end"))
    assert (one.verdict, one.ratio, one.low, one.p) == ("invalid", None, None, None)
    assert one.why == "3.14 in block 2: the GIL was on at the end"


def test_one_failed_cell_makes_a_comparison_invalid_and_is_counted() -> None:
    one = gated(faulty(cell_of("2", "3.14"), 2, "failed", "3 answers were wrong"))
    assert (one.verdict, one.why) == ("invalid", "1 of 16 cells failed: 3 answers were wrong")


def test_a_window_under_a_second_makes_a_comparison_invalid() -> None:
    one = only(steady("3.11", 899) + steady("3.14", 299))
    assert one.verdict == "invalid"
    assert one.why == "the timed window is 0.60 s; a verdict wants at least 1 s: more requests, or --duration 1"


def test_a_window_of_a_second_is_long_enough() -> None:
    one = only(steady("3.11", 999) + steady("3.14", 999))
    assert one.verdict == "equivalent"


def test_a_gate_closes_the_comparisons_of_its_arms_alone() -> None:
    cells = steady("3.11", 3000) + steady("3.14", 3000) + steady("3.14t+gil", 3000)
    bad = faulty(cell_of("2", "3.14t+gil"), 1, "invalid", "why")
    found = compared([cell for cell in cells if cell.cell_id != bad.cell_id or cell.block != 1] + [bad], _THREE)
    assert {one.step: one.verdict for one in found} == {"version": "equivalent", "build": "invalid", "whole": "invalid"}


_THREE = ("3.11", "3.14", "3.14t+gil")


# ---- notes ---------------------------------------------------------------------------------------------------------


def with_cpu(ms_each: int, **machine: int) -> Comparison:
    """One client of 2.001 s that spent ms_each in user and as much in kernel mode."""
    cells = [
        measured(cell_of("2", arm), block, [2000 * MS], cpu_ns=ms_each * MS)
        for arm in ("3.11", "3.14")
        for block in range(1, 9)
    ]
    run = run_of(cells, runtimes=["3.11", "3.14"])
    run.machine.update(machine)
    (one,) = compare(run)
    return one


def test_clients_above_80_percent_of_their_cores_are_noted_and_the_verdict_stands() -> None:
    one = with_cpu(850)
    assert one.notes == [
        "the clients used 85% of the cores they could have had: the service's figures are a lower bound"
    ]
    assert one.verdict == "equivalent"


def test_clients_at_80_percent_of_their_cores_are_not_noted() -> None:
    assert with_cpu(800).notes == []


def disturbed(count: int) -> list[str]:
    """The notes of 16 cells, *count* of which were disturbed."""
    texts = ["steal: 4 % of the time", "load: 3.1"]
    cells = steady("3.11", 2000) + steady("3.14", 2000)
    return only([replace(cell, disturbances=texts) for cell in cells[:count]] + cells[count:]).notes


def test_disturbances_in_more_than_a_quarter_of_the_cells_are_noted_by_kind() -> None:
    assert disturbed(5) == ["the machine was not quiet in 5 of 16 cells: steal, load"]


def test_disturbances_in_a_quarter_of_the_cells_are_not_noted() -> None:
    assert disturbed(4) == []


def test_another_compiler_is_named_as_a_confound() -> None:
    run = run_of(steady("3.11", 2000) + steady("3.14", 1000), runtimes=["3.11", "3.14"])
    run.runtimes["3.14"]["compiler"] = "Clang 18"
    (one,) = compare(run)
    assert one.confounds == ["compiler GCC 13.2.0 against Clang 18"]


# ---- A/A -----------------------------------------------------------------------------------------------------------


WOBBLE = (1.0, 1.06, 0.94, 1.05, 0.95, 1.06, 0.94, 1.0)


def wobbling(arm: str, ms: float) -> list[CellResult]:
    return [timed(arm, block, ms * one) for block, one in enumerate(WOBBLE, 1)]


def by_step(cells: Sequence[CellResult]) -> dict[str, Comparison]:
    return {one.step: one for one in compared(cells)}


def test_a_second_arm_is_known_by_its_other_name() -> None:
    run = run_of(steady("3.14", 1000) + steady("3.14 again", 1000), runtimes=["3.14"])
    assert second_arms(run) == {"3.14 again": "3.14"}
    (one,) = compare(run)
    assert (one.step, one.denominator, one.numerator, one.verdict) == ("aa", "3.14", "3.14 again", "equivalent")
    assert one.confounds == []


def test_the_noise_floor_is_half_the_width_of_the_a_a_interval_on_every_line() -> None:
    found = by_step(steady("3.11", 2000) + steady("3.14", 2000) + wobbling("3.14 again", 2000))
    floor = expm1(effect([-log(one) for one in WOBBLE]).half_width)
    assert 0.03 < floor < 0.10
    assert {step: one.noise_floor for step, one in found.items()} == {
        "aa": pytest.approx(floor, rel=1e-6),
        "version": pytest.approx(floor, rel=1e-6),
    }


def test_arms_that_are_alike_to_the_nanosecond_have_a_noise_floor_of_0() -> None:
    found = by_step(steady("3.11", 2000) + steady("3.14", 1000) + steady("3.14 again", 1000))
    assert {one.noise_floor for one in found.values()} == {0.0}


def test_there_is_no_noise_floor_without_an_a_a_arm_or_with_two_blocks_of_it() -> None:
    assert by_step(steady("3.11", 2000) + steady("3.14", 2000))["version"].noise_floor is None
    two = [cell for arm in ("3.11", "3.14", "3.14 again") for cell in steady(arm, 2000, blocks=2)]
    assert {one.noise_floor for one in by_step(two).values()} == {None}


def test_what_is_within_the_noise_of_the_machine_is_equivalent() -> None:
    """4 % is a verdict on a quiet machine; where an arm differs from itself by more, it is not."""
    plain = steady("3.11", 2080) + steady("3.14", 2000)
    assert by_step(plain)["version"].verdict == "faster"
    assert by_step(plain + wobbling("3.14 again", 2000))["version"].verdict == "equivalent"


def test_a_a_comes_first_and_is_no_part_of_the_family() -> None:
    cells = steady("3.11", 4000) + steady("3.14", 2000)
    found = compared(cells + steady("3.14 again", 1000))
    assert [one.step for one in found] == ["aa", "version"]
    assert [one.p for one in found] == [FEWEST_P, FEWEST_P]


def test_steps_of_all_settings_are_one_family() -> None:
    """Two settings and the mean over them: Holm makes the smallest p of three three times as large."""
    cells = [
        one
        for size in (0, 1)
        for arm, ms in (("3.11", 2000), ("3.14", 1000), ("3.14 again", 1000))
        for one in steady(arm, ms, {"PAYLOAD_BYTES": size})
    ]
    found = compared(cells)
    assert [one.p for one in found if one.step != "aa"] == [3 * FEWEST_P] * 3
    assert all(one.why.endswith("adjusted for 3 comparisons") for one in found if one.step != "aa")


# ---- over all ------------------------------------------------------------------------------------------------------


def two_settings(first: Sequence[CellResult]) -> list[CellResult]:
    second = {"PAYLOAD_BYTES": 1}
    return [*first, *steady("3.11", 8000, second), *steady("3.14", 1000, second)]


def test_one_setting_has_no_line_over_all() -> None:
    assert [one.system for one in compared(steady("3.11", 2000) + steady("3.14", 1000))] == ["2"]


def test_over_all_settings_stands_the_geometric_mean() -> None:
    """Of 2 and 8: 4."""
    found = compared(two_settings(steady("3.11", 2000) + steady("3.14", 1000)))
    assert [one.system for one in found] == ["2", "2", OVER_ALL]
    assert [one.ratio for one in found] == pytest.approx([2, 8, 4])
    assert (found[-1].params, found[-1].blocks, found[-1].notes) == ({}, BLOCKS, [])


def test_a_setting_that_did_not_pass_its_gates_is_not_in_the_mean() -> None:
    bad = [faulty(cell_of("2", "3.14"), block, "failed", "why") for block in range(1, 9)]
    found = compared(two_settings(steady("3.11", 2000) + bad))
    assert [(one.verdict, one.ratio) for one in found] == [
        ("invalid", None),
        ("faster", pytest.approx(8)),
        ("faster", pytest.approx(8)),
    ]


def test_where_no_setting_passed_there_is_no_mean() -> None:
    short = [cell for size in (0, 1) for arm in ("3.11", "3.14") for cell in steady(arm, 10, {"PAYLOAD_BYTES": size})]
    last = compared(short)[-1]
    assert (last.system, last.verdict, last.why) == (OVER_ALL, "invalid", "no setting passed its gates")


# ---- a duration in place of a count, and no clients ----------------------------------------------------------------


def for_two_seconds(rates: Mapping[str, float]) -> Run:
    run = run_of(
        [served(arm, block, rate, {}) for arm, rate in rates.items() for block in range(1, 9)], runtimes=[*rates]
    )
    run.plan["method"] = Method(duration_s=2.0).to_json()
    return run


def test_cells_timed_for_a_duration_are_compared_by_their_time_per_request() -> None:
    """All took two seconds; the one that answered three times as many requests is three times as fast."""
    (one,) = compare(for_two_seconds({"3.11": 1000, "3.14": 3000}))
    assert one.ratio == pytest.approx(3)
    assert one.verdict == "faster"


def test_the_time_of_a_thousand_requests_is_in_nanoseconds() -> None:
    assert time_ns(served("3.14", 1, 1000, {}), timed=True) == 1000 * MS


def test_a_duration_under_a_second_is_no_window_either() -> None:
    run = for_two_seconds({"3.11": 1000, "3.14": 3000})
    run.cells = [replace(cell, wall_ns=500 * MS) for cell in run.cells]
    assert [one.verdict for one in compare(run)] == ["invalid"]


def idle(arm: str, block: int) -> CellResult:
    """A cell without clients: services that were started, waited and were ended."""
    cell = measured(cell_of("2", arm, {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 0}), block, [MS])
    return replace(cell, wall_ns=0, clients=[], latency={})


def test_idle_cells_have_no_figures_in_any_comparison_and_spoil_none() -> None:
    cells = [idle(arm, block) for arm in ("3.11", "3.14") for block in range(1, 9)]
    found = compared([*cells, *steady("3.11", 3000), *steady("3.14", 1500)])
    measured_ones = [one for one in found if one.ratio is not None]
    assert {one.verdict for one in measured_ones} == {"faster"}
    assert [one.ratio for one in measured_ones] == [pytest.approx(2)] * len(measured_ones)
    assert all("no block has both arms" not in one.why for one in found)
