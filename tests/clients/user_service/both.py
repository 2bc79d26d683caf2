"""Both clients of a user's service, started, and the result of each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter_ns
from typing import Any

from core.child import Slice
from tests.clients.user_service.test_client import client
from tests.contract.speaking import spoken
from tests.native.programs import program_or_skip, told_client

SLICE_NS = 200_000_000
Say = Callable[[str], Any]


def a_slice() -> Slice:
    """A slice that begins now."""
    return Slice(at_ns=perf_counter_ns(), lead_ns=SLICE_NS // 4, length_ns=SLICE_NS)


@contextmanager
def start_python(own: dict[str, Any], address: str, **params: Any) -> Iterator[Say]:
    """The Python client, and what it says to a command."""
    one = client(address, own=own, **params)
    commands: dict[str, Callable[[], Any]] = {
        "warm": one.warm_up,
        "go": one.run,
        "slice": lambda: one.run_slice(a_slice()),
    }
    yield lambda word: commands[word]()
    one.close()


@contextmanager
def start_native(own: dict[str, Any], address: str, **params: Any) -> Iterator[Say]:
    """The native client, and what it says to a command."""
    sizes: dict[str, Any] = {"NUM_CONNECTIONS_PER_CLIENT": 1, **params}
    cell = {**told_client([[address]], **sizes), "own": own}
    with spoken([program_or_skip("loadgen"), "--report", "child"], cell) as (child, _):

        def say(word: str) -> Any:
            child.tell(str(a_slice()) if word == "slice" else word)
            return child.line().get("result")

        yield say
        assert child.end() == (0, b"", "")


def result_of(start: Any, own: dict[str, Any], address: str, **params: Any) -> dict[str, Any]:
    """The result of a client that *start* starts."""
    with start(own, address, **params) as say:
        result: dict[str, Any] = say("go")
    return result


python = partial(result_of, start_python)
native = partial(result_of, start_native)
