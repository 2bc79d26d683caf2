"""The connection to one host: starts children there, calls functions of gilscope, reads its clock,
notices its loss.
"""

import platform
import socket
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from queue import Empty, SimpleQueue
from time import perf_counter, perf_counter_ns
from typing import Annotated, Any, Required, TypedDict

from msgspec import Meta

from core.errors import ChildFailed
from core.layout import Host
from core.limits import MAX_LINE_BYTES
from core.messages import NOTHING, Message, message, verbatim
from lab.folders import Sandbox
from lab.hosts import archive
from lab.hosts.carrier import Carrier, HostLost, start_script
from lab.hosts.protocol import BEAT_S, BYTES, LEASE_S, PIECE_BYTES, encoded
from lab.process_output import HeadTailBuffer
from lab.run.children import Child, Children, Place, Process
from lab.run.clocks import ClockOffset, estimate
from record import child_lines as record
from record.decode import Misfit, decoded

MOST_CPU = 1 << 16
CONNECT_S = 10.0
CALL_S = BOOT_S = 60.0
PROBES = 15
WORKER = ("-s", "-m", "lab.hosts.worker")
CALLED = message("when gilscope called a function on this host")


class Booted(TypedDict):
    """The first message of an agent: its temporary folder, its interpreter, the CPUs that it may
    use, its pid.
    """

    folder: str
    python: str
    cpus: Annotated[list[Annotated[int, Meta(ge=0, le=MOST_CPU)]], Meta(min_length=1)]
    pid: record.Count


class AboutChild(TypedDict, total=False):
    """A message about a child: its pid or why it was not started, a part of its output, or its exit
    status.
    """

    child: Required[int]
    pid: record.Count
    error: str
    out: str
    err: str
    status: int


class AboutTime(TypedDict):
    """The time on the host's clock when it read the question *clock*."""

    clock: int
    at_ns: record.Time


