"""The connection to one host's agent. It sends calls, starts children, reads the host's clock, detects a lost host."""

import json
import os
import platform
import threading
from collections.abc import Mapping, Sequence
from itertools import count
from time import perf_counter, perf_counter_ns
from typing import Any, Required, TypedDict

from core import record
from core.decode import Misfit, decode_message, decoded
from core.errors import ChildFailed
from core.hosts import Host
from core.limits import MAX_LINE_BYTES
from core.messages import NOTHING, Message, message
from core.record import RuntimeFacts, Window
from core.saved import HostFacts
from lab.hosts import archive
from lab.hosts.agent_stream import CONNECT_S, AgentStream, HostLost
from lab.hosts.clock import ClockOffset, RoundTrip, estimate
from lab.hosts.protocol import BEAT_S, HELLO, LEASE_S, FrameReader, frame
from lab.output import HeadTailBuffer
from lab.run.process import Process


class InterpreterFacts(RuntimeFacts):
    """The facts that an interpreter on a host must report."""

    version: Required[str]  # type: ignore[misc]
    build: Required[str]  # type: ignore[misc]
    gil_disabled_build: Required[bool]  # type: ignore[misc]


class HostInterpreter(TypedDict):
    """A Python interpreter on a host, with the facts that it reported about itself."""

    executable: str
    source: str
    facts: InterpreterFacts


class HostReport(TypedDict):
    """The facts about a host: its machine, how quiet the machine is, its uv, and its boot ID."""

    machine: HostFacts
    quiet: dict[str, Any]
    uv: str
    boot_id: str


ANSWERS: Mapping[str, Any] = {  # types of the answers that are kept in result.json
    "start": int,
    "clock": int,
    "facts": HostReport,
    "find": dict[str, HostInterpreter],
    "packages": dict[str, str],
    "ran": dict[str, int],
    "window": Window,
    "reach": record.Link,
}
CALL_S = 60.0
PROBES = 15
MOST_HELLO_BYTES = 1 << 16


