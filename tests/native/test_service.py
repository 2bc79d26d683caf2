"""calc-service: the wire table and the bad peers of tests/contract, its limits, and the child contract."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.contract import test_bad_peers as wire
from tests.contract.peers import CALC, Peer, framed, request
from tests.contract.serving import Serving, command_or_skip, small_cell
from tests.contract.speaking import Spoken
from tests.native.programs import native_serving, program_or_skip

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "1 unix": ("1", {"TRANSPORT": "unix"}),
    "1 tcp": ("1", {"TRANSPORT": "tcp"}),
    "2 unix": ("2", {"TRANSPORT": "unix"}),
    "2 tcp": ("2", {"TRANSPORT": "tcp"}),
    "2 fresh": ("2", {"TRANSPORT": "unix", "REUSE_CLIENT": False}),
    "4 unix": ("4", {"TRANSPORT": "unix", "NUM_MULTI_SOCKET": 2}),
    "4 two threads": ("4", {"TRANSPORT": "tcp", "NUM_MULTI_SOCKET": 2, "NUM_WORKERS_PER_API_SERVICE": 2}),
}


def calc_service(number: str, sandbox: Sandbox, **params: Any) -> AbstractContextManager[Serving]:
    """A service that stands in for system *number*, with one worker unless *params* say otherwise."""
    command = [program_or_skip("calc-service"), "--child"]
    return native_serving(command, sandbox, {"NUM_WORKERS_PER_API_SERVICE": 1, **params}, system=number)


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the 5 s after which calc-service as system 1 closes a peer that sends nothing."""
    monkeypatch.setattr(wire, "PROMPT_S", 4.0)


@pytest.fixture(scope="module", params=KINDS)
def number(request: pytest.FixtureRequest) -> str:
    """The key of a kind of service."""
    return str(request.param)


@pytest.fixture(scope="module")
def service(number: str, sandbox: Sandbox) -> Iterator[Serving]:
    """One service of each kind for many tests of this module; at the end it has nothing to complain of."""
    key, params = KINDS[number]
    with calc_service(key, sandbox, **params) as service:
        yield service
        service.end()


@pytest.fixture
def keeps_connections(number: str) -> bool:
    """Whether the service answers more than one request on a connection."""
    return KINDS[number][0] != "1"


# The same tests as for the Python services, on the fixtures of this module.
test_every_bad_request = wire.test_every_bad_request_is_answered_with_its_code_and_the_connection_stays_open
test_every_good_request_is_answered = wire.test_every_good_request_is_answered
test_the_frame_is_the_bytes_of_the_specification = wire.test_the_frame_is_the_bytes_of_the_specification
test_a_bad_length = wire.test_a_length_that_is_negative_or_over_the_limit_is_answered_413_and_the_connection_closed
test_a_sender_of_too_much_still_gets_its_413 = wire.test_a_sender_of_too_much_still_gets_its_413
test_a_peer_that_stops_in_the_middle = wire.test_a_peer_that_stops_in_the_middle_of_a_frame_holds_up_nobody
test_a_peer_that_goes_away_in_the_middle = wire.test_a_peer_that_goes_away_in_the_middle_holds_up_nobody
test_byte_by_byte = wire.test_a_peer_that_sends_byte_by_byte_is_answered_and_so_are_the_others_meanwhile
test_hundreds_of_silent_connections_hold_up_nobody = wire.test_hundreds_of_silent_connections_hold_up_nobody
test_hundreds_of_half_frames_hold_up_nobody = wire.test_hundreds_of_half_frames_hold_up_nobody
test_large_answers_that_are_not_read = wire.test_peers_that_do_not_read_their_large_answers_hold_up_nobody
test_a_peer_that_reads_nothing = wire.test_a_peer_that_sends_much_and_reads_nothing_holds_up_nobody
test_a_peer_that_ends_its_side_still_gets_its_answer = wire.test_a_peer_that_ends_its_side_still_gets_its_answer
test_frames_that_arrive_together = wire.test_frames_that_arrive_together_are_answered_in_order
test_a_good_frame_before_a_bad_length = wire.test_a_good_frame_before_a_bad_length_is_answered_first
test_multiprocessing_connection_talks_to_the_service = wire.test_multiprocessing_connection_talks_to_the_service


