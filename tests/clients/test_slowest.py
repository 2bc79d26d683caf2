"""Which requests are kept with their times."""

import random

from clients.tally import Slowest, shared
from tests.tables import each_row


def noted(latencies_ns: list[int], most: int, service_id: int = 0) -> Slowest:
    """As the timed loop does it: the start of each is ten times its place."""
    slowest = Slowest(most, service_id)
    for place, latency_ns in enumerate(latencies_ns):
        if latency_ns > slowest.floor_ns:
            slowest.note(latency_ns, 10 * place)
    return slowest


@each_row
def test_every_request_above_what_it_says_is_there_with_start_latency_and_service(tallies: int) -> None:
    pick = random.Random(tallies)
    total = Slowest()
    every: list[list[int]] = []
    for service_id in range(tallies):
        latencies_ns = [pick.randrange(1, 10_000) for _ in range(700)]
        total.merge(noted(latencies_ns, shared(tallies), service_id))
        every += [[10 * place, latency_ns, service_id] for place, latency_ns in enumerate(latencies_ns)]
    said = total.to_json()
    above = sorted(request for request in every if request[1] > said["above_ns"])
    assert sorted(request for request in said["requests"] if request[1] > said["above_ns"]) == above
    assert len(above) > 200


def test_what_was_noted_in_the_warm_up_is_forgotten() -> None:
    slowest = noted([50, 70], 2)
    slowest.clear()
    assert (slowest.floor_ns, slowest.to_json()) == (0, {})
