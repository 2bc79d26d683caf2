"""A client whose services are scripted, and what it says of their answers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from clients.callers import CachedCaller
from clients.channel import CallFailed, FramedChannel
from clients.drive import CallerClient
from core.cell import Cell
from core.messages import Json
from core.system import COMMON, Caller, Channel
from systems import find
from tests.native.loadgen_peers import Script, read_frame, scripted

Kind = Callable[[list[str], Callable[[int], None]], Caller]


def cached(addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
    return CachedCaller(FramedChannel, addresses[0], connect_ns)


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
        """Nothing is open."""


@contextmanager
def client(kind: Kind, addresses: list[list[str]], client_id: int = 0, **values: int) -> Iterator[CallerClient]:
    """A client of the services at *addresses* that calls each by *kind*. All its connections are closed at the end."""
    callers = []

    def caller(cell: Cell, client_id: int, addresses: list[str], connect_ns: Callable[[int], None]) -> Caller:
        callers.append(kind(addresses, connect_ns))
        return callers[-1]

    few = {"NUM_API_SERVICES": len(addresses), "NUM_REQUESTS_PER_CLIENT": 5}
    cell = Cell.build(system="1", runtime="3.14t", reads=(*COMMON, "RATE"), values=few | values)
    try:
        yield CallerClient(replace(find("1"), caller=caller), cell, client_id, addresses)
    finally:
        for one in callers:
            if isinstance(one, CachedCaller) and one._channel:
                one.drop(one._channel)


@contextmanager
def services(*scripts: Script) -> Iterator[list[list[str]]]:
    """The addresses of a service for each script."""
    with ExitStack() as stack:
        yield [[stack.enter_context(scripted(script, read_frame)).address] for script in scripts]


def called(*outcomes: bytes | str) -> tuple[FakeCaller, Json]:
    """The caller, and what a client says of as many requests as there are outcomes."""
    caller = FakeCaller(outcomes)
    with client(lambda addresses, connect_ns: caller, [["a"]], NUM_REQUESTS_PER_CLIENT=len(outcomes)) as one:
        return caller, one.run()


def counts(result: Json) -> tuple[int, int, dict[str, int]]:
    return result["answered"], result["wrong"], result["errors"]
