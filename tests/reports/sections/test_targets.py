"""The record of services that already run: shares of the first arm, by hand, and the verdicts behind them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.request_plan import RequestPlan
from core.result import CellResult, Run
from reports.rows.arms import addresses
from reports.rows.comparisons import compare
from reports.rows.summary import rows
from reports.sections.targets import duels
from tests.reports.contestants import blocks_of, contest_run, lines_of, record_of, sentences, table_of
from tests.reports.sample import cell_of, faulty

OLD, NEW, OTHER = "load-wrk", "load-oha", "load-hey"
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


def dead(name: str) -> list[CellResult]:
    like = blocks_of(name, 1, blocks=(1,))[0]
    found = [faulty(cell_of(name, "native"), block, "failed", "Nothing works at X.") for block in SIX]
    return [replace(cell, params=like.params) for cell in found]


def test_an_arm_is_told_as_a_share_of_the_first_with_interval_and_verdict() -> None:
    run = a_run(blocks_of(OLD, 1000, blocks=SIX), blocks_of(NEW, 1120, blocks=SIX))
    assert told(run) == [f"{NEW} serves 1.12 x [1.12, 1.12] what {OLD} does: faster."]
    (one,) = compare(run)
    assert (one.step, one.denominator, one.numerator, one.verdict) == ("other", OLD, NEW, "faster")
    assert one.p == 2**-5  # six blocks, one comparison: the least that can be


@pytest.mark.parametrize(
    ("rate", "blocks", "start"),
    [
        (500, SIX, "0.50 x [0.50, 0.50] what {first} does: slower."),
        (1120, (1, 2, 3), "1.12 x (1.12 - 1.12) what {first} does, which is inconclusive: 3 blocks cannot"),
        (1120, (1, 2), "1.12 x what {first} does, which is inconclusive: 2 blocks cannot"),
    ],
)
def test_the_first_arm_is_the_reference_and_few_blocks_are_never_enough(
    rate: float, blocks: Sequence[int], start: str
) -> None:
    (line,) = told(a_run(blocks_of(OLD, 1000, blocks=blocks), blocks_of(NEW, rate, blocks=blocks)))
    assert line.startswith(f"{NEW} serves {start.format(first=OLD)}")


def test_several_arms_are_one_family() -> None:
    run = a_run(
        *(blocks_of(name, rate, blocks=SIX) for name, rate in ((OLD, 1000), (NEW, 1120), (OTHER, 1300))),
        arms=(OLD, NEW, OTHER),
    )
    found = compare(run)
    assert [(one.numerator, one.p) for one in found] == [(NEW, 2**-4), (OTHER, 2**-4)]
    assert {one.verdict for one in found} == {"inconclusive"}


def test_an_arm_that_took_part_again_is_the_noise_floor() -> None:
    first = blocks_of(OLD, 1000, blocks=SIX)
    run = a_run(first, again(first), blocks_of(NEW, 1120, blocks=SIX))
    same, other = compare(run)
    assert (same.step, same.numerator, same.ratio) == ("aa", f"{OLD} again", 1.0)
    assert other.noise_floor == 0.0
    assert told(run)[0].endswith("the same service twice, so that is noise.")
    assert [len(contest.standings) for contest in duels(rows(run))] == [2]


def test_an_arm_alone_is_told_by_what_it_serves() -> None:
    run = a_run(blocks_of(OLD, 1000), arms=(OLD,))
    assert told(run) == [f"{OLD} serves 1,000 requests/s."]


def test_arms_that_share_no_block_are_not_compared() -> None:
    run = a_run(blocks_of(OLD, 1000, blocks=(1,)), blocks_of(NEW, 1120, blocks=(2,)))
    (line,) = told(run)
    assert line.startswith(f"{NEW} and {OLD} are not compared (no block has both arms")


def test_a_dead_arm_is_named_with_its_reason_and_the_others_go_on() -> None:
    run = a_run(blocks_of(OLD, 1000, blocks=SIX), dead(NEW), blocks_of(OTHER, 1300, blocks=SIX), arms=(OLD, NEW, OTHER))
    assert told(run) == [
        f"{NEW} has no figures (6 of 6 blocks failed: Nothing works at X.).",
        f"{OTHER} serves 1.30 x [1.30, 1.30] what {OLD} does: faster.",
    ]


def test_a_dead_first_arm_is_not_stood_in_for_by_the_fastest() -> None:
    run = a_run(dead(OLD), blocks_of(NEW, 1000, blocks=SIX), blocks_of(OTHER, 1300, blocks=SIX), arms=(OLD, NEW, OTHER))
    assert told(run)[0].startswith(f"{OLD} has no figures")
    assert told(run)[1:] == [f"{OTHER} serves 1,300 requests/s.", f"{NEW} serves 1,000 requests/s."]
    (contest,) = duels(rows(run))
    assert [one.share for one in contest.standings] == [None, None]
    assert [line[2] for line in lines_of(table_of(run))] == ["-", "-"]


def test_settings_are_told_apart() -> None:
    cells = [
        blocks_of(name, rate * count, blocks=SIX, NUM_CONNECTIONS_PER_CLIENT=count)
        for count in (1, 4)
        for name, rate in ((OLD, 1000), (NEW, 1500))
    ]
    run = a_run(*cells)
    run.plan["rows"] = [{"system": some[0].system, "params": some[0].params} for some in cells]
    assert [line.partition(": ")[0] for line in told(run)[:2]] == [
        "NUM_CONNECTIONS_PER_CLIENT 1",
        "NUM_CONNECTIONS_PER_CLIENT 4",
    ]


def test_the_page_has_the_addresses_and_a_row_for_each_arm() -> None:
    run = a_run(blocks_of(OLD, 1000, latencies_ns=[1000]), blocks_of(NEW, 1120))
    assert addresses(run) == {OLD: f"http://{OLD}|b/", NEW: f"http://{NEW}|b/"}
    _, where = record_of(run).parts
    assert lines_of(where.tables[0]) == [[OLD, f"http://{OLD}|b/"], [NEW, f"http://{NEW}|b/"]]
    assert [line[0] for line in lines_of(table_of(run))] == [NEW, OLD]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"gil_known": True, "gil_enabled_ready": False, "gil_enabled_end": False}, "off"),
        ({"gil_known": True, "gil_enabled_ready": False, "gil_enabled_end": True}, "changed"),
        ({"gil_known": True, "gil_enabled_ready": True, "gil_enabled_end": True}, "on"),
        ({"gil_known": False, "gil_enabled_ready": False, "gil_enabled_end": False}, "-"),
    ],
)
def test_what_is_known_of_its_processes_stands_in_its_row(said: Any, shown: str) -> None:
    known: Any = {"cpu_user_ns": 10**9, "cpu_system_ns": 0, "pss_bytes": 3 * 2**20} if said["gil_known"] else {}
    service: Any = {**said, **known}
    cells = [replace(cell, services=[service]) for cell in blocks_of("load-ab", 1000)]
    run = a_run(cells)
    ((*_, cpu, memory, gil, _),) = lines_of(table_of(run))
    assert gil == shown
    assert (cpu, memory) == (("500", "3.0") if known else ("-", "-"))  # a second of CPU for 2000 requests
