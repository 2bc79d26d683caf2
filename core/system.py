"""Declare what a system is: a service, and the client that calls it.

systems/numbered_systems.py, the *_systems.py of experiments/ and files of users declare systems,
which systems/__init__.py finds. services/, clients/ and experiments/ implement the protocols below,
and systems/__main__.py calls them in the children. Both the orchestrator and the children import
this module; only children call loaded(), so the orchestrator needs no package of a service.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from core.cell import MACHINE_PARAMETERS, PARAMETERS, Cell, knobs_in
from core.messages import NOTHING, Json, Message
from core.method import Method
from core.runtime import NATIVE

if TYPE_CHECKING:
    from core.child import Slice
    from core.user_service import Start

# roles of children
SERVICE, CLIENT = "service", "client"
# the name of a parameter, and the group of systems 1 to 4
RATE, SYSTEMS = "RATE", "systems"
SIZES = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_REQUESTS_PER_CLIENT")  # what all systems read
# for requests to /calc (core/work.py)
CALCULATION = ("CALC_TARGET", "PAYLOAD_BYTES")
# key of System.child_config with the path of a user's file, from which children load the file
PATH_KEY = "system_file"
# the default of System.common
COMMON = (*SIZES, "NUM_THREADS_PER_CLIENT", *CALCULATION)


class Listening(Protocol):
    """A listening socket of a service, with its address and, for a Unix socket, its file."""

    address: str

    def remove_file(self) -> None:
        """Remove the socket file, if there is one."""


class Service(Protocol):
    """A service in a child process. Its sockets listen when the object is created, and it serves
    after start().
    """

    @property
    def listeners(self) -> Sequence[Listening]:
        """Return the listening sockets, in the order in which clients get their addresses."""

    def start(self) -> None:
        """Start serving on other threads."""

    def counters(self) -> Json:
        """Return the service's counters since reset(), by name. The counter `requests` is always
        included.
        """

    def reset(self) -> None:
        """Set the service's counters to zero after the warm-up. No request is in progress."""


MORE: Any = (
    object()
)  # marks an answer whose last bytes have not arrived; any other value may be an answer


class Channel(Protocol):
    """An open connection to a service, with blocking calls that raise
    clients.channel.CallFailed.
    """

    def ask(self, message: bytes) -> Any:
        """Send *message*, one encoded request, and return its answer, in the form that the client
        checks.
        """

    def close(self) -> None:
        """Close the connection."""


class Caller(Protocol):
    """A policy for the connections of one client thread to one service: open per request, keep, or
    pool.
    """

    def open(self) -> None:
        """Open the connections that stay open between requests. Called before the timed region."""

    def take(self) -> Channel:
        """Return the connection for the next request, and open it if there is none.

        give() or drop() follows before the next take(). Raises CallFailed.
        """

    def give(self, channel: Channel) -> None:
        """Accept the connection *channel* that a client gives back after an answer. Keep it open or
        close it.
        """

    def drop(self, channel: Channel) -> None:
        """Accept the connection *channel* that a client gives back after an error. It is not used
        again.
        """


class Client(Protocol):
    """The threads or tasks of one client process."""

    def warm_up(self) -> None:
        """Send the warm-up requests, and set the counts to zero."""

    def run(self) -> Json:
        """Send all requests. Return the client's result, without its resource usage and GIL states.

        docs/child-contract.md describes the result.
        """

    def run_slice(self, part: "Slice") -> Json:
        """Send requests for a slice of time, and return the result of this slice. Connections stay
        open. Only a client for which System.takes_slices() is true is called so.
        """


# The docstring of System names the arguments.
ServiceFactory = Callable[[Cell, int, str], Service]
CallerFactory = Callable[[Cell, int, list[str], Callable[[int], None]], Caller]
MessageFactory = Callable[[Cell, bool], bytes]
ClientFactory = Callable[[Cell, int, list[list[str]], Method], Client]
Factory = TypeVar("Factory", bound=Callable[..., Any])


def loaded(factory: Factory | str | None) -> Factory:
    """Import the function that *factory* names as "module:function". A function is returned as it
    is.
    """
    if isinstance(factory, str):
        module, _, name = factory.partition(":")
        function: Factory = getattr(import_module(module), name)
        return function
    assert factory is not None, (
        "the orchestrator starts a native program for a part that has no Python code"
    )
    return factory


class Program(NamedTuple):
    """A native program that follows the child contract: its name in native/bin, and
    its arguments.
    """

    name: str
    arguments: tuple[str, ...] = ()
    # what builds it; "" if it is found on PATH
    builder: Literal["cargo", "cmake", "maven", ""] = "cargo"
    folder: str = ""  # for maven: its folder in native/
    # the Python module that follows the child contract for it; "" if it does so itself
    host: str = ""


def _load_generator(*protocol: str) -> Program:
    """Return gilscope's load generator as a client that speaks *protocol*."""
    return Program(name="loadgen", arguments=("--report", "child", "--protocol", *protocol))


NATIVE_CLIENT = _load_generator("http")  # calls services that speak HTTP, such as a user's
# for GET / alone; for frames (core/wire.py), with kept connections and with one for each request;
# and for echo servers
ONE_PATH = _load_generator("http", "--path", "/")
FRAMED, FRESH = _load_generator("framed"), _load_generator("framed", "--fresh")
ECHO = _load_generator("echo")


