"""The simulation uses the report's own methods, and a small one holds what docs/statistics.md shows of a large one."""

import numpy as np
import pytest

from benchmarks.method_simulated import (
    NOISY,
    QUIET,
    calibrated_widening,
    effects,
    false_verdicts,
    main,
    outcome,
)
from reports.statistics.stats import effect, widening


@pytest.mark.parametrize("blocks", [3, 4, 5, 8, 15, 20])
def test_fast_effects_are_those_of_the_report(blocks: int) -> None:
    rows = np.random.default_rng(blocks).standard_t(3, size=(4, blocks))
    for fast, row in zip(effects(rows), rows, strict=True):
        slow = effect(row)
        assert [fast.low, fast.value, fast.high] == pytest.approx([slow.low, slow.value, slow.high])


@pytest.mark.parametrize("blocks", [3, 5, 9, 10])
def test_widening_is_what_calibration_gives(blocks: int) -> None:
    assert calibrated_widening(blocks) == pytest.approx(widening(blocks), abs=0.006)


@pytest.mark.parametrize("blocks", [3, 5, 10, 20])
def test_intervals_cover_and_alike_arms_are_not_told_apart(blocks: int) -> None:
    rng = np.random.default_rng(9)
    assert 0.92 <= outcome(rng, NOISY, blocks, 0.10, 150).covered <= 0.98
    assert false_verdicts(rng, QUIET, blocks, 20)[0] <= 0.05


def test_the_same_seed_prints_the_same_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--runs", "2", "--seed", "3"])
    first = capsys.readouterr().out
    main(["--runs", "2", "--seed", "3"])
    assert capsys.readouterr().out == first
    assert first.count("| noisy | 20 |") == 5
