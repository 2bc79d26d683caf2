"""Every service against good and bad peers: each answer is right, and none of them may hold a worker.

Every service here has one worker thread, unless its kind says otherwise: a held one shows, as nobody else is answered.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from core.runtime import NATIVE
from lab.folders import Sandbox
from tests.contract.dialects import LIMIT_BYTES
from tests.contract.kinds import KINDS, Kind
from tests.contract.peers import Peer, framed, request
from tests.contract.serving import Serving

CUTS = (0, 1, 3, 4, 24, -1)
MOST_BYTES = 64 * 2**20  # that a service and the kernel take for a peer that does not read its answers
RESET = b"\1\0\0\0\0\0\0\0"  # close() sends a reset in place of an end: SO_LINGER, socket(7)
# Those that answer when they have the whole request, under one runtime.
WHOLE = [kind for kind in KINDS if kind[0] in ("3.14t", NATIVE) and not kind[1].startswith("echo")]
LARGE = [("3.11", "1 unix"), ("3.14t", "2 tcp"), ("3.14t", "4 unix"), (NATIVE, "2 tcp"), (NATIVE, "1 unix")]


@pytest.fixture(scope="module")
def service(kind: Kind, sandbox: Sandbox) -> Iterator[Serving]:
    """One service of each kind for many tests of this module; at the end it has nothing to complain of."""
    with kind.serving(sandbox) as service:
        yield service
        service.end()


def drain(peer: Peer) -> None:
    """Until the service closes."""
    with suppress(ConnectionResetError):
        while peer.sock.recv(1 << 20):
            pass


def test_every_request_is_answered_as_the_table_says_and_the_connection_stays_open(
    service: Serving, kind: Kind
) -> None:
    requests = [*service.dialect.table, service.dialect.calc]
    if kind.keeps:
        with service.peer() as peer:
            heard = [service.dialect.ask(peer, one) for one in requests]
    else:
        heard = []
        for one in requests:
            with service.peer() as peer:
                heard.append(service.dialect.ask(peer, one))
                assert peer.is_closed()
    wanted = [*service.dialect.table.values(), (200, service.dialect.msg)]
    wrong = [(one[:100], got) for one, got, due in zip(requests, heard, wanted, strict=True) if got != due]
    assert wrong == []


def test_what_cannot_be_a_request_is_refused_and_its_connection_closed(service: Serving, kind: Kind) -> None:
    for sent, code in service.dialect.closing.items():
        with service.peer() as peer:
            with suppress(BrokenPipeError, ConnectionResetError):  # the service need not take in all of it
                peer.send(sent)
            if code:
                assert service.dialect.read(peer, sent)[0] == code, sent[:100]
                assert peer.is_closed(), sent[:100]
            else:
                drain(peer)
        service.check_it_answers(kind.prompt_s)


def test_a_peer_that_sends_byte_by_byte_or_goes_away_in_the_middle_holds_up_nobody(
    service: Serving, kind: Kind
) -> None:
    calc = service.dialect.calc
    with service.peer() as slow:
        for place, byte in enumerate(calc):
            if place in CUTS or place % 8 == 0:
                service.check_it_answers(kind.prompt_s)
            slow.send(bytes([byte]))
        assert service.dialect.read(slow, calc) == (200, service.dialect.msg)
    for cut in CUTS:
        for sent in (calc[:cut], calc):
            with service.peer() as gone:
                gone.send(sent)
    service.check_it_answers(kind.prompt_s)


def test_hundreds_of_silent_connections_and_of_half_requests_hold_up_nobody(service: Serving, kind: Kind) -> None:
    with ExitStack() as silent:
        for number in range(kind.crowd):
            silent.enter_context(service.peer()).send(service.dialect.calc[: number % 25])
        service.check_it_answers(kind.prompt_s)
    service.check_it_answers(kind.prompt_s)


@pytest.mark.parametrize("kind", WHOLE, ids="-".join, indirect=True)
def test_peers_that_do_not_read_their_large_answers_hold_up_nobody(service: Serving, kind: Kind) -> None:
    asked = service.dialect.echo("x" * 6_000_000)
    with ExitStack() as rude:
        peers = [rude.enter_context(service.peer(receive_buffer_bytes=4096)) for _ in range(2)]
        for peer in peers:
            peer.send(asked)
        service.check_it_answers(kind.prompt_s)
        assert service.dialect.read(peers[0], asked) == (200, "x" * 6_000_000)
        if kind.keeps:
            assert service.dialect.ask(peers[0], service.dialect.calc) == (200, service.dialect.msg)
    service.check_it_answers(kind.prompt_s)


def test_peers_that_read_nothing_are_not_read_any_more_and_hold_up_nobody_nor_do_those_that_vanish_before_an_answer(
    service: Serving, kind: Kind
) -> None:
    much = service.dialect.echo("x" * 1000) * 1000
    taken_bytes = 0
    with service.peer(deadline_s=0.05, receive_buffer_bytes=4096) as rude:
        with suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
            while taken_bytes < MOST_BYTES:
                taken_bytes += rude.sock.send(much[taken_bytes % len(much) :])
        assert taken_bytes < MOST_BYTES
        service.check_it_answers(kind.prompt_s)
    service.check_it_answers(kind.prompt_s)
    for _ in range(20):
        with service.peer() as gone:
            if gone.sock.family == socket.AF_INET:
                gone.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            gone.send(service.dialect.echo("x" * 50_000))
    service.check_it_answers(kind.prompt_s)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind[1] != "3"], ids="-".join, indirect=True)
def test_a_peer_that_ends_its_side_still_gets_its_answer(service: Serving) -> None:
    asked = service.dialect.echo("x" * 100_000)
    with service.peer() as peer:
        peer.send(asked)
        peer.sock.shutdown(socket.SHUT_WR)
        assert service.dialect.read(peer, asked) == (200, "x" * 100_000)
        assert peer.is_closed()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind[1][0] != "1"], ids="-".join, indirect=True)
def test_requests_that_arrive_together_are_answered_in_order(service: Serving) -> None:
    asked = [service.dialect.echo(str(number)) for number in range(500)]
    with service.peer() as peer:
        peer.send(b"".join(asked))
        heard = [service.dialect.read(peer, one) for one in asked]
        assert heard == [(200, str(number)) for number in range(500)]
        assert service.dialect.ask(peer, service.dialect.calc) == (200, service.dialect.msg)


@pytest.mark.parametrize("kind", LARGE, ids="-".join, indirect=True)
def test_a_frame_just_below_the_limit_is_answered(service: Serving) -> None:
    bare = len(request("/calc", target=7, filler=""))
    assert service.ask(framed(request("/calc", target=7, filler="x" * (LIMIT_BYTES - bare)))) == (200, "7")
