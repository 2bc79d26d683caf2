"""What a report says of collections: only where they held up slow requests, and by how much that changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.result import CellResult, Run
from reports.sections.pauses import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 5


def cell(runtime: str, block: int, held_up: int, by_chance: float = 4.0, **service: Any) -> CellResult:
    """A cell of a second, with 50 collections of 2 ms in one process; *held_up* of its 100 slow requests by them."""
    result = measured(cell_of("2", runtime), block, [1000 * MS - MS])
    pauses = {
        "processes": 1,
        "collections": [40, 9, 1],
        "total_ns": [40 * MS, 40 * MS, 20 * MS],
        "reported_ns": 0,
        "longest_ns": (20 + block) * MS,
        "unkept": 0,
    }
    counts = {"requests": 100, "overlapping": held_up + 4, "by_chance": by_chance, "mostly": held_up}
    slow = {"p99": {"threshold_ns": 9 * MS, **counts}}
    services = [{**result.services[0], "run_queue_ns": 2500 * MS, "pauses": pauses | service}]
    return replace(result, services=services, slow=slow)


def run(*cells: CellResult) -> Run:
    return run_of(cells, blocks=BLOCKS, runtimes=("3.14", "3.14t"))


def both(before: Sequence[int], after: Sequence[int], **more: Any) -> Run:
    """A run with so many requests held up in each block, of 3.14 and of 3.14t."""
    arms = (("3.14", before), ("3.14t", after))
    return run(*(cell(name, block, count, **more) for name, counts in arms for block, count in enumerate(counts, 1)))


def test_an_arm_whose_slow_requests_collections_held_up_is_named_with_the_change_from_the_other() -> None:
    said = section(View(both([0, 1, 0, 0, 2], [40, 41, 38, 45, 41])))
    finding, change = map(str, said.sentences)
    assert finding == (
        "3.14t, System 2: garbage collections held up 41% (38% - 45%) of the requests slower than p99 for most of "
        "their time. They take 10.0% of a process's time; the longest took 25.00 ms."
    )
    assert change.startswith(
        "3.14 → 3.14t, System 2: the share of slow requests that collections held up changes by +40% [+3"
    )
    assert said.terminal == said.sentences


def test_nothing_is_claimed_where_collections_of_any_worker_are_met_as_often_as_by_chance() -> None:
    said = section(View(both([16, 18, 17, 16, 17], [19, 17, 18, 16, 19], by_chance=21.0, processes=8)))
    assert said.sentences == ()
    assert len(said.tables[0].lines) == 2


def test_nothing_is_claimed_of_a_few_requests_or_of_two_blocks() -> None:
    assert section(View(both([0] * 5, [4] * 5, by_chance=0.0))).sentences == ()
    assert section(View(both([0, 0], [90, 90]))).sentences == ()


def test_collections_that_are_always_under_way_are_named_though_chance_would_meet_them_too() -> None:
    said = section(View(both([0] * 5, [50, 52, 54, 51, 50], by_chance=97.0)))
    assert [str(sentence).partition(",")[0] for sentence in said.sentences] == ["3.14t", "3.14 → 3.14t"]


def test_the_table_has_rate_share_and_longest_of_each_arm() -> None:
    (line, _) = section(View(both([0] * 5, [90] * 5))).tables[0].lines
    values = [datum.value for datum in line[2:]]
    assert values == [50.0, 0.1, 25 * MS, 0.04, 0.04, 0.0, 2.5]


def test_a_run_from_before_collections_were_measured_has_no_such_section() -> None:
    before = [replace(each, slow={}) for each in both([0] * 5, [90] * 5).cells]
    plain = [replace(each, services=[{"service_id": 0, "requests": 1}]) for each in before]
    assert not section(View(run(*plain)))


def test_collections_are_listed_where_slow_requests_are_not_known() -> None:
    said = section(View(run(*(replace(each, slow={}) for each in both([0] * 5, [90] * 5).cells))))
    assert said.sentences == ()
    assert [datum.value for datum in said.tables[0].lines[0][2:8]] == [50.0, 0.1, 25 * MS, None, None, None]


def test_times_that_were_overwritten_are_said() -> None:
    notes = section(View(both([0] * 5, [0] * 5, unkept=25))).notes
    assert "The times of up to 50% of an arm's collections were overwritten" in str(notes[1])
