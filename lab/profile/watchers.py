"""What watches a service from beside it while clients call, on its host: perf, its locks, its memory."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from core.messages import NOTHING, Message, message
from lab.folders import PrivateFolder
from lab.profile import locks, memory, perf
from lab.profile.hotspots import HotSpots


class Watcher(Protocol):
    """Watches one service. facts: what was seen, once the block of watch() has ended; of the type in FACTS."""

    @property
    def facts(self) -> Any: ...

    def listening(self, pid: int) -> None:
        """A service listens, and no client knows of it."""

    def watch(self, pid: int) -> AbstractContextManager[object]:
        """While clients call. Raises GilscopeError where it cannot be watched."""


class _Idle:
    """Part of a watcher that does nothing before clients call."""

    def listening(self, pid: int) -> None:
        """Do nothing yet."""


class Perf(_Idle):
    """The hottest functions and locks, in C."""

    facts: HotSpots | None = None

    def __init__(self, sandbox: PrivateFolder) -> None:
        self._sandbox = sandbox

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """Record, and read it afterwards."""
        file = self._sandbox.folder / "perf.data"
        try:
            with perf.recording(pid, file, self._sandbox.process_group):
                yield
            self.facts = perf.hottest(file)
        finally:
            file.unlink(missing_ok=True)


class Locks(_Idle):
    """Whose locks threads wait for. executable: of which it is checked first whether known objects are recognised."""

    facts: locks.LockFacts | None = None

    def __init__(self, sandbox: PrivateFolder, executable: str = "") -> None:
        if executable:
            locks.check_known_objects(Path(executable))

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """Set probes and sample."""
        with locks.LockRecording(pid) as recording:
            yield
        self.facts = recording.facts


def _memory(sandbox: PrivateFolder, skipped: int) -> Watcher:
    return memory.Moments(skipped)


WATCHERS: Mapping[str, Callable[..., Watcher]] = {"perf": Perf, "locks": Locks, "memory": _memory}
FACTS: Mapping[str, Any] = {"perf": HotSpots, "locks": locks.LockFacts, "memory": dict[str, dict[str, int]]}


def _needs_linux() -> Message:
    return NOTHING if sys.platform == "linux" else message("--profile python and --profile memory need Linux.")


OBSTACLES: Mapping[str, Callable[[], Message]] = {
    "perf": perf.obstacle,
    "python": _needs_linux,
    "locks": locks.obstacle,
    "memory": _needs_linux,
}
