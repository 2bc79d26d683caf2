"""Which requests are kept with their times."""

import random

import pytest

from clients.tally import Slowest, shared


def noted(latencies_ns: list[int], most: int, service_id: int = 0) -> Slowest:
    """As the timed loop does it: the start of each is ten times its place."""
    slowest = Slowest(most, service_id)
    for place, latency_ns in enumerate(latencies_ns):
        if latency_ns > slowest.floor_ns:
            slowest.note(latency_ns, 10 * place)
    return slowest


def test_the_slowest_are_kept_with_start_latency_and_service() -> None:
    slowest = noted([50, 70, 20, 90, 60, 10], 3, service_id=4)
    assert slowest.to_json() == {"above_ns": 60, "requests": [[40, 60, 4], [10, 70, 4], [30, 90, 4]]}


@pytest.mark.parametrize("tallies", [1, 3, 40])
def test_every_request_above_what_it_says_is_there(tallies: int) -> None:
    pick = random.Random(tallies)
    latencies = [[pick.randrange(1, 10_000) for _ in range(700)] for _ in range(tallies)]
    total = Slowest()
    for service_id, of_one in enumerate(latencies):
        total.merge(noted(of_one, shared(tallies), service_id))
    said = total.to_json()
    above_ns = said["above_ns"]
    every = sorted(value for of_one in latencies for value in of_one if value > above_ns)
    assert sorted(latency_ns for _, latency_ns, _ in said["requests"] if latency_ns > above_ns) == every
    assert len(every) > 200


def test_what_was_noted_in_the_warm_up_is_forgotten() -> None:
    slowest = noted([50, 70], 2)
    slowest.clear()
    assert (slowest.floor_ns, slowest.to_json()) == (0, {})
