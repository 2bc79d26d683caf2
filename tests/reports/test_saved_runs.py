"""Runs saved by version 0.1 (schema 1): every number in the machine-readable outputs is what that version wrote.

Each file of tests/reports/saved holds a real run, one of each experiment, and what version 0.1 made of it. Ratios are
worked out here: they were of completion times then, and are of throughput now.
"""

import json
import lzma
from dataclasses import asdict
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from core.result import CellResult, load
from reports.rows.comparisons import Comparison, compare
from reports.rows.pairs import OVER_ALL

SAVED = sorted(Path(__file__).with_name("saved").glob("*.json.xz"))


@pytest.fixture(params=SAVED, ids=lambda path: path.name.partition(".")[0])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A run's folder, and what version 0.1 said of it."""
    content = json.loads(lzma.decompress(request.param.read_bytes()))
    (tmp_path / "result.json").write_text(json.dumps(content["run"]))
    return tmp_path, content["expected"]


def test_the_same_arms_are_compared_and_the_ratio_is_of_requests_over_wall_time(
    saved: tuple[Path, dict[str, Any]],
) -> None:
    run = load(saved[0])
    compared = compare(run)
    expected = [
        {name: value for name, value in facts.items() if name != "blocks" or facts["system"] != OVER_ALL}
        for facts in saved[1]["comparisons"]  # a mean has the blocks of settings that are no longer invalid
    ]
    assert [
        {name: json.loads(json.dumps(asdict(comparison)[name])) for name in facts}
        for comparison, facts in zip(compared, expected, strict=True)
    ] == expected
    for one in compared:
        if one.params and one.ratio and not one.between_services:
            below, above = ({cell.block: cell for cell in run.cells if is_of(one, cell, arm)} for arm in arms(one))
            ratios = [
                above[block].answered / above[block].wall_ns * below[block].wall_ns / below[block].answered
                for block in below.keys() & above.keys()
            ]
            assert one.ratio == pytest.approx(exp(median(map(log, ratios))))


def arms(one: Comparison) -> tuple[str, str]:
    return one.denominator, one.numerator


def is_of(one: Comparison, cell: CellResult, arm: str) -> bool:
    return (cell.system, cell.params, cell.arm, cell.status) == (one.system, one.params, arm, "ok")
