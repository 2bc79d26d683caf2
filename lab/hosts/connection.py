"""One host of a run, while its agent runs: calls, children, its clock, and whether it is still there."""

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic, perf_counter_ns
from typing import Any, Required, TypedDict

from core import record
from core.decode import Misfit, decoded, sentence
from core.errors import ChildFailed
from core.hosts import Host
from core.messages import NOTHING, Message, message
from core.record import RuntimeFacts, Window
from core.saved import HostFacts
from lab.hosts import archive
from lab.hosts.clock import Offset, Trip, estimate
from lab.hosts.commands import here, openssh
from lab.hosts.frames import CLOCK, LEASE_S, MOST_REPLY_BYTES, BadFrame, Frames, Kind, frame
from lab.hosts.links import CONNECT_S, LinkLost, why_ended
from lab.hosts.remote import RemoteProcess


class Built(RuntimeFacts):
    """What an interpreter on a host must say of itself, all of it."""

    version: Required[str]  # type: ignore[misc]
    build: Required[str]  # type: ignore[misc]
    gil_disabled_build: Required[bool]  # type: ignore[misc]


class Found(TypedDict):
    """An interpreter on a host."""

    executable: str
    source: str
    facts: Built


class Facts(TypedDict):
    """A host's machine."""

    machine: HostFacts
    quiet: dict[str, Any]
    uv: str
    boot_id: str


class Inside(TypedDict):
    """Where a service's inner parts are on a host."""

    folder: str
    root: str


ANSWERS: Mapping[str, Any] = {  # what an agent may answer, checked before it is used
    "facts": Facts,
    "find": dict[str, Found],
    "install": list[Message],
    "command": list[str],
    "files": str,
    "own": str,
    "packages": dict[str, str],
    "mark": str | None,
    "window": Window,
    **dict.fromkeys(("awake", "asleep", "watcher", "listening", "watch"), str | None),
    "watched": dict[str, Any] | None,
    "obstacle": Message,
    "inside": Inside,
    "inside_files": dict[str, str],
    "inside_end": str | None,
    "listen": str,
    "reach": record.Link,
}
CALL_S = 60.0
PROBES = 15
MOST_HELLO_BYTES = 1 << 16


