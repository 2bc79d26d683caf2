"""The record of services that already run: shares of the first arm, by hand."""

from dataclasses import replace
from typing import Any

import pytest

from core.result import CellResult, Run
from reports.records import RECORDS
from reports.summary import rows
from reports.targets import addresses, duels, said, sentences, shorts, targets_page
from tests.reports.contestants import blocks_of, contest_run


def a_run(*cells: list[CellResult]) -> Run:
    run = contest_run(*cells, view="targets")
    targets: list[dict[str, Any]] = [{"name": "load-ab", "url": "http://a|b/"}, {"name": "load-wrk", "url": "unix:/x"}]
    return replace(run, plan={**run.plan, "own": {"targets": targets}})


def test_an_arm_is_told_as_a_share_of_the_first_with_its_interval() -> None:
    run = a_run(blocks_of("load-ab", 1000), blocks_of("load-wrk", 1120))
    assert said(run, duels(run, rows(run))) == ["load-wrk serves 1.12 x [1.12, 1.12] what load-ab does."]
    assert sentences(run, rows(run), {}) == said(run, duels(run, rows(run)))


def test_the_first_arm_is_the_reference_however_fast_it_is() -> None:
    run = a_run(blocks_of("load-ab", 2000), blocks_of("load-wrk", 1000))
    assert said(run, duels(run, rows(run))) == ["load-wrk serves 0.50 x [0.50, 0.50] what load-ab does."]


def test_too_few_blocks_have_no_interval() -> None:
    run = a_run(blocks_of("load-ab", 1000, blocks=(1, 2)), blocks_of("load-wrk", 1120, blocks=(1, 2)))
    (line,) = said(run, duels(run, rows(run)))
    assert line == "load-wrk serves 1.12 x what load-ab does; 2 blocks cannot have an interval."


def test_an_arm_alone_is_told_by_what_it_serves() -> None:
    run = a_run(blocks_of("load-ab", 1000))
    assert said(run, duels(run, rows(run))) == ["load-ab serves 1,000 requests/s."]


def test_arms_that_share_no_block_are_not_compared() -> None:
    run = a_run(blocks_of("load-ab", 1000, blocks=(1,)), blocks_of("load-wrk", 1120, blocks=(2,)))
    assert said(run, duels(run, rows(run))) == ["load-wrk and load-ab were not measured in the same blocks."]


def test_the_page_has_the_addresses_and_a_row_for_each_arm() -> None:
    run = a_run(blocks_of("load-ab", 1000, latencies_ns=[1000]), blocks_of("load-wrk", 1120))
    page = targets_page(run, rows(run), {})
    assert addresses(run) == {"load-ab": "http://a|b/", "load-wrk": "unix:/x"}
    assert "- load-ab: http://a\\|b/" in page
    assert [line for line in page.splitlines() if line.startswith("| load-wrk")] != []


@pytest.mark.parametrize("arms", [1, 2])
def test_the_terminal_has_a_line_for_each_arm(arms: int) -> None:
    run = a_run(*[blocks_of(name, 1000) for name in ("load-ab", "load-wrk")[:arms]])
    (table,) = shorts(rows(run), {})
    assert len(table.lines) == arms
    assert RECORDS["targets"].shorts is shorts
