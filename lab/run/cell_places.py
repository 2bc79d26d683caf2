"""Choose the machine of each child process of a cell, release the clients, and convert times
between clocks.

Times of different hosts are never subtracted from each other. Each client's window is on its own
host's clock.

A cell's CellRun (lab/run/cell_run.py) calls inside, begin, mark, release (once for each turn), end,
and then convert_times. lab/hosts/cluster.py overrides most methods for several hosts,
and all cells of such a run share that one object. A Place is a host (lab/run/children.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns
from typing import Any, TypeVar

from msgspec import structs

from core.child import Slice
from core.histogram import SparseHistogram
from core.messages import ChildFailed, Json, Message, message
from core.method import Method
from lab.folders import Sandbox
from lab.machine import quiet
from lab.machine.link import between
from lab.machine.wakeups import awake
from lab.run.children import Child, Place
from lab.run.instrumentation import Instrumentation
from lab.user_service import holders
from record.child_lines import ClientLine
from record.result_parts import Window

HERE = ""  # the name of this machine in a run without other hosts
# time until a slice starts, in which every client must start its threads
SLICE_AHEAD_NS = 3_000_000
TELLING_NS = 100_000  # time to write the release line to one client
# the share of the time from the first client's start to the last one's end, in which all must send
LEAST_OVERLAP = 0.8
Answer = TypeVar("Answer")
# the clients' results on the orchestrator's clock, facts about each host's clock, and faults
Converted = tuple[dict[Child, ClientLine], dict[str, dict[str, Any]], list[Message]]


class CellPlaces:
    """The hosts on which the children of a cell run.

    In this class, that is this machine alone, which has one clock. lab.hosts.cluster.HostCluster
    has several hosts.
    connected: the hosts by name; a place has the offset of its clock, which mark() and end() set
    """

    def __init__(self, sandbox: Sandbox, method: Method) -> None:
        self._method = method
        self.connected: Mapping[str, Place] = {HERE: Place(sandbox, str(sandbox.folder))}

    def begin(self) -> None:
        """Prepare the hosts before children are started. Raises ChildFailed if a host cannot be
        used.
        """

    def of(self, role: str, number: int) -> Place | None:
        """Return the host on which a service or client runs; None for this machine."""
        return None

    @property
    def of_services(self) -> Place:
        """Return the host on which the services run."""
        return self.connected[HERE]

    def service_line(self) -> Json:
        """Return the address at which services listen, and the addresses of their clients; {} on
        this machine alone.
        """
        return {}

    def inside(self, parts: Mapping[str, Json]) -> Instrumentation:
        """Return the instrumentation of one service on its host."""
        return Instrumentation(lambda: self.of_services, parts)

    @contextmanager
    def kept_awake(self) -> Iterator[None]:
        """Keep idle cores of all hosts awake during the `with` block. Raises GilscopeError."""
        self.begin()
        begun = self.on_each(lambda place: place.begin(awake))
        try:
            yield
        finally:
            with suppress(ChildFailed):
                self.on_each(lambda place: place.finish(None, begun[place.name]))

    def on_each(self, ask: Callable[[Any], Answer]) -> dict[str, Answer]:
        """Call *ask* with each host, and return its results by the hosts' names. Raises the first
        error.
        """
        return {name: ask(place) for name, place in self.connected.items()}

    def mark(self, served: Iterable[str], groups: Iterable[Path]) -> Json:
        """Read each host's clock, and begin to observe it before the clients send. Raises
        ChildFailed.

        Return what end() needs.
        served: addresses of services that already ran; their processes do not count as a
            disturbance
        groups: control groups of the services
        """
        also = [pid for address in served for pid in holders.serving(address)]
        names, folders = self._method.neighbours, [*map(str, groups)]

        def begin(place: Place) -> Any:
            begun = place.begin(quiet.observed, names, [*place.pids, *also], folders)
            place.before = place.offset()
            return begun

        return self.on_each(begin)

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Let all clients begin to send, and return the start time on the orchestrator's clock.
        Raises ChildFailed.

        On one machine they are released one after another without a pause; for a slice, at a common
        start time.
        part: the slice in which they send; None to send as the method says. Its at_ns is set here
        """
        released_ns, word = perf_counter_ns(), "go"
        if part:
            released_ns += SLICE_AHEAD_NS + len(clients) * TELLING_NS
            word = str(replace(part, at_ns=released_ns))
        for client in clients:
            client.tell(word)
        return released_ns

    def end(self, marked: Json) -> Mapping[str, Json]:
        """Return what happened on each host since mark(): CPU steal, swapping, other processes.
        Raises ChildFailed.

        marked: what mark() returned
        """

        def finish(place: Place) -> Json:
            window: Json = place.finish(Window, marked[place.name])
            place.clock = between(place.before, place.offset())
            return window

        return self.on_each(finish)

    def convert_times(self, clients: Mapping[Child, ClientLine], released_ns: int) -> Converted:
        """Convert all times in the clients' results to the orchestrator's clock. Call this after
        end().

        released_ns: when the clients were released, on the orchestrator's clock
        Return the results, facts about each host's clock, and a fault if the clients sent requests
        together for too short a time. The facts are {host: fields of record.result_parts.CellHost}.
        `slow` and `waiting` are removed from results in which they mix the clocks of two hosts. On
        one machine there is nothing to convert.
        """
        if HERE in self.connected:
            return {**clients}, {}, []
        hosts = {}
        for name, place in self.connected.items():
            start_ns = place.before.to_host_clock(released_ns)
            hosts[name] = {
                **place.clock._asdict(),
                "released_ns": max(0, start_ns - place.clock.offset_ns),
            }
        converted = {}
        for child, line in clients.items():
            known = hosts[child.place.name]
            converted[child] = moved = self._moved(child, line, known["offset_ns"])
            if moved.uncounted is None:  # a client that sends in slices has several start times
                begun_ns = moved.finished_ns - moved.completion_ns
                known["late_ns"] = max(known.get("late_ns", 0), begun_ns - known["released_ns"])
        error_ns = max(known["error_ns"] for known in hosts.values())
        return converted, hosts, overlap_faults([*converted.values()], error_ns)

    def _moved(self, child: Child, line: ClientLine, offset_ns: int) -> ClientLine:
        """Return the result of a client on another host with its times on the orchestrator's
        clock.
        """
        is_elsewhere = child.place.name != self.of_services.name
        slices = line.slices
        if slices:
            # a multiple of the width again, so that the slices of several clients can be added up
            start_ns = round((slices.start_ns - offset_ns) / slices.width_ns) * slices.width_ns
            slices = structs.replace(slices, start_ns=max(0, start_ns))
        return structs.replace(
            line,
            # 0 means that it is not known
            started_ns=max(0, line.started_ns - offset_ns) if line.started_ns else 0,
            finished_ns=max(0, line.finished_ns - offset_ns),
            slices=slices,
            slow=None,
            waiting=SparseHistogram() if is_elsewhere else line.waiting,
        )


def overlap_faults(by_client: Sequence[ClientLine], error_ns: int) -> list[Message]:
    """Return a fault if the clients sent at the same time for too short a time.

    All times are on one clock. *error_ns* is the most by which each of them may be wrong, so the
    overlap counts as shorter by twice as much.
    """
    if len(by_client) < 2:
        return []
    starts = [result.finished_ns - result.completion_ns for result in by_client]
    ends = [result.finished_ns for result in by_client]
    share = (min(ends) - max(starts) - 2 * error_ns) / max(1, max(ends) - min(starts))
    if share >= LEAST_OVERLAP:
        return []
    return [
        message(
            "all clients were sending requests at the same time for only {share:.0%} of the "
            "measured time, but at least {least:.0%} is required",
            share=max(0.0, share),
            least=LEAST_OVERLAP,
        )
    ]
