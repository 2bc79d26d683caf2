"""What a report says of slow requests: only what held them up, and by how much that changes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.result import CellResult, Run
from reports.topics.pauses import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 5


def cell(runtime: str, block: int, held_up: int, causes: dict[str, Any] | None = None) -> CellResult:
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
    counts = {"requests": 100, "overlapping": held_up + 4, "by_chance": 4.0, "mostly": held_up}
    slow: Any = {"p99": {"threshold_ns": 9 * MS, **counts, "causes": causes or {}}}
    services: Any = [{**result.services[0], "pauses": pauses}]
    return replace(result, services=services, slow=slow)


def run(*cells: CellResult) -> Run:
    return run_of(cells, blocks=BLOCKS, runtimes=("3.14", "3.14t"))


def both(before: Sequence[int], after: Sequence[int]) -> Run:
    """A run with so many requests held up in each block, of 3.14 and of 3.14t."""
    arms = (("3.14", before), ("3.14t", after))
    return run(*(cell(name, block, count) for name, counts in arms for block, count in enumerate(counts, 1)))


def without_a_core(service: Sequence[float], window: float = 0.05) -> list[dict[str, Any]]:
    """Of each block: the slow requests' services had no core for such a share of their time, and none of the rest."""
    none = {"share": 0.0, "window": 0.0}
    return [{"collection": none, "service": {"share": share, "window": window}, "steal": none} for share in service]


def test_slow_requests_that_waited_for_a_core_are_named_with_the_change_from_the_other_runtime() -> None:
    arms = {"3.14": without_a_core([0.02] * 6), "3.14t": without_a_core([0.3, 0.31, 0.28, 0.35, 0.3, 0.3])}
    cells = [cell(name, block, 0, causes=of) for name, blocks in arms.items() for block, of in enumerate(blocks, 1)]
    finding, change = map(str, section(View(run(*cells))).sentences)
    assert "No core for runnable threads of the service: 30% [" in finding
    assert finding.endswith(
        "threads of the client: unknown. Cores taken by the host (steal): 0% [0%, 0%]. In the whole timed window, "
        "these four shares are 0%, 5%, -, 0%."
    )
    assert change.startswith(
        "3.14 → 3.14t, System 2: the share of the time of slow requests in which threads of the service waited for "
        "a free core changes by +28% [+2"
    )


def test_nothing_is_claimed_where_slow_requests_wait_for_a_core_no_more_than_others() -> None:
    everywhere = without_a_core([0.6, 0.62, 0.58, 0.61, 0.6], window=0.6)
    said = section(View(run(*(cell("3.14t", block, 0, causes=of) for block, of in enumerate(everywhere, 1)))))
    assert said.sentences == ()
    assert [datum.value for datum in said.tables[0].lines[0][8:]] == [0.6, 0.6, None, 0.0]
