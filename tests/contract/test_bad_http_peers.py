"""Bad peers against system 3, which says the same with HTTP status codes. Its one event loop must never be held."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from tests.contract.peers import Peer
from tests.contract.serving import Serving, serving

PROMPT_S = 30.0  # its event loop has no deadline: who is held up by such a peer is not answered at all
SILENT_PEERS = 300
LIMIT_BYTES = 16 * 2**20


def http(method: str, target: str, body: bytes = b"", *headers: str) -> bytes:
    """One HTTP/1.1 request."""
    length = [f"Content-Length: {len(body)}"] if body else []
    head = "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *headers, *length])
    return head.encode() + b"\r\n\r\n" + body


CALC = http("POST", "/calc", b'{"target": 7}')
BAD_REQUESTS: dict[bytes, int] = {
    http("POST", "/calc"): 400,
    http("POST", "/calc", b" "): 400,
    http("POST", "/calc", b"not json"): 400,
    http("POST", "/calc", b"\xff\xfe"): 400,
    http("POST", "/calc", b'{"target": 7}}'): 400,
    http("POST", "/calc", b"[" * 100_000): 400,
    http("POST", "/calc", b'{"a":' * 100_000): 400,
    http("POST", "/calc", b"null"): 400,
    http("POST", "/calc", b"[7]"): 400,
    http("POST", "/calc", b"{}"): 400,
    http("POST", "/calc", b'{"target": true}'): 400,
    http("POST", "/calc", b'{"target": 1e3}'): 400,
    http("POST", "/calc", b'{"target": "7"}'): 400,
    http("POST", "/calc", b'{"target": null}'): 400,
    http("POST", "/calc", b'{"target": -1}'): 400,
    http("POST", "/calc", b'{"target": 1000000001}'): 400,
    http("POST", "/calc", b'{"target": 1' + b"0" * 5000 + b"}"): 400,
    http("POST", "/calc?target=7"): 400,
    http("POST", "/", b'{"msg": 7}'): 400,
    http("GET", "/"): 400,
    http("GET", "/?msg=%ff"): 400,
    http("POST", "/nothing", b'{"target": 7}'): 404,
    http("POST", "/calc/", b'{"target": 7}'): 404,
    http("GET", "/nothing"): 404,
    http("GET", "/calc"): 405,
    http("PUT", "/calc", b'{"target": 7}'): 405,
    http("DELETE", "/"): 405,
}
GOOD_REQUESTS: dict[bytes, str] = {
    CALC: "7",
    http("POST", "/calc", b'{"target": 0}'): "0",
    http("POST", "/calc", b'{"method": "POST", "url": "/calc", "params": {"target": 7}}'): "7",
    http("POST", "/", b'{"msg": "hello"}'): "hello",
    http("GET", "/?msg=hello"): "hello",
    http("GET", "/?msg=%20a+%E4%B8%AD%20"): " a 中 ",
    http("POST", "/calc", b"", "Transfer-Encoding: chunked") + b'4\r\n{"ta\r\n9\r\nrget": 7}\r\n0\r\n\r\n': "7",
}
NO_HTTP = {
    "no HTTP at all": b"\x00\x00\x00\x3b{}\r\n\r\n",
    "a negative length": http("POST", "/calc", b"", "Content-Length: -1"),
    "a length that is no number": http("POST", "/calc", b"", "Content-Length: many"),
    "two lengths": http("POST", "/calc", b'{"target": 7}', "Content-Length: 5"),
    "a head without end": b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 200_000,
}


@pytest.fixture(scope="module")
def service(runtime: Runtime, sandbox: Sandbox) -> Iterator[Serving]:
    """One service for all tests of this module; at the end it has nothing to complain of."""
    with serving("3", runtime, sandbox) as service:
        yield service
        service.end()


def check_it_answers(service: Serving) -> None:
    """A new client gets its answer."""
    with service.peer(deadline_s=PROMPT_S) as peer:
        peer.send(CALC)
        status, answer = peer.response()
    assert (status, answer["code"], answer["msg"]) == (200, 200, "7")


def answered(peer: Peer, request: bytes) -> tuple[int, str]:
    """Status and msg of the answer; its code is the status too."""
    peer.send(request)
    status, answer = peer.response()
    assert answer["code"] == status
    return status, answer["msg"]


def test_every_bad_request_is_answered_with_its_status_and_the_connection_stays_open(service: Serving) -> None:
    with service.peer() as peer:
        statuses = {request[:100]: answered(peer, request) for request in BAD_REQUESTS}
        assert statuses == {request[:100]: (status, "") for request, status in BAD_REQUESTS.items()}
        assert answered(peer, CALC) == (200, "7")


def test_every_good_request_is_answered(service: Serving) -> None:
    with service.peer() as peer:
        answers = {request: answered(peer, request) for request in GOOD_REQUESTS}
    assert answers == {request: (200, msg) for request, msg in GOOD_REQUESTS.items()}


@pytest.mark.parametrize("sent", NO_HTTP)
def test_what_is_no_http_is_closed(service: Serving, sent: str) -> None:
    with service.peer() as peer:
        peer.send(NO_HTTP[sent])
        try:
            while peer.sock.recv(65536):
                pass
        except ConnectionResetError:
            pass
    check_it_answers(service)


@pytest.mark.parametrize("announced", [LIMIT_BYTES + 1, 2**31, 2**70])
def test_a_body_over_the_limit_is_answered_413_and_the_connection_closed(service: Serving, announced: int) -> None:
    with service.peer() as peer:
        peer.send(http("POST", "/calc", b"", f"Content-Length: {announced}"))
        status, answer = peer.response()
        assert (status, answer["code"]) == (413, 413)
        assert peer.is_closed()
    check_it_answers(service)


def test_a_sender_of_too_much_still_gets_its_413(service: Serving) -> None:
    with service.peer() as peer:
        try:
            peer.send(http("POST", "/calc", b"x" * (LIMIT_BYTES + 1)))
        except (BrokenPipeError, ConnectionResetError):
            pass  # the service need not take in all of it
        assert peer.response()[0] == 413
    check_it_answers(service)


def test_chunks_over_the_limit_are_not_taken_in(service: Serving) -> None:
    chunk = b"100000\r\n" + b"x" * 2**20 + b"\r\n"
    with service.peer() as peer:
        try:
            peer.send(http("POST", "/calc", b"", "Transfer-Encoding: chunked") + 18 * chunk)
            while peer.sock.recv(65536):
                pass
        except (BrokenPipeError, ConnectionResetError):
            pass
    check_it_answers(service)


@pytest.mark.parametrize("sent", [b"", b"P", CALC[:30], CALC[:-1]])
def test_a_peer_that_stops_in_the_middle_of_a_request_holds_up_nobody(service: Serving, sent: bytes) -> None:
    with service.peer() as slow:
        slow.send(sent)
        check_it_answers(service)
        slow.send(CALC[len(sent) :])
        assert slow.response()[0] == 200
    with service.peer() as gone:
        gone.send(sent)
    check_it_answers(service)


def test_a_peer_that_sends_byte_by_byte_is_answered_and_so_are_the_others_meanwhile(service: Serving) -> None:
    with service.peer() as slow, service.peer() as other:
        for byte in CALC:
            slow.send(bytes([byte]))
            assert answered(other, CALC) == (200, "7")
        assert slow.response()[0] == 200


def test_hundreds_of_silent_connections_hold_up_nobody(service: Serving) -> None:
    with ExitStack() as silent:
        for number in range(SILENT_PEERS):
            silent.enter_context(service.peer()).send(CALC[: number % 50])
        check_it_answers(service)
    check_it_answers(service)


def test_peers_that_do_not_read_their_large_answers_hold_up_nobody(service: Serving) -> None:
    text = "x" * 8_000_000
    with ExitStack() as rude:
        peers = [rude.enter_context(service.peer(receive_buffer_bytes=4096)) for _ in range(3)]
        for peer in peers:
            peer.send(http("POST", "/", b'{"msg": "%s"}' % text.encode()))
        check_it_answers(service)
        assert peers[0].response()[1]["msg"] == text
    check_it_answers(service)


def test_requests_that_arrive_together_are_answered_in_order(service: Serving) -> None:
    with service.peer() as peer:
        peer.send(b"".join(http("GET", f"/?msg={number}") for number in range(100)))
        assert [peer.response()[1]["msg"] for _ in range(100)] == [str(number) for number in range(100)]


def test_a_handler_that_raises_is_answered_500_and_the_connection_stays_open(
    runtime: Runtime, sandbox: Sandbox
) -> None:
    raising = "import core.work\ndef fail(params):\n    1 / 0\ncore.work.ROUTES['/fail'] = {'POST': fail}"
    with serving("3", runtime, sandbox, first=raising) as service, service.peer() as peer:
        assert answered(peer, http("POST", "/fail", b"{}")) == (500, "")
        assert answered(peer, CALC) == (200, "7")
        service.end()
