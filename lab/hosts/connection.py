"""The connection to one host's agent. It sends calls, starts children, reads the host's clock, detects a lost host.

The offset between two hosts' monotonic clocks is estimated, and clients must have sent during the same time.
"""

import platform
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, SimpleQueue
from time import perf_counter, perf_counter_ns
from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec import Meta

from core.errors import ChildFailed
from core.hosts import Host
from core.limits import MAX_LINE_BYTES
from core.messages import NOTHING, Message, message
from core.runtime import Flags, RuntimeFacts
from lab.hosts import archive
from lab.hosts.agent_stream import CONNECT_S, AgentStream, HostLost
from lab.hosts.protocol import BEAT_S, BYTES, LEASE_S, encoded
from lab.output import HeadTailBuffer
from lab.run.children import Process
from record import child as record
from record.cell_parts import Link, Window
from record.decode import Misfit, decoded
from record.plan import HostFacts

MOST_CPU = 1 << 16


@dataclass(frozen=True, kw_only=True)
class InterpreterFacts:
    """The facts about an interpreter on its host. The agent must report those without a default."""

    executable: str
    source: str
    version: str
    build: str
    gil_disabled_build: bool
    implementation: str = ""
    compiler: str = ""
    gil_enabled: bool = False
    jit_enabled: bool = False
    flags: Flags = Flags()  # noqa: RUF009 - frozen
    packages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Quiet(TypedDict, total=False):
    """How quiet a host was: the result of lab.machine.quiet.facts() there."""

    cores: record.Count
    governors: list[str] | None
    turbo: bool | None
    smt: bool | None
    cores_quota: record.Number | str | None
    aslr: record.Known
    window: Window


@dataclass(frozen=True, kw_only=True)
class AgentFacts(HostFacts):
    """The facts that the agent must report about its host."""

    quiet: Quiet


class Booted(TypedDict):
    """The first message of an agent: its folder on the host, its interpreter, and the CPUs that it may use."""

    folder: str
    python: str
    cpus: Annotated[list[Annotated[int, Meta(ge=0, le=MOST_CPU)]], Meta(min_length=1)]


class Said(TypedDict, total=False):
    """A message about a child process on the host: a part of its output, or its exit status."""

    child: Required[int]
    stream: str
    text: str
    status: int


ANSWERS: Mapping[str, Any] = {  # types of the answers to calls; no other call has an answer
    "start": record.Count,
    "command": Annotated[list[str], Meta(min_length=1)],
    "clock": record.Time,
    "facts": AgentFacts,
    "find": dict[str, InterpreterFacts],
    "builds": dict[str, RuntimeFacts],
    "packages": dict[str, str],
    "ran": dict[Annotated[str, Meta(pattern="^[0-9]{1,10}$")], record.Count],
    "window": Window,
    "reach": Link,
    "own": str,
    "files": str,
    "listen": str,
    "obstacle": Message,
    "install": list[Message],
    "inside": dict[Literal["folder", "root"], str],
    "inside_files": dict[str, str],
    "watched": Any,  # its type depends on the profiler: lab.hosts.place
}
CALL_S = 60.0
PROBES = 15
LEAST_OVERLAP = 0.8


@dataclass(frozen=True, kw_only=True)
class ClockOffset:
    """Another host's clock minus this host's clock, with an error of at most *error_ns*."""

    offset_ns: int
    error_ns: int

    def to_host_clock(self, here_ns: int) -> int:
        """Convert a time on this host's clock to the other host's clock."""
        return here_ns + self.offset_ns


