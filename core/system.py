"""What a system is made of: a service and the client that speaks to it. Each file of systems/ declares one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.cell import PARAMETERS, Cell

COMMON = (
    "NUM_API_SERVICES",
    "NUM_CLIENTS",
    "NUM_REQUESTS_PER_CLIENT",
    "NUM_THREADS_PER_CLIENT",
    "CALC_TARGET",
    "PAYLOAD_BYTES",
)


class Listening(Protocol):
    """A listening socket as the child contract needs it."""

    address: str

    def remove_file(self) -> None:
        """Remove the socket file, if there is one."""


class Service(Protocol):
    """A service that is set up but does not serve yet."""

    @property
    def listeners(self) -> Sequence[Listening]:
        """Its listening sockets, in the order in which clients are told them."""

    def start(self) -> None:
        """Serve, on threads of its own."""

    def counters(self) -> dict[str, Any]:
        """What it has done since reset(): at least `requests`."""

    def reset(self) -> None:
        """Count from nought: the warm-up is over. No request is under way."""


class Channel(Protocol):
    """One open connection to a service; blocks. Errors are clients.channel.CallFailed."""

    def ask(self, message: bytes) -> bytes:
        """Send one request as `message()` made it; the answer's JSON."""

    def close(self) -> None:
        """Close the connection."""


class Caller(Protocol):
    """How one thread calls one service: where the channel of each request comes from and goes to."""

    def open(self) -> None:
        """Before the timed region: whatever is kept open."""

    def take(self) -> Channel:
        """The channel for the next request."""

    def give(self, channel: Channel) -> None:
        """The channel after its answer."""

    def drop(self, channel: Channel) -> None:
        """The channel after an error: it is not used again."""

    def close(self) -> None:
        """After the timed region."""


ServiceFactory = Callable[[Cell, int, str], Service]
CallerFactory = Callable[[Cell, int, list[str], Callable[[int], None]], Caller]
MessageFactory = Callable[[Cell, bool], bytes]


@dataclass(frozen=True, kw_only=True)
class System:
    """number (or a name, for systems without one) is how it is asked for; title is how reports call it.

    reads: names of the parameters it reads, beside COMMON.
    service(cell, service_id, folder): the service, listening; Unix sockets go into folder.
    caller(cell, client_id, addresses, connect_ns): one thread's way to the service at *addresses*;
        it reports the time of each connect made while timed to connect_ns.
    message(cell, begun): the request's bytes, made once per client; begun asks for begun_ns in the answer.
    requirements: file with the packages that it needs in the measured runtime, or "".
    request_cpu_us: about how much CPU a request takes on both sides, beside its calculation; only for estimates.
    """

    name: str
    number: str = ""
    title: str
    reads: tuple[str, ...] = ()
    service: ServiceFactory
    caller: CallerFactory
    message: MessageFactory
    requirements: str = ""
    request_cpu_us: int = 100

    @property
    def key(self) -> str:
        """What cells and results call it: its number, or its name where it has none."""
        return self.number or self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters that it reads, in the order of declaration."""
        return tuple(name for name in PARAMETERS if name in COMMON or name in self.reads)
