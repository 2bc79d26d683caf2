"""A client that speaks a protocol of the user's own to a service that stops to answer."""

import socket
from dataclasses import replace
from time import monotonic, perf_counter_ns

from clients.drive import CallerClient
from core.cell import Cell
from core.child import Slice
from core.system import MORE, System
from tests.native.loadgen_peers import Scripted, scripted

LIMIT_S = 0.3
OWN = System(
    name="own",
    title="Own",
    command="-",
    encode=lambda request: b"%d\n" % request,
    decode=lambda buffer: int(buffer) if buffer.endswith(b"\n") else MORE,
    check=lambda answer, request: answer == request,
)


def first_twenty(server: Scripted, connection: socket.socket, request: bytes) -> bool:
    """Answer the first requests with their own bytes, and then no more."""
    if server.requests <= 20:
        connection.sendall(request)
    return bool(request)


def test_a_request_without_an_answer_is_awaited_once_and_each_later_slice_ends_at_once() -> None:
    values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1}
    cell = Cell.build(system="own", runtime="3.14t", reads=OWN.parameters, values=values)
    with scripted(first_twenty, lambda connection: connection.recv(100)) as server:
        client = CallerClient(replace(OWN), cell, 0, [[server.address]], limit_s=LIMIT_S)
        began_s = monotonic()
        part = Slice(lead_ns=0, length_ns=10**9)  # longer than the 20 answers take on a busy machine
        results = [client.run_slice(replace(part, at_ns=perf_counter_ns())) for _ in range(5)]
        assert LIMIT_S <= monotonic() - began_s < 2 * LIMIT_S
    assert results[0]["answered"] + results[0]["uncounted"] == 20
    assert all(result["errors"]["timeout"] >= 1 for result in results)
    assert all(result["answered"] == 0 for result in results[1:])
