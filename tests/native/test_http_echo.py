"""http-echo and axum-server: what is theirs alone. tests/contract/test_wire.py has the bad peers of http-echo."""

from contextlib import ExitStack
from time import perf_counter_ns

import pytest

from lab.run.sandbox import Sandbox
from tests.contract.dialects import BODY
from tests.contract.peers import Peer
from tests.native.programs import as_service, native_serving

DELAY_US = 200_000
GREETING = (200, "Hello, World!")


@pytest.mark.alone
def test_an_answer_of_axum_comes_after_its_delay_and_never_before(sandbox: Sandbox) -> None:
    with native_serving(as_service("axum-server"), sandbox, {"TRANSPORT": "tcp", "DELAY_US": 300}) as service:
        tries_ns = [took_ns(service.peer())]
        while min(tries_ns) >= 1_000_000 and len(tries_ns) < 2000:  # the machine may be busy
            tries_ns.append(took_ns(service.peer()))
    assert 300_000 <= min(tries_ns) < 1_000_000  # a timer of whole milliseconds would take one at least


def took_ns(peer: Peer) -> int:
    """How long one request takes, its connect apart."""
    with peer:
        start_ns = perf_counter_ns()
        assert BODY.ask(peer, BODY.calc) == GREETING
        return perf_counter_ns() - start_ns


@pytest.mark.alone
def test_delays_of_many_connections_pass_at_the_same_time(sandbox: Sandbox) -> None:
    params = {"TRANSPORT": "unix", "DELAY_US": DELAY_US, "NUM_SERVER_THREADS": 1}
    with native_serving(as_service("axum-server"), sandbox, params) as service, ExitStack() as held:
        peers = [held.enter_context(service.peer()) for _ in range(50)]
        start_ns = perf_counter_ns()
        for peer in peers:
            peer.send(BODY.calc)
        assert [BODY.read(peer, BODY.calc) for peer in peers] == [GREETING] * 50
        assert DELAY_US * 1000 <= perf_counter_ns() - start_ns < 25 * DELAY_US * 1000
        assert service.end()["requests"] == 50


HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
HEADS: dict[bytes, tuple[bytes, bool]] = {
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n": (HELLO, True),
    b"HEAD / HTTP/1.1\r\n\r\n": (HELLO.removesuffix(b"Hello, World!"), True),
    b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n": (HELLO.replace(b"13\r\n", b"13\r\nConnection: close\r\n"), False),
    b"GET / HTTP/1.0\r\n\r\n": (HELLO.replace(b"13\r\n", b"13\r\nConnection: close\r\n"), False),
    b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n": (
        HELLO.replace(b"13\r\n", b"13\r\nConnection: keep-alive\r\n"),
        True,
    ),
}


@pytest.mark.parametrize("asked", HEADS)
def test_http_echo_keeps_or_closes_a_connection_as_it_is_asked_to(sandbox: Sandbox, asked: bytes) -> None:
    answer, is_kept = HEADS[asked]
    with native_serving(as_service("http-echo"), sandbox, {"TRANSPORT": "unix"}) as service, service.peer() as peer:
        for _ in range(1 + is_kept):
            peer.send(asked)
            assert peer.take(len(answer)) == answer
        assert is_kept or peer.is_closed()
