"""How long a cell may take: what hangs is caught, and what is slow is not."""

import pytest

from config.user_service.service import systems
from core.cell import Cell, Value
from core.method import Method, Warmup
from core.request_plan import RequestPlan
from core.user_service import Command, UserService
from lab.run.bench import FLOOR_S, START_DEADLINE_S, calling_s, starting_s
from systems import find


def service(requests: RequestPlan = RequestPlan(), deadline_s: float = 30.0) -> UserService:  # noqa: B008 - frozen
    command = Command(command="{python} -m app {port}", start_deadline_s=deadline_s)
    return UserService(name="own", start=command, requests=requests)


def longest_s(measured: UserService, duration_s: float = 0.0, **values: int) -> float:
    (system,) = systems(measured)
    params = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 2, "NUM_CONNECTIONS_PER_CLIENT": 2, **values}
    cell = Cell.build(system=system.key, runtime="3.14", reads=system.parameters, values=params)
    return calling_s(cell, system, Method(duration_s=duration_s, warmup=Warmup(seconds=1.0)))


# Think time, how a cell is asked, and how long answers of a second may take: two at once, at a rate, and so on.
CELLS = """\
0 NUM_REQUESTS_PER_CLIENT=1000 500
0 NUM_REQUESTS_PER_CLIENT=1000,RATE=5 200
30 NUM_REQUESTS_PER_CLIENT=10 150
0 NUM_REQUESTS_PER_CLIENT=10,NUM_API_SERVICES=7 315"""


@pytest.mark.parametrize("line", CELLS.splitlines())
def test_a_slow_service_has_the_time_that_its_answers_may_take(line: str) -> None:
    think_time_s, given, takes_s = line.split()
    values = {}
    for one in given.split(","):
        name, _, value = one.partition("=")
        values[name] = int(value)
    assert longest_s(service(RequestPlan(think_time_s=float(think_time_s))), **values) >= FLOOR_S + float(takes_s)


def test_a_cell_of_a_duration_has_that_time_and_the_time_of_what_is_under_way() -> None:
    assert 72.0 <= longest_s(service(), duration_s=2.0, NUM_REQUESTS_PER_CLIENT=10**6) <= 200.0


def test_ours_have_a_hundredth_of_a_second_for_each_request_beside_the_count() -> None:
    values: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 100}
    system = find("2")
    cell = Cell.build(system="2", runtime="3.14", reads=system.parameters, values={**values, "CALC_TARGET": 10**6})
    assert calling_s(cell, system, Method()) == pytest.approx(FLOOR_S + 100 * 1.01)


def test_a_start_deadline_of_ones_own_comes_on_top() -> None:
    (system,) = systems(service(deadline_s=120.0))
    assert starting_s(system.child_config) == START_DEADLINE_S + 120.0
    assert starting_s({}) == START_DEADLINE_S