class RemoteProcess(Process):
    """A child process on another host."""

    def __init__(self, connection: "HostConnection", number: int) -> None:
        self._connection, self.number = connection, number
        self.stderr = HeadTailBuffer()
        self.pid = 0
        self._status: int | None = None
        self._out = bytearray()
        self._has_ended = self._is_closed = False
        self._changing = threading.Condition()
        self._ready, self._waker = os.pipe()

    @property
    def lost(self) -> Message:
        """Return why the connection to the child's host was lost; NOTHING if it was not lost."""
        return self._connection.lost if self._status is None else NOTHING

    def fileno(self) -> int:
        """Return a file descriptor that is readable when the child's stdout has data or has ended."""
        return self._ready

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""
        with self._changing:
            data = bytes(self._out)
            self._out.clear()
            if data and not self._has_ended:
                os.read(self._ready, 1)
            return data

    def write(self, data: bytes) -> None:
        """Write to the child's stdin."""
        self._connection.tell("write", data, child=self.number)

    def close_stdin(self) -> None:
        """Close the child's stdin."""
        self._connection.tell("close", child=self.number)

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return the child's exit status, negative for a signal; None after *deadline_s* or if the host is lost."""
        with self._changing:
            self._changing.wait_for(lambda: self._status is not None or bool(self._connection.lost), deadline_s)
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
            if not self._is_closed:
                self._is_closed = True
                os.close(self._ready)
                os.close(self._waker)

    def handle(self, header: Mapping[str, Any], data: bytes) -> None:
        """Handle a message about this child process, or the end of the connection to its host.

        Only the connection's thread may call this.
        """
        if header.get("stream") == "err":
            self.stderr.add(data)
            return
        with self._changing:
            if "status" in header:
                self._status = int(header["status"])
            elif len(self._out) <= MAX_LINE_BYTES:  # more is dropped, because a longer line fails the cell
                if not (self._out or self._has_ended or self._is_closed):
                    os.write(self._waker, b".")
                self._out += data
                self._has_ended = self._has_ended or not data
            self._changing.notify_all()


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
        self._replies: dict[int, tuple[Mapping[str, Any], int] | None] = {}  # with the time when it came
        self._writing = threading.Lock()
        self._changing = threading.Condition()
        try:
            self._stream = AgentStream(host, process_group)
            try:
                unread = self._boot()
            except BaseException:
                self._stream.kill()
                raise
        except HostLost as error:
            raise HostLost("Host {host} cannot be used: {reason}.", host=host.name, reason=error.message) from None
        threading.Thread(target=self._listen, args=(unread,), name=f"host {host.name}", daemon=True).start()

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
            self.forget(number)
            raise
        return child

    def forget(self, number: int) -> None:
        """Forget a child process that has ended, and ignore later messages about it."""
        self._children.pop(number, None)

    def call(self, what: str, deadline_s: float = CALL_S, data: bytes = b"", **arguments: Any) -> Any:
        """Call the function *what* of the agent, and return its answer. Raises ChildFailed."""
        return self._ask(what, deadline_s, data, arguments)[0]

    def offset(self) -> ClockOffset:
        """Measure the offset of the host's clock to the local clock, using the shortest of PROBES round trips.

        Raises ChildFailed.
        """
        trips = []
        for _ in range(PROBES):
            sent_ns = perf_counter_ns()
            there_ns, back_ns = self._ask("clock", LEASE_S, b"", {})
            trips.append(RoundTrip(sent_ns=sent_ns, there_ns=there_ns, back_ns=back_ns))
        return estimate(trips)

    def tell(self, what: str, data: bytes = b"", **arguments: Any) -> None:
        """Call the function *what* of the agent without waiting for an answer. If the host is lost, do nothing."""
        self._send(next(self._numbers), what, data, arguments)

    def _ask(self, what: str, deadline_s: float, data: bytes, arguments: Mapping[str, Any]) -> tuple[Any, int]:
        """Call the agent process on the host. Return its answer and the time when the answer arrived."""
        number = next(self._numbers)
        self._replies[number] = None
        self.silent_until_s = 0.0
        self._send(number, what, data, arguments)
        with self._changing:
            self._changing.wait_for(lambda: bool(self._replies[number] or self.lost), deadline_s)
            reply = self._replies.pop(number)
        if reply is None:
            raise ChildFailed(self.lost or self._silent(deadline_s))
        header, back_ns = reply
        try:
            if "error" in header:
                raise ChildFailed("Host {host}: {reason}", host=self.host.name, reason=decode_message(header["error"]))
            if what in ANSWERS:
                decoded(header["answer"], ANSWERS[what])
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
        return header["answer"], back_ns

    def _send(self, number: int, what: str, data: bytes, arguments: Mapping[str, Any]) -> None:
        if self.lost:
            return
        try:
            with self._writing:
                self._stream.write(frame({"call": number, "what": what, "with": arguments}, data))
        except HostLost as error:
            self._lose(self._gone(error.message))

    def _boot(self) -> bytes:
        """Send the agent's files, and read the agent's first line. Return the bytes after the line. Raises HostLost."""
        said, unread = self._line(b"", CONNECT_S)
        self.machine = str(said.get("machine"))
        files = archive.agent(native=self.machine == platform.machine())
        self._stream.write(b"%d\n" % len(files) + files)
        said, unread = self._line(unread, CALL_S)
        if "error" in said:
            raise HostLost(
                "the files of gilscope's agent cannot be copied to the host: {error}", error=str(said["error"])[:300]
            )
        self.folder, self.python = str(said["folder"]), str(said["python"])
        self.usable_cpus = [*map(int, said["cpus"])]
        return unread

    def _line(self, unread: bytes, wait_s: float) -> tuple[dict[str, Any], bytes]:
        """Return the agent's next line, decoded, and the bytes read after the line. Raises HostLost.

        Lines of the agent begin with HELLO. Other lines are output of a login shell, and are kept for error messages.
        """
        while len(unread) < MOST_HELLO_BYTES:
            line, end, rest = unread.partition(b"\n")
            if end and line.startswith(HELLO):
                return json.loads(line.removeprefix(HELLO)), rest
            if end:
                self._stream.complaints.add(line + end)
                unread = rest
                continue
            data = self._stream.read(wait_s)
            if data is None:
                raise HostLost("the host sent nothing for {wait_s:.0f} s", wait_s=wait_s)
            if not data:
                break
            unread += data
        raise HostLost(self._stream.why_ended())

    def _listen(self, unread: bytes) -> None:
        """Handle the host's messages, and send a heartbeat every BEAT_S. After LEASE_S of silence, the host is lost."""
        frames = FrameReader(unread)
        heard_s = beat_s = perf_counter()
        try:
            while not self.lost:
                data = self._stream.read(BEAT_S)
                if data == b"":
                    raise HostLost(self._stream.why_ended())
                for header, payload in frames.feed(data or b""):
                    self._take(header, payload)
                now_s = perf_counter()
                if data or now_s < self.silent_until_s:
                    heard_s = now_s
                elif now_s - heard_s > LEASE_S:
                    self._lose(self._silent(LEASE_S))
                if now_s - beat_s >= BEAT_S and now_s >= self.silent_until_s and not self._writing.locked():
                    beat_s = now_s
                    if self._stream.is_writable():  # a blocked write would stop this thread from reading
                        self.tell("clock")
        except HostLost as error:
            self._lose(self._gone(error.message))
        except (ValueError, KeyError, TypeError) as error:  # a malformed frame, or a closed stream
            self._lose(
                self._gone(message("the host sent bytes that are not a valid message: {text}", text=str(error)[:100]))
            )

    def _take(self, header: Mapping[str, Any], data: bytes) -> None:
        if "reply" not in header:
            if child := self._children.get(header["child"]):
                child.handle(header, data)
            return
        with self._changing:
            if header["reply"] in self._replies:  # no caller waits for other replies
                self._replies[header["reply"]] = header, perf_counter_ns()
                self._changing.notify_all()

    def _lose(self, why: Message) -> None:
        with self._changing:
            if self.lost:
                return
            self.lost = why
            self._changing.notify_all()
        self._stream.kill()
        for child in list(self._children.values()):
            child.handle({}, b"")

    def _gone(self, why: Message) -> Message:
        return message("The connection to host {host} was lost: {reason}.", host=self.host.name, reason=why)

    def _silent(self, wait_s: float) -> Message:
        return message("Host {host} has not answered for {wait_s:.0f} s.", host=self.host.name, wait_s=wait_s)
