"""The echo servers in Python under every runtime: the same tests as for the native ones, and the child contract."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lab.run.runtimes import Runtime
from lab.run.sandbox import Sandbox
from systems import find
from tests.conftest import RUNTIMES, runtime_or_skip
from tests.contract.peers import Peer
from tests.contract.serving import Serving, command_or_skip, serving, small_cell
from tests.contract.speaking import Spoken
from tests.native import test_echo_servers as native
from tests.native.programs import USAGE
from tests.native.test_echo_servers import bytes_taken, check_it_echoes, noise, servers_side

SYSTEMS = ("echo-asyncio", "echo-pool", "echo-uvloop")
SERVERS = [(system, runtime, "tcp") for system in SYSTEMS for runtime in RUNTIMES]
SERVERS += [(system, "3.14t", "unix") for system in SYSTEMS]


@pytest.fixture(scope="module", params=SERVERS, ids="-".join)
def server(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Serving]:
    """One server of each kind for many tests of this module; at the end it has nothing to complain of."""
    system, name, transport = request.param
    with serving(system, runtime_or_skip(name), sandbox, TRANSPORT=transport) as server:
        yield server
        server.end()


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    """Every echo server in turn."""
    return str(request.param)


# The same tests as for the native servers, on the fixtures of this module.
test_a_message_comes_back_as_it_was = native.test_a_message_comes_back_as_it_was
test_a_message_in_halves_comes_back_half_by_half = native.test_a_message_in_halves_comes_back_half_by_half
test_many_messages_sent_at_once_come_back_in_order = native.test_many_messages_sent_at_once_come_back_in_order
test_a_peer_that_sends_no_more = native.test_a_peer_that_sends_no_more_still_gets_all_of_its_echo_and_then_the_end
test_peers_that_vanish = native.test_peers_that_vanish_with_an_echo_on_its_way_hold_up_nobody


def test_dozens_of_connections_are_served_at_once(server: Serving) -> None:
    with ExitStack() as held:
        peers = [held.enter_context(server.peer()) for _ in range(50)]
        for number, peer in enumerate(peers):
            peer.send(noise(1000 + number))
        for number, peer in enumerate(peers):
            assert native.receive(peer, 1000 + number) == noise(1000 + number)


def test_a_peer_that_does_not_read_stops_being_read_and_holds_up_nobody(
    system: str, any_runtime: Runtime, sandbox: Sandbox
) -> None:
    with serving(system, any_runtime, sandbox, TRANSPORT="tcp") as server, ExitStack() as held:
        greedy, peer = held.enter_context(server.peer(deadline_s=0.5)), held.enter_context(server.peer())
        assert bytes_taken(greedy, 256 << 20) < 64 << 20  # the buffers of the kernel, both ways
        check_it_echoes(peer, noise(1000))


@pytest.mark.parametrize("nodelay", [True, False])
def test_tcp_nodelay_of_a_connection_is_what_the_cell_says(
    system: str, nodelay: bool, any_runtime: Runtime, sandbox: Sandbox
) -> None:
    with serving(system, any_runtime, sandbox, TRANSPORT="tcp", NODELAY=nodelay) as server, server.peer() as peer:
        check_it_echoes(peer, b"hello")
        with servers_side(server.child.process.pid, peer) as taken:
            assert bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) is nodelay


def test_tcp_nodelay_is_on_where_nothing_is_said(system: str, any_runtime: Runtime, sandbox: Sandbox) -> None:
    with serving(system, any_runtime, sandbox, TRANSPORT="tcp") as server, server.peer() as peer:
        check_it_echoes(peer, b"hello")
        with servers_side(server.child.process.pid, peer) as taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_buffers_of_a_connection_are_those_of_the_cell(system: str, any_runtime: Runtime, sandbox: Sandbox) -> None:
    small: dict[str, Any] = {"TRANSPORT": "tcp", "BUFFER_BYTES": 20_000}
    with serving(system, any_runtime, sandbox, **small) as server, server.peer() as peer:
        check_it_echoes(peer, noise(100_000))
        with servers_side(server.child.process.pid, peer) as taken:
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                assert taken.getsockopt(socket.SOL_SOCKET, option) == 40_000  # Linux doubles it: socket(7)


def told(system: str, runtime: Runtime, folder: Path, **params: Any) -> dict[str, Any]:
    """What the server is told."""
    return {**small_cell(find(system), runtime, **params).to_json(), "service_id": 0, "folder": str(folder)}


def test_messages_are_counted_by_their_size_from_the_reset_to_the_end(
    system: str, runtime: Runtime, short_folder: Path
) -> None:
    with Spoken(command_or_skip(runtime, find(system), "service"), runtime.variables) as child:
        child.tell(told(system, runtime, short_folder, TRANSPORT="unix", MESSAGE_BYTES=500))
        (address,) = child.line()["addresses"]
        with Peer(address) as peer:
            check_it_echoes(peer, noise(50_000))
            child.tell("reset")
            assert child.line() == {"reset": True}
            for _ in range(3):
                check_it_echoes(peer, noise(500))
            check_it_echoes(peer, noise(499))
            status, said, complaints = child.end()
    assert (status, complaints) == (0, "")
    result = json.loads(said)["result"]
    assert (result["requests"], result["echoed_bytes"]) == (3, 1999)
    assert (result["gil_enabled_ready"], result["gil_enabled_end"]) == (runtime.name.gil_enabled,) * 2
    assert {type(result[name]) for name in USAGE} == {int}
    assert list(short_folder.iterdir()) == []
