"""The client's threads against scripted services: every answer is counted once, under the name that it deserves."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clients.cached import CachedCaller
from clients.channel import CallFailed, FramedChannel
from clients.drive import GIVE_UP_AFTER, Client
from clients.fresh import FreshCaller
from core.cell import Cell
from core.histogram import Histogram
from core.system import COMMON, Caller, Channel
from core.wire import frame
from systems import find
from tests.clients.scripted import (
    DEADLINE_S,
    FULL,
    RIGHT,
    WRONG,
    Script,
    ScriptedService,
    always,
    answers,
    closes,
    request_from,
    says,
)

Kind = Callable[[list[str], Callable[[int], None]], Caller]


def cached(addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    return CachedCaller(FramedChannel, addresses[0], connect_ns)


def fresh(addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    return FreshCaller(FramedChannel, addresses[0], connect_ns)


class FakeCaller:
    """A caller whose n-th request has the n-th outcome: the answer's body, or the cause why there is none."""

    def __init__(self, outcomes: Sequence[bytes | str]) -> None:
        self.outcomes = list(outcomes)
        self.done: list[str] = []

    def open(self) -> None:
        self.done.append("open")

    def take(self) -> Channel:
        if self.outcomes[0] == "connect":
            self.outcomes.pop(0)
            raise CallFailed("connect")
        return self

    def ask(self, message: bytes) -> bytes:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, str):
            raise CallFailed(outcome)
        return outcome

    def give(self, channel: Channel) -> None:
        self.done.append("give")

    def drop(self, channel: Channel) -> None:
        self.done.append("drop")

    def close(self) -> None:
        """Not noted: whether a client closes at its end or at its process's is its own affair."""


@contextmanager
def client(kind: Kind, addresses: list[list[str]], client_id: int = 0, **values: int) -> Iterator[Client]:
    """A client of the services at *addresses* that calls each by *kind*. All its connections are closed at the end."""
    callers = []

    def caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
        callers.append(kind(addresses, connect_ns))
        return callers[-1]

    few = {"NUM_API_SERVICES": len(addresses), "NUM_REQUESTS_PER_CLIENT": 5}
    cell = Cell.build(system="1", runtime="3.14t", reads=COMMON, values=few | values)
    try:
        yield Client(replace(find("1"), caller=caller), cell, client_id, addresses)
    finally:
        for one in callers:
            one.close()


@contextmanager
def services(folder: Path, *scripts: Script) -> Iterator[list[ScriptedService]]:
    """A service for each script."""
    with ExitStack() as stack:
        yield [stack.enter_context(ScriptedService(folder, script)) for script in scripts]


def addresses_of(running: list[ScriptedService]) -> list[list[str]]:
    return [[service.address] for service in running]


def counted(folder: Path, *scripts: Script, kind: Kind = cached, requests: int = 5) -> dict[str, Any]:
    """What a client says of *requests* requests to one service; its n-th connection is played by the n-th script."""
    with (
        ScriptedService(folder, *scripts) as service,
        client(kind, [[service.address]], NUM_REQUESTS_PER_CLIENT=requests) as one,
    ):
        result = one.run()
    assert json.loads(json.dumps(result)) == result
    return result


def called(*outcomes: bytes | str) -> tuple[FakeCaller, dict[str, Any]]:
    """The caller, and what a client says of as many requests as there are outcomes."""
    caller = FakeCaller(outcomes)
    with client(lambda addresses, connect_ns: caller, [["a"]], NUM_REQUESTS_PER_CLIENT=len(outcomes)) as one:
        return caller, one.run()


def counts(result: dict[str, Any]) -> tuple[int, int, dict[str, int]]:
    return result["answered"], result["wrong"], result["errors"]


def connects(result: dict[str, Any]) -> int:
    return int(result["connect"]["count"]) if "connect" in result else 0


