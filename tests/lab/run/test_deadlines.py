"""How long a cell may take: what hangs is caught, and what is slow is not."""

import pytest

from lab.run.cell_run import FLOOR_S, calling_s
from tests.config.planning import COMMAND_LINE, planned

OWN = f"{COMMAND_LINE} --runtime 3.14 --warmup 1s --num-clients 2 --num-connections-per-client 2"


SMALL = "--num-api-services 1 --num-clients 1 --num-requests-per-client 100 --calc-target 1000000"

# Flags, and the bounds of the time beside FLOOR_S that the clients of the only cell may take. Answers of a service of
# one's own take a second: two at once, at a rate, and so on. With a duration, only what is under way comes on top.
# Ours have a hundredth of a second for each request beside the count.
CELLS = f"""\
{OWN} --duration 0 --num-requests-per-client 1000 -> 500 inf
{OWN} --duration 0 --num-requests-per-client 1000 --rate 5 -> 200 inf
{OWN} --duration 0 --num-requests-per-client 10 --think-time 30s -> 150 inf
{OWN} --duration 0 --num-requests-per-client 90 --num-api-services 4 -> 180 inf
{OWN} --duration 2 --num-requests-per-client 1000000 -> 12 140
--system 2 --runtime 3.14 --duration 0 {SMALL} -> 100.99999 101.00001"""


@pytest.mark.parametrize("line", CELLS.splitlines())
def test_what_is_slow_has_the_time_that_its_answers_may_take(line: str) -> None:
    flags, _, bounds = line.partition(" -> ")
    least_s, most_s = map(float, bounds.split())
    plan = planned(flags)
    (system,) = plan.systems.values()
    (cell,) = plan.cells()
    assert FLOOR_S + least_s <= calling_s(cell, system, plan.method) <= FLOOR_S + most_s
