"""The client's threads: services shared out among them, opened before the release, and waited for in vain."""

import socket
import threading

import pytest

from clients.channel import CallFailed
from clients.workers import GIVE_UP_AFTER
from core.system import Channel
from core.wire import frame
from tests.clients.driving import FakeCaller, addresses_of, cached, client, counts, services
from tests.clients.scripted import RIGHT, WRONG
from tests.native.loadgen_peers import DEADLINE_S, Script, Scripted, says

ALWAYS_RIGHT = says(frame(RIGHT))


def test_errors_of_one_service_leave_the_others_answers_alone() -> None:
    with (
        services(ALWAYS_RIGHT, says(b"", keep=False), says(frame(WRONG))) as running,
        client(cached, addresses_of(running), NUM_REQUESTS_PER_CLIENT=20) as one,
    ):
        result = one.run()
    assert (result["requests"], *counts(result)) == (60, 40, 20, {"closed": GIVE_UP_AFTER})


@pytest.mark.parametrize(("client_id", "order"), [(0, "abc"), (1, "bca"), (2, "cab"), (4, "bca")])
def test_each_client_begins_with_another_service(client_id: int, order: str) -> None:
    class Noting(FakeCaller):
        def __init__(self, addresses: list[str], connect_ns: object) -> None:
            super().__init__([RIGHT])
            self.address = addresses[0]

        def give(self, channel: Channel) -> None:
            asked.append(self.address)

    asked: list[str] = []
    one_each = {"NUM_THREADS_PER_CLIENT": 1, "NUM_REQUESTS_PER_CLIENT": 1}
    with client(Noting, [["a"], ["b"], ["c"]], client_id, **one_each) as one:
        one.run()
    assert "".join(asked) == order


def test_a_service_that_cannot_be_reached_is_an_error_before_anything_is_timed() -> None:
    class Refusing(FakeCaller):
        def open(self) -> None:
            raise CallFailed("connect")

    with pytest.raises(CallFailed), client(lambda addresses, connect_ns: Refusing([]), [["a"]]):
        pass


def silent_until(ended: threading.Event) -> Script:
    """Answer nothing until *ended*, then everything."""

    def play(server: Scripted, connection: socket.socket, request: bytes) -> bool:
        assert ended.wait(DEADLINE_S)
        return ALWAYS_RIGHT(server, connection, request)

    return play


@pytest.mark.parametrize(("answering", "silent"), [(1, 1), (0, 3)])
def test_every_thread_that_waits_in_vain_is_a_timeout_and_what_the_others_answered_is_kept(
    answering: int, silent: int
) -> None:
    """At last the answers come after all, and the threads end."""
    ended = threading.Event()
    scripts = [*[ALWAYS_RIGHT] * answering, *[silent_until(ended)] * silent]
    with services(*scripts) as running, client(cached, addresses_of(running)) as one:
        result = one.run(1.0)  # one that answers has begun to by then
        ended.set()
    expected = (5 * len(scripts), 5 * answering, 0, {"timeout": silent})
    assert (result["requests"], *counts(result)) == expected


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
