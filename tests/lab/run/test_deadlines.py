"""How long a cell may take: what hangs is caught, and what is slow is not."""

import pytest

from lab.run.measurement_context import FLOOR_S, calling_s
from tests.config.planning import COMMAND_LINE, planned

OWN = f"{COMMAND_LINE} --runtime 3.14 --warmup 1s --num-clients 2 --num-connections-per-client 2"


def longest_s(flags: str) -> float:
    """How long the clients of the only cell of this plan may take."""
    plan = planned(flags)
    (system,) = plan.systems.values()
    (cell,) = plan.cells()
    return calling_s(cell, system, plan.method)


# Flags, and how long answers of a second may take: two at once, at a rate, and so on.
CELLS = """\
--num-requests-per-client 1000 -> 500
--num-requests-per-client 1000 --rate 5 -> 200
--num-requests-per-client 10 --think-time 30s -> 150
--num-requests-per-client 90 --num-api-services 4 -> 180"""


@pytest.mark.parametrize("line", CELLS.splitlines())
def test_a_slow_service_has_the_time_that_its_answers_may_take(line: str) -> None:
    flags, _, takes_s = line.partition(" -> ")
    assert longest_s(f"{OWN} --duration 0 {flags}") >= FLOOR_S + float(takes_s)


def test_a_cell_of_a_duration_has_that_time_and_the_time_of_what_is_under_way() -> None:
    assert 72.0 <= longest_s(f"{OWN} --duration 2 --num-requests-per-client 1000000") <= 200.0


def test_ours_have_a_hundredth_of_a_second_for_each_request_beside_the_count() -> None:
    flags = "--num-api-services 1 --num-clients 1 --num-requests-per-client 100 --calc-target 1000000"
    assert longest_s(f"--system 2 --runtime 3.14 --duration 0 {flags}") == pytest.approx(FLOOR_S + 100 * 1.01)
