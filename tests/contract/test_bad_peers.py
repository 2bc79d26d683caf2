"""Bad peers against the services that speak frames (systems 1, 2 and 4): none may hold a worker.

Every service here has one worker thread, so that a held one shows: nobody else is answered.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing.connection import Client
from typing import Any

import pytest

from lab.run.sandbox import Sandbox
from tests.contract.kinds import LARGE, PROMPT_S, SILENT_PEERS, Kind
from tests.contract.peers import CALC, framed, request
from tests.contract.serving import Serving

LIMIT_BYTES = 16 * 2**20
TOO_LONG = [-1, -(2**31), LIMIT_BYTES + 1, 2**31 - 1]
BAD_BODIES: dict[bytes, int] = {
    b"": 400,
    b" ": 400,
    b"not json": 400,
    b"\xff\xfe": 400,
    b"\xef\xbb\xbf" + CALC: 400,
    CALC.decode().encode("utf-16"): 400,
    CALC + b"}": 400,
    CALC + CALC: 400,
    b"[" * 100_000: 400,
    b'{"a":' * 100_000: 400,
    b"[" * 100_000 + b"]" * 100_000: 400,
    b"null": 400,
    b"[1]": 400,
    b'"/calc"': 400,
    b"{}": 400,
    b'{"url": "/calc", "params": {"target": 7}}': 400,
    b'{"method": "POST", "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": "/calc"}': 400,
    b'{"method": null, "url": "/calc", "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": 1, "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": ["/calc"], "params": {"target": 7}}': 400,
    b'{"method": "POST", "url": "/calc", "params": [7]}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": 1e3}}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": 7.0}}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": NaN}}': 400,
    b'{"method": "POST", "url": "/calc", "params": {"target": 1' + b"0" * 5000 + b"}}": 400,
    request("/calc"): 400,
    request("/calc", target=True): 400,
    request("/calc", target=None): 400,
    request("/calc", target="7"): 400,
    request("/calc", target=[7]): 400,
    request("/calc", target=-1): 400,
    request("/calc", target=10**9 + 1): 400,
    request("/"): 400,
    request("/", msg=7): 400,
    request("/nothing"): 404,
    request(""): 404,
    request("calc", target=7): 404,
    request("/calc/", target=7): 404,
    request("/calc?target=7", target=7): 404,
    request("/calc", "GET", target=7): 405,
    request("/calc", "post", target=7): 405,
    request("/calc", "", target=7): 405,
    request("/", "DELETE", msg="x"): 405,
}
GOOD_BODIES: dict[bytes, str] = {
    CALC: "7",
    request("/calc", target=0): "0",
    b' \n{"params":{"filler":"x","target":7},"more":null,"url":"\\u002fcalc","method":"POST"}\t': "7",
    request("/", msg="hello"): "hello",
    request("/", "GET", msg=""): "",
    json.dumps({"method": "GET", "url": "/", "params": {"msg": "中\n\x00\ud800"}}).encode(): "中\n\x00\ud800",
}


@pytest.fixture(scope="module")
def service(kind: Kind, sandbox: Sandbox) -> Iterator[Serving]:
    """One service of each kind for many tests of this module; at the end it has nothing to complain of."""
    with kind.serving(sandbox) as service:
        yield service
        service.end()


@pytest.fixture
def keeps_connections(kind: Kind) -> bool:
    """Whether the service answers more than one request on a connection."""
    return kind.number != "1"


def each_answer(service: Serving, bodies: list[bytes], keeps_connections: bool) -> list[Any]:
    """The answers to *bodies*: over one connection where the service keeps it."""
    if not keeps_connections:
        return [_answer_alone(service, body) for body in bodies]
    with service.peer() as peer:
        return [peer.ask(body) for body in bodies]


def _answer_alone(service: Serving, body: bytes) -> Any:
    with service.peer() as peer:
        answer = peer.ask(body)
        assert peer.is_closed()
        return answer


def test_every_bad_request_is_answered_with_its_code_and_the_connection_stays_open(
    service: Serving, keeps_connections: bool
) -> None:
    answers = each_answer(service, [*BAD_BODIES, CALC], keeps_connections)
    codes = {body[:80]: answer["code"] for body, answer in zip(BAD_BODIES, answers, strict=False)}
    assert codes == {body[:80]: code for body, code in BAD_BODIES.items()}
    for answer in answers[:-1]:
        assert set(answer) == {"code", "msg", "err", "calc_ns"}
        assert answer["msg"] == ""
        assert answer["err"]
    assert answers[-1]["msg"] == "7"


def test_every_good_request_is_answered(service: Serving, keeps_connections: bool) -> None:
    answers = each_answer(service, list(GOOD_BODIES), keeps_connections)
    assert [answer["msg"] for answer in answers] == list(GOOD_BODIES.values())
    assert {(answer["code"], answer["err"]) for answer in answers} == {(200, "")}
    assert all(type(answer["calc_ns"]) is int and answer["calc_ns"] >= 0 for answer in answers)


def test_the_frame_is_the_bytes_of_the_specification(service: Serving) -> None:
    with service.peer() as peer:
        peer.send(bytes.fromhex("0000003b") + b'{"method": "POST", "url": "/calc", "params": {"target": 7}}')
        assert peer.answer()["msg"] == "7"


@pytest.mark.parametrize("announced", TOO_LONG)
def test_a_length_that_is_negative_or_over_the_limit_is_answered_413_and_the_connection_closed(
    service: Serving, announced: int
) -> None:
    with service.peer() as peer:
        peer.send(announced.to_bytes(4, "big", signed=True))
        assert peer.answer()["code"] == 413
        assert peer.is_closed()
    service.check_it_answers(PROMPT_S)


def test_a_sender_of_too_much_still_gets_its_413(service: Serving) -> None:
    with service.peer() as peer:
        try:
            peer.send((LIMIT_BYTES + 1).to_bytes(4, "big") + b"x" * (LIMIT_BYTES + 1))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service need not take in all of it
        assert peer.answer()["code"] == 413
        assert peer.is_closed()
    service.check_it_answers(PROMPT_S)


@pytest.mark.parametrize("kind", LARGE, ids="-".join, indirect=True)
def test_a_frame_just_below_the_limit_is_answered(service: Serving) -> None:
    bare = len(request("/calc", target=7, filler=""))
    with service.peer() as peer:
        assert peer.ask(request("/calc", target=7, filler="x" * (LIMIT_BYTES - bare)))["msg"] == "7"


@pytest.mark.parametrize("part", [b"", b"\x00", b"\x00\x00\x00", framed(CALC)[:4], framed(CALC)[:-1]])
def test_a_peer_that_stops_in_the_middle_of_a_frame_holds_up_nobody(service: Serving, part: bytes) -> None:
    with service.peer() as slow:
        slow.send(part)
        service.check_it_answers(PROMPT_S)
        slow.send(framed(CALC)[len(part) :] if part != b"\x00" else framed(CALC)[1:])
        assert slow.answer()["msg"] == "7"


@pytest.mark.parametrize("part", [b"", b"\x00\x00", framed(CALC)[:-1], framed(CALC)])
def test_a_peer_that_goes_away_in_the_middle_holds_up_nobody(service: Serving, part: bytes) -> None:
    for _ in range(5):
        with service.peer() as peer:
            peer.send(part)
    service.check_it_answers(PROMPT_S)


def test_a_peer_that_sends_byte_by_byte_is_answered_and_so_are_the_others_meanwhile(service: Serving) -> None:
    with service.peer() as slow:
        for byte in framed(CALC):
            slow.send(bytes([byte]))
            service.check_it_answers(PROMPT_S)
        assert slow.answer()["msg"] == "7"


def test_hundreds_of_silent_connections_hold_up_nobody(service: Serving) -> None:
    with ExitStack() as silent:
        for _ in range(SILENT_PEERS):
            silent.enter_context(service.peer())
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_hundreds_of_half_frames_hold_up_nobody(service: Serving) -> None:
    with ExitStack() as halves:
        for _ in range(SILENT_PEERS):
            halves.enter_context(service.peer()).send(framed(CALC)[:10])
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_peers_that_do_not_read_their_large_answers_hold_up_nobody(service: Serving) -> None:
    text = "x" * 6_000_000
    with ExitStack() as rude:
        peers = [rude.enter_context(service.peer(receive_buffer_bytes=4096)) for _ in range(3)]
        for peer in peers:
            peer.send(framed(request("/", msg=text)))
        service.check_it_answers(PROMPT_S)
        assert peers[0].answer()["msg"] == text
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_a_peer_that_sends_much_and_reads_nothing_holds_up_nobody(service: Serving) -> None:
    much = framed(request("/", msg="x" * 1000)) * 20_000
    with service.peer(deadline_s=0.1, receive_buffer_bytes=4096) as rude:
        with pytest.raises((TimeoutError, BrokenPipeError, ConnectionResetError)):
            rude.send(much)
        service.check_it_answers(PROMPT_S)
    service.check_it_answers(PROMPT_S)


def test_a_peer_that_ends_its_side_still_gets_its_answer(service: Serving) -> None:
    with service.peer() as peer:
        peer.send(framed(request("/", msg="x" * 1_000_000)))
        peer.sock.shutdown(1)
        assert len(peer.answer()["msg"]) == 1_000_000
        assert peer.is_closed()


def test_frames_that_arrive_together_are_answered_in_order(service: Serving, keeps_connections: bool) -> None:
    with service.peer() as peer:
        peer.send(b"".join(framed(request("/", msg=str(number))) for number in range(500)))
        wanted = 500 if keeps_connections else 1
        assert [peer.answer()["msg"] for _ in range(wanted)] == [str(number) for number in range(wanted)]
        if keeps_connections:
            assert peer.ask(CALC)["msg"] == "7"
        else:
            assert peer.is_closed()


def test_a_good_frame_before_a_bad_length_is_answered_first(service: Serving, keeps_connections: bool) -> None:
    with service.peer() as peer:
        peer.send(framed(CALC) + b"\xff\xff\xff\xff" + b"more")
        assert peer.answer()["msg"] == "7"
        if keeps_connections:
            assert peer.answer()["code"] == 413
        assert peer.is_closed()


def test_multiprocessing_connection_talks_to_the_service(service: Serving) -> None:
    host, _, port = service.addresses[0].rpartition(":")
    with Client((host, int(port)) if host else service.addresses[0]) as connection:
        connection.send_bytes(CALC)
        assert connection.poll(PROMPT_S)
        assert json.loads(connection.recv_bytes())["msg"] == "7"
    with Client((host, int(port)) if host else service.addresses[0]) as connection:
        connection.send_bytes(request("/", msg="x" * 100_000))
        assert connection.poll(PROMPT_S)
        assert len(json.loads(connection.recv_bytes())["msg"]) == 100_000
