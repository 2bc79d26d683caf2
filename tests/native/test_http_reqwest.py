"""http-reqwest: what it counts and times, against a server that is well and servers that are not."""

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.histogram import Histogram
from lab.run.sandbox import Sandbox
from tests.contract.speaking import Spoken
from tests.native.programs import native_serving, program_or_skip

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!"
GOOD_ANSWERS = 1  # each worker's first request, which opens its connection
PARAMS = {"NUM_CONNECTIONS_PER_CLIENT": 2, "NUM_REQUESTS_PER_CLIENT": 20}


def told(address: str, params: dict[str, Any], **method: Any) -> dict[str, Any]:
    """What the client is told."""
    named = {"cell_id": "a-test", "system": "http-reqwest", "runtime": "native", "params": params, "cpus": []}
    asked = {"warmup": {"share": 0.0, "seconds": 0.0}, "duration_s": 0.0, **method}
    return {**named, "client_id": 0, "addresses": [[address]], "method": asked}


def asked(address: str, *flags: str, params: dict[str, Any] = PARAMS, warm: bool = False, **method: Any) -> Any:
    """The result of a client of its own."""
    with Spoken([program_or_skip("http-reqwest"), *flags]) as client:
        client.tell(told(address, params, **method))
        ready = client.line()
        assert (ready["ready"], ready["pid"], ready["addresses"]) == (True, client.process.pid, [])
        if warm:
            client.tell("warm")
            assert client.line() == {"warm": True}
        client.tell("go")
        result = client.line()["result"]
        assert client.end() == (0, b"", "")
    return result


Answer = Callable[[socket.socket, int], bool]


def _serve(connection: socket.socket, answer: Answer) -> None:
    number, held = 0, b""
    with connection:
        while data := connection.recv(65536):
            held += data
            while b"\r\n\r\n" in held:
                held = held.partition(b"\r\n\r\n")[2]
                number += 1
                if number <= GOOD_ANSWERS:
                    connection.sendall(OK)
                elif not answer(connection, number):
                    return


@contextmanager
def misbehaving(answer: Answer) -> Iterator[str]:
    """A server that answers each connection's first request rightly and the others as *answer* does; its address."""

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_quietly, args=(connection, answer), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def _quietly(connection: socket.socket, answer: Answer) -> None:
    try:
        _serve(connection, answer)
    except OSError:
        pass  # the client may be gone


