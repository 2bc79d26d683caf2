"""Comparisons beside each other: A/A and the noise floor, one family, and the mean over all settings."""

from collections.abc import Sequence
from dataclasses import replace
from math import expm1, log

import pytest

from core.result import CellResult
from reports.facts.comparisons import Comparison
from reports.facts.pairs import OVER_ALL
from reports.statistics.stats import effect
from tests.reports.facts.timed_cells import BLOCKS, compared, steady, timed

WOBBLE = (1.0, 1.06, 0.94, 1.05, 0.95, 1.06, 0.94, 1.0)


def by_step(cells: Sequence[CellResult]) -> dict[str, Comparison]:
    return {one.step: one for one in compared(cells)}


def test_the_noise_floor_is_how_far_the_a_a_interval_reaches_from_1_on_every_line() -> None:
    again = [timed("3.14 again", block, 2000 * one) for block, one in enumerate(WOBBLE, 1)]
    found = by_step(steady("3.11", 2000) + steady("3.14", 2000) + again)
    seen = effect([-log(one) for one in WOBBLE])
    floor = expm1(max(seen.high, -seen.low))
    assert 0.03 < floor < 0.10
    assert [one.noise_floor for one in found.values()] == pytest.approx([floor] * 2, rel=1e-6)


def test_where_a_runtime_differs_from_itself_no_step_has_a_verdict() -> None:
    found = by_step(steady("3.11", 2000) + steady("3.14", 1000) + steady("3.14 again", 1100))
    assert {step: one.verdict for step, one in found.items()} == {"aa": "slower", "version": "invalid"}
    assert "two measurements of 3.14 differ" in str(found["version"].why)


def two_settings(first: Sequence[CellResult]) -> list[CellResult]:
    second = {"PAYLOAD_BYTES": 1}
    return [*first, *steady("3.11", 8000, second), *steady("3.14", 1000, second)]


def test_over_all_settings_stands_the_geometric_mean() -> None:
    """Of 2 and 8: 4."""
    found = compared(two_settings(steady("3.11", 2000) + steady("3.14", 1000)))
    assert [one.system for one in found] == ["2", "2", OVER_ALL]
    assert [one.ratio for one in found] == pytest.approx([2, 8, 4])
    assert (found[-1].params, found[-1].blocks) == ({}, BLOCKS)


def test_a_setting_that_did_not_pass_its_gates_is_not_in_the_mean() -> None:
    bad = [replace(cell, status="failed") for cell in steady("3.14", 1000)]
    found = compared(two_settings(steady("3.11", 2000) + bad))
    assert [one.verdict for one in found] == ["invalid", "faster", "faster"]
    assert found[-1].ratio == pytest.approx(8)


def test_where_no_setting_passed_there_is_no_mean() -> None:
    cells = [cell for size in (0, 1) for arm in ("3.11", "3.14") for cell in steady(arm, 999, {"PAYLOAD_BYTES": size})]
    last = compared([replace(cell, status="failed") for cell in cells])[-1]
    assert (last.system, last.verdict, str(last.why)) == (OVER_ALL, "invalid", "no setting passed its validity checks")
