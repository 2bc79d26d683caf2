"""The remote hosts of a run: connects to them, finds the installed runtimes, and places child
processes on them.

commands/chosen.py opens a HostCluster for a plan with hosts, and commands/hosts.py to check hosts.
lab/run measures with it through its base class, CellPlaces (lab/run/cell_places.py), which stands
for this machine alone. Each host is a HostPlace (lab/hosts/place.py). A host that is lost raises
ChildFailed, which fails the current cell only.
"""

import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from time import perf_counter_ns
from typing import Any

import msgspec

from core.child import Slice
from core.layout import Host, Layout
from core.messages import BadInput, GilscopeError, Json, Message, message
from core.method import Method
from core.program import PROGRAM
from core.runtime import NATIVE, RuntimeName
from core.system import CLIENT, SERVICE
from lab.folders import Sandbox
from lab.hosts import worker
from lab.hosts.place import HostPlace, HostRuntime
from lab.machine import link
from lab.profile.lock_watcher import obstacle_to
from lab.run.cell_places import Answer, CellPlaces
from lab.run.children import Child
from lab.run.measured_runtimes import AnyRuntime, Native
from record.result_parts import Link
from record.saved_plan import HostFacts

LEAD_NS = 60_000_000  # time until the common start, in which every host must get its messages


class HostCluster(CellPlaces):
    """The connected hosts of a run, on which the services and clients of its cells are started.

    A lost host is connected again for the next cell.
    layout: the hosts of the plan
    connected: the connected hosts by name
    method: its duration is the length of the timed windows, in which the connections are silent
    """

    def __init__(self, layout: Layout, method: Method) -> None:
        self.layout, self._method = layout, method
        # its reaper ends the carriers, even if this process is killed
        self._sandbox = Sandbox()
        # The threads last as long as the cluster, because the kernel ends an agent on this machine
        # together with the thread that started it.
        self._pool = ThreadPoolExecutor(max_workers=len(layout.used), thread_name_prefix="hosts")
        self.connected: dict[str, HostPlace] = {}
        # the runtimes to look for on a host that is connected again
        self._names: tuple[str, ...] = ()

    def __enter__(self) -> "HostCluster":
        try:
            for reason in self.connect().values():
                raise BadInput(reason)
            # only to raise BadInput before the run if --pin names a CPU that a host lacks
            self.of_services.cpus(self._method.pin_services)
            for place in self.places_of(CLIENT):
                place.cpus(self._method.pin_clients)
        except BaseException:
            self.close()
            raise
        return self

    def connect(self) -> dict[str, Message]:
        """Connect to all hosts concurrently. Return {host: reason} for the hosts that cannot be
        used.
        """
        failures = {}
        for name, place in self.on_each(self._connect, self.layout.used).items():
            if isinstance(place, HostPlace):
                self.connected[name] = place
            else:
                failures[name] = place
        return failures

    @property
    def cores(self) -> int:
        """Return the number of CPUs that services may use."""
        return len(self.of_services.cpus_for_children)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the agents on all hosts, and their child processes. Wait for what runs there."""
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
        self.find(names)
        return {name: self._runtime(name) for name in names if not self._lacking(name)}

    def _lacking(self, runtime: str) -> list[str]:
        """Return the names of the hosts on which a runtime is not installed."""
        return [name for name, place in self.connected.items() if not place.has(runtime)]

    def _runtime(self, name: str) -> AnyRuntime:
        if name == NATIVE:
            return Native()
        interpreter = worker.interpreter_of(self.of_services.runtimes[name])
        return HostRuntime(
            name=RuntimeName(name), interpreter=interpreter, places_of=self.places_of
        )

    def find(self, names: Sequence[str]) -> None:
        """Look for the runtimes *names* on all hosts."""
        self._names = tuple(name for name in names if name != NATIVE)
        self.on_each(lambda place: place.find(self._names))

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
        return message(
            "Runtime {name} was not found on host {hosts}. Install it on all hosts with: {program} "
            "hosts --hosts FILE --runtime {name} --install",
            program=PROGRAM,
            name=name,
            hosts=", ".join(self._lacking(name)),
        )

    def facts(self) -> dict[str, Any]:
        """Return each host's facts for result.json: machine, runtimes, network to the services'
        host.
        """
        facts = self.on_each(lambda place: place.call(HostFacts, worker.facts))
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

    # ---- lab.run.cell_places.CellPlaces ----------------------------------------------------------

    def begin(self) -> None:
        """Reconnect to hosts whose connection was lost. Raises ChildFailed."""
        self.on_each(self._ready)

    def of(self, role: str, number: int) -> HostPlace:
        """Return the host on which a service or client runs. Clients are distributed over the
        client hosts in turn.
        """
        places = self.places_of(role)
        return places[number % len(places)]

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

    def obstacle(self, kind: str) -> Message:
        """Return why the services' host cannot take a profile of *kind*; NOTHING if it can."""
        return self.of_services.naming(self.of_services.call(Message, obstacle_to, kind))

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Let all clients on all hosts start at the same time, on the clocks that were
        read last.
        """
        at_ns = perf_counter_ns() + LEAD_NS
        # how long the clients send; the at_ns of *part* is still 0, so its end is its length
        hold_ns = part.until_ns if part else round(self._method.duration_s * 1e9)
        for place in self.connected.values():
            there_ns = place.before.to_host_clock(at_ns)
            word = str(replace(part, at_ns=there_ns)) if part else f"go {there_ns}"
            for client in clients:
                if client.place is place:
                    client.tell(word)
            place.tell("hold", until_ns=there_ns + hold_ns)
        return at_ns

    # ---- connections -----------------------------------------------------------------------------

    def on_each(self, ask: Callable[[Any], Answer], asked: Json | None = None) -> dict[str, Answer]:
        """Call *ask* with all values of *asked* concurrently, and wait for all. Return the results
        by the values' names.

        asked: None for all connected hosts
        """
        values = self.connected if asked is None else asked
        futures = {name: self._pool.submit(ask, value) for name, value in values.items()}
        wait(futures.values())
        return {name: future.result() for name, future in futures.items()}

    def _connect(self, host: Host) -> HostPlace | Message:
        """Connect to the host. Return the place, or why the host cannot be used."""
        try:
            return HostPlace(host, self._sandbox)
        except GilscopeError as error:
            return error.message

    def _ready(self, place: HostPlace) -> None:
        if place.lost:
            place.close()
            self.connected[place.name] = again = HostPlace(place.host, self._sandbox)
            again.find(self._names)