class Connection:
    """A host whose agent runs. lost: why it does not any more; then it is of no more use.

    folder: on that host, for what lives as long as this. cpus: those that processes there may run on
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Raises LinkLost with the reason."""
        self.host = host
        self.lost: Message = NOTHING
        self._children: dict[int, RemoteProcess] = {}
        self._replies: dict[int, dict[str, Any]] = {}
        self._parts: dict[int, bytes] = {}
        self._trips: dict[int, Trip] = {}
        self._number = 0
        self._writing = threading.Lock()
        self._changing = threading.Condition()
        self._frames = Frames()
        try:
            self._link = (here if host.via == "here" else openssh)(host, process_group)
        except LinkLost as error:
            raise unusable(host, error.message) from None
        try:
            unread = self._boot()
            self._heard_s, self.silent_until_s = monotonic(), 0.0
            threading.Thread(target=self._read, args=(unread,), name=f"host {host.name}", daemon=True).start()
            hello = self._reply(0, CONNECT_S)
            self.folder, self.python = str(hello["folder"]), str(hello["python"])
            self.cpus = [int(cpu) for cpu in hello["cpus"]]
        except (ChildFailed, LinkLost, KeyError, TypeError, ValueError) as error:
            why = error.message if isinstance(error, LinkLost) else why_ended(self._link)
            self._link.kill()
            raise unusable(host, why) from None

    def __repr__(self) -> str:
        return f"Connection({self.host.name}, {len(self._children)} children)"

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the agent, and with it all that runs there."""
        self._lose(message("The connection to host {host} was closed.", host=self.host.name))

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> RemoteProcess:
        """A new child. It may not have been started yet: see RemoteProcess.wait_started()."""
        with self._changing:
            self._number += 1
            child = self._children[self._number] = RemoteProcess(self, self._number)
            number = self._number
        self.send(Kind.START, number, json.dumps({"command": [*command], "variables": {**variables}}).encode())
        return child

    def window(self, at_ns: int, hold_ns: int, children: Sequence[RemoteProcess]) -> None:
        """Release *children* at a time of the host's clock; nothing is said or heard until the window is over."""
        told = {"at_ns": at_ns, "hold_ns": hold_ns, "children": [child.number for child in children]}
        self.send(Kind.WINDOW, 0, json.dumps(told).encode())

    def call(self, what: str, deadline_s: float = CALL_S, **arguments: Any) -> Any:
        """What the agent answers. Raises ChildFailed."""
        with self._changing:
            self._number += 1
            number = self._number
        self.silent_until_s = 0.0
        self.send(Kind.CALL, number, json.dumps({"what": what, "with": arguments}).encode())
        reply = self._reply(number, deadline_s)
        if "error" in reply:
            raise ChildFailed(_error(self.host.name, reply["error"]))
        try:
            decoded(reply.get("answer"), ANSWERS[what])
        except Misfit as misfit:
            raise ChildFailed(
                "Host {host} answered {value} as {key} to {what}; it must be {accepted}.",
                host=self.host.name,
                value=misfit.value,
                key=misfit.place or "-",
                what=what,
                accepted=misfit.wanted,
            ) from None
        return reply["answer"]

    def offset(self) -> Offset:
        """Of its clock, by the round trip with the least delay. Raises ChildFailed."""
        trips = []
        for _ in range(PROBES):
            with self._changing:
                self._number += 1
                number = self._number
            sent_ns = perf_counter_ns()
            self.send(Kind.BEAT, number)
            with self._changing:
                self._changing.wait_for(lambda: bool(self._trips) or bool(self.lost), LEASE_S)
                trip = self._trips.pop(number, None)
            if trip is None:
                raise ChildFailed(self.lost or self._silent())
            trips.append(Trip(sent_ns=sent_ns, there_ns=trip.there_ns, back_ns=trip.back_ns))
        return estimate(trips)

    def send(self, kind: Kind, number: int, payload: bytes = b"") -> None:
        """One frame; nothing where the host is lost."""
        if self.lost:
            return
        try:
            with self._writing:
                self._link.write(frame(kind, number, payload))
        except LinkLost as error:
            self._lose(self._gone(error.message))

    def beat(self) -> None:
        """Say that we are there; called now and then, by another thread. A host that says nothing is lost."""
        if self.lost or monotonic() < self.silent_until_s:
            return
        if monotonic() - max(self._heard_s, self.silent_until_s) > LEASE_S:
            self._lose(self._silent())
        elif not self._writing.locked() and self._link.is_writable():  # or it would keep others' beats waiting
            self.send(Kind.BEAT, 0)

    def forget(self, number: int) -> None:
        """A child that has ended."""
        self._children.pop(number, None)

    def _boot(self) -> bytes:
        """Have the agent's files there; what came after boot.py's line."""
        line = bytearray()
        while b"\n" not in line:
            data = self._link.read_in_time(CONNECT_S)
            if not data or len(line) > MOST_HELLO_BYTES:
                raise LinkLost(why_ended(self._link))
            line += data
        words, _, rest = bytes(line).partition(b"\n")
        told = json.loads(words)
        self.machine = str(told.get("machine", ""))
        if "error" in told:
            raise LinkLost("the agent cannot be put there: {error}", error=str(told["error"])[:300])
        if not told["have"]:
            files = archive.archive(native=self.machine == archive.machine())
            self._link.write(b"%d\n" % len(files.content) + files.content)
            return self._after_unpacking()
        return rest

    def _after_unpacking(self) -> bytes:
        data = self._link.read_in_time(CALL_S)
        if data.startswith(b"{"):
            raise LinkLost("the agent cannot be put there: {error}", error=str(json.loads(data)["error"])[:300])
        return data

    def _read(self, unread: bytes) -> None:
        data = unread or self._next()
        while data:
            self._heard_s = monotonic()
            try:
                for kind, number, payload in self._frames.feed(data):
                    self._take(kind, number, payload)
            except (BadFrame, ValueError, KeyError, TypeError) as error:
                self._lose(self._gone(message("it wrote {text}", text=str(error)[:100])))
                return
            data = self._next()
        if not self.lost:
            self._lose(self._gone(why_ended(self._link)))

    def _next(self) -> bytes:
        with suppress(LinkLost):
            return self._link.read()
        return b""

    def _take(self, kind: Kind, number: int, payload: bytes) -> None:
        if kind is Kind.PART:
            self._parts[number] = self._parts.get(number, b"") + payload
            if sum(map(len, self._parts.values())) > MOST_REPLY_BYTES:
                raise ValueError(f"more than {MOST_REPLY_BYTES} bytes")
        elif kind is Kind.REPLY:
            reply = json.loads(self._parts.pop(number, b"") + payload)
            with self._changing:
                self._replies[number] = reply
                self._changing.notify_all()
        elif kind is Kind.BEAT and number:
            with self._changing:
                self._trips[number] = Trip(sent_ns=0, there_ns=CLOCK.unpack(payload)[0], back_ns=perf_counter_ns())
                self._changing.notify_all()
        elif number in self._children:
            self._children[number].take(kind, payload)

    def _reply(self, number: int, deadline_s: float) -> dict[str, Any]:
        with self._changing:
            self._changing.wait_for(lambda: number in self._replies or bool(self.lost), deadline_s)
            reply = self._replies.pop(number, None)
        if not isinstance(reply, dict):
            raise ChildFailed(self.lost or self._silent())
        return reply

    def _lose(self, why: Message) -> None:
        with self._changing:
            if self.lost:
                return
            self.lost = why
            self._changing.notify_all()
        self._link.kill()
        for child in list(self._children.values()):
            child.host_lost()

    def _gone(self, why: Message) -> Message:
        return message("The connection to host {host} is gone: {reason}.", host=self.host.name, reason=why)

    def _silent(self) -> Message:
        return message("Host {host} has not answered for {wait_s:.0f} s.", host=self.host.name, wait_s=LEASE_S)


def unusable(host: Host, why: Message) -> LinkLost:
    """The error that says why a host cannot be used."""
    return LinkLost("Host {host} cannot be used: {reason}.", host=host.name, reason=why)


def _error(host: str, told: Any) -> Message:
    try:
        return message("Host {host}: {reason}", host=host, reason=sentence(told))
    except Misfit:
        return message("Host {host} answered what is no message.", host=host)