class Extension(NamedTuple):
    """An extension module of gilscope, with its sources in the folder native/NAME.

    tools: programs that must be on PATH to build it
    borrowed: source files from other folders of native/
    """

    name: str
    tools: tuple[str, ...]
    borrowed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class System:
    """A service and the client that calls it.

    number, name: --system takes the number, or the name of a system without a number
    title: name in reports
    group: the experiment of the system; `--system all` means the group "systems"
    reads: names of the parameters that the system reads, in addition to *common*
    service, caller, message, client: functions, or their names as "module:function", which loaded()
        imports
    service(cell, service_id, folder): returns the listening service; Unix sockets are made in
    folder
    command: in place of *service*: a command that starts a server, with the placeholders of
        a user's command. It runs under the measured runtime, in the folder of the user's file that
        declares the system, else in gilscope's
    encode(request): returns the bytes of the client's request with that number: 0, 1, ...
    decode(buffer): returns the answer that consists of all bytes in buffer; MORE if its last bytes
    are missing check(answer, request): returns whether decode()'s answer is right for the request
    with that number caller(cell, client_id, addresses, connect_ns): returns one thread's Caller for
        the service at *addresses*; it passes the time of each connect in the timed region to
        connect_ns
    message(cell, begun): returns the request's bytes, once per client; begun asks for begun_ns in
        the answer. caller and message stand in place of encode, decode and check, for services that
        answer as core.work does
    client(cell, client_id, addresses, method): returns a complete Client, in place of all of these
    native_service, native_client: programs for a part that has no Python code, and for the runtime
        `native`
    requirements: file with the packages that the measured runtime needs, or ""
    extensions: gilscope's extension modules that the measured runtime needs
    turns_gil_on: whether the client imports an extension that enables the GIL on purpose, so that
        cells with the GIL on are valid
    no_forced_gil: why the system does not run on a free-threaded build with its GIL on; NOTHING if
        it does
    child_config: additional keys of the first line that children read, for a system that is not a
        file of systems/
    user_service: for a user's service: how to start it, or where it already runs
    supports_hosts: whether the service can listen at its host's address in the plan, for the cell's
        client hosts alone
    request_cpu_us: rough CPU time of a request on both sides without the calculation; only for
        estimates
    """

    name: str
    number: str = ""
    title: str | Message
    group: str = SYSTEMS
    common: tuple[str, ...] = COMMON
    reads: tuple[str, ...] = ()
    service: ServiceFactory | str | None = None
    command: str = ""
    encode: Callable[[int], bytes] | None = None
    decode: Callable[[bytes], Any] | None = None
    check: Callable[[Any, int], bool] | None = None
    caller: CallerFactory | str | None = None
    message: MessageFactory | str | None = None
    client: ClientFactory | str | None = None
    native_service: Program | None = None
    native_client: Program | None = None
    requirements: str = ""
    extensions: tuple[Extension, ...] = ()
    turns_gil_on: bool = False
    no_forced_gil: Message = NOTHING
    child_config: Json = field(default_factory=dict, hash=False)
    user_service: "Start | None" = field(default=None, hash=False)
    supports_hosts: bool = False
    request_cpu_us: int = 100

    @property
    def key(self) -> str:
        """Return the system's key in cells and results: its number, or its name if it has no
        number.
        """
        return self.number or self.name

    @property
    def file(self) -> str:
        """Return the path of the user's file that declares the system; "" for a built-in system."""
        return str(self.child_config.get(PATH_KEY, ""))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of all parameters that the system reads, in the order of declaration.

        gilscope's own clients can send at a RATE; experiments declare it where they use it. A
        protocol of the user's own has no calculation request.
        """
        read = {*self.common, *self.reads}
        if self.group == SYSTEMS and not self.client:
            read.add(RATE)
        if self.decode:
            read -= {*CALCULATION}
        return (*(name for name in PARAMETERS if name in read), *knobs_in(self.reads))

    def takes(self, name: str) -> bool:
        """Return whether a plan may set the parameter *name* for this system."""
        return name in self.parameters or name in MACHINE_PARAMETERS

    def has_python(self, role: str) -> bool:
        """Return whether Python code under the measured runtime implements *role*, "service" or
        "client".
        """
        if role == SERVICE:
            return self.service is not None
        return bool(self.client or self.caller or self.decode or self.user_service)

    def program(self, role: str) -> Program | None:
        """Return the native program that implements *role*, or None."""
        return self.native_service if role == SERVICE else self.native_client

    @property
    def wheels(self) -> tuple[str, ...]:
        """Return the names of the extension modules that the system needs."""
        return tuple(extension.name for extension in self.extensions)

    def takes_slices(self, *, native_client: bool) -> bool:
        """Return whether the clients can send requests in slices of time. A system's own client
        program cannot.
        """
        program = self.native_client
        return (
            program is not None and program.name == "loadgen"
            if native_client
            else self.client is None
        )

    @property
    def framed(self) -> bool:
        """Return whether the clients send their messages in gilscope's own frame protocol.

        With equal parameters, all such systems do the same work, so that one can replace another.
        """
        return (
            not self.hosted
            and self.native_client is not None
            and "framed" in self.native_client.arguments
        )

    @property
    def hosted(self) -> bool:
        """Return whether a child process starts the service by a command, and talks to gilscope in
        its place.
        """
        return bool(self.command or self.user_service)

    def services(self, cell: Cell) -> int:
        """Return the number of child processes that run the services of *cell*."""
        return 1 if self.user_service and self.user_service.forks else cell.num_api_services

    def runs_under(self, runtime: str) -> bool:
        """Return whether the system can be measured under *runtime*.

        It needs Python code for a role, or, under `native`, a native program for each role.
        """
        if self.user_service is not None:
            return (runtime == NATIVE) == self.user_service.already_runs
        if runtime == NATIVE:
            return bool(self.native_service and self.native_client)
        return self.has_python(SERVICE) or self.has_python(CLIENT)
