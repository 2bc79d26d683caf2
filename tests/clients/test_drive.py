"""The client against scripted services: answers are counted under their names, services shared out among threads."""

import socket
import threading
from time import monotonic, perf_counter_ns

import pytest

from clients.drive import CallerClient
from clients.quotas import GIVE_UP_AFTER
from core.cell import Cell
from core.child import Slice
from core.method import Method, Warmup
from core.system import MORE, System
from core.wire import frame
from tests.clients.driving import FakeCaller, cached, called, client, counts, services
from tests.clients.scripted import RIGHT, TABLES, WRONG
from tests.native.loadgen_peers import DEADLINE_S, Script, Scripted, exactly, says, scripted
from tests.tables import each_row

ALWAYS_RIGHT = says(frame(RIGHT))


def test_errors_of_one_service_leave_the_others_answers_alone() -> None:
    with (
        services(ALWAYS_RIGHT, says(b"", keep=False), says(frame(WRONG))) as addresses,
        client(cached, addresses, NUM_REQUESTS_PER_CLIENT=20) as one,
    ):
        result = one.run()
    assert (result["requests"], *counts(result)) == (60, 40, 20, {"closed": GIVE_UP_AFTER})


def silent_until(ended: threading.Event) -> Script:
    """Answer nothing until *ended*, then everything."""

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        assert ended.wait(DEADLINE_S)
        return ALWAYS_RIGHT(server, connection, request)

    return play


def test_every_thread_that_waits_in_vain_is_a_timeout_and_what_the_others_answered_is_kept() -> None:
    """At last the answers come after all, and the threads end."""
    ended = threading.Event()
    with services(ALWAYS_RIGHT, silent_until(ended), silent_until(ended)) as addresses:
        before = set(threading.enumerate())
        with client(cached, addresses) as one:
            result = one.run(1.0)  # one that answers has begun to by then
            ended.set()
            for thread in set(threading.enumerate()) - before:
                if "_serve" not in thread.name:  # of the services, which end later
                    thread.join(DEADLINE_S)
    assert (result["requests"], *counts(result)) == (15, 5, 0, {"timeout": 2})


def test_requests_of_a_thread_that_died_are_missing_and_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(FakeCaller):
        def ask(self, message: bytes) -> bytes:
            raise ValueError("a fault of our own")

    died: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    with client(lambda addresses, connect_ns: Broken([RIGHT]), [["a"]]) as one:
        result = one.run()
    assert len(died) == 1
    assert (result["requests"], result["answered"]) == (5, 0)


@pytest.mark.parametrize("what", TABLES["calculated"])
def test_an_answer_is_right_or_wrong_or_an_error_with_a_name(what: str) -> None:
    long = [b'{"code": %s}' % (b"9" * 5000), b"[" * 200_000] if what == "garbled" else []
    for body in [*(text.encode("latin-1") for text in TABLES["calculated"][what]), *long]:
        caller, result = called(body)
        errors = {} if what in ("right", "wrong") else {what: 1}
        assert counts(result) == (1, what == "wrong", errors), body[:60]
        assert caller.done == ["open", "give" if what == "right" else "drop"]


@each_row
def test_a_service_is_given_up_after_failures_in_a_row_and_the_rest_is_missing(cause: str) -> None:
    failures = 2 * GIVE_UP_AFTER - 1  # an answer starts the count anew
    caller, result = called(*[cause] * (GIVE_UP_AFTER - 1), RIGHT, *[cause] * (GIVE_UP_AFTER + 5))
    assert counts(result) == (1, 0, {cause: failures})
    assert caller.done.count("drop") == (0 if cause == "connect" else failures)
    assert result["requests"] == failures + 6
    assert len(caller.outcomes) == 5


# ---- a protocol of the user's own, and a service that stops to answer ------------------------------------------------

LIMIT_S = 0.3
VALUES = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 20}
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
    cell = Cell.build(system="own", runtime="3.14t", reads=OWN.parameters, values=VALUES)
    with scripted(first_twenty, lambda connection: connection.recv(100)) as server:
        client = CallerClient(OWN, cell, 0, [[server.address]], limit_s=LIMIT_S)
        began_s = monotonic()
        length_ns = 10**9  # longer than the 20 answers take on a busy machine
        results = [client.run_slice(Slice(at_ns=perf_counter_ns(), lead_ns=0, length_ns=length_ns)) for _ in range(5)]
        assert LIMIT_S <= monotonic() - began_s < 2 * LIMIT_S
    assert results[0]["answered"] + results[0]["uncounted"] == 20
    assert all(result["errors"]["timeout"] >= 1 for result in results)
    assert all(result["answered"] == 0 for result in results[1:])


def test_a_wrong_answer_of_the_warm_up_is_not_shown_as_one_of_the_timed_requests() -> None:
    def wrong_at_first(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        connection.sendall(b"-1\n" if server.requests <= 10 else request)
        return bool(request)

    cell = Cell.build(system="own", runtime="3.14t", reads=OWN.parameters, values=VALUES)
    with scripted(wrong_at_first, lambda connection: exactly(connection, 1) + connection.recv(100)) as server:
        client = CallerClient(OWN, cell, 0, [[server.address]], Method(warmup=Warmup(share=0.5)))
        client.warm_up()
        assert server.requests == 10
        result = client.run()
        client.close()
    assert (*counts(result), result.get("first_wrong")) == (20, 0, {}, None)


def test_the_timeout_of_the_warm_up_counts_again_with_its_cause() -> None:
    cell = Cell.build(system="own", runtime="3.14t", reads=OWN.parameters, values=VALUES)
    with scripted(says(b"1"), lambda connection: connection.recv(100)) as server:
        client = CallerClient(OWN, cell, 0, [[server.address]], Method(warmup=Warmup(share=0.5)), LIMIT_S)
        client.warm_up()
        result = client.run()
    assert counts(result) == (0, 0, {"timeout": 1})
    assert result["first_wrong"]["got"] == "`1`, which is incomplete (timeout)"