def estimate(sent_ns: int, there_ns: int, back_ns: int) -> ClockOffset:
    """Estimate the clock offset, assuming that the other clock was read in the middle of the round trip.

    sent_ns: when the question was sent; there_ns: the other clock's time; back_ns: when the answer came
    Source: RFC 5905, section 8.
    """
    return ClockOffset(offset_ns=there_ns - (sent_ns + back_ns) // 2, error_ns=(back_ns - sent_ns + 1) // 2)


def between(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """Return the mean of two estimates of the clock offset, with an error that includes the drift of the clocks."""
    drift_ns = after.offset_ns - before.offset_ns
    return ClockOffset(
        offset_ns=before.offset_ns + drift_ns // 2,
        error_ns=max(before.error_ns, after.error_ns) + (abs(drift_ns) + 1) // 2,
    )


def overlap_faults(by_client: Sequence[Mapping[str, Any]], error_ns: int) -> list[Message]:
    """Return a fault if the clients sent at the same time for too short a time.

    All times are on one clock. *error_ns* is the most by which each of them may be wrong.
    """
    spans = [(result["finished_ns"] - result["completion_ns"], result["finished_ns"]) for result in by_client]
    if len(spans) < 2:
        return []
    starts, ends = zip(*spans, strict=True)
    share = (min(ends) - max(starts) - 2 * error_ns) / max(1, max(ends) - min(starts))
    if share >= LEAST_OVERLAP:
        return []
    return [
        message(
            "all clients were sending requests at the same time for only {share:.0%} of the measured time, but at "
            "least {least:.0%} is required",
            share=max(0.0, share),
            least=LEAST_OVERLAP,
        )
    ]


class RemoteProcess(Process):
    """A child process on another host."""

    def __init__(self, connection: "HostConnection", number: int) -> None:
        self._connection, self.number = connection, number
        self.stderr = HeadTailBuffer()
        self.pid = 0
        self._status: int | None = None
        self._has_ended = threading.Event()
        self._out, self._changing = bytearray(), threading.Lock()
        self._ready, self._waker = socket.socketpair()

    @property
    def lost(self) -> Message:
        """Return why the connection to the child's host was lost; NOTHING if it was not lost."""
        return self._connection.lost if self._status is None else NOTHING

    def fileno(self) -> int:
        """Return a file descriptor that is readable when the child's stdout has data or has ended."""
        return self._ready.fileno()

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""
        self._ready.recv(1)
        with self._changing:
            data = bytes(self._out)
            self._out.clear()
        return data

    def write(self, data: bytes) -> None:
        """Write to the child's stdin."""
        self._connection.tell("write", child=self.number, text=data.decode(errors=BYTES))

    def close_stdin(self) -> None:
        """Close the child's stdin."""
        self._connection.tell("close", child=self.number)

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return the child's exit status, negative for a signal; None after *deadline_s* or if the host is lost."""
        self._has_ended.wait(deadline_s)
        return self._status

    def kill(self) -> None:
        """Kill the child process if it still runs."""
        if self._status is None:
            self._connection.tell("kill", child=self.number)

    def close(self) -> None:
        """Wait up to LEASE_S for the child to end, and release its resources."""
        self.wait(LEASE_S)
        self._connection.forget(self.number)
        with self._changing:
            self._ready.close()
            self._waker.close()

    def take(self, told: Mapping[str, Any]) -> None:
        """Handle a message of the agent about this child process. Only the connection's thread may call this."""
        if "status" in told:
            self._status = int(told["status"])
            self.end()
        else:
            data = told["text"].encode(errors=BYTES)
            (self._take_output if told["stream"] == "out" else self.stderr.add)(data)

    def _take_output(self, data: bytes) -> None:
        with self._changing, suppress(OSError):  # this object was closed meanwhile
            if not data:
                self._waker.close()
            elif len(self._out) <= MAX_LINE_BYTES:  # more is dropped, because a longer line fails the cell
                if not self._out:
                    self._waker.send(b".")
                self._out += data

    def end(self) -> None:
        """Note that the child has ended, or the connection to its host has."""
        self._take_output(b"")
        self._has_ended.set()


class HostConnection:
    """A connection to the agent that runs on a host.

    lost: why the connection ended; it cannot be used again then
    folder: a folder on that host, which is removed with the agent
    usable_cpus: the CPUs on which the agent may run
    silent_until_s: until this time nothing is sent to the host, and nothing is expected from it
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Connect to the agent on *host*. Raises HostLost with the reason."""
        self.host = host
        self.lost: Message = NOTHING
        self.silent_until_s = 0.0
        self._numbers = count(1)
        self._children: dict[int, RemoteProcess] = {}
        self._replies: dict[int, SimpleQueue[tuple[Mapping[str, Any], int] | None]] = {}
        self._writing, self._losing = threading.Lock(), threading.Lock()
        try:
            self._stream = AgentStream(host, process_group)
            try:
                self._boot()
            except BaseException:
                self._stream.kill()
                raise
        except HostLost as error:
            raise HostLost("Host {host} cannot be used: {reason}.", host=host.name, reason=error.message) from None
        threading.Thread(target=self._listen, name=f"host {host.name}", daemon=True).start()

    def close(self) -> None:
        """Close the connection. The agent then ends, and kills all its children."""
        self._lose(message("The connection to host {host} was closed.", host=self.host.name))

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> RemoteProcess:
        """Start a child process on the host, and return the child. Raises ChildFailed if it cannot be started."""
        number = next(self._numbers)
        child = self._children[number] = RemoteProcess(self, number)
        try:
            child.pid = self.call("start", child=number, command=[*command], variables={**variables})
        except BaseException:
            child.end()
            child.close()
            raise
        return child

    def forget(self, number: int) -> None:
        """Forget a child process that has ended, and ignore later messages about it."""
        self._children.pop(number, None)

    def call(self, what: str, deadline_s: float = CALL_S, **arguments: Any) -> Any:
        """Call the function *what* of the agent, and return its answer. Raises ChildFailed."""
        return self._ask(what, deadline_s, arguments)[0]

    def offset(self) -> ClockOffset:
        """Measure the offset of the host's clock to the local clock, using the shortest of PROBES round trips.

        Raises ChildFailed. Source: RFC 5905, the clock filter of section 10.
        """
        offsets = []
        for _ in range(PROBES):
            sent_ns = perf_counter_ns()
            offsets.append(estimate(sent_ns, *self._ask("clock", LEASE_S, {})))
        return min(offsets, key=lambda offset: offset.error_ns)

    def tell(self, what: str, **arguments: Any) -> None:
        """Call the function *what* of the agent without waiting for an answer. If the host is lost, do nothing."""
        self._send(next(self._numbers), what, arguments)

    def _ask(self, what: str, deadline_s: float, arguments: Mapping[str, Any]) -> tuple[Any, int]:
        """Call the agent process on the host. Return its answer and the time when the answer arrived."""
        number = next(self._numbers)
        replies = self._replies[number] = SimpleQueue()
        self.silent_until_s = 0.0
        self._send(number, what, arguments)
        try:
            reply = None if self.lost else replies.get(timeout=deadline_s)
        except Empty:
            reply = None
        del self._replies[number]
        if reply is None:
            raise ChildFailed(self.lost or self._silent(deadline_s))
        told, back_ns = reply
        try:
            if "error" in told:
                raise ChildFailed("Host {host}: {reason}", host=self.host.name, reason=decoded(told["error"], Message))
            answer = told.get("answer")
            decoded(answer, ANSWERS.get(what))  # type: ignore[arg-type]
        except Misfit as misfit:
            raise ChildFailed(
                "Host {host} answered the call {what} with the value {value} for {key}, but the value must be "
                "{accepted}.",
                host=self.host.name,
                value=misfit.value,
                key=misfit.place or "-",
                what=what,
                accepted=misfit.wanted,
            ) from None
        return answer, back_ns

    def _send(self, number: int, what: str, arguments: Mapping[str, Any]) -> None:
        if self.lost:
            return
        try:
            with self._writing:
                self._stream.write(encoded(call=number, what=what, **{"with": arguments}))
        except HostLost as error:
            self._lose(self._gone(error.message))

    def _boot(self) -> None:
        """Send the agent's files, and read what the agent says about itself. Raises HostLost."""
        self.machine = str(self._hello(CONNECT_S).get("machine"))
        files = archive.agent(native=self.machine == platform.machine())
        self._stream.write(b"%d\n" % len(files) + files)
        said = self._hello(CALL_S)
        if "error" in said:
            raise HostLost(
                "the files of gilscope's agent cannot be copied to the host: {error}", error=str(said["error"])[:300]
            )
        try:
            booted: Booted = decoded(said, Booted)
        except Misfit as misfit:
            raise HostLost("the agent's first message is wrong: {error}", error=misfit) from None
        self.folder, self.python, self.usable_cpus = booted["folder"], booted["python"], booted["cpus"]

    def _hello(self, wait_s: float) -> dict[str, Any]:
        """Return the next message. Raises HostLost."""
        said: list[dict[str, Any]] = []
        while not said:
            if not self._stream.receive(wait_s, said.append):
                raise HostLost("the host sent nothing for {wait_s:.0f} s", wait_s=wait_s)
        return said[0]

    def _listen(self) -> None:
        """Handle the host's messages, and send a heartbeat every BEAT_S. After LEASE_S of silence, the host is lost."""
        heard_s = beat_s = perf_counter()
        try:
            while not self.lost:
                has_heard = self._stream.receive(BEAT_S, self._take)
                now_s = perf_counter()
                if has_heard or now_s < self.silent_until_s:
                    heard_s = now_s
                elif now_s - heard_s > LEASE_S:
                    return self._lose(self._silent(LEASE_S))
                if now_s - beat_s >= BEAT_S and now_s >= self.silent_until_s and not self._writing.locked():
                    beat_s = now_s
                    if self._stream.is_writable():  # a blocked write would stop this thread from reading
                        self.tell("clock")
        except HostLost as error:
            self._lose(self._gone(error.message))

    def _take(self, told: Mapping[str, Any]) -> None:
        back_ns = perf_counter_ns()
        if "reply" not in told:
            decoded(told, Said)
            if child := self._children.get(told["child"]):
                child.take(told)
        elif replies := self._replies.get(told["reply"]):  # no caller waits for other replies
            replies.put((told, back_ns))

    def _lose(self, why: Message) -> None:
        with self._losing:
            if self.lost:
                return
            self.lost = why
        self._stream.kill()
        for replies in [*self._replies.values()]:
            replies.put(None)
        for child in [*self._children.values()]:
            child.end()

    def _gone(self, why: Message) -> Message:
        return message("The connection to host {host} was lost: {reason}.", host=self.host.name, reason=why)

    def _silent(self, wait_s: float) -> Message:
        return message("Host {host} has not answered for {wait_s:.0f} s.", host=self.host.name, wait_s=wait_s)