@pytest.mark.parametrize(
    ("body", "wrong", "errors"),
    [
        (RIGHT, 0, {}),
        (b" \r\n" + RIGHT + b"\n", 0, {}),
        (b'{"msg":"1000","calc_ns":1,"code":200,"err":"","more":[1]}', 0, {}),
        (WRONG, 1, {}),
        (b'{"code": 200, "msg": "", "err": "", "calc_ns": 1}', 1, {}),
        (b'{"code": 200, "msg": "1000 ", "err": "", "calc_ns": 1}', 1, {}),
        (b'{"code": 200, "msg": 1000, "err": "", "calc_ns": 1}', 1, {}),
        (b'{"code": 200, "msg": null, "err": "", "calc_ns": 1}', 1, {}),
        (FULL, 0, {"503": 1}),
        (b'{"code": 400, "msg": "1000", "err": "", "calc_ns": 1}', 0, {"400": 1}),
        (b"", 0, {"garbled": 1}),
        (b"not json", 0, {"garbled": 1}),
        (b"\xff" + RIGHT, 0, {"garbled": 1}),
        (RIGHT[:-1], 0, {"garbled": 1}),
        (RIGHT + b"x", 0, {"garbled": 1}),
        (RIGHT + RIGHT, 0, {"garbled": 1}),
        (b"null", 0, {"garbled": 1}),
        (b'"text"', 0, {"garbled": 1}),
        (b"[]", 0, {"garbled": 1}),
        (b"{}", 0, {"garbled": 1}),
        (b'{"code": 200}', 0, {"garbled": 1}),
        (b'{"code": 200, "msg": "1000", "err": ""}', 0, {"garbled": 1}),
        (b'{"code": 200, "msg": "1000", "err": "", "calc_ns": "1"}', 0, {"garbled": 1}),
        (b'{"code": %s}' % (b"9" * 5000), 0, {"garbled": 1}),
        (b"[" * 200_000, 0, {"garbled": 1}),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_an_answer_is_right_or_wrong_or_an_error_with_a_name(body: bytes, wrong: int, errors: dict[str, int]) -> None:
    caller, result = called(body)
    assert counts(result) == (1, wrong, errors)
    assert caller.done == ["open", "drop" if wrong or errors else "give"]


def test_the_services_own_time_is_summed_over_right_answers() -> None:
    _, result = called(RIGHT, RIGHT, WRONG, FULL)
    assert result["calc_ns"] == 2 * 24123


def test_a_right_answer_gives_the_channel_back_and_any_other_drops_it() -> None:
    caller, result = called(RIGHT, WRONG, FULL, b"?", "closed", RIGHT)
    assert caller.done == ["open", "give", "drop", "drop", "drop", "drop", "give"]
    assert counts(result) == (5, 1, {"503": 1, "garbled": 1, "closed": 1})


def test_a_request_that_was_answered_is_timed_and_one_that_was_not_is_not() -> None:
    _, result = called(RIGHT, "closed", FULL, "connect", "reset")
    assert result["latency"]["count"] == result["answered"] == 2


def test_a_connect_that_failed_drops_nothing() -> None:
    caller, result = called("connect", RIGHT)
    assert caller.done == ["open", "give"]
    assert counts(result) == (1, 0, {"connect": 1})


@pytest.mark.parametrize("cause", ["connect", "closed", "reset", "extra", "garbled"])
def test_a_service_without_usable_answers_is_given_up_and_the_rest_is_missing(cause: str) -> None:
    caller, result = called(*[cause] * (GIVE_UP_AFTER + 5))
    assert counts(result) == (0, 0, {cause: GIVE_UP_AFTER})
    assert result["requests"] == GIVE_UP_AFTER + 5
    assert len(caller.outcomes) == 5


def test_an_answer_starts_the_count_to_giving_up_anew() -> None:
    almost = ["closed"] * (GIVE_UP_AFTER - 1)
    _, result = called(*almost, RIGHT, *almost, RIGHT)
    assert counts(result) == (2, 0, {"closed": 2 * (GIVE_UP_AFTER - 1)})


def test_right_answers_are_all_counted_and_timed_and_nothing_else_is(short_folder: Path) -> None:
    result = counted(short_folder, always(RIGHT))
    assert (result["requests"], *counts(result)) == (5, 5, 0, {})
    assert result["latency"]["count"] == 5
    assert result["calc_ns"] == 5 * 24123
    assert "connect" not in result
    assert result["completion_ns"] == result["finished_ns"] - result["started_ns"] > 0


def test_every_request_asks_for_the_calculation(short_folder: Path) -> None:
    seen = []

    def play(sock: socket.socket) -> None:
        while body := request_from(sock):
            asked = json.loads(body)
            seen.append((asked["method"], asked["url"], asked["params"]["target"]))
            sock.sendall(frame(RIGHT))

    counted(short_folder, play, requests=3)
    assert seen == [("POST", "/calc", 1000)] * 3


def test_a_connection_for_every_request_times_every_connect(short_folder: Path) -> None:
    result = counted(short_folder, always(RIGHT), kind=fresh)
    assert counts(result) == (5, 0, {})
    assert connects(result) == 5


def test_a_kept_connection_is_opened_again_after_the_service_closes_it(short_folder: Path) -> None:
    result = counted(short_folder, answers(RIGHT, RIGHT), always(RIGHT))
    assert counts(result) == (4, 0, {"closed": 1})
    assert connects(result) == 1


def test_a_wrong_answer_is_counted_and_its_connection_is_not_used_again(short_folder: Path) -> None:
    result = counted(short_folder, answers(RIGHT, WRONG), always(RIGHT))
    assert counts(result) == (5, 1, {})
    assert connects(result) == 1


def test_an_answer_that_is_not_json_is_counted(short_folder: Path) -> None:
    assert counts(counted(short_folder, answers(b"hello"), always(RIGHT))) == (5, 0, {"garbled": 1})


def test_a_full_service_that_answers_and_closes_is_counted_under_its_code(short_folder: Path) -> None:
    result = counted(short_folder, says(frame(FULL)), says(frame(FULL)), always(RIGHT))
    assert counts(result) == (5, 0, {"503": 2})
    assert connects(result) == 2


@pytest.mark.parametrize(
    ("stream", "cause"),
    [
        (frame(RIGHT) * 2, "extra"),
        (frame(RIGHT) + b"\x00", "extra"),
        (b"\xff\xff\xff\xff", "garbled"),
        (frame(RIGHT)[:-1], "closed"),
        (b"\x00\x00", "closed"),
        (b"", "closed"),
    ],
)
def test_an_answer_that_is_no_single_frame_is_counted_by_its_cause(
    short_folder: Path, stream: bytes, cause: str
) -> None:
    result = counted(short_folder, says(stream), always(RIGHT))
    assert counts(result) == (4, 0, {cause: 1})
    assert result["latency"]["count"] == 4


def test_a_service_that_always_closes_is_given_up(short_folder: Path) -> None:
    result = counted(short_folder, closes, requests=50)
    assert (result["requests"], *counts(result)) == (50, 0, 0, {"closed": GIVE_UP_AFTER})


def test_what_a_client_says_has_latencies_that_a_histogram_reads(short_folder: Path) -> None:
    latency = counted(short_folder, always(RIGHT))["latency"]
    assert Histogram.from_json(latency).to_json() == latency


@pytest.mark.parametrize("threads", [1, 2, 25])
def test_every_service_gets_all_its_requests_however_many_threads_there_are(short_folder: Path, threads: int) -> None:
    with (
        services(short_folder, *[always(RIGHT)] * 3) as running,
        client(cached, addresses_of(running), client_id=1, NUM_THREADS_PER_CLIENT=threads) as one,
    ):
        result = one.run()
    assert (result["requests"], *counts(result)) == (15, 15, 0, {})
    assert [service.connections for service in running] == [1, 1, 1]


def test_errors_of_one_service_leave_the_others_answers_alone(short_folder: Path) -> None:
    with (
        services(short_folder, always(RIGHT), closes, always(WRONG)) as running,
        client(cached, addresses_of(running), NUM_REQUESTS_PER_CLIENT=20) as one,
    ):
        result = one.run()
    assert (result["requests"], *counts(result)) == (60, 40, 20, {"closed": GIVE_UP_AFTER})


@pytest.mark.parametrize(("client_id", "order"), [(0, "abc"), (1, "bca"), (2, "cab"), (4, "bca")])
def test_each_client_begins_with_another_service(client_id: int, order: str) -> None:
    asked = []

    class Noting(FakeCaller):
        def __init__(self, addresses: list[str], connect_ns: object) -> None:
            super().__init__([RIGHT])
            self.address = addresses[0]

        def take(self) -> Channel:
            asked.append(self.address)
            return super().take()

    one_each = {"NUM_THREADS_PER_CLIENT": 1, "NUM_REQUESTS_PER_CLIENT": 1}
    with client(Noting, [["a"], ["b"], ["c"]], client_id, **one_each) as one:
        one.run()
    assert "".join(asked) == order


def test_connections_are_open_before_the_release_and_nothing_is_asked_until_then() -> None:
    callers = [FakeCaller([RIGHT]), FakeCaller([RIGHT])]
    unused = iter(callers)
    with client(lambda addresses, connect_ns: next(unused), [["a"], ["b"]], NUM_REQUESTS_PER_CLIENT=1) as one:
        assert [caller.done for caller in callers] == [["open"], ["open"]]
        one.run()
    assert [caller.done for caller in callers] == [["open", "give"], ["open", "give"]]


def test_a_service_that_cannot_be_reached_is_an_error_before_anything_is_timed() -> None:
    class Refusing(FakeCaller):
        def open(self) -> None:
            raise CallFailed("connect")

    with pytest.raises(CallFailed), client(lambda addresses, connect_ns: Refusing([]), [["a"]]):
        pass


def silent_until(ended: threading.Event) -> Script:
    """Answer nothing until *ended*, then everything."""

    def play(sock: socket.socket) -> None:
        assert ended.wait(DEADLINE_S)
        always(RIGHT)(sock)

    return play


def run_until_quiet(running: list[ScriptedService], ended: threading.Event) -> dict[str, Any]:
    """What a client says when the answers stop; then they come after all, and its threads end."""
    before = set(threading.enumerate())
    with client(cached, addresses_of(running)) as one:
        result = one.run(deadline_s=0.3)
        ended.set()
        for thread in set(threading.enumerate()) - before:
            thread.join(DEADLINE_S)
    return result


def test_a_service_that_never_answers_is_a_timeout_and_keeps_what_the_others_answered(short_folder: Path) -> None:
    ended = threading.Event()
    with services(short_folder, always(RIGHT), silent_until(ended)) as running:
        result = run_until_quiet(running, ended)
    assert (result["requests"], *counts(result)) == (10, 5, 0, {"timeout": 1})


def test_every_thread_that_waits_in_vain_is_a_timeout(short_folder: Path) -> None:
    ended = threading.Event()
    with services(short_folder, *[silent_until(ended)] * 3) as running:
        result = run_until_quiet(running, ended)
    assert (result["requests"], *counts(result)) == (15, 0, 0, {"timeout": 3})


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
