"""DISPATCH: how the workers of systems 2 and 4 share the waiting for readable sockets."""

from collections.abc import Callable
from typing import Protocol

from core.cell import Cell
from core.runtime import gil_enabled
from services.loops import Loops
from services.watch import SocketWatch, make_watch


class Dispatch(Protocol):
    """Hands each readable socket to one worker. Any thread may call add() and resume()."""

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        """Be the worker of that number for ever. serve(fd) returns whether to go on waiting for *fd*."""

    def add(self, fd: int) -> None:
        """Wait for *fd* from now on."""

    def pause(self, fd: int) -> None:
        """Wait for *fd* no more until resume(); called by the worker that serves it."""

    def resume(self, fd: int) -> None:
        """Wait for *fd* again."""

    def forget(self, fd: int) -> None:
        """Wait for *fd* no more: the worker that serves it is about to close it."""

    def holds(self, fd: int) -> bool:
        """Return whether an fd of that number can be waited for."""


class Shared:
    """DISPATCH any: all workers wait on one watch."""

    def __init__(self, watch: SocketWatch) -> None:
        self._watch = watch
        self.add, self.resume = watch.add, watch.arm
        self.forget, self.holds = watch.forget, watch.holds

    def __repr__(self) -> str:
        return f"Shared({self._watch!r})"

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        wait, arm = self._watch.wait, self._watch.arm
        while True:
            for fd in wait():
                if serve(fd):
                    arm(fd)

    def pause(self, fd: int) -> None:
        """What has been given out is waited for only once it is armed again."""


def dispatch_of(cell: Cell) -> Dispatch:
    """The dispatch of *cell*: `auto` is `leader` while the GIL is on, else `any`. Raises BadInput."""
    workers = cell.num_workers_per_api_service
    dispatch = ("leader" if gil_enabled() else "any") if cell.dispatch == "auto" else cell.dispatch
    if dispatch == "any":
        return Shared(make_watch(cell.selector, cell.select_mode))
    watches = [make_watch(cell.selector, cell.select_mode, shared=False) for _ in range(workers)]
    return Loops(watches, active=1 if dispatch == "leader" else workers)
