"""The remote hosts of a run: connects to them, finds the installed runtimes, and places child processes on them."""

import platform
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter_ns
from typing import Any, TypeVar

from core.child import Slice
from core.errors import BadInput, ChildFailed
from core.hosts import Host, Layout
from core.messages import NOTHING, Message, message
from core.method import Method
from core.program import PROGRAM
from core.runtime import NATIVE, RuntimeName
from core.system import CLIENT, SERVICE
from lab.folders import Sandbox
from lab.hosts.agent_stream import HostLost
from lab.hosts.connection import CALL_S, RemoteProcess, between, overlap_faults
from lab.hosts.place import COMMAND_S, HostPlace, HostRuntime, RemoteInstrumentation, RemoteWatcher
from lab.machine import host
from lab.python.interpreters import Interpreter
from lab.run.children import Child
from lab.run.instrumentation import TimeWindow
from lab.run.places import CellPlaces
from lab.run.runtimes import AnyRuntime, Native

LEAD_NS = 60_000_000  # time until the common start, in which every host must get its message
Answer = TypeVar("Answer")


class HostCluster(CellPlaces):
    """The connected hosts of a run, on which the services and clients of its cells are started.

    A lost host is connected again for the next cell.
    connected: the connected hosts by name
    method: its duration is the length of the timed windows, in which the connections are silent
    """

    def __init__(self, layout: Layout, method: Method) -> None:
        self.layout, self._method = layout, method
        self._sandbox = Sandbox()
        self._pool = ThreadPoolExecutor(max_workers=max(4, len(layout.used)), thread_name_prefix="hosts")
        self.connected: dict[str, HostPlace] = {}
        self._names: tuple[str, ...] = ()
        self._closed = threading.Event()

    def __enter__(self) -> "HostCluster":
        try:
            for reason in self.connect().values():
                raise BadInput(reason)
            for role, cpus in ((SERVICE, self._method.pin_services), (CLIENT, self._method.pin_clients)):
                for place in self.places_of(role):
                    place.cpus(cpus)
        except BaseException:
            self.close()
            raise
        return self

    def connect(self) -> dict[str, Message]:
        """Connect to all hosts concurrently. Return {host: reason} for the hosts that cannot be used."""
        hosts = self.layout.used
        reasons = dict(zip(hosts, self._pool.map(self._connected, hosts.values()), strict=True))
        self.connected = {name: self.connected[name] for name in hosts if name in self.connected}
        return {name: reason for name, reason in reasons.items() if reason}

    @property
    def cores(self) -> int:
        """Return the number of CPUs that services may use."""
        return len(self.places_of(SERVICE)[0].cpus_for_children)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the agents on all hosts, and their child processes."""
        self._closed.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        with ThreadPoolExecutor(max_workers=8) as closers:
            for place in self.connected.values():
                closers.submit(place.close)
        self._sandbox.__exit__(None, None, None)

    def places_of(self, role: str) -> list[HostPlace]:
        """Return the hosts on which children of *role* (service or client) run."""
        names = (self.layout.services_on,) if role == SERVICE else self.layout.clients_on
        return [self.connected[name] for name in names]

    def runtimes(self, names: Sequence[str]) -> dict[str, AnyRuntime]:
        """Return the runtimes of *names* that are installed on all hosts."""
        self._names = tuple(name for name in names if name != NATIVE)
        there = self._each(self._find)
        native = all(place.machine == platform.machine() for place in self.connected.values())
        first = there.get(self.layout.services_on) or next(iter(there.values()), {})
        return {
            name: Native() if name == NATIVE else self._runtime(RuntimeName(name), first[name])
            for name in names
            if (native if name == NATIVE else name in first and all(name in found for found in there.values()))
        }

    def missing(self, name: str) -> Message:
        """Return a message that a runtime is not installed on all hosts, with the command to install it."""
        if name == NATIVE:
            return message(
                "The native programs on this machine are built for {machine}, but a host has another architecture. "
                "Remove the runtime native from the plan, and choose Python clients with --client-runtime.",
                machine=platform.machine(),
            )
        hosts = [host for host, place in self.connected.items() if name not in place.runtimes]
        return message(
            "Runtime {name} was not found on host {hosts}. Install it on all hosts with: {program} hosts --hosts FILE "
            "--runtime {name} --install",
            program=PROGRAM,
            name=name,
            hosts=", ".join(hosts),
        )

    def facts(self) -> dict[str, Any]:
        """Return each host's facts for result.json: machine, runtimes, clock error, network to the services' host."""
        facts = self._ask_all("facts", boot_id=host.boot_id())
        links = {name: self.link(name) for name in self.connected}
        return {
            name: {
                **facts[name],
                "runtimes": {runtime: found["version"] for runtime, found in place.runtimes.items()},
                "builds": place.call("builds"),
                **({"link": links[name]} if links[name] else {}),
                "clock_error_ns": place.offset().error_ns,
            }
            for name, place in self.connected.items()
        }

    def link(self, name: str) -> dict[str, Any]:
        """Measure the round-trip time and bandwidth between host *name* and the host that runs the services.

        Return an empty mapping if *name* is the services' host.
        """
        services, there = self.connected.get(self.layout.services_on), self.connected[name]
        if services is None or services is there:
            return {}
        address = services.call("listen", address=services.host.address, peer=there.host.address)
        reached: dict[str, Any] = there.call("reach", address=address, source=there.host.address)
        return reached

    def install(self, names: Sequence[str]) -> list[Message]:
        """Install missing runtimes on all hosts with uv. Return a message for each failure."""
        missing = {name: [one for one in names if one not in place.runtimes] for name, place in self.connected.items()}
        failed = self._each(lambda place: place.call("install", COMMAND_S, names=missing[place.name]))
        return [
            message("Host {host}: {reason}", host=name, reason=Message.from_json(failure))
            for name, failures in failed.items()
            for failure in failures
        ]

    # ---- lab.run.places.CellPlaces -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Reconnect to hosts whose connection was lost. Raises ChildFailed."""
        self._each(self._ready)

    def of(self, role: str, number: int) -> HostPlace:
        """Return the host on which a service or client runs. Clients are distributed over the client hosts in turn."""
        return self.connected[self.layout.services_on if role == SERVICE else self.layout.client_host(number)]

    def service_line(self) -> dict[str, Any]:
        """Return the address at which services listen, and the addresses of their clients."""
        return {
            "address": self.layout.hosts[self.layout.services_on].address,
            "peers": self.layout.client_addresses,
        }

    def inside(self, parts: Mapping[str, Mapping[str, Any]]) -> RemoteInstrumentation:
        """Return the instrumentation to run inside one service on its host."""
        return RemoteInstrumentation(self._ask_services_host, parts)

    @contextmanager
    def kept_awake(self, wanted: bool) -> Iterator[None]:
        """If *wanted*, keep idle cores of all hosts awake during the `with` block. Raises ChildFailed."""
        if not wanted:
            yield
            return
        self.begin()
        try:
            self._ask_all("awake")
            yield
        finally:
            with suppress(ChildFailed):
                self._ask_all("asleep")

    def watcher(self, executable: str) -> RemoteWatcher:
        """Return a profiler of locks for the first service on the services' host. Raises ChildFailed."""
        self.begin()
        return RemoteWatcher(self._ask_services_host, executable)

    def obstacle(self, kind: str) -> Message:
        """Return why the services' host cannot take a profile of *kind*; NOTHING if it can."""
        why = Message.from_json(self._ask_services_host("obstacle", kind=kind))
        return message("Host {host}: {reason}", host=self.layout.services_on, reason=why) if why else NOTHING

    def to_service_clock(self, here_ns: int) -> int:
        """Convert a local time to the services' host's clock, with the offset measured before the clients started."""
        clock = self.connected[self.layout.services_on].before
        assert clock, "release() was called"
        return clock.to_host_clock(here_ns) + clock.error_ns

    def mark(self) -> None:
        """Read the clock and the activity counters of each host."""
        self._ask_all("mark")
        for name, offset in self._each(lambda place: place.offset()).items():
            self.connected[name].before = offset

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Let all clients on all hosts start at the same time. The runner sends nothing during the timed window."""
        at_ns = perf_counter_ns() + LEAD_NS
        hold_ns = part.until_ns if part else round(self._method.duration_s * 1e9)
        for place in self.connected.values():
            own = [client.process for client in clients if client.place.name == place.name]
            remote = [process for process in own if isinstance(process, RemoteProcess)]
            place.release(at_ns, hold_ns, remote, part)
        return at_ns

    def window(self, host: str, start_ns: int, end_ns: int) -> TimeWindow:
        """Convert a time window to the host's clock, with the clock offsets measured before and after the window."""
        before, clock = self.connected[host].before, self.connected[host].clock
        assert before, "mark() was called"
        assert clock, "end() was called"
        return TimeWindow(start_ns=before.to_host_clock(start_ns), end_ns=clock.to_host_clock(end_ns) + clock.error_ns)

    def end(self, served: Sequence[str] = ()) -> Mapping[str, Mapping[str, Any]]:
        """Read the hosts' clocks again, and return each host's activity since the call of mark()."""
        machines = self._ask_all("window", neighbours=[*self._method.neighbours])
        for name, after in self._each(lambda place: place.offset()).items():
            place = self.connected[name]
            place.clock = between(place.before or after, after)
        return machines

    def convert_times(
        self, clients: Sequence[Child], services: Sequence[Child], released_ns: int
    ) -> tuple[dict[str, dict[str, Any]], list[Message]]:
        """Convert all times in the children's results to the orchestrator's clock.

        `slow` and `waiting` are removed from results in which they mix the clocks of two hosts. Returns a fault if the
        clients sent requests together for too short a time.
        """
        hosts: dict[str, dict[str, Any]] = {}
        for name, place in self.connected.items():
            assert place.clock, "end() was called"
            start_ns = self.window(name, released_ns, 0).start_ns
            hosts[name] = {**vars(place.clock), "released_ns": max(0, start_ns - place.clock.offset_ns)}
        for service in services:
            service.result["host"] = self.layout.services_on
        for child in clients:
            host, result = child.place.name, child.result
            result["host"] = host
            result.pop("slow", None)
            known = hosts[host]
            if slices := result.get("slices"):
                width_ns, offset_ns = slices["width_ns"], known["offset_ns"]
                slices["start_ns"] = max(0, round((slices["start_ns"] - offset_ns) / width_ns) * width_ns)
            for key in ("started_ns", "finished_ns"):
                if key in result:
                    result[key] = max(0, result[key] - known["offset_ns"])
            if "uncounted" not in result:  # a client that sends in slices has several start times
                begun_ns = result["finished_ns"] - result["completion_ns"]
                known["late_ns"] = max(known.get("late_ns", 0), begun_ns - known["released_ns"])
            if host != self.layout.services_on:
                result.pop("waiting", None)
        error_ns = max(known["error_ns"] for known in hosts.values())
        return hosts, overlap_faults([child.result for child in clients], error_ns)

    # ---- connections ---------------------------------------------------------------------------------------------

    def _ask_services_host(self, what: str, deadline_s: float = CALL_S, **arguments: Any) -> Any:
        return self.connected[self.layout.services_on].call(what, deadline_s, **arguments)

    def _ask_all(self, what: str, **arguments: Any) -> dict[str, Any]:
        return self._each(lambda place: place.call(what, **arguments))

    def _each(self, ask: Callable[[HostPlace], Answer]) -> dict[str, Answer]:
        """Call the function *ask* for all hosts concurrently. Raises the first error."""
        return dict(zip(self.connected, self._pool.map(ask, self.connected.values()), strict=True))

    def _connected(self, host: Host) -> Message:
        """Connect to the host. Return why the host cannot be used; NOTHING if it can."""
        try:
            place = self.connected[host.name] = HostPlace(host, self._sandbox.process_group)
        except HostLost as error:
            return error.message
        if self._closed.is_set():  # close() was called while this connected
            place.close()
        return NOTHING

    def _ready(self, place: HostPlace) -> None:
        if place.lost:
            if reason := self._connected(place.host):
                raise ChildFailed(reason)
            self._find(self.connected[place.name])

    def _find(self, place: HostPlace) -> dict[str, Any]:
        found: dict[str, Any] = place.call("find", names=[*self._names], chosen=[*place.host.python])
        place.runtimes = found
        return found

    def _runtime(self, name: RuntimeName, found: Mapping[str, Any]) -> HostRuntime:
        interpreter = Interpreter(executable=Path(found["executable"]), source=found["source"], facts=found)
        return HostRuntime(name=name, interpreter=interpreter, places_of=self.places_of)
