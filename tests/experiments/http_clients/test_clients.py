"""Workers of an HTTP client that die, and errors of its library. tests/contract has the rest of it, as processes."""

import pytest

from core.method import Method
from experiments.http_clients.threads import BlockingConnection, ThreadClient
from experiments.http_clients.workers import Library
from tests.experiments.http_clients.test_workers import cell


class Broken:
    """A connection with a mistake in it: its second request raises what no worker expects."""

    def __init__(self, host: str, port: int, deadline_s: float) -> None:
        self._requests = 0

    def get(self) -> tuple[int, int]:
        self._requests += 1
        if self._requests > 1:
            raise ZeroDivisionError("a mistake")
        return 200, 13

    def close(self) -> None:
        raise AssertionError("nobody closes it")


def test_a_worker_that_dies_ends_the_client_with_its_exception() -> None:
    threads = ThreadClient(Library(Broken, ()), cell(4, 2), 0, [["127.0.0.1:80"]], Method())
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        threads.run()


def test_a_library_may_have_an_error_of_its_own_whose_first_argument_is_the_code() -> None:
    class Refused(Exception):
        pass

    def connect(host: str, port: int, deadline_s: float) -> BlockingConnection:
        raise Refused("connect", "nobody listens")

    threads = ThreadClient(Library(connect, (Refused,)), cell(3, 1), 0, [["127.0.0.1:80"]], Method())
    counted = threads.run()
    assert (counted["requests"], counted["answered"], counted["errors"]) == (3, 0, {"connect": 3})
