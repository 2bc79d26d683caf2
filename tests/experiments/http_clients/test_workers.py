"""HTTP workers: portions, counts known beforehand, deaths and errors. tests/contract has the rest, as processes."""

from typing import Any

import pytest
import yaml

from clients.quotas import quotas
from clients.schedule import NEVER_NS
from core.cell import Cell
from core.method import Method, Warmup
from experiments.http_clients.threads import ThreadClient
from experiments.http_clients.workers import REQUEST_DEADLINE_S, Connection, HttpTally, Library, summary

READS = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_REQUESTS_PER_CLIENT", "NUM_CONNECTIONS_PER_CLIENT")


def cell(requests: int, connections: int) -> Cell:
    values = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": connections}
    return Cell.build(system="http-stdlib", runtime="3.14", reads=READS, values=values)


QUOTAS = """
- {timed: true, services: 3, requests: [150, 150]}
- {timed: true, duration_s: 0.5, requests: [null, null], time_ns: 500000000}
- {timed: false, warmup: {share: 0.001}, requests: [1, 1]}
- {timed: false, warmup: {seconds: 0.25}, requests: [null, null], time_ns: 250000000}
- {timed: false, warmup: {share: 0.1}, duration_s: 2.0, requests: [null, null], time_ns: 200000000}
"""


@pytest.mark.parametrize("case", yaml.safe_load(QUOTAS), ids=str)
def test_a_cell_and_its_warm_up_have_so_many_requests_to_each_service_or_so_many_seconds(case: dict[str, Any]) -> None:
    method = Method(warmup=Warmup(**case.get("warmup", {})), duration_s=case.get("duration_s", 0.0))
    quota = quotas(cell(100, 2), case.get("services", 1), method)[case["timed"]]
    assert quota.requests == tuple(case["requests"])
    assert quota.until_ns(7) == 7 + case.get("time_ns", NEVER_NS - 7)


def test_the_summary_adds_the_counts_and_keeps_each_workers_loop_and_timeline() -> None:
    first, second = HttpTally(), HttpTally()
    for tally, loop_ns in ((first, 30), (second, 50)):
        tally.loop_ns = loop_ns
        tally.times_ns.extend((1005, 1000 + loop_ns))
    counted = summary([first, second], 1000, 1060, "thread")
    assert (counted["bench_ns"], counted["completion_ns"], counted["workers_ns"]) == (60, 60, [30, 50])
    assert counted["timeline"] == [[[5, 30]], [[5, 50]]]
    assert (counted["latency"]["min_ns"], counted["latency"]["max_ns"]) == (25, 45)


def test_an_answer_that_took_longer_than_the_deadline_is_a_timeout() -> None:
    tally, deadline_ns = HttpTally(), round(REQUEST_DEADLINE_S * 1e9)
    tally.sent = 2
    tally.times_ns.extend((0, deadline_ns, deadline_ns, 2 * deadline_ns + 1))
    counted = summary([tally], 0, 3 * deadline_ns, "thread")
    assert (counted["requests"], counted["answered"], counted["errors"]) == (2, 1, {"timeout": 1})
    assert counted["latency"]["count"] == 1


class Broken:
    """A connection with a mistake in it: its second request raises what no worker expects."""

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._requests = 0

    def get(self) -> tuple[int, int]:
        self._requests += 1
        if self._requests > 1:
            raise ZeroDivisionError("a mistake")
        return 200, 13

    def close(self) -> None:
        raise AssertionError("nobody closes it")


def test_a_worker_that_dies_ends_the_client_with_its_exception() -> None:
    threads = ThreadClient(Library(Broken, ()), cell(4, 2), 0, [["127.0.0.1:80"]], Method())
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        threads.run()


def test_a_library_may_have_an_error_of_its_own_whose_first_argument_is_the_code() -> None:
    class Refused(Exception):
        pass

    def connect(host: str, port: int, deadline_s: float) -> Connection:
        raise Refused("connect", "nobody listens")

    threads = ThreadClient(Library(connect, (Refused,)), cell(3, 1), 0, [["127.0.0.1:80"]], Method())
    counted = threads.run()
    assert (counted["requests"], counted["answered"], counted["errors"]) == (3, 0, {"connect": 3})