def refusing(connection: socket.socket, number: int) -> bool:
    """500, and the connection stays."""
    connection.sendall(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
    return True


def closing(connection: socket.socket, number: int) -> bool:
    """Nothing, and the end of the stream."""
    return False


def resetting(connection: socket.socket, number: int) -> bool:
    """Nothing, and a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def halving(connection: socket.socket, number: int) -> bool:
    """Half a body, and the end of the stream."""
    connection.sendall(OK[:-6])
    return False


def shortening(connection: socket.socket, number: int) -> bool:
    """A whole answer of another length."""
    connection.sendall(OK.replace(b"13", b"5").replace(b", World!", b""))
    return True


def muting(connection: socket.socket, number: int) -> bool:
    """Nothing at all."""
    return True


def babbling(connection: socket.socket, number: int) -> bool:
    """Something that is not HTTP."""
    connection.sendall(b"\x00\x01 no answer\r\n\r\n")
    return False


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_every_request_is_answered_timed_and_counted(sandbox: Sandbox, transport: str) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with native_serving(server, sandbox, {"TRANSPORT": transport}) as service:
        params = {"NUM_CONNECTIONS_PER_CLIENT": 3, "NUM_REQUESTS_PER_CLIENT": 400}
        result = asked(service.addresses[0], params=params)
        assert service.end()["requests"] == 400 + 3  # each worker's first request opens its connection
    assert (result["requests"], result["answered"], result["wrong"], result["errors"]) == (400, 400, 0, {})
    assert Histogram.from_json(result["latency"]).count == result["latency"]["count"] == 400
    assert result["connect"]["count"] == 3
    assert result["finished_ns"] - result["started_ns"] == result["completion_ns"]
    assert max(result["workers_ns"]) <= result["bench_ns"]
    assert (len(result["workers_ns"]), [len(one) for one in result["timeline"]]) == (3, [100, 100, 100])
    for worker in result["timeline"]:
        moments = [moment for request in worker for moment in request]
        assert moments == sorted(moments)
        assert 0 <= moments[0] <= moments[-1] <= result["completion_ns"]


def test_requests_that_do_not_divide_are_shared_out_to_the_first_workers(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as service:
        params = {"NUM_CONNECTIONS_PER_CLIENT": 3, "NUM_REQUESTS_PER_CLIENT": 11}
        result = asked(service.addresses[0], params=params)
    assert [len(worker) for worker in result["timeline"]] == [4, 4, 3]


def test_a_warm_up_asks_and_is_not_counted(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as service:
        result = asked(service.addresses[0], warm=True, warmup={"share": 0.5, "seconds": 0.0})
        assert service.end()["requests"] == 2 + 10 + 20
    assert (result["requests"], result["answered"], result["latency"]["count"]) == (20, 20, 20)


def test_each_worker_is_warm_before_it_is_timed_however_small_the_share(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as service:
        asked(service.addresses[0], warm=True, warmup={"share": 0.01, "seconds": 0.0})
        assert service.end()["requests"] == 2 + 2 + 20


def test_with_a_duration_it_asks_until_the_time_is_over(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as service:
        result = asked(service.addresses[0], duration_s=0.2)
    assert result["requests"] == result["answered"] > 20
    assert 190_000_000 < min(result["workers_ns"]) <= result["bench_ns"]  # the time begins at go, before the workers


def test_its_workers_wait_at_the_same_time(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with native_serving(server, sandbox, {"TRANSPORT": "tcp", "DELAY_US": 20_000}) as service:
        params = {"NUM_CONNECTIONS_PER_CLIENT": 10, "NUM_REQUESTS_PER_CLIENT": 10}
        result = asked(service.addresses[0], params=params)
    starts, ends = zip(*(worker[0] for worker in result["timeline"]), strict=True)
    assert max(starts) < min(ends)


@pytest.mark.parametrize(
    ("answer", "answered", "wrong", "code"),
    [
        (refusing, 20, 0, "500"),
        (shortening, 20, 20, None),
        (closing, 10, 0, "closed"),
        (resetting, 10, 0, "reset"),
        (halving, 10, 0, "closed"),
        (babbling, 10, 0, "garbled"),
    ],
)
def test_what_is_wrong_is_counted_by_its_code(answer: Answer, answered: int, wrong: int, code: str | None) -> None:
    """A connection that was lost is opened again, and its first request is answered: every second one fails."""
    with misbehaving(answer) as address:
        result = asked(address)
    errors = {code: 20 if answered == 20 else 10} if code else {}
    assert (result["requests"], result["answered"], result["wrong"], result["errors"]) == (20, answered, wrong, errors)
    assert result["latency"]["count"] == answered


def test_an_answer_that_does_not_come_is_a_timeout_and_no_hang() -> None:
    with misbehaving(muting) as address:
        params = {"NUM_CONNECTIONS_PER_CLIENT": 1, "NUM_REQUESTS_PER_CLIENT": 4}
        result = asked(address, "--timeout", "0.2", params=params)
    assert (result["requests"], result["answered"], result["errors"]) == (4, 2, {"timeout": 2})


def test_a_server_that_is_not_there_is_given_up_after_ten_failures_of_each_worker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"127.0.0.1:{gone.getsockname()[1]}"
    params = {"NUM_CONNECTIONS_PER_CLIENT": 2, "NUM_REQUESTS_PER_CLIENT": 1000}
    result = asked(address, params=params)
    assert (result["requests"], result["answered"]) == (1000, 0)
    assert result["errors"] == {"connect": 2 * 10}


def test_another_length_may_be_expected() -> None:
    with misbehaving(shortening) as address:
        result = asked(address, "--expect-length", "5")
    assert (result["answered"], result["wrong"], result["errors"]) == (20, 0, {})


def test_it_stays_on_the_cpus_that_it_is_told(sandbox: Sandbox) -> None:
    cpu = max(os.sched_getaffinity(0))
    with (
        native_serving([program_or_skip("axum-server"), "--child"], sandbox, {"TRANSPORT": "tcp"}) as service,
        Spoken([program_or_skip("http-reqwest")]) as client,
    ):
        client.tell({**told(service.addresses[0], PARAMS), "cpus": [cpu]})
        assert os.sched_getaffinity(client.line()["pid"]) == {cpu}


@pytest.mark.parametrize("words", [[], ["go"]])
def test_end_of_file_before_the_result_ends_it_with_status_3(words: list[str]) -> None:
    with misbehaving(muting) as address, Spoken([program_or_skip("http-reqwest")]) as client:
        client.tell(told(address, PARAMS))
        assert client.line()["ready"] is True
        for word in words:
            client.tell(word)
        assert client.end() == (3, b"", "")


def test_the_workers_are_divided_among_several_services(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with (
        native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as first,
        native_serving(server, sandbox, {"TRANSPORT": "unix"}) as second,
        Spoken([program_or_skip("http-reqwest")]) as client,
    ):
        client.tell({**told("", PARAMS), "addresses": [first.addresses, second.addresses]})
        assert client.line()["ready"] is True
        client.tell("go")
        result = client.line()["result"]
        assert [service.end()["requests"] for service in (first, second)] == [1 + 20, 1 + 20]
    assert (result["requests"], result["answered"], len(result["workers_ns"])) == (40, 40, 2)


def test_the_second_client_goes_on_where_the_first_one_ended(sandbox: Sandbox) -> None:
    server = [program_or_skip("axum-server"), "--child"]
    with (
        native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as first,
        native_serving(server, sandbox, {"TRANSPORT": "tcp"}) as second,
        Spoken([program_or_skip("http-reqwest")]) as client,
    ):
        one = {"NUM_CONNECTIONS_PER_CLIENT": 1, "NUM_REQUESTS_PER_CLIENT": 5}
        client.tell({**told("", one), "client_id": 1, "addresses": [first.addresses, second.addresses]})
        assert client.line()["ready"] is True
        client.tell("go")
        client.line()
        assert [service.end()["requests"] for service in (first, second)] == [0, 1 + 10]


def test_a_service_without_an_address_is_refused_in_words() -> None:
    with Spoken([program_or_skip("http-reqwest")]) as client:
        client.tell({**told("", PARAMS), "addresses": [[]]})
        status, said, complaints = client.end()
    assert (status, said) == (2, b"")
    assert complaints == "http-reqwest: a service has no address; each needs one\n"
