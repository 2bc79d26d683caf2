"""A client that speaks a protocol of the user's own to a service that stops to answer."""

import socket
import threading
from dataclasses import replace
from time import monotonic, perf_counter_ns

from clients.drive import CallerClient
from core.cell import Cell
from core.child import Slice
from core.system import MORE, System

LIMIT_S = 0.3
OWN = System(
    name="own",
    title="Own",
    command="-",
    encode=lambda request: b"%d\n" % request,
    decode=lambda buffer: int(buffer) if buffer.endswith(b"\n") else MORE,
    check=lambda answer, request: answer == request,
)


def answer(listener: socket.socket, requests: int) -> None:
    """Answer the first requests of a connection with their own bytes, and then no more."""
    with listener.accept()[0] as connection:
        for _ in range(requests):
            connection.sendall(connection.recv(100))
        while connection.recv(100):
            pass


def test_a_request_without_an_answer_is_awaited_once_and_each_later_slice_ends_at_once() -> None:
    values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1}
    cell = Cell.build(system="own", runtime="3.14t", reads=OWN.parameters, values=values)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener, 20), daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        client = CallerClient(replace(OWN), cell, 0, [[address]], limit_s=LIMIT_S)
        began_s = monotonic()
        part = Slice(lead_ns=0, length_ns=10**9)  # longer than the 20 answers take on a busy machine
        results = [client.run_slice(replace(part, at_ns=perf_counter_ns())) for _ in range(5)]
        assert LIMIT_S <= monotonic() - began_s < 2 * LIMIT_S
    assert results[0]["answered"] + results[0]["uncounted"] == 20
    assert all(result["errors"]["timeout"] >= 1 for result in results)
    assert all(result["answered"] == 0 for result in results[1:])
