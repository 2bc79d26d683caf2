"""One host of a run, while its agent runs: calls, children, its clock, and whether it is still there."""

import json
import os
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


class InterpreterFacts(RuntimeFacts):
    """What an interpreter on a host must say of itself, all of it."""

    version: Required[str]  # type: ignore[misc]
    build: Required[str]  # type: ignore[misc]
    gil_disabled_build: Required[bool]  # type: ignore[misc]


class HostInterpreter(TypedDict):
    """An interpreter on a host."""

    executable: str
    source: str
    facts: InterpreterFacts


class HostReport(TypedDict):
    """A host's machine."""

    machine: HostFacts
    quiet: dict[str, Any]
    uv: str
    boot_id: str


ANSWERS: Mapping[str, Any] = {  # what an agent may answer where result.json keeps it
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


class RemoteProcess:
    """A child on a host, behind the seam of lab.run.process."""

    def __init__(self, connection: "HostConnection", number: int) -> None:
        self._connection, self.number = connection, number
        self.stderr = HeadTailBuffer()
        self.pid = 0
        self._status: int | None = None
        self._out = bytearray()
        self._has_ended = self._is_closed = False
        self._changing = threading.Condition()
        self._ready, self._waker = os.pipe()

    def __repr__(self) -> str:
        return f"RemoteProcess(pid {self.pid} on {self._connection.host.name})"

    @property
    def lost(self) -> Message:
        """Why nothing is known of it any more."""
        return self._connection.lost if self._status is None else NOTHING

    def fileno(self) -> int:
        """Readable when there is something to read, or the end."""
        return self._ready

    def read(self) -> bytes:
        """Return what has come from its stdout; nothing at its end."""
        with self._changing:
            data = bytes(self._out)
            self._out.clear()
            if data and not self._has_ended:
                os.read(self._ready, 1)
            return data

    def write(self, data: bytes) -> None:
        """Write to its stdin."""
        self._connection.tell("write", data, child=self.number)

    def close_stdin(self) -> None:
        """Say that this is the end of its stdin."""
        self._connection.tell("close", child=self.number)

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return its exit status, negative for a signal; None if it has not ended in time, or its host is lost."""
        with self._changing:
            self._changing.wait_for(lambda: self._status is not None or bool(self._connection.lost), deadline_s)
            return self._status

    def kill(self) -> None:
        """End it at once."""
        if self._status is None:
            self._connection.tell("kill", child=self.number)

    def close(self) -> None:
        """Forget it, once it has ended, or its host has not said so in time."""
        self.wait(LEASE_S)
        self._connection.forget(self.number)
        with self._changing:
            if not self._is_closed:
                self._is_closed = True
                os.close(self._ready)
                os.close(self._waker)

    def take(self, told: Mapping[str, Any], data: bytes) -> None:
        """Take what its agent says of it, or that nothing more is known; for the connection's own thread."""
        if told.get("stream") == "err":
            self.stderr.add(data)
            return
        with self._changing:
            if "status" in told:
                self._status = int(told["status"])
            elif len(self._out) <= MAX_LINE_BYTES:  # more is not kept: the cell fails by it
                if not (self._out or self._has_ended or self._is_closed):
                    os.write(self._waker, b".")
                self._out += data
                self._has_ended = self._has_ended or not data
            self._changing.notify_all()


class HostConnection:
    """A host whose agent runs. lost: why it does not any more; then it is of no more use.

    folder: on that host, for what lives as long as this. usable_cpus: those that the agent may run on
    silent_until_s: no word is expected from there, and none is said, until then
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Raises LinkLost with the reason."""
        self.host = host
        self.lost: Message = NOTHING
        self.silent_until_s = 0.0
        self._numbers = count(1)
        self._children: dict[int, RemoteProcess] = {}
        self._replies: dict[int, tuple[Mapping[str, Any], int] | None] = {}  # with the time when it came
        self._writing = threading.Lock()
        self._changing = threading.Condition()
        try:
            self._link = AgentStream(host, process_group)
            try:
                unread = self._boot()
            except BaseException:
                self._link.kill()
                raise
        except HostLost as error:
            raise HostLost("Host {host} cannot be used: {reason}.", host=host.name, reason=error.message) from None
        threading.Thread(target=self._listen, args=(unread,), name=f"host {host.name}", daemon=True).start()

    def __repr__(self) -> str:
        return f"HostConnection({self.host.name}, {len(self._children)} children)"

    def close(self) -> None:
        """End the agent, and with it all that runs there."""
        self._lose(message("The connection to host {host} was closed.", host=self.host.name))

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> RemoteProcess:
        """Return a new child. Raises ChildFailed if it cannot be started."""
        number = next(self._numbers)
        child = self._children[number] = RemoteProcess(self, number)
        try:
            child.pid = self.call("start", child=number, command=[*command], variables={**variables})
        except BaseException:
            self.forget(number)
            raise
        return child

    def forget(self, number: int) -> None:
        """Forget a child that has ended."""
        self._children.pop(number, None)

    def call(self, what: str, deadline_s: float = CALL_S, data: bytes = b"", **arguments: Any) -> Any:
        """Return what the agent answers. Raises ChildFailed."""
        return self._ask(what, deadline_s, data, arguments)[0]

    def offset(self) -> ClockOffset:
        """Return the offset of its clock, by the round trip with the least delay. Raises ChildFailed."""
        trips = []
        for _ in range(PROBES):
            sent_ns = perf_counter_ns()
            there_ns, back_ns = self._ask("clock", LEASE_S, b"", {})
            trips.append(RoundTrip(sent_ns=sent_ns, there_ns=there_ns, back_ns=back_ns))
        return estimate(trips)

    def tell(self, what: str, data: bytes = b"", **arguments: Any) -> None:
        """Call, and await no answer; nothing if the host is lost."""
        self._send(next(self._numbers), what, data, arguments)

    def _ask(self, what: str, deadline_s: float, data: bytes, arguments: Mapping[str, Any]) -> tuple[Any, int]:
        """Return the answer, and when it came."""
        number = next(self._numbers)
        self._replies[number] = None
        self.silent_until_s = 0.0
        self._send(number, what, data, arguments)
        with self._changing:
            self._changing.wait_for(lambda: bool(self._replies[number] or self.lost), deadline_s)
            reply = self._replies.pop(number)
        if reply is None:
            raise ChildFailed(self.lost or self._silent(deadline_s))
        told, back_ns = reply
        if "error" in told:
            raise ChildFailed("Host {host}: {reason}", host=self.host.name, reason=self._checked(Message, told, what))
        return self._checked(ANSWERS.get(what, Any), told, what), back_ns

    def _checked(self, form: Any, told: Mapping[str, Any], what: str) -> Any:
        try:
            if "error" in told:
                return decode_message(told["error"])
            if form is not Any:
                decoded(told["answer"], form)
        except Misfit as misfit:
            raise ChildFailed(
                "Host {host} answered {value} as {key} to {what}; it must be {accepted}.",
                host=self.host.name,
                value=misfit.value,
                key=misfit.place or "-",
                what=what,
                accepted=misfit.wanted,
            ) from None
        return told["answer"]

    def _send(self, number: int, what: str, data: bytes, arguments: Mapping[str, Any]) -> None:
        if self.lost:
            return
        try:
            with self._writing:
                self._link.write(frame({"call": number, "what": what, "with": arguments}, data))
        except HostLost as error:
            self._lose(self._gone(error.message))

    def _boot(self) -> bytes:
        """Send the agent's files; what came after its first line. Raises LinkLost."""
        said, unread = self._line(b"", CONNECT_S)
        self.machine = str(said.get("machine"))
        files = archive.agent(native=self.machine == archive.machine())
        self._link.write(b"%d\n" % len(files) + files)
        said, unread = self._line(unread, CALL_S)
        if "error" in said:
            raise HostLost("the agent cannot be put there: {error}", error=str(said["error"])[:300])
        self.folder, self.python = str(said["folder"]), str(said["python"])
        self.usable_cpus = [*map(int, said["cpus"])]
        return unread

    def _line(self, unread: bytes, wait_s: float) -> tuple[dict[str, Any], bytes]:
        """Return the next line of ours, and what came after it; a login may write others first. Raises LinkLost."""
        while len(unread) < MOST_HELLO_BYTES:
            line, end, rest = unread.partition(b"\n")
            if end and line.startswith(HELLO):
                return json.loads(line.removeprefix(HELLO)), rest
            if end:
                self._link.complaints.add(line + end)
                unread = rest
                continue
            data = self._link.read(wait_s)
            if data is None:
                raise HostLost("nothing came for {wait_s:.0f} s", wait_s=wait_s)
            if not data:
                break
            unread += data
        raise HostLost(self._link.why_ended())

    def _listen(self, unread: bytes) -> None:
        """Take what comes, and say that we are there now and then. A host that says nothing is lost."""
        frames = FrameReader(unread)
        heard_s = beat_s = perf_counter()
        try:
            while not self.lost:
                data = self._link.read(BEAT_S)
                if data == b"":
                    raise HostLost(self._link.why_ended())
                for told, payload in frames.feed(data or b""):
                    self._take(told, payload)
                now_s = perf_counter()
                if data or now_s < self.silent_until_s:
                    heard_s = now_s
                elif now_s - heard_s > LEASE_S:
                    self._lose(self._silent(LEASE_S))
                if now_s - beat_s >= BEAT_S and now_s >= self.silent_until_s and not self._writing.locked():
                    beat_s = now_s
                    if self._link.is_writable():  # or it would wait, and hear nothing
                        self.tell("clock")
        except HostLost as error:
            self._lose(self._gone(error.message))
        except (ValueError, KeyError, TypeError) as error:  # a frame that is none, or the link was closed meanwhile
            self._lose(self._gone(message("it wrote {text}", text=str(error)[:100])))

    def _take(self, told: Mapping[str, Any], data: bytes) -> None:
        if "reply" not in told:
            if child := self._children.get(told["child"]):
                child.take(told, data)
            return
        with self._changing:
            if told["reply"] in self._replies:  # or nobody waits for it
                self._replies[told["reply"]] = told, perf_counter_ns()
                self._changing.notify_all()

    def _lose(self, why: Message) -> None:
        with self._changing:
            if self.lost:
                return
            self.lost = why
            self._changing.notify_all()
        self._link.kill()
        for child in list(self._children.values()):
            child.take({}, b"")

    def _gone(self, why: Message) -> Message:
        return message("The connection to host {host} is gone: {reason}.", host=self.host.name, reason=why)

    def _silent(self, wait_s: float) -> Message:
        return message("Host {host} has not answered for {wait_s:.0f} s.", host=self.host.name, wait_s=wait_s)
