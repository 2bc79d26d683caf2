"""Watchers: profilers that run on a service's host, outside of the service's process, while clients send requests."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from core.messages import NOTHING, Message, message
from lab.folders import PrivateFolder
from lab.profile import locks, perf
from lab.profile.hotspots import HotSpots


class Watcher(Protocol):
    """A profiler of one service.

    facts: the result, set when the block of watch() has ended; its type is in FACTS
    """

    facts: Any

    def watch(self, pid: int) -> AbstractContextManager[object]:
        """Profile process *pid* during the `with` block. Raises GilscopeError if that is not possible."""


class PerfWatcher(Watcher):
    """A profiler that samples C functions and locks with linux-perf."""

    facts: HotSpots | None = None

    def __init__(self, sandbox: PrivateFolder) -> None:
        self._sandbox = sandbox

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """Record process *pid* with perf during the `with` block, then read the recording."""
        file = self._sandbox.folder / "perf.data"
        try:
            with perf.recording(pid, file, self._sandbox.process_group):
                yield
            self.facts = perf.read_hot_spots(file)
        finally:
            file.unlink(missing_ok=True)


class LockWatcher(Watcher):
    """A profiler that samples which locks the threads of a service wait for.

    executable: an interpreter on which the self-test runs first, or "" for no self-test
    """

    facts: locks.LockFacts | None = None

    def __init__(self, sandbox: PrivateFolder, executable: str = "") -> None:
        if executable:
            locks.run_self_test(Path(executable))

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """Probe lock functions and sample stacks of process *pid* during the `with` block."""
        with locks.record_locks(pid) as recording:
            yield
        self.facts = recording.facts


WATCHERS: Mapping[str, Callable[..., Watcher]] = {
    "perf": PerfWatcher,
    "locks": LockWatcher,
}
FACTS: Mapping[str, Any] = {"perf": HotSpots, "locks": locks.LockFacts}


def _needs_linux() -> Message:
    return NOTHING if sys.platform == "linux" else message("--profile python needs Linux.")


OBSTACLES: Mapping[str, Callable[[], Message]] = {
    "perf": perf.obstacle,
    "python": _needs_linux,
    "locks": locks.obstacle,
}
