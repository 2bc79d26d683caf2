"""Implement the parameter DISPATCH, which says how the worker threads of a service wait for readable sockets.

The services of systems 2 and 4, which keep a cache of open connections, have this parameter.
"""

from collections.abc import Callable

from core.cell import Cell
from core.runtime import gil_enabled
from services.loops import Loops
from services.watch import SocketWatch, make_watch


class Shared:
    """The dispatch strategy `any`: all workers wait for readable sockets on one shared watch, such as an epoll."""

    def __init__(self, watch: SocketWatch) -> None:
        self._watch = watch
        self.add, self.resume = watch.add, watch.arm
        self.forget, self.holds = watch.forget, watch.holds

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        """Run worker number *worker* for ever. serve(fd) returns whether to wait for the socket *fd* again."""
        wait, arm = self._watch.wait, self._watch.arm
        while True:
            for fd in wait():
                if serve(fd):
                    arm(fd)

    def pause(self, fd: int) -> None:
        """Do nothing: a socket that is being served is not watched for data anyway before resume() is called."""


Dispatch = Shared | Loops  # a strategy that gives each readable socket to one worker


def dispatch_of(cell: Cell) -> Dispatch:
    """Create the object that gives readable sockets to workers as the parameter DISPATCH of *cell* says.

    DISPATCH `auto` means `leader` with the GIL, and `any` without it. Raises BadInput for an unsupported selector.
    """
    workers = cell.num_workers_per_api_service
    dispatch = ("leader" if gil_enabled() else "any") if cell.dispatch == "auto" else cell.dispatch
    if dispatch == "any":
        return Shared(make_watch(cell.selector, cell.select_mode))
    watches = [make_watch(cell.selector, cell.select_mode, shared=False) for _ in range(workers)]
    return Loops(watches, active=1 if dispatch == "leader" else workers)
