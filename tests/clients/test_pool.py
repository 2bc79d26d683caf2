"""Callers that keep connections: which one a request gets, and that a closed one is opened again."""

from collections import Counter

import pytest

from clients.callers import CachedCaller, FreshCaller, PoolCaller
from core.histogram import Histogram
from core.system import Caller
from core.wire import frame

MESSAGE = frame(b"{}")


class FakeChannel:
    """Answers with its address; knows whether it was closed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.closed = False

    def ask(self, message: bytes) -> bytes:
        return self.address.encode()

    def close(self) -> None:
        self.closed = True


class Connector:
    """Makes fake channels, and remembers them."""

    def __init__(self) -> None:
        self.made: list[FakeChannel] = []

    def __call__(self, address: str) -> FakeChannel:
        self.made.append(FakeChannel(address))
        return self.made[-1]

    @property
    def addresses(self) -> list[str]:
        return [one.address for one in self.made]


def ask(caller: Caller) -> bytes:
    """One request as the drive makes it."""
    channel = caller.take()
    body: bytes = channel.ask(MESSAGE)
    caller.give(channel)
    return body


def picks(seed: str, count: int) -> list[bytes]:
    pool = PoolCaller(Connector(), list("abcd"), lambda taken_ns: None, seed)
    pool.open()
    return [ask(pool) for _ in range(count)]


def test_a_connection_that_was_dropped_is_opened_again_and_that_connect_is_timed() -> None:
    connector, connects = Connector(), Histogram()
    caller = CachedCaller(connector, "a", connects.record)
    caller.open()
    caller.drop(caller.take())
    assert connector.made[0].closed
    assert caller.take() is connector.made[1]
    assert connects.count == 1


def test_a_fresh_caller_connects_for_every_request_closes_after_it_and_times_each() -> None:
    connector, connects = Connector(), Histogram()
    caller = FreshCaller(connector, "a", connects.record)
    caller.open()
    assert connector.made == []
    assert [ask(caller) for _ in range(3)] == [b"a"] * 3
    assert [one.closed for one in connector.made] == [True] * 3
    assert connects.count == 3


def test_a_pool_opens_one_connection_to_each_socket_before_it_is_timed() -> None:
    connector, connects = Connector(), Histogram()
    pool = PoolCaller(connector, ["a", "b", "c"], connects.record, "seed")
    pool.open()
    assert connector.addresses == ["a", "b", "c"]
    for _ in range(20):
        ask(pool)
    assert (len(connector.made), connects.count) == (3, 0)


def test_a_pool_picks_every_socket_about_equally_often() -> None:
    counts = Counter(picks("seed", 4000))
    assert set(counts) == {b"a", b"b", b"c", b"d"}
    assert all(900 <= count <= 1100 for count in counts.values())


@pytest.mark.parametrize("seed", "defghi")
def test_a_pool_drops_only_the_connection_that_failed(seed: str) -> None:
    connector, connects = Connector(), Histogram()
    pool = PoolCaller(connector, ["a", "b", "c"], connects.record, seed)
    pool.open()
    failed = pool.take()
    address = failed.ask(MESSAGE).decode()
    pool.drop(failed)
    assert [one.closed for one in connector.made] == [one is failed for one in connector.made]
    for _ in range(50):
        assert pool.take() in [one for one in connector.made if not one.closed]
    assert (connector.addresses[3:], connects.count) == ([address], 1)