class RemoteProcess(Process):
    """A child process on another host."""

    def __init__(self, connection: "HostConnection", number: int) -> None:
        self._connection, self.number = connection, number
        self.stderr = HeadTailBuffer()
        self.pid = 0
        self.error = ""
        self.has_answered = threading.Event()
        self._status: int | None = None
        self._has_ended = threading.Event()
        self._out, self._changing = bytearray(), threading.Lock()
        self._ready, self._waker = socket.socketpair()

    @property
    def lost(self) -> Message:
        """Return why the connection to the child's host was lost; NOTHING if it was not lost."""
        return self._connection.lost if self._status is None else NOTHING

    def fileno(self) -> int:
        """Return a file descriptor that is readable when the child's stdout has data
        or has ended.
        """
        return self._ready.fileno()

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""
        self._ready.recv(1)
        with self._changing:
            data = bytes(self._out)
            self._out.clear()
        return data

    def write(self, data: bytes) -> None:
        """Write to the child's stdin, in pieces between which the host can be asked
        for its time.
        """
        for start in range(0, len(data), PIECE_BYTES):
            text = data[start : start + PIECE_BYTES].decode(errors=BYTES)
            self._connection.tell("write", child=self.number, text=text)

    def close_stdin(self) -> None:
        """Close the child's stdin."""
        self._connection.tell("close", child=self.number)

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return the child's exit status, negative for a signal; None after *deadline_s* or if the
        host is lost.
        """
        self._has_ended.wait(deadline_s)
        return self._status

    def kill(self) -> None:
        """Kill the child process if it still runs."""
        self._connection.tell("kill", child=self.number)

    def close(self) -> None:
        """Wait up to LEASE_S for the child to end, and release its resources."""
        self.wait(LEASE_S)
        self._connection.forget(self.number)
        with self._changing:
            self._ready.close()
            self._waker.close()

    def take(self, told: Mapping[str, Any]) -> None:
        """Handle a message of the agent about this child process. Only the connection's thread may
        call this.
        """
        if "out" in told:
            self._take_output(told["out"].encode(errors=BYTES))
        elif "err" in told:
            self.stderr.add(told["err"].encode(errors=BYTES))
        elif "pid" in told or "error" in told:
            self.pid, self.error = told.get("pid", 0), told.get("error", "")
            self.has_answered.set()
        else:
            self._status = told["status"]
            self.end()

    def _take_output(self, data: bytes) -> None:
        with self._changing, suppress(OSError):  # this object was closed meanwhile
            if not data:
                self._waker.close()
            elif (
                len(self._out) <= MAX_LINE_BYTES
            ):  # more is dropped, because a longer line fails the cell
                if not self._out:
                    self._waker.send(b".")
                self._out += data

    def end(self) -> None:
        """Note that the child has ended, or the connection to its host has."""
        self._take_output(b"")
        self.has_answered.set()
        self._has_ended.set()


class HostConnection(Place):
    """A connected host, on which child processes run and functions of gilscope can be called.

    lost: why the connection ended; it cannot be used again then
    booted: what the agent said about itself
    machine: the host's architecture
    """

    def __init__(self, host: Host, sandbox: Sandbox) -> None:
        """Connect to the agent on *host*. Raises HostLost with the reason."""
        self.host, self.name = host, host.name
        self.lost: Message = NOTHING
        self._numbers = count(1)
        self._children: dict[int, RemoteProcess] = {}
        self._times: SimpleQueue[tuple[int, int, int]] = SimpleQueue()
        self._sandbox, self._ending = sandbox, ExitStack()
        self._worker: tuple[Children, Child] | None = None
        self._writing, self._losing = threading.Lock(), threading.Lock()
        try:
            self._carrier = Carrier(host, sandbox.process_group)
            hanging = threading.Timer(BOOT_S, self._carrier.kill)
            hanging.start()
            try:
                self._boot()
            except BaseException:
                self._carrier.close()
                raise
            finally:
                hanging.cancel()
        except HostLost as error:
            raise HostLost(
                "Host {host} cannot be used: {reason}.", host=host.name, reason=error.message
            ) from None
        self._listener = threading.Thread(
            target=self._listen, name=f"host {host.name}", daemon=True
        )
        self._listener.start()

    def close(self) -> None:
        """Close the connection. The agent then ends, and kills all its children."""
        self._lose(message("The connection to host {host} was closed.", host=self.name))
        self._end_worker()

    # ---- children --------------------------------------------------------------------------------

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> RemoteProcess:
        """Start a child process on the host, and return the child. Raises ChildFailed if it cannot
        be started.
        """
        child = RemoteProcess(self, next(self._numbers))
        self._children[child.number] = child
        self.tell("start", child=child.number, command=[*command], variables={**variables})
        if not self.lost:
            child.has_answered.wait(CALL_S)
        if not child.pid:
            child.end()
            child.close()
            failed = (
                message("Host {host}: {reason}", host=self.name, reason=child.error)
                if child.error
                else NOTHING
            )
            raise ChildFailed(self.lost or failed or self._silent(CALL_S))
        return child

    def forget(self, number: int) -> None:
        """Forget a child process that has ended, and ignore later messages about it."""
        self._children.pop(number, None)

    def release(self, children: Sequence[RemoteProcess], word: str, until_ns: int) -> None:
        """Tell *children* to begin with *word*. The agent reports nothing about them until
        *until_ns* of its clock.
        """
        self.tell(
            "release",
            children=[child.number for child in children],
            text=word + "\n",
            until_ns=until_ns,
        )

    # ---- functions -------------------------------------------------------------------------------

    def call(
        self, kind: Any, function: Callable[..., Any], *arguments: Any, deadline_s: float = CALL_S
    ) -> Any:
        """Call *function* on the host, and return its answer, which is of the type *kind*. Raises
        ChildFailed.

        deadline_s: after this time, the process that runs the function is killed
        """
        return self._ask(kind, {"call": _name(function), "with": arguments}, deadline_s)

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a generator function on the host up to its `yield`. Return what finish() needs.
        Raises ChildFailed.
        """
        return self._ask(int, {"begin": _name(function), "with": arguments}, CALL_S)

    def finish(self, kind: Any, begun: Any, deadline_s: float = CALL_S) -> Any:
        """Run a generator function on the host to its end, and return its result, of the type
        *kind*.

        Raises ChildFailed.
        """
        return self._ask(kind, {"finish": begun}, deadline_s)

    def _ask(self, kind: Any, asked: Mapping[str, Any], deadline_s: float) -> Any:
        """Let the worker answer (lab/hosts/worker.py)."""
        try:
            children, worker = self._worker or self._start_worker()
            worker.tell(asked)
            (line,) = children.await_lines([worker], "answer", CALLED, deadline_s).values()
        except ChildFailed:
            self._end_worker()
            raise
        try:
            if "error" in line:
                raise ChildFailed(
                    "Host {host}: {reason}", host=self.name, reason=decoded(line["error"], Message)
                )
            answer = decoded(line.get("answer"), kind)
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

    def _start_worker(self) -> tuple[Children, Child]:
        python, name = self.booted["python"], message("The process for gilscope's functions")
        variables = {"TMPDIR": self.booted["folder"]}
        children = self._ending.enter_context(Children(self._sandbox))
        self._worker = children, children.start(name, python, [python, *WORKER], variables, self)
        return self._worker

    def _end_worker(self) -> None:
        self._ending.close()
        self._worker = None

    # ---- the clock -------------------------------------------------------------------------------

    def offset(self) -> ClockOffset:
        """Measure the offset of the host's clock to the local clock, using the shortest of PROBES
        round trips.

        Raises ChildFailed. Source: RFC 5905, the clock filter of section 10.
        """
        offsets = []
        for _ in range(PROBES):
            number, sent_ns = next(self._numbers), perf_counter_ns()
            self.tell("clock", number=number)
            offsets.append(estimate(sent_ns, *self._time(number)))
        return min(offsets, key=lambda offset: offset.error_ns)

    def _time(self, asked: int) -> tuple[int, int]:
        """Return the host's time when it read the question *asked*, and when its
        answer came here.
        """
        number = at_ns = back_ns = 0
        while number != asked:  # others are answers to heartbeats
            try:
                number, at_ns, back_ns = self._times.get(timeout=0.0 if self.lost else LEASE_S)
            except Empty:
                raise ChildFailed(self.lost or self._silent(LEASE_S)) from None
        return at_ns, back_ns

    # ---- messages --------------------------------------------------------------------------------

    def tell(self, do: str, **arguments: Any) -> None:
        """Send an order to the agent. If the host is lost, do nothing."""
        with self._writing:
            self._carrier.write(encoded(do=do, **arguments))

    def _boot(self) -> None:
        """Send gilscope's files, and read what the agent says about itself. Raises HostLost."""
        self._carrier.write(start_script(self.host))
        self.machine = str(self._hello(CONNECT_S).get("machine"))
        files = archive.agent(native=self.machine == platform.machine())
        self._carrier.write(b"%d\n" % len(files) + files)
        said = self._hello(CALL_S)
        if "error" in said:
            raise HostLost(
                "the files of gilscope's agent cannot be copied to the host: {error}",
                error=str(said["error"])[:300],
            )
        try:
            self.booted: Booted = decoded(said, Booted)
        except Misfit as misfit:
            raise HostLost("the agent's first message is wrong: {error}", error=misfit) from None

    def _hello(self, wait_s: float) -> dict[str, Any]:
        """Return the next message. Raises HostLost."""
        said: list[dict[str, Any]] = []
        while not said:
            if not self._carrier.receive(wait_s, said.append):
                raise HostLost("the host sent nothing for {wait_s:.0f} s", wait_s=wait_s)
        return said[0]

    def _listen(self) -> None:
        """Handle the host's messages, and ask for its time every BEAT_S. After LEASE_S of silence,
        the host is lost.
        """
        heard_s, beat_s = perf_counter(), 0.0
        try:
            while not self.lost:
                if perf_counter() - beat_s >= BEAT_S and self._writing.acquire(
                    blocking=False
                ):  # else a thread writes
                    beat_s = perf_counter()
                    if self._carrier.is_writable():
                        self._carrier.write(encoded(do="clock", number=0))
                    self._writing.release()
                if self._carrier.receive(BEAT_S / 2, self._take):
                    heard_s = perf_counter()
                elif perf_counter() - heard_s > LEASE_S:
                    self._lose(self._silent(LEASE_S))
        except HostLost as error:
            self._lose(self._gone(error.message))

    def _take(self, told: Mapping[str, Any]) -> None:
        back_ns = perf_counter_ns()
        if "clock" in told:
            time = decoded(told, AboutTime)
            if time["clock"]:
                self._times.put((time["clock"], time["at_ns"], back_ns))
        elif child := self._children.get(decoded(told, AboutChild)["child"]):
            child.take(told)

    def _lose(self, why: Message) -> None:
        with self._losing:
            if self.lost:
                return
            self.lost = why
        self._carrier.kill()  # ends what the listener reads
        if threading.current_thread() is not self._listener:
            self._listener.join(BEAT_S)  # no stream may be closed while it is read
        self._carrier.close()
        self._times.put((0, 0, 0))
        for child in [*self._children.values()]:
            child.end()

    def _gone(self, why: Message) -> Message:
        return message(
            "The connection to host {host} was lost: {reason}.", host=self.name, reason=why
        )

    def _silent(self, wait_s: float) -> Message:
        return message(
            "Host {host} has not answered for {wait_s:.0f} s.", host=self.name, wait_s=wait_s
        )


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def decompressed(data: bytes) -> bytes:
    """Return at most MAX_LINE_BYTES of what was compressed. Raises ChildFailed."""
    try:
        return zlib.decompressobj().decompress(data, MAX_LINE_BYTES)
    except zlib.error as error:
        raise ChildFailed(verbatim(f"{error}")) from None
