"""The connection to one host: starts children there, calls functions of gilscope, reads its clock,
notices its loss.

lab/hosts/place.py derives HostPlace from HostConnection, which implements the base class Place of
lab/run/children.py for a host. A carrier (lab/hosts/carrier.py) takes the messages to the agent
(lab/hosts/agent.py), whose format is in lab/hosts/protocol.py. A function runs in the worker
(lab/hosts/worker.py), a child that the agent starts at the first call.
Threads: the listener alone reads from the host, and never writes, because a write may block. Any
thread may write (tell). Questions to one host must not overlap, because the thread that asks takes
all answers, and the worker answers calls one by one.
What a host sends is not trusted: it is checked against a type, and its size is limited.
"""

import platform
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from queue import Empty, SimpleQueue
from time import perf_counter, perf_counter_ns, sleep
from typing import Annotated, Any, TypedDict, TypeVar

from msgspec import Meta

from core.layout import Host
from core.messages import NOTHING, Arg, ChildFailed, Json, Message, message, verbatim
from core.wire import MAX_LINE_BYTES
from lab.folders import Sandbox
from lab.hosts.carrier import Carrier, agent_files, start_script
from lab.hosts.protocol import BEAT_S, LEASE_S, encoded
from lab.hosts.remote_process import RemoteProcess, Told
from lab.machine.link import ClockOffset, estimate
from lab.run.children import Children, Place
from record import child_lines as record
from record.decode import Misfit, decoded

# the largest number of a CPU that a host may report
MOST_CPU = 1 << 16
# until the first message of the host, in which ssh may have to log in
CONNECT_S = 10.0
# CALL_S: until the agent reports, or a question or a call without deadline is answered.
# BOOT_S: for the whole connection, after which the carrier is killed, even in a blocked write.
CALL_S = BOOT_S = 60.0
# round trips for one reading of the host's clock
PROBES = 15
# arguments of the host's Python; -s: without the user's own site-packages
WORKER = ("-s", "-m", "lab.hosts.worker")
HEARTBEAT = 0  # the number of questions whose answers nobody needs
CALLED = message("when gilscope called a function on this host")
Kind = TypeVar("Kind")


class Found(TypedDict):
    """The first message of a host: its architecture."""

    machine: str


class Booted(TypedDict):
    """The first message of an agent: its temporary folder, its interpreter, the CPUs that it may
    use, its pid.
    """

    folder: str
    python: str
    cpus: Annotated[list[Annotated[int, Meta(ge=0, le=MOST_CPU)]], Meta(min_length=1)]
    pid: record.Count


