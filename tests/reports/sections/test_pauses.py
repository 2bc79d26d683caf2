"""What a report says of slow requests: only what held them up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from record.child_lines import PauseCounts
from record.result_parts import Slow, SlowCause
from record.saved_run import CellResult, Run
from reports.sections.garbage_collections import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of, with_services

BLOCKS = 5


def cell(runtime: str, block: int, causes: dict[str, Any]) -> CellResult:
    """A cell of a second, with 50 collections of 2 ms in one process, and 100 slow requests."""
    result = measured(cell_of("2", runtime), block, [1000 * MS - MS])
    total_ns, longest_ns = [40 * MS, 40 * MS, 20 * MS], (20 + block) * MS
    pauses = PauseCounts(processes=1, collections=[40, 9, 1], total_ns=total_ns, longest_ns=longest_ns, unkept=0)
    slow = Slow(threshold_ns=9 * MS, requests=100, causes=causes)
    return replace(with_services(result, pauses=pauses), slow={"p99": slow})


def run(*cells: CellResult) -> Run:
    return run_of(cells, blocks=BLOCKS, runtimes=("3.14", "3.14t"))


def held_up(cause: str, shares: Sequence[float], window: float = 0.05) -> list[dict[str, Any]]:
    """Of each block: a cause took such a share of the slow requests' time, and other causes none."""
    none = SlowCause(share=0.0, window=0.0)
    return [
        {"collection": none, "service": none, "steal": none, cause: SlowCause(share=one, window=window)}
        for one in shares
    ]


def both(cause: str) -> Run:
    """A run in which a cause took more of the slow requests' time under 3.14t than under 3.14."""
    arms = {"3.14": held_up(cause, [0.02] * 6), "3.14t": held_up(cause, [0.3, 0.31, 0.28, 0.35, 0.3, 0.3])}
    return run(*(cell(name, block, of) for name, blocks in arms.items() for block, of in enumerate(blocks, 1)))


def test_nothing_is_claimed_where_slow_requests_wait_for_a_core_no_more_than_others() -> None:
    everywhere = held_up("service", [0.6, 0.62, 0.58, 0.61, 0.6], window=0.6)
    said = section(View(run(*(cell("3.14t", block, of) for block, of in enumerate(everywhere, 1)))))
    assert said.sentences == ()
    assert [datum.value for datum in said.tables[0].lines[0][5:]] == [0.0, 0.6, 0.6, None, 0.0]
