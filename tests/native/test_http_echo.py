"""http-echo: what it answers, when it keeps a connection, and the child contract."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from lab.run.sandbox import Sandbox
from tests.contract.peers import Peer
from tests.contract.serving import Serving
from tests.native.programs import native_serving, program_or_skip

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
PROMPT_S = 4.0


@pytest.fixture(scope="module", params=["tcp", "unix"])
def service(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Serving]:
    """One server with two threads for many tests; at the end it has nothing to complain of."""
    command = [program_or_skip("http-echo"), "--child"]
    with native_serving(command, sandbox, {"TRANSPORT": request.param, "NUM_SERVER_THREADS": 2}) as service:
        yield service
        service.end()


def said_to(service: Serving, *parts: bytes) -> bytes:
    """All that is answered to *parts* until the server closes."""
    with service.peer(deadline_s=PROMPT_S) as peer:
        for part in parts:
            peer.send(part)
        return read_to_close(peer)


def read_to_close(peer: Peer) -> bytes:
    """The rest of the stream."""
    said = b""
    while data := peer.sock.recv(1 << 20):
        said += data
    return said


def read_bytes(peer: Peer, count: int) -> bytes:
    """The next *count* bytes."""
    said = b""
    while len(said) < count:
        data = peer.sock.recv(count - len(said))
        assert data, said
        said += data
    return said


def check_it_answers(service: Serving) -> None:
    """A new client gets its answer, and the connection stays open for another."""
    with service.peer(deadline_s=PROMPT_S) as peer:
        for _ in range(2):
            peer.send(GET)
            assert read_bytes(peer, len(HELLO)) == HELLO


def test_a_get_is_answered_with_the_fixed_body_and_the_connection_is_kept(service: Serving) -> None:
    check_it_answers(service)


def test_a_post_gets_its_body_back(service: Serving) -> None:
    body = b"x" * 1_000_000
    head = b"POST /any HTTP/1.1\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n"
    answer = said_to(service, head, body)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.partition(b"\r\n\r\n")[2] == body


def test_a_head_is_answered_without_a_body(service: Serving) -> None:
    answer = said_to(service, b"HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert b"\r\nContent-Length: 13\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


def test_http_1_0_without_keep_alive_is_closed_after_its_answer(service: Serving) -> None:
    answer = said_to(service, b"GET / HTTP/1.0\r\n\r\n")
    assert answer.endswith(b"Connection: close\r\n\r\nHello, World!")


def test_http_1_0_with_keep_alive_is_told_that_it_is_kept(service: Serving) -> None:
    ask = b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"
    kept = HELLO.replace(b"13\r\n", b"13\r\nConnection: keep-alive\r\n")
    with service.peer(deadline_s=PROMPT_S) as peer:
        for _ in range(2):
            peer.send(ask)
            assert read_bytes(peer, len(kept)) == kept


def test_requests_that_arrive_together_are_answered_in_order(service: Serving) -> None:
    posts = b"".join(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n%03d" % number for number in range(500))
    bodies = said_to(service, posts + b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").split(b"\r\n\r\n")[1:]
    assert [body[:3] for body in bodies[:500]] == [b"%03d" % number for number in range(500)]
    assert bodies[500] == b"Hello, World!"


def test_a_request_may_arrive_byte_by_byte_and_others_are_answered_meanwhile(service: Serving) -> None:
    with service.peer(deadline_s=PROMPT_S) as slow:
        for byte in GET:
            slow.send(bytes([byte]))
        check_it_answers(service)
        assert read_bytes(slow, len(HELLO)) == HELLO


def test_half_requests_and_silent_peers_hold_up_nobody(service: Serving) -> None:
    with ExitStack() as halves:
        for number in range(200):
            halves.enter_context(service.peer()).send(GET[: number % len(GET)])
        check_it_answers(service)
    check_it_answers(service)


@pytest.mark.parametrize(
    "bad",
    [
        b"not http\r\n\r\n",
        b"\x00\x00\x00\x02{}",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000,
    ],
)
def test_a_bad_request_is_answered_400_and_closed(service: Serving, bad: bytes) -> None:
    with service.peer(deadline_s=PROMPT_S) as peer:
        peer.send(bad)
        assert read_bytes(peer, 12) == b"HTTP/1.1 400"
    check_it_answers(service)


def test_another_method_is_answered_405(service: Serving) -> None:
    assert said_to(service, b"DELETE / HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize("flags", [[], ["-k"]])
def test_ab_fails_no_request_with_keep_alive_or_without(sandbox: Sandbox, flags: list[str]) -> None:
    if shutil.which("ab") is None:
        pytest.skip("ab is not installed")
    command = [program_or_skip("http-echo"), "--child"]
    with native_serving(command, sandbox, {"TRANSPORT": "tcp"}) as service:
        ab = ["ab", *flags, "-q", "-n", "500", "-c", "5", f"http://{service.addresses[0]}/"]
        said = subprocess.run(ab, capture_output=True, text=True, check=True, timeout=30).stdout
        fields = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
        assert (fields["Complete requests"].strip(), fields["Failed requests"].strip()) == ("500", "0")
        assert fields.get("Keep-Alive requests", "0").strip() == ("500" if flags else "0")
        assert service.end()["requests"] >= 500