def test_a_frame_just_below_the_limit_is_answered(service: Serving) -> None:
    bare = len(request("/calc", target=7, filler=""))
    with service.peer() as peer:
        assert peer.ask(request("/calc", target=7, filler="x" * (wire.LIMIT_BYTES - bare)))["msg"] == "7"


def test_an_answer_says_when_the_count_began_if_it_is_asked(service: Serving) -> None:
    with service.peer() as peer:
        answer = peer.ask(request("/calc", target=7, begun=True))
    assert set(answer) == {"code", "msg", "err", "calc_ns", "begun_ns"}
    assert answer["begun_ns"] > 0


def test_a_count_of_ten_times_as_many_takes_longer(sandbox: Sandbox) -> None:
    with calc_service("2", sandbox, TRANSPORT="unix") as service, service.peer() as peer:
        few, many = (
            min(peer.ask(request("/calc", target=target))["calc_ns"] for _ in range(20))
            for target in (100_000, 1_000_000)
        )
    assert 5 * few < many  # a loop that the compiler left out would take no time at either


def test_one_connection_over_the_limit_is_refused_and_a_place_that_is_free_is_given(sandbox: Sandbox) -> None:
    with calc_service("2", sandbox, TRANSPORT="unix", NUM_MAX_CONNS=2) as service, ExitStack() as held:
        first, _ = (held.enter_context(service.peer()) for _ in range(2))
        assert first.ask(CALC)["msg"] == "7"
        with service.peer() as third:
            third.send(framed(CALC))
            assert third.answer()["code"] == 503
            assert third.is_closed()
        first.close()
        assert service.try_once() == "7"
        assert service.end()["requests"] == 2


def test_system_1_closes_a_connection_whose_request_does_not_come_whole_in_time(sandbox: Sandbox) -> None:
    with calc_service("1", sandbox, TRANSPORT="unix") as service, service.peer(deadline_s=20.0) as slow:
        slow.send(framed(CALC)[:-1])
        assert slow.is_closed()


def test_requests_are_counted_by_socket_and_by_worker(sandbox: Sandbox) -> None:
    params = {"TRANSPORT": "unix", "NUM_MULTI_SOCKET": 3, "NUM_WORKERS_PER_API_SERVICE": 25}
    with calc_service("4", sandbox, **params) as service:
        assert len(service.addresses) == 3
        for address, times in zip(service.addresses, (3, 1, 2), strict=True):
            with Peer(address) as peer:
                assert [peer.ask(CALC)["msg"] for _ in range(times)] == ["7"] * times
        result = service.end()
    assert result["requests_by_socket"] == [3, 1, 2]
    assert sum(result["requests_by_worker"]) == result["requests"] == 6
    assert len(result["requests_by_worker"]) <= len(os.sched_getaffinity(0))


def test_connections_that_stay_are_dealt_out_to_the_threads(sandbox: Sandbox) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    params = {"TRANSPORT": "tcp", "NUM_WORKERS_PER_API_SERVICE": 2}
    with calc_service("2", sandbox, **params) as service, ExitStack() as held:
        for _ in range(10):
            assert held.enter_context(service.peer()).ask(CALC)["msg"] == "7"
        assert service.end()["requests_by_worker"] == [5, 5]


@pytest.mark.parametrize("key", ["1", "2", "4"])
def test_a_python_client_is_answered_rightly(key: str, any_runtime: Runtime, sandbox: Sandbox) -> None:
    system = find(key)
    cell = small_cell(system, any_runtime).to_json()
    with (
        calc_service(key, sandbox, **cell["params"]) as service,
        Spoken(command_or_skip(any_runtime, system, "client")) as client,
    ):
        client.tell({**cell, "client_id": 0, "addresses": [service.addresses]})
        assert client.line()["ready"] is True
        client.tell("go")
        result = client.line()["result"]
        assert client.end()[0] == 0
        assert service.end()["requests"] == 20
    assert (result["answered"], result["wrong"], result["errors"]) == (20, 0, {})
    assert result["waiting"]["count"] == 1