class HostConnection(Place):
    """A connected host, on which child processes run and functions of gilscope can be called.

    lost: why the connection ended; it cannot be used again then
    booted: what the agent said about itself
    machine: the host's architecture
    """

    def __init__(self, host: Host, sandbox: Sandbox) -> None:
        """Connect to the agent on *host*. Raises ChildFailed with the reason."""
        self.host, self.name = host, host.name
        self.lost: Message = NOTHING
        # numbers of questions and children, which the agent repeats in its messages
        self._numbers = count(HEARTBEAT + 1)
        # by number; without those that have ended
        self._children: dict[int, RemoteProcess] = {}
        # answers of the agent, with the time here when they came
        self._answers: SimpleQueue[tuple[Told, int]] = SimpleQueue()
        self._sandbox = sandbox
        self._worker: Children | None = None
        self._writing = threading.Lock()
        try:
            self._carrier = Carrier(host, sandbox.process_group)
            self._boot()
        except ChildFailed as error:
            raise ChildFailed(
                "Host {host} cannot be used: {reason}.", host=host.name, reason=error.message
            ) from None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        threading.Thread(target=self._beat, daemon=True).start()

    def close(self) -> None:
        """Close the connection. The agent then ends, and kills all its children."""
        self.lost = self.lost or message(
            "The connection to host {host} was closed.", host=self.name
        )
        self._carrier.kill()  # ends what the listener reads
        self._listener.join()
        self._end_worker()

    def naming(self, reason: Arg) -> Message:
        """Return the reason why something failed on the host, with the host's name; NOTHING without
        a reason.
        """
        return (
            message("Host {host}: {reason}", host=self.name, reason=reason) if reason else NOTHING
        )

    # ---- children --------------------------------------------------------------------------------

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> RemoteProcess:
        """Start a child process on the host, and wait until it runs. Raises ChildFailed if it
        cannot be started.
        """
        number = next(self._numbers)
        child = self._children[number] = RemoteProcess(partial(self.tell, number=number))
        try:
            child.pid, _ = self._ask("start", number, command=[*command], variables={**variables})
        except ChildFailed:
            child.end()
            child.close()
            raise
        return child

    # ---- functions -------------------------------------------------------------------------------

    def call(
        self, kind: Any, function: Callable[..., Any], *arguments: Any, deadline_s: float = CALL_S
    ) -> Any:
        """Call *function* on the host, and return its answer, which is of the type *kind*. Raises
        ChildFailed.

        deadline_s: after this time, the process that runs the function is killed
        """
        name = f"{function.__module__}:{function.__qualname__}"
        return self._call(kind, {"call": name, "with": arguments}, deadline_s)

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a generator function on the host up to its `yield`. Return what finish() needs.
        Raises ChildFailed.
        """
        return self.call(int, function, *arguments)

    def finish(self, kind: Any, begun: Any, deadline_s: float = CALL_S) -> Any:
        """Run a generator function on the host to its end, and return its result, of the type
        *kind*.

        Raises ChildFailed.
        """
        return self._call(kind, {"finish": begun}, deadline_s)

    def _call(self, kind: Any, asked: Json, deadline_s: float) -> Any:
        """Let the worker answer (lab/hosts/worker.py)."""
        try:
            children = self._worker or self._start_worker()
            (worker,) = children.started
            worker.tell(asked)
            line = children.await_lines([worker], "answer", CALLED, deadline_s)[worker]
        except ChildFailed:
            self._end_worker()
            raise
        try:
            if "error" in line:
                raise ChildFailed(self.naming(decoded(line["error"], Message)))
            answer = decoded(line["answer"], kind)
        except Misfit as misfit:
            raise ChildFailed(
                "Host {host} answered the call {what} with the value {value} for {key}, but the "
                "value must be {accepted}.",
                host=self.name,
                value=misfit.value,
                key=misfit.place or "-",
                what=next(iter(asked.values())),
                accepted=misfit.wanted,
            ) from None
        return decompressed(answer) if isinstance(answer, bytes) else answer

    def _start_worker(self) -> Children:
        python, name = self.booted["python"], message("The process for gilscope's functions")
        self._worker = Children(self._sandbox)
        variables = {"TMPDIR": self.booted["folder"]}
        self._worker.start(name, python, [python, *WORKER], variables, self)
        return self._worker

    def _end_worker(self) -> None:
        if self._worker:
            self._worker.close()
        self._worker = None

    # ---- the clock -------------------------------------------------------------------------------

    def offset(self) -> ClockOffset:
        """Measure the offset of the host's clock to the local clock, using the shortest of PROBES
        round trips.

        Raises ChildFailed. Source: RFC 5905, the clock filter of section 10.
        """
        offsets = []
        for _ in range(PROBES):
            sent_ns = perf_counter_ns()
            offsets.append(estimate(sent_ns, *self._ask("clock", next(self._numbers))))
        return min(offsets, key=lambda offset: offset.error_ns)

    # ---- messages --------------------------------------------------------------------------------

    def tell(self, do: str, **arguments: Any) -> None:
        """Send an order to the agent. If the host is lost, do nothing."""
        with self._writing:
            self._carrier.write(encoded(do=do, **arguments))

    def _ask(self, do: str, number: int, **arguments: Any) -> tuple[int, int]:
        """Send an order that the agent answers. Return the answer, and when it came. Raises
        ChildFailed.
        """
        self.tell(do, number=number, **arguments)
        while True:
            try:
                told, back_ns = self._answers.get(timeout=0.0 if self.lost else CALL_S)
            except Empty:
                raise ChildFailed(self.lost or self._silent(CALL_S)) from None
            if told["number"] == number:  # others are answers to heartbeats, or came too late
                break
        if "error" in told:
            raise ChildFailed(self.naming(told["error"]))
        return told["answer"], back_ns

    def _boot(self) -> None:
        """Send gilscope's files, and read what the agent says about itself. Raises ChildFailed."""
        hanging = threading.Timer(BOOT_S, self._carrier.kill)
        hanging.start()
        try:
            self._carrier.write(start_script(self.host))
            self.machine = self._hello(Found, CONNECT_S)["machine"]
            files = agent_files(native=self.machine == platform.machine())
            self._carrier.write(b"%d\n" % len(files) + files)
            self.booted = self._hello(Booted, CALL_S)
        except BaseException:
            self._carrier.close()
            raise
        finally:
            hanging.cancel()

    def _hello(self, kind: type[Kind], wait_s: float) -> Kind:
        """Return the next message, which is of the type *kind*. Raises ChildFailed."""
        said: list[Kind] = []
        while not said:
            if not self._carrier.receive(wait_s, lambda told: said.append(decoded(told, kind))):
                raise ChildFailed("the host sent nothing for {wait_s:.0f} s", wait_s=wait_s)
        return said[0]

    def _beat(self) -> None:
        """Ask the host for its time every BEAT_S, so that each side hears from the other."""
        while not self.lost:
            self.tell("clock", number=HEARTBEAT)
            sleep(BEAT_S)

    def _listen(self) -> None:
        """Handle the host's messages until the connection ends. After LEASE_S of silence, the host
        is lost.
        """
        heard_s = perf_counter()
        try:
            while not self.lost:
                if self._carrier.receive(BEAT_S / 2, self._take):
                    heard_s = perf_counter()
                elif perf_counter() - heard_s > LEASE_S:
                    self.lost = self._silent(LEASE_S)
        except ChildFailed as error:
            self.lost = self.lost or message(
                "The connection to host {host} was lost: {reason}. Check the host and its network.",
                host=self.name,
                reason=error.message,
            )
        self._carrier.close()
        self._answers.put(({"number": HEARTBEAT}, 0))  # wakes a thread in _ask()
        for child in [*self._children.values()]:
            child.end(self.lost)

    def _take(self, line: Any) -> None:
        back_ns = perf_counter_ns()
        told = decoded(line, Told)
        number = told["number"]
        if "answer" in told or "error" in told:
            self._answers.put((told, back_ns))
        elif child := self._children.get(number):
            child.take(told)
            if "status" in told:
                del self._children[number]

    def _silent(self, wait_s: float) -> Message:
        return message(
            "Host {host} has not answered for {wait_s:.0f} s. Check that it is on, reachable and "
            "not overloaded.",
            host=self.name,
            wait_s=wait_s,
        )


def decompressed(data: bytes) -> bytes:
    """Return at most MAX_LINE_BYTES of what was compressed. Raises ChildFailed."""
    try:
        return zlib.decompressobj().decompress(data, MAX_LINE_BYTES)
    except zlib.error as error:
        raise ChildFailed(verbatim(f"{error}")) from None
