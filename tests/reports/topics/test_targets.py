"""The record of services that already run: shares of the first arm, by hand, and the verdicts behind them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.request_plan import RequestPlan
from core.result import CellResult, Run
from reports.facts.comparisons import compare
from tests.reports.contestants import blocks_of, contest_run, lines_of, sentences, table_of

OLD, NEW = "load-wrk", "load-oha"
SIX = range(1, 7)


def a_run(*cells: Sequence[CellResult], arms: Sequence[str] = (OLD, NEW)) -> Run:
    run = contest_run(*cells, view="targets")
    targets: list[dict[str, Any]] = [{"name": name, "url": f"http://{name}|b/"} for name in arms]
    params = run.cells[0].params
    run.plan["rows"] = [{"system": name, "params": params} for name in arms]
    run.plan["own"] = {"name": "targets", "targets": targets, "requests": RequestPlan().to_json()}
    return run


def told(run: Run) -> list[str]:
    return sentences(run, {})


def again(cells: Sequence[CellResult]) -> list[CellResult]:
    return [replace(cell, arm=f"{cell.system} again") for cell in cells]


@pytest.mark.parametrize(
    ("rate", "blocks", "start"),
    [
        (500, SIX, "0.50x [0.50, 0.50] the requests of {first}: slower."),
        (
            1120,
            (1, 2, 3),
            "1.12x (1.12 - 1.12) the requests of {first}. The comparison is inconclusive: no interval can be computed",
        ),
        (
            1120,
            (1, 2),
            "1.12x the requests of {first}. The comparison is inconclusive: no interval can be computed",
        ),
    ],
)
def test_the_first_arm_is_the_reference_and_few_blocks_are_never_enough(
    rate: float, blocks: Sequence[int], start: str
) -> None:
    (line,) = told(a_run(blocks_of(OLD, 1000, blocks=blocks), blocks_of(NEW, rate, blocks=blocks)))
    assert line.startswith(f"{NEW} serves {start.format(first=OLD)}")


def test_an_arm_that_took_part_again_is_the_noise_floor() -> None:
    first = blocks_of(OLD, 1000, blocks=SIX)
    run = a_run(first, again(first), blocks_of(NEW, 1120, blocks=SIX))
    same, other = compare(run)
    assert (same.step, same.numerator, same.ratio) == ("aa", f"{OLD} again", 1.0)
    assert other.noise_floor == 0.0
    assert told(run)[0].endswith("Both names stand for the same service, so the difference is noise.")
    assert len(lines_of(table_of(run))) == 2


def test_arms_that_share_no_block_are_not_compared() -> None:
    run = a_run(blocks_of(OLD, 1000, blocks=(1,)), blocks_of(NEW, 1120, blocks=(2,)))
    (line,) = told(run)
    assert line.startswith(f"{NEW} and {OLD} cannot be compared: no block has both of the compared measurements")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ((False, False), "off"),
        ((False, True), "GIL sometimes on"),
        ((True, True), "on"),
        ((None, None), "-"),
    ],
)
def test_what_is_known_of_its_processes_stands_in_its_row(said: tuple[bool | None, bool | None], shown: str) -> None:
    known: Any = {"cpu_user_ns": 10**9, "cpu_system_ns": 0, "pss_bytes": 3 * 2**20} if shown != "-" else {}
    gil_said = dict(zip(("gil_enabled_ready", "gil_enabled_end"), said, strict=True))
    service: Any = {**gil_said, **known}
    cells = [replace(cell, services=[service]) for cell in blocks_of("load-ab", 1000)]
    run = a_run(cells)
    ((*_, cpu, memory, gil, _),) = lines_of(table_of(run))
    assert gil == shown
    assert (cpu, memory) == (("500", "3.0") if known else ("-", "-"))  # a second of CPU for 2000 requests
