"""Where the children of a cell run, how clients are released there, and what their clocks are to ours.

Times of different hosts are never subtracted: each client's window is on its own host's clock.
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

HERE = ""  # the name of this machine, where no others take part
SLICE_AHEAD_NS = 3_000_000  # from now to the start of a slice: every client must have made its threads by then
TELLING_NS = 100_000  # to tell one client


@dataclass(frozen=True, kw_only=True)
class HostActivity:
    """After the timed windows. machines: what happened on each host meanwhile, by its name (quiet.between).

    hosts: what result.json keeps of each
    """

    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hosts: dict[str, Any] = field(default_factory=dict)


class CellPlaces(Protocol):
    """The machines of a cell."""

    def begin(self) -> None:
        """Before children are started. Raises ChildFailed where a host cannot be used."""

    def of(self, role: str, number: int) -> Place:
        """Where a child runs."""

    def service_line(self) -> dict[str, Any]:
        """What services are told of their place."""

    def client_line(self, client_id: int) -> dict[str, Any]:
        """What a client is told of its place."""

    def mark(self) -> None:
        """Before the first release: look at each clock and machine. Raises ChildFailed."""

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """Let all clients go; when, on our clock. Raises ChildFailed.

        part: how long they send; None for what the method says
        """

    def there(self, here_ns: int) -> int:
        """A time of our clock since the release on that of the services' host, the latest that it can be."""

    def end(self, served: Sequence[str] = ()) -> HostActivity:
        """What happened on the hosts since mark(). Raises ChildFailed.

        served: addresses of services that ran before the run, whose processes disturb nothing
        """

    def window(self, host: str, start_ns: int, end_ns: int) -> TimeWindow:
        """A window of our clock on that of a host, after end(): no event in it lies outside."""

    def settle(
        self,
        clients: Sequence[Child],
        by_client: Sequence[dict[str, Any]],
        by_service: Sequence[dict[str, Any]],
        released_ns: int,
        ended: HostActivity,
    ) -> list[Message]:
        """Put times on our clock, drop what two clocks made; what makes the cell invalid."""


class RemotePlaces(CellPlaces, Protocol):
    """Other machines, and what looks into services there."""

    def inside(self, parts: Mapping[str, Mapping[str, Any]]) -> Instrumentation:
        """Of one service, on its host."""

    def kept_awake(self, wanted: bool) -> AbstractContextManager[object]:
        """Hold the cores of all hosts awake for the block, if *wanted*. Raises ChildFailed."""

    def watcher(self, kind: str, told: Mapping[str, Any]) -> Watcher:
        """Of the first service, on its host. Raises ChildFailed."""


class LocalPlaces:
    """All on this machine."""

    def __init__(self, here: Place, method: Method) -> None:
        self._here, self._method = here, method
        self._before: quiet.Snapshot | None = None

    def __repr__(self) -> str:
        return f"AllHere({self._here!r})"

    def begin(self) -> None:
        """Nothing to do."""

    def of(self, role: str, number: int) -> Place:
        """This machine."""
        return self._here

    def service_line(self) -> dict[str, Any]:
        """A folder for sockets, and CPUs."""
        return {"folder": self._here.folder, "cpus": self._method.pin_services}

    def client_line(self, client_id: int) -> dict[str, Any]:
        """CPUs."""
        return {"cpus": self._method.pin_clients}

    def mark(self) -> None:
        """Look at this machine."""
        self._before = quiet.snapshot()

    def release(self, clients: Sequence[Child], part: Slice | None = None) -> int:
        """One after the other, as fast as they can be told; all at one time, for a slice."""
        released_ns, word = perf_counter_ns(), "go"
        if part:
            released_ns += SLICE_AHEAD_NS + len(clients) * TELLING_NS
            word = str(replace(part, at_ns=released_ns))
        for client in clients:
            client.tell(word)
        return released_ns

    def there(self, here_ns: int) -> int:
        """There is one clock."""
        return here_ns

    def window(self, host: str, start_ns: int, end_ns: int) -> TimeWindow:
        """There is one clock."""
        return TimeWindow(start_ns=start_ns, end_ns=end_ns)

    def end(self, served: Sequence[str] = ()) -> HostActivity:
        """Return what the machine did since mark(): CPU steal, swapping, other processes."""
        assert self._before, "there was a mark"
        return HostActivity(
            machines={
                HERE: quiet.between(
                    self._before, quiet.snapshot(), self._method.neighbours, holders.pids_serving(served)
                )
            },
        )

    def settle(
        self,
        clients: Sequence[Child],
        by_client: Sequence[dict[str, Any]],
        by_service: Sequence[dict[str, Any]],
        released_ns: int,
        ended: HostActivity,
    ) -> list[Message]:
        """Nothing to settle."""
        return []
