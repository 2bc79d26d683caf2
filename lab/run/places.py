"""The machines of a cell: where its children run, how clients are released, and how clocks are converted.

Times of different hosts are never subtracted from each other. Each client's window is on its own host's clock.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any, Protocol

from core.child import Slice
from core.messages import Message
from core.method import Method
from lab.machine import quiet
from lab.profile.watchers import Watcher
from lab.run.children import Child
from lab.run.instrumentation import Instrumentation, TimeWindow
from lab.run.process import Place
from lab.user_service import holders

HERE = ""  # the name of this machine in a run without other hosts
SLICE_AHEAD_NS = 3_000_000  # time until a slice starts, in which every client must start its threads
TELLING_NS = 100_000  # time to write the release line to one client


@dataclass(frozen=True, kw_only=True)
class HostActivity:
    """What happened on the hosts during the timed windows.

    machines: by host name, the activity of the machine (quiet.between)
    hosts: by host name, the facts that result.json keeps
    """

    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hosts: dict[str, Any] = field(default_factory=dict)


class CellPlaces(Protocol):
    """The machines on which the children of a cell run."""

    def begin(self) -> None:
        """Prepare the hosts before children are started. Raises ChildFailed if a host cannot be used."""

    def of(self, role: str, number: int) -> Place:
        """Return the machine on which a service or client runs."""

    def service_line(self) -> dict[str, Any]:
        """Return the settings of a service that depend on its machine, such as folder and CPUs."""

    def client_line(self, client_id: int) -> dict[str, Any]:
        """Return the settings of a client that depend on its machine, such as CPUs."""

    def mark(self) -> None:
        """Read each host's clock and activity counters before the first release. Raises ChildFailed."""

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Release all clients, and return the time of release on the orchestrator's clock. Raises ChildFailed.

        part: the slice in which they send; None to send as the method says
        """

    def to_service_clock(self, here_ns: int) -> int:
        """Convert a time of the orchestrator's clock to the services' host's clock: the latest possible value."""

    def end(self, served: Sequence[str] = ()) -> HostActivity:
        """Return what happened on the hosts since mark(). Raises ChildFailed.

        served: addresses of services that already ran; their processes do not count as a disturbance
        """

    def window(self, host: str, start_ns: int, end_ns: int) -> TimeWindow:
        """Convert a time window to a host's clock, and widen it by the clock error. Call after end()."""

    def convert_times(
        self,
        clients: Sequence[Child],
        by_client: Sequence[dict[str, Any]],
        by_service: Sequence[dict[str, Any]],
        released_ns: int,
        ended: HostActivity,
    ) -> list[Message]:
        """Convert clients' times to the orchestrator's clock, drop values that mix two clocks, and return faults."""


class RemotePlaces(CellPlaces, Protocol):
    """Remote machines on which children run, with access to the services' processes there."""

    def inside(self, parts: Mapping[str, Mapping[str, Any]]) -> Instrumentation:
        """Return the instrumentation of one service on its host."""

    def kept_awake(self, wanted: bool) -> AbstractContextManager[object]:
        """Keep idle cores of all hosts from sleeping for the block, if *wanted*. Raises ChildFailed."""

    def watcher(self, kind: str, options: Mapping[str, Any]) -> Watcher:
        """Return a watcher of the first service on its host. Raises ChildFailed."""


class LocalPlaces:
    """The machines of a cell whose children all run on this machine."""

    def __init__(self, here: Place, method: Method) -> None:
        self._here, self._method = here, method
        self._before: quiet.Snapshot | None = None

    def __repr__(self) -> str:
        return f"AllHere({self._here!r})"

    def begin(self) -> None:
        """Do nothing: this machine needs no preparation."""

    def of(self, role: str, number: int) -> Place:
        """Return this machine."""
        return self._here

    def service_line(self) -> dict[str, Any]:
        """Return the folder for sockets, and the CPUs that services are pinned to."""
        return {"folder": self._here.folder, "cpus": self._method.pin_services}

    def client_line(self, client_id: int) -> dict[str, Any]:
        """Return the CPUs that clients are pinned to."""
        return {"cpus": self._method.pin_clients}

    def mark(self) -> None:
        """Read the activity counters of this machine."""
        self._before = quiet.snapshot()

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Release the clients one after another without a pause; for a slice, all at a common start time."""
        released_ns, word = perf_counter_ns(), "go"
        if part:
            released_ns += SLICE_AHEAD_NS + len(clients) * TELLING_NS
            word = str(replace(part, at_ns=released_ns))
        for client in clients:
            client.tell(word)
        return released_ns

    def to_service_clock(self, here_ns: int) -> int:
        """Return *here_ns*, because one machine has one clock."""
        return here_ns

    def window(self, host: str, start_ns: int, end_ns: int) -> TimeWindow:
        """Return the time window unchanged, because one machine has one clock."""
        return TimeWindow(start_ns=start_ns, end_ns=end_ns)

    def end(self, served: Sequence[str] = ()) -> HostActivity:
        """Return what the machine did since mark(): CPU steal, swapping, other processes."""
        assert self._before, "mark() was called"
        return HostActivity(
            machines={
                HERE: quiet.between(
                    self._before, quiet.snapshot(), self._method.neighbours, holders.pids_serving(served)
                )
            },
        )

    def convert_times(
        self,
        clients: Sequence[Child],
        by_client: Sequence[dict[str, Any]],
        by_service: Sequence[dict[str, Any]],
        released_ns: int,
        ended: HostActivity,
    ) -> list[Message]:
        """Return no faults, because one machine has one clock."""
        return []
