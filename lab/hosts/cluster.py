"""The remote hosts of a run: connects to them, finds the installed runtimes, and places child
processes on them.
"""

import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from time import perf_counter_ns
from typing import Any

import msgspec

from core.child import Slice
from core.errors import BadInput, ChildFailed, GilscopeError
from core.layout import Host, Layout
from core.messages import NOTHING, Message, message
from core.method import Method
from core.program import PROGRAM
from core.runtime import NATIVE, RuntimeFacts, RuntimeName
from core.system import CLIENT, SERVICE
from lab.folders import Sandbox
from lab.hosts import host_tasks as tasks
from lab.hosts.connection import RemoteProcess
from lab.hosts.place import COMMAND_S, HostPlace, HostRuntime
from lab.machine import link
from lab.profile.lock_watcher import obstacle_to
from lab.python import interpreters
from lab.run.cell_places import Answer, CellPlaces
from lab.run.children import Child
from lab.run.instrumentation import Instrumentation
from lab.run.measured_runtimes import AnyRuntime, Native
from record.cell_parts import Link
from record.saved_plan import HostFacts

LEAD_NS = 60_000_000  # time until the common start, in which every host must get its message


class HostCluster(CellPlaces):
    """The connected hosts of a run, on which the services and clients of its cells are started.

    A lost host is connected again for the next cell.
    connected: the connected hosts by name
    method: its duration is the length of the timed windows, in which the connections are silent
    """

    def __init__(self, layout: Layout, method: Method) -> None:
        self.layout, self._method = layout, method
        self._sandbox = Sandbox()
        self._pool = ThreadPoolExecutor(
            max_workers=max(4, len(layout.used)), thread_name_prefix="hosts"
        )
        self.connected: dict[str, HostPlace] = {}
        self._names: tuple[str, ...] = ()

    def __enter__(self) -> "HostCluster":
        try:
            for reason in self.connect().values():
                raise BadInput(reason)
            for role, cpus in (
                (SERVICE, self._method.pin_services),
                (CLIENT, self._method.pin_clients),
            ):
                for place in self.places_of(role):
                    place.cpus(cpus)
        except BaseException:
            self.close()
            raise
        return self

    def connect(self) -> dict[str, Message]:
        """Connect to all hosts concurrently. Return {host: reason} for the hosts that cannot be
        used.
        """
        hosts = self.layout.used
        reasons = dict(zip(hosts, self._pool.map(self._connected, hosts.values()), strict=True))
        self.connected = {name: self.connected[name] for name in hosts if name in self.connected}
        known = {name: place.host for name, place in self.connected.items()}  # with their addresses
        self.layout = replace(self.layout, hosts={**self.layout.hosts, **known})
        return {name: reason for name, reason in reasons.items() if reason}

    @property
    def cores(self) -> int:
        """Return the number of CPUs that services may use."""
        return len(self.places_of(SERVICE)[0].cpus_for_children)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the agents on all hosts, and their child processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for place in self.connected.values():
            place.close()
        self._sandbox.__exit__(None, None, None)

    def places_of(self, role: str) -> list[HostPlace]:
        """Return the hosts on which children of *role* (service or client) run."""
        names = (self.layout.services_on,) if role == SERVICE else self.layout.clients_on
        return [self.connected[name] for name in names]

    def runtimes(self, names: Sequence[str]) -> dict[str, AnyRuntime]:
        """Return the runtimes of *names* that are installed on all hosts."""
        self._names = tuple(name for name in names if name != NATIVE)
        there = self.on_each(self._find)
        first = there.get(self.layout.services_on) or next(iter(there.values()), {})
        usable: dict[str, AnyRuntime] = {}
        for name in names:
            if name == NATIVE:
                if all(place.machine == platform.machine() for place in self.connected.values()):
                    usable[name] = Native()
            elif name in first and all(name in found for found in there.values()):
                usable[name] = self._runtime(RuntimeName(name), first[name])
        return usable

    def missing(self, name: str) -> Message:
        """Return a message that a runtime is not installed on all hosts, with the command to
        install it.
        """
        if name == NATIVE:
            return message(
                "The native programs on this machine are built for {machine}, but a host has "
                "another architecture. Remove the runtime native from the plan, and choose Python "
                "clients with --client-runtime.",
                machine=platform.machine(),
            )
        hosts = [host for host, place in self.connected.items() if name not in place.runtimes]
        return message(
            "Runtime {name} was not found on host {hosts}. Install it on all hosts with: {program} "
            "hosts --hosts FILE --runtime {name} --install",
            program=PROGRAM,
            name=name,
            hosts=", ".join(hosts),
        )

    def facts(self) -> dict[str, Any]:
        """Return each host's facts for result.json: machine, runtimes, network to the services'
        host.
        """
        facts = self.on_each(lambda place: place.call(HostFacts, tasks.facts))
        for name, place in self.connected.items():
            facts[name] = replace(
                facts[name],
                runtimes={runtime: found["version"] for runtime, found in place.runtimes.items()},
                builds=place.runtimes,
                link=self._link(name),
            )
        known: dict[str, Any] = msgspec.to_builtins(facts)
        return known

    def _link(self, name: str) -> Link | None:
        """Measure the round-trip time and bandwidth between host *name* and the services' host.

        Return None if *name* is the services' host.
        """
        services, there = self.connected.get(self.layout.services_on), self.connected[name]
        if services is None or services is there:
            return None
        address, peer = services.host.address, there.host.address
        port = services.call(int, link.listen, address, peer)
        reached: Link = there.call(Link, link.reach, address, port, peer)
        return reached

    def install(self, names: Sequence[str]) -> list[Message]:
        """Install missing runtimes on all hosts with uv. Return a message for each failure."""

        def install_on(place: HostPlace) -> Any:
            missing = [name for name in names if name not in place.runtimes]
            return place.call(list[Message], interpreters.install, missing, deadline_s=COMMAND_S)

        failed = self.on_each(install_on)
        return [
            message("Host {host}: {reason}", host=name, reason=failure)
            for name, failures in failed.items()
            for failure in failures
        ]

    # ---- lab.run.cell_places.CellPlaces ----------------------------------------------------------

    def begin(self) -> None:
        """Reconnect to hosts whose connection was lost. Raises ChildFailed."""
        self.on_each(self._ready)

    def of(self, role: str, number: int) -> HostPlace:
        """Return the host on which a service or client runs. Clients are distributed over the
        client hosts in turn.
        """
        return self.connected[
            self.layout.services_on if role == SERVICE else self.layout.client_host(number)
        ]

    def service_line(self) -> dict[str, Any]:
        """Return the address at which services listen, and the addresses of their clients."""
        return {
            "address": self.of_services.host.address,
            "peers": [place.host.address for place in self.places_of(CLIENT)],
        }

    @property
    def of_services(self) -> HostPlace:
        """Return the host on which the services run."""
        return self.connected[self.layout.services_on]

    def inside(self, parts: Mapping[str, Mapping[str, Any]]) -> Instrumentation:
        """Return the instrumentation of one service on its host, which may be connected again
        before it starts.
        """

        def call(*asked: Any) -> Any:
            return self.of_services.call(*asked)

        return Instrumentation(None, parts, call)

    def obstacle(self, kind: str) -> Message:
        """Return why the services' host cannot take a profile of *kind*; NOTHING if it can."""
        why = self.of_services.call(Message, obstacle_to, kind)
        return (
            message("Host {host}: {reason}", host=self.layout.services_on, reason=why)
            if why
            else NOTHING
        )

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Let all clients on all hosts start at the same time, on the clocks that were
        read last.
        """
        at_ns = perf_counter_ns() + LEAD_NS
        hold_ns = part.until_ns if part else round(self._method.duration_s * 1e9)
        for place in self.connected.values():
            there_ns = place.before.to_host_clock(at_ns)
            word = str(replace(part, at_ns=there_ns)) if part else f"go {there_ns}"
            own = [client.process for client in clients if client.place.name == place.name]
            place.release(
                [process for process in own if isinstance(process, RemoteProcess)],
                word,
                there_ns + hold_ns,
            )
        return at_ns

    # ---- connections -----------------------------------------------------------------------------

    def on_each(self, ask: Callable[[Any], Answer]) -> dict[str, Answer]:
        """Call *ask* with all hosts concurrently, and wait for all. Return its results by the
        hosts' names.
        """
        asked = {name: self._pool.submit(ask, place) for name, place in self.connected.items()}
        wait(asked.values())
        return {name: future.result() for name, future in asked.items()}

    def _connected(self, host: Host) -> Message:
        """Connect to the host. Return why the host cannot be used; NOTHING if it can."""
        try:
            place = self.connected[host.name] = HostPlace(host, self._sandbox)
        except GilscopeError as error:
            return error.message
        if place.host.address:
            return NOTHING
        return message(
            "Host {host} has no default route, so its address is unknown. Add the key address.",
            host=host.name,
        )

    def _ready(self, place: HostPlace) -> None:
        if place.lost:
            place.close()
            if reason := self._connected(place.host):
                raise ChildFailed(reason)
            self._find(self.connected[place.name])

    def _find(self, place: HostPlace) -> Mapping[str, Any]:
        found = place.call(
            dict[str, RuntimeFacts], tasks.find_runtimes, self._names, place.host.python
        )
        place.runtimes = msgspec.to_builtins(found)
        return place.runtimes

    def _runtime(self, name: RuntimeName, found: Mapping[str, Any]) -> HostRuntime:
        return HostRuntime(
            name=name, interpreter=tasks.interpreter_of(found), places_of=self.places_of
        )
