"""What a system is made of: a service and the client that speaks to it. Each file of systems/ declares one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from core.cell import OF_THE_MACHINE, PARAMETERS, Cell
from core.child import Slice
from core.messages import NOTHING, Message
from core.method import Method
from core.runtime import NATIVE

if TYPE_CHECKING:
    from core.user_service import Command, Target

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
        """Count from zero: the warm-up is over. No request is under way."""


class Channel(Protocol):
    """One open connection to a service; it blocks. Errors are clients.channel.CallFailed."""

    def ask(self, message: bytes) -> bytes:
        """Send one request as `message()` made it; the answer's JSON."""

    def close(self) -> None:
        """Close the connection."""


class Caller(Protocol):
    """How one thread calls one service: where the channel of a request comes from, and what becomes of it."""

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
        """Send requests as in the timed window, as many as the method says, and forget the counts."""

    def run(self) -> dict[str, Any]:
        """Send all requests; the result of a client by the child contract, without usage and GIL states."""


class SlicedClient(Client, Protocol):
    """A client that can also send in slices of time."""

    def run_slice(self, part: Slice) -> dict[str, Any]:
        """Send requests for a slice of time, and return the result of that slice alone; connections stay open."""


ServiceFactory = Callable[[Cell, int, str], Service]
CallerFactory = Callable[[Cell, int, list[str], Callable[[int], None]], Caller]
MessageFactory = Callable[[Cell, bool], bytes]
ClientFactory = Callable[[Cell, int, list[list[str]], Method], Client]
Factory = TypeVar("Factory", bound=Callable[..., Any])


def loaded(factory: Factory | str | None) -> Factory:
    """The function that "module:function" names; its module is imported now. A function is returned as it is."""
    if isinstance(factory, str):
        module, _, name = factory.partition(":")
        function: Factory = getattr(import_module(module), name)
        return function
    assert factory is not None, "the orchestrator starts a native program for a part that has no Python code"
    return factory


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that speaks the child contract: its name in native/bin and its arguments."""

    name: str
    arguments: tuple[str, ...] = ()
    builder: Literal["cargo", "cmake", "maven", ""] = "cargo"  # what builds it; "" if it is found on PATH
    folder: str = ""  # for maven: its folder in native/
    host: str = ""  # the Python module that follows the child contract for it; "" if it does so itself


@dataclass(frozen=True, kw_only=True)
class Extension:
    """An extension module of ours, whose sources are in the folder native/NAME.

    tools: programs that must be on PATH; borrowed: source files from other folders of native/
    """

    name: str
    tools: tuple[str, ...]
    borrowed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class System:
    """number (or name, for systems without one) is what --system takes; title is what reports show.

    group: the experiment that it belongs to; `--system all` means the group "systems".
    reads: names of the parameters it reads, beside *common*.
    service, caller, message, client: functions, or their names as "module:function", which loaded() imports.
    service(cell, service_id, folder): the service, listening; Unix sockets go into folder.
    caller(cell, client_id, addresses, connect_ns): one thread's way to the service at *addresses*;
        it reports the time of each connect made while timed to connect_ns.
    message(cell, begun): the request's bytes, made once per client; begun asks for begun_ns in the answer.
    client(cell, client_id, addresses, method): a client with a loop of its own, in place of caller and message.
    native_service, native_client: programs for a part that has no Python code, and for the runtime `native`.
    requirements: file with the packages that it needs in the measured runtime, or "".
    extensions: our own extension modules that it needs there.
    turns_gil_on: its client imports a module without declared free-threading support on purpose: its cells are valid
        with the GIL on.
    no_forced_gil: why it does not run on a free-threaded build whose GIL is on; NOTHING if it does.
    told: what else the first line tells its children, for a system that is not a file of systems/.
    user_service: of a user's service, how it is started, or where it runs already.
    forks: its service is one command that takes the number of its processes (NUM_API_SERVICES).
    spreads: its service listens at the address that its host has in the plan, for the cell's client hosts alone.
    request_cpu_us: rough CPU time of a request on both sides without its calculation; only for estimates.
    """

    name: str
    number: str = ""
    title: str | Message
    group: str = "systems"
    common: tuple[str, ...] = COMMON
    reads: tuple[str, ...] = ()
    service: ServiceFactory | str | None = None
    caller: CallerFactory | str | None = None
    message: MessageFactory | str | None = None
    client: ClientFactory | str | None = None
    native_service: Program | None = None
    native_client: Program | None = None
    requirements: str = ""
    extensions: tuple[Extension, ...] = ()
    turns_gil_on: bool = False
    no_forced_gil: Message = NOTHING
    told: Mapping[str, Any] = field(default_factory=dict, hash=False)
    user_service: "Command | Target | None" = field(default=None, hash=False)
    forks: bool = False
    spreads: bool = False
    request_cpu_us: int = 100

    @property
    def key(self) -> str:
        """Its name in cells and results: its number, or its name if it has none."""
        return self.number or self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters that it reads, in the order of declaration."""
        return tuple(name for name in PARAMETERS if name in self.common or name in self.reads)

    def takes(self, name: str) -> bool:
        """Whether a plan may give its cells the parameter *name*."""
        return name in self.parameters or name in OF_THE_MACHINE

    def has_python(self, role: str) -> bool:
        """Whether Python code takes the *role*, service or client, under the runtime that is measured."""
        return self.service is not None if role == SERVICE else bool(self.client or self.caller or self.hosted)

    def program(self, role: str) -> Program | None:
        """The native program that can take the *role*, if there is one."""
        return self.native_service if role == SERVICE else self.native_client

    @property
    def wheels(self) -> tuple[str, ...]:
        """The names of its extensions."""
        return tuple(extension.name for extension in self.extensions)

    def takes_slices(self, *, native_client: bool) -> bool:
        """Whether its clients can send in slices of time: ours can, a system's own client and other programs cannot."""
        program = self.native_client
        return program is not None and program.name == "loadgen" if native_client else self.client is None

    @property
    def framed(self) -> bool:
        """Whether its clients speak our frames, so that another such service may take the place of its own."""
        return not self.hosted and self.native_client is not None and "framed" in self.native_client.arguments

    @property
    def hosted(self) -> bool:
        """Whether it is a user's service: a child of the orchestrator's Python starts it and speaks for it."""
        return self.user_service is not None

    def services(self, cell: Cell) -> int:
        """How many service children *cell* has."""
        return 1 if self.forks else cell.num_api_services

    def runs_under(self, runtime: str) -> bool:
        """Whether there are cells of it under *runtime*: Python code to measure, or a program for each role."""
        if self.user_service is not None:
            return (runtime == NATIVE) == self.user_service.already_runs
        if runtime == NATIVE:
            return bool(self.native_service and self.native_client)
        return self.has_python(SERVICE) or self.has_python(CLIENT)
