"""Callers that keep connections: one that failed is closed, and opened again."""

import pytest

from clients.callers import CachedCaller, PoolCaller
from core.histogram import Histogram
from core.system import Caller


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


@pytest.mark.parametrize("addresses", ["a", "abc"])
def test_a_caller_opens_one_connection_to_each_socket_and_again_only_the_one_that_failed(addresses: str) -> None:
    for seed in "defghi":
        connector, connects = Connector(), Histogram()
        pool: Caller = PoolCaller(connector, [*addresses], connects.record, seed)
        if addresses == "a":
            pool = CachedCaller(connector, addresses, connects.record)
        pool.open()
        assert ([one.address for one in connector.made], connects.count) == ([*addresses], 0)
        failed = pool.take()
        pool.drop(failed)
        assert [one.closed for one in connector.made] == [one is failed for one in connector.made]
        for _ in range(50):
            assert pool.take() in [one for one in connector.made if not one.closed]
        (closed,) = [one for one in connector.made if one.closed]
        assert ([one.address for one in connector.made[len(addresses) :]], connects.count) == ([closed.address], 1)
