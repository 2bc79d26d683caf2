"""What is said of connections that a service closes, of requests sent twice, and of a median of 40 ms."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from analysis.comparing import compare
from analysis.connections import connection_notes
from core.request_plan import Request
from record.child_lines import Turns
from record.saved_run import CellResult, Run
from reports.sections import results
from reports.view import View
from tests.reports.sample import MS, cell_of, histogram_of, measured, run_of, with_clients, with_service
from tests.tables import each_row

ARMS = ("3.14", "3.14t")
CLOSED_LOOP = ". Throughput includes the time to connect, but latency does not"
AT_RATE = ". Latency includes the time to connect, because it is measured from the time when a request was due"


def blocks(arms: Sequence[str] = ARMS, *, cpu_ns: int = 10 * MS, p50_ms: float = 1, **counted: int) -> list[CellResult]:
    """Eight cells of each arm, of one client with 1,000 answers in 2 s, which counted this as well."""
    made = []
    for arm, block in product(arms, range(1, 9)):
        cell = measured(cell_of("2", arm), block, [2000 * MS], [round(p50_ms * MS)] * 100, cpu_ns=cpu_ns)
        made.append(replace(with_clients(cell, **counted), wall_ns=2000 * MS, answered=1000))
    return made


def own(cells: Sequence[CellResult], *requests: Request) -> Run:
    return with_service(run_of(cells, runtimes=ARMS, blocks=8), *requests)


def notes(cells: Sequence[CellResult], *requests: Request) -> list[str]:
    return [*map(str, connection_notes(cells, own(cells, *requests)))]


@each_row
def test_connections_that_took_a_second_to_open_are_told_once_for_all_runtimes(longest_ms: int, is_told: bool) -> None:
    cells = [replace(cell, connect=histogram_of([longest_ms * MS])) for cell in blocks()]
    assert "\n".join(notes(cells)).count("3.14, 3.14t: some connections took 1 s or longer") == is_told


@each_row
def test_a_service_that_closes_connections_is_told_for_all_its_runtimes_at_once(reconnects: int, after: str) -> None:
    told = [f"3.14, 3.14t: the service closed the connection {after}{CLOSED_LOOP}"] if after else []
    assert notes(blocks(reconnects=reconnects)) == told


def test_at_a_rate_latency_contains_the_time_to_connect() -> None:
    cells = [replace(cell, params={**cell.params, "RATE": 100}) for cell in blocks(["3.14"], reconnects=999)]
    (note,) = notes(cells)
    assert note == f"3.14: the service closed the connection after every answer, or while it was idle{AT_RATE}"


@each_row
def test_connections_that_end_once_per_slice_may_have_been_idle(reconnects: int, may_be_idle: bool) -> None:
    """4 connections and 10 slices."""
    cells = [replace(cell, turns=Turns(slices=10)) for cell in blocks(["3.14"], reconnects=reconnects, connections=4)]
    assert ("or while it was idle" in notes(cells)[0]) is may_be_idle


@pytest.mark.parametrize("request_", [Request(headers={"connection": "Close"}), Request(expect_status=101)])
def test_a_service_that_is_asked_to_close_is_not_blamed(request_: Request) -> None:
    assert notes(blocks(reconnects=999), request_) == []


def test_gilscopes_own_systems_close_connections_on_purpose() -> None:
    cells = blocks(reconnects=999)
    assert connection_notes(cells, run_of(cells, runtimes=ARMS)) == []


def test_requests_that_were_sent_twice_are_counted() -> None:
    (note,) = notes(blocks(["3.14"], resent=250, reconnects=2))
    words = "the service closed keep-alive connections instead of answering, so 2,000 of 8,000 requests were sent twice"
    assert note.startswith(f"3.14: {words}")


@each_row
def test_a_median_of_40_ms_on_idle_cores_is_explained(p50_ms: float, cpu_ms: int, is_told: bool) -> None:
    told = " ".join(notes(blocks(p50_ms=p50_ms, cpu_ns=cpu_ms * MS)))
    assert ("set TCP_NODELAY" in told) is is_told


def noisy(p50_ms: float) -> Run:
    """Ratios of throughput from 0.8 to 1.25 by block, so that there is no verdict."""
    cells = blocks(p50_ms=p50_ms)
    walls = (*[1] * 8, *(0.8, 1.25, 1, 1.2) * 2)
    return own([replace(one, wall_ns=round(2000 * MS * wall)) for one, wall in zip(cells, walls, strict=True)])


def test_more_blocks_are_no_remedy_for_a_delay_by_tcp() -> None:
    (slow,), (other,) = compare(noisy(41.5)), compare(noisy(1))
    assert (slow.verdict, slow.blocks_needed) == ("inconclusive", None)
    assert "delayed ACK" in str(slow.why)
    assert (other.verdict, bool(other.blocks_needed)) == ("inconclusive", True)


def test_requests_per_connection_are_a_column_with_a_caution_if_connections_were_closed() -> None:
    for reconnects, is_shown in ((50, True), (0, False)):
        shown = results.section(View(own(blocks(reconnects=reconnects))))
        assert ("Requests per connection" in [str(column.head) for column in shown.tables[0].columns]) is is_shown
        for texts in (shown.sentences, shown.terminal[1:]):
            assert ("after about 20 answers" in " ".join(map(str, texts))) is is_shown
