"""Comparisons beside each other: A/A and the noise floor, one family, and the mean over all settings."""

from collections.abc import Sequence
from dataclasses import replace
from math import expm1, log

import pytest

from core.result import CellResult
from reports.rows.comparisons import Comparison, compare
from reports.rows.pairs import OVER_ALL, second_arms
from reports.statistics.stats import effect
from tests.reports.rows.timed_cells import BLOCKS, FEWEST_P, compared, steady, timed
from tests.reports.sample import cell_of, faulty, run_of

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


def test_the_noise_floor_is_how_far_the_a_a_interval_reaches_from_1_on_every_line() -> None:
    found = by_step(steady("3.11", 2000) + steady("3.14", 2000) + wobbling("3.14 again", 2000))
    seen = effect([-log(one) for one in WOBBLE])
    floor = expm1(max(seen.high, -seen.low))
    assert seen.high != -seen.low
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


def test_a_noisy_a_a_makes_no_difference_equivalent_and_sets_a_floor_only_if_it_is_valid() -> None:
    plain = steady("3.11", 2080) + steady("3.14", 2000)
    assert by_step(plain + wobbling("3.14 again", 2000))["version"].verdict == "faster"
    bad = faulty(cell_of("2", "3.14"), 9, "invalid", "the GIL was on at the end")
    found = by_step([*plain, *wobbling("3.14 again", 2000), replace(bad, arm="3.14 again")])
    assert {one.noise_floor for one in found.values()} == {None}


def test_where_a_runtime_differs_from_itself_no_step_has_a_verdict() -> None:
    found = by_step(steady("3.11", 2000) + steady("3.14", 1000) + steady("3.14 again", 1100))
    assert found["aa"].verdict == "slower"
    assert found["version"].verdict == "invalid"
    assert found["version"].ratio == pytest.approx(2)
    assert "3.14 differs from itself" in str(found["version"].why)


def test_a_cell_far_slower_than_the_others_of_its_arm_is_counted() -> None:
    """One of eight twice as slow: the median is 2, and total time is not."""
    slow = [timed("3.14", block, 2000 if block == 3 else 1000) for block in range(1, 9)]
    found = by_step(steady("3.11", 2000) + slow)["version"]
    assert found.far_slower == {"denominator": 0, "numerator": 1}
    assert [str(note) for note in found.notes] == ["1 cell of 3.14 was slower than its others by a quarter or more"]


def test_a_a_comes_first_and_is_no_part_of_the_family() -> None:
    cells = steady("3.11", 4000) + steady("3.14", 2000)
    found = compared(cells + steady("3.14 again", 2000))
    assert [one.step for one in found] == ["aa", "version"]
    assert [one.p for one in found] == [1, FEWEST_P]


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
    assert all(str(one.why).endswith("adjusted for 3 comparisons") for one in found if one.step != "aa")


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
    cells = [cell for size in (0, 1) for arm in ("3.11", "3.14") for cell in steady(arm, 999, {"PAYLOAD_BYTES": size})]
    last = compared([replace(cell, status="failed") for cell in cells])[-1]
    assert (last.system, last.verdict, str(last.why)) == (OVER_ALL, "invalid", "no setting passed its gates")
