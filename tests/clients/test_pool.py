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


def ask(caller: Caller) -> bytes:
    """One request as the drive makes it."""
    channel = caller.take()
    body: bytes = channel.ask(MESSAGE)
    caller.give(channel)
    return body


def a_pool(seed: str) -> tuple[PoolCaller, Connector, Histogram]:
    """A pool that is open, its connector, and its times of connecting since it was opened."""
    connector, connects = Connector(), Histogram()
    pool = PoolCaller(connector, ["a", "b", "c"], connects.record, seed)
    pool.open()
    assert ([one.address for one in connector.made], connects.count) == (["a", "b", "c"], 0)
    return pool, connector, connects


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


def test_a_pool_opens_one_connection_to_each_socket_and_picks_every_one_about_equally_often() -> None:
    pool, connector, connects = a_pool("seed")
    counts = Counter(ask(pool) for _ in range(3000))
    assert set(counts) == {b"a", b"b", b"c"}
    assert all(900 <= count <= 1100 for count in counts.values())
    assert (len(connector.made), connects.count) == (3, 0)


@pytest.mark.parametrize("seed", "defghi")
def test_a_pool_drops_only_the_connection_that_failed(seed: str) -> None:
    pool, connector, connects = a_pool(seed)
    failed = pool.take()
    address = failed.ask(MESSAGE).decode()
    pool.drop(failed)
    assert [one.closed for one in connector.made] == [one is failed for one in connector.made]
    for _ in range(50):
        assert pool.take() in [one for one in connector.made if not one.closed]
    assert ([one.address for one in connector.made[3:]], connects.count) == ([address], 1)
