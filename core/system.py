"""What a system is made of: a service and the client that speaks to it. Each file of systems/ declares one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.cell import PARAMETERS, Cell
from core.method import Method
from core.runtime import NATIVE

SERVICE, CLIENT = "service", "client"
SIZES = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_REQUESTS_PER_CLIENT")
COMMON = (*SIZES, "NUM_THREADS_PER_CLIENT", "CALC_TARGET", "PAYLOAD_BYTES")


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


class Client(Protocol):
    """The threads or tasks of one client process, ready to be released together."""

    def warm_up(self) -> None:
        """Ask as in the timed window, as much as the method says, and forget it."""

    def run(self) -> dict[str, Any]:
        """Send all requests; what the child contract wants of a client, but for its usage and GIL states."""


ServiceFactory = Callable[[Cell, int, str], Service]
CallerFactory = Callable[[Cell, int, list[str], Callable[[int], None]], Caller]
MessageFactory = Callable[[Cell, bool], bytes]
ClientFactory = Callable[[Cell, int, list[list[str]], Method], Client]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that speaks the child contract by itself: its name in native/bin, and how it is told its part."""

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class System:
    """number (or a name, for systems without one) is how it is asked for; title is how reports call it.

    group: the experiment that it belongs to; `--system all` means the group "systems".
    reads: names of the parameters it reads, beside *common*.
    service(cell, service_id, folder): the service, listening; Unix sockets go into folder.
    caller(cell, client_id, addresses, connect_ns): one thread's way to the service at *addresses*;
        it reports the time of each connect made while timed to connect_ns.
    message(cell, begun): the request's bytes, made once per client; begun asks for begun_ns in the answer.
    client(cell, client_id, addresses, method): a client with a loop of its own, in place of caller and message.
    native_service, native_client: programs that take a part where there is no Python code for it, and under the
        runtime `native`.
    requirements: file with the packages that it needs in the measured runtime, or "".
    wheels: names of our own extensions (lab.native.wheels) that it needs there.
    turns_gil_on: its client imports a module that does not declare free-threading support, which is what it shows:
        its cells are valid with the GIL on.
    no_forced_gil: why it does not run on a free-threaded build whose GIL is switched on; "" where it does.
    told: what its children are told besides, in their first line: of a service that is no file of systems/.
    forks: its service is one command, which is told how many processes to have (NUM_API_SERVICES).
    request_cpu_us: about how much CPU a request takes on both sides, beside its calculation; only for estimates.
    """

    name: str
    number: str = ""
    title: str
    group: str = "systems"
    common: tuple[str, ...] = COMMON
    reads: tuple[str, ...] = ()
    service: ServiceFactory | None = None
    caller: CallerFactory | None = None
    message: MessageFactory | None = None
    client: ClientFactory | None = None
    native_service: Program | None = None
    native_client: Program | None = None
    requirements: str = ""
    wheels: tuple[str, ...] = ()
    turns_gil_on: bool = False
    no_forced_gil: str = ""
    told: Mapping[str, Any] = field(default_factory=dict, hash=False)
    forks: bool = False
    request_cpu_us: int = 100

    @property
    def key(self) -> str:
        """What cells and results call it: its number, or its name where it has none."""
        return self.number or self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters that it reads, in the order of declaration."""
        return tuple(name for name in PARAMETERS if name in self.common or name in self.reads)

    def has_python(self, role: str) -> bool:
        """Whether Python code takes the *role*, service or client, under the runtime that is measured."""
        return self.service is not None if role == SERVICE else bool(self.client or self.caller or self.hosted)

    def program(self, role: str) -> Program | None:
        """The native program that can take the *role*, if there is one."""
        return self.native_service if role == SERVICE else self.native_client

    @property
    def hosted(self) -> bool:
        """Whether it is a service of the user's: a child of the orchestrator's Python starts it and speaks for it."""
        return "own" in self.told

    def services(self, cell: Cell) -> int:
        """How many service children *cell* has."""
        return 1 if self.forks else cell.num_api_services

    def runs_under(self, runtime: str) -> bool:
        """Whether there are cells of it under *runtime*: Python code to measure, or a program for each role."""
        if self.hosted:
            return (runtime == NATIVE) == ("address" in self.told["own"])
        if runtime == NATIVE:
            return bool(self.native_service and self.native_client)
        return self.has_python(SERVICE) or self.has_python(CLIENT)
