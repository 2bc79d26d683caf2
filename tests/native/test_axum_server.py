"""axum-server: its fixed answer, its delay, and the child contract."""

from contextlib import ExitStack
from time import perf_counter_ns

import pytest

from lab.run.sandbox import Sandbox
from tests.contract.peers import Peer
from tests.contract.serving import Serving
from tests.contract.speaking import Spoken
from tests.native.programs import native_serving, program_or_skip

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
DELAY_US = 200_000
MOST_TRIES = 2000


def answer(peer: Peer, asked: bytes = GET) -> tuple[bytes, bytes]:
    """Ask; the head and the body of the response, which says how long it is."""
    peer.send(asked)
    said = b""
    while b"\r\n\r\n" not in said:
        said += peer.sock.recv(65536)
    head, _, body = said.partition(b"\r\n\r\n")
    (length,) = (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += peer.sock.recv(65536)
    return head, body


def took_ns(service: Serving) -> int:
    """How long one request takes, its connect apart."""
    with service.peer() as peer:
        start_ns = perf_counter_ns()
        assert answer(peer)[1] == b"Hello, World!"
        return perf_counter_ns() - start_ns


@pytest.mark.parametrize("transport", ["tcp", "unix"])
@pytest.mark.parametrize("threads", [None, 1, 2])
def test_every_request_is_answered_with_thirteen_bytes_and_the_connection_kept(
    sandbox: Sandbox, transport: str, threads: int | None
) -> None:
    command = [program_or_skip("axum-server"), "--child"]
    params = {"TRANSPORT": transport, "NUM_SERVER_THREADS": threads}
    with native_serving(command, sandbox, params) as service:
        with service.peer() as peer:
            for _ in range(3):
                head, body = answer(peer)
                assert head.startswith(b"HTTP/1.1 200 OK\r\n")
                assert body == b"Hello, World!"
        assert service.end()["requests"] == 3


def test_another_url_is_not_found_and_counted(sandbox: Sandbox) -> None:
    with native_serving([program_or_skip("axum-server"), "--child"], sandbox, {"TRANSPORT": "tcp"}) as service:
        with service.peer() as peer:
            assert answer(peer, b"GET /nope HTTP/1.1\r\nHost: x\r\n\r\n")[0].startswith(b"HTTP/1.1 404 ")
            assert answer(peer)[1] == b"Hello, World!"
        assert service.end()["requests"] == 2


def test_an_answer_comes_after_its_delay_and_never_before(sandbox: Sandbox) -> None:
    command = [program_or_skip("axum-server"), "--child"]
    with native_serving(command, sandbox, {"TRANSPORT": "tcp", "DELAY_US": 300}) as service:
        tries_ns = [took_ns(service) for _ in range(20)]
        while min(tries_ns) >= 1_000_000 and len(tries_ns) < MOST_TRIES:  # the machine may be busy
            tries_ns.append(took_ns(service))
    assert 300_000 <= min(tries_ns) < 1_000_000  # a timer of whole milliseconds would take one at least


def test_delays_of_many_connections_pass_at_the_same_time(sandbox: Sandbox) -> None:
    command = [program_or_skip("axum-server"), "--child"]
    params = {"TRANSPORT": "unix", "DELAY_US": DELAY_US, "NUM_SERVER_THREADS": 1}
    with native_serving(command, sandbox, params) as service, ExitStack() as held:
        peers = [held.enter_context(service.peer()) for _ in range(50)]
        start_ns = perf_counter_ns()
        for peer in peers:
            peer.send(GET)
        assert [answer(peer, b"")[1] for peer in peers] == [b"Hello, World!"] * 50
        assert DELAY_US * 1000 <= perf_counter_ns() - start_ns < 25 * DELAY_US * 1000
        assert service.end()["requests"] == 50


def test_a_delay_that_is_none_is_named_with_what_is_accepted() -> None:
    with Spoken([program_or_skip("axum-server"), "--delay", "soon"]) as server:
        status, said, complaints = server.end()
    assert (status, said) == (2, b"")
    assert "'soon' for '--delay <MICROSECONDS>': it must be a whole number of at least 0" in complaints
