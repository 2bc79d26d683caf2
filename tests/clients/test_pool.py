"""Callers that keep connections: one that failed is closed, and opened again."""

from clients.callers import CachedCaller, PoolCaller
from core.histogram import Histogram


class FakeChannel:
    """Knows its address, and whether it was closed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.closed = False

    def ask(self, message: bytes) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True


class Connector:
    """Makes fake channels, and remembers them."""

    def __init__(self) -> None:
        self.made: list[FakeChannel] = []

    def __call__(self, address: str) -> FakeChannel:
        self.made.append(FakeChannel(address))
        return self.made[-1]


def test_a_connection_that_was_dropped_is_opened_again_and_that_connect_is_timed() -> None:
    connector, connects = Connector(), Histogram()
    caller = CachedCaller(connector, "a", connects.record)
    caller.open()
    caller.drop(caller.take())
    assert connector.made[0].closed
    assert caller.take() is connector.made[1]
    assert connects.count == 1


def test_a_pool_opens_one_connection_to_each_socket_and_again_only_the_one_that_failed() -> None:
    for seed in "defghi":
        connector, connects = Connector(), Histogram()
        pool = PoolCaller(connector, ["a", "b", "c"], connects.record, seed)
        pool.open()
        assert ([one.address for one in connector.made], connects.count) == (["a", "b", "c"], 0)
        failed = pool.take()
        pool.drop(failed)
        assert [one.closed for one in connector.made] == [one is failed for one in connector.made]
        for _ in range(50):
            assert pool.take() in [one for one in connector.made if not one.closed]
        (closed,) = [one for one in connector.made if one.closed]
        assert ([one.address for one in connector.made[3:]], connects.count) == ([closed.address], 1)
