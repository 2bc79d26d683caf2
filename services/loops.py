"""Implement the parameter DISPATCH, which says how the worker threads of a service wait for
readable sockets.

With `any`, all workers wait on one watch. With `leader` and `owned`, each worker has a loop: a
watch, and the sockets for which it waits. It serves them in batches. A balancer moves idle sockets
between loops. With `leader`, one loop has all sockets and the other workers wait; with `owned`, all
loops share them. If one handler blocks a loop for longer than BLOCKED_AFTER_S, the loop's other
sockets move to a free loop, so that a long handler delays only its own request. While handlers are
long, all loops serve.
Source: D. Schmidt et al., Leader/Followers, PLoP 2000;
docs/decisions/021-dispatch.md.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from time import clock_gettime_ns

from core.cell import Cell
from core.runtime import gil_enabled
from services.service_connection import peer_of
from services.watch import SocketWatch, make_watch

BLOCKED_AFTER_S = 0.005
# between the balancer's checks if no loop is blocked; with a GIL, each check slows the workers
CHECK_EVERY_S = 0.01
# CPU time between two checks from which a handler is long; waiting does not count
LONG_NS = 2_000_000
LONG_CHECKS = 20  # number of checks for which the balancer remembers a long handler
IDLE_CHECKS = 20  # number of checks without a request after which the balancer sleeps
NOTHING = -1  # no socket, or no time


class Loop:
    """The sockets for which one worker waits, except the socket that the worker is serving.

    A thread claims a socket, to serve or move it, by removing its fd from fds. Removing from a set
    is atomic, so only one thread succeeds. The lock keeps fds and the watch consistent.

    busy: the socket that the worker is serving, or is about to claim
    served: sockets that have been readable since the balancer's last check
    turns: number of requests that the worker has served, without the current batch
    retired: whether the worker must give all sockets to other loops after the current batch
    """

    __slots__ = (
        "_cpu_clock",
        "_look",
        "busy",
        "fds",
        "lock",
        "retired",
        "served",
        "turns",
        "watch",
    )

    def __init__(self, watch: SocketWatch) -> None:
        self.watch = watch
        self.fds: set[int] = set()
        self.served: set[int] = set()
        self.lock = threading.Lock()
        self.busy = NOTHING
        self.turns = 0
        self.retired = False
        self._cpu_clock: int | None = None
        # request and CPU time at the last check
        self._look: tuple[tuple[int, int], int] = ((NOTHING, NOTHING), 0)

    def begin(self) -> None:
        """Prepare the clock for the worker's CPU time. The worker thread calls this method once."""
        if hasattr(time, "pthread_getcpuclockid"):
            self._cpu_clock = time.pthread_getcpuclockid(threading.get_ident())

    def put(self, fd: int) -> None:
        """Add the socket *fd* to the sockets for which the worker waits."""
        with self.lock:
            self.fds.add(fd)
            self.watch.add(fd)

    def remove(self, fd: int) -> bool:
        """Stop waiting for the socket *fd*. Return False if a worker is serving the socket or
        another loop has it.
        """
        with self.lock:
            try:
                self.fds.remove(fd)
            except KeyError:
                return False
            self.watch.forget(fd)
        return True

    def served_lately(self) -> set[int]:
        """Return the sockets that this worker served since the last call and that no other worker
        has now.
        """
        served, self.served = self.served, set()
        here = served & self.fds
        if self.busy in served:
            here.add(self.busy)
        return here

    def blocked_ns(self) -> int:
        """Return the CPU time in ns spent on the current request since the last call, or NOTHING
        for a new request.
        """
        request, looked = (self.turns, self.busy), self._look
        cpu_ns = 0 if self._cpu_clock is None else clock_gettime_ns(self._cpu_clock)
        self._look = request, cpu_ns
        return cpu_ns - looked[1] if looked[0] == request else NOTHING


class Loops:
    """The dispatch strategies `leader` and `owned`: each worker has a loop, and a balancer moves
    sockets among them.

    The balancer is a thread. It gives each active loop an equal share of the sockets that have
    requests, ignores silent sockets, and sleeps while there are no requests.

    active: number of loops that have sockets while no handler is long
    """

    def __init__(self, watches: Sequence[SocketWatch], active: int) -> None:
        self._loops = [Loop(watch) for watch in watches]
        self._home: dict[int, Loop] = {}
        self._client: dict[int, int] = {}
        self._usual = active
        self._active = self._loops[:active]
        self._settled: set[Loop] = set()
        self._long_checks = 0
        self._resting = False
        self._wake = threading.Semaphore(0)
        threading.Thread(target=self._balance_for_ever, name="balancer", daemon=True).start()

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        """Serve the sockets of a worker's loop for ever. serve(fd) returns whether to wait for *fd*
        again.
        """
        loop = self._loops[worker]
        loop.begin()
        wait, arm, claim, put_back = loop.watch.wait, loop.watch.arm, loop.fds.remove, loop.fds.add
        while True:
            batch = wait()
            for fd in batch:
                loop.busy = fd
                try:
                    claim(fd)
                except KeyError:  # the socket has moved to another loop
                    continue
                # the balancer sleeps while there are no requests
                if self._resting:
                    self._wake.release()
                if serve(fd):
                    arm(fd)
                    put_back(fd)
            loop.served.update(batch)
            loop.turns += len(batch)
            loop.busy = NOTHING
            if loop.retired:
                self._move_all(loop)

    def add(self, fd: int) -> None:
        """Give the socket *fd* to the active worker that waits for the fewest sockets."""
        loop = min(self._active, key=_size)
        self._home[fd] = loop
        loop.put(fd)

    resume = add

    def pause(self, fd: int) -> None:
        """Stop waiting for data on the socket *fd* until resume(). The worker that serves *fd*
        calls this method.
        """
        self._client.pop(fd, None)
        self._home.pop(fd).watch.forget(fd)

    forget = pause

    def holds(self, fd: int) -> bool:
        """Return whether the selector of the workers' loops supports file descriptors as high as
        *fd*.
        """
        return self._loops[0].watch.holds(fd)

    def _balance_for_ever(self) -> None:
        turns = idle = 0
        held_ns: dict[Loop, int] = {}
        while True:
            if idle < IDLE_CHECKS:
                self._wake.acquire(
                    timeout=BLOCKED_AFTER_S if held_ns or self._long_checks else CHECK_EVERY_S
                )
            else:
                self._rest()
            before, turns = turns, sum([loop.turns for loop in self._loops])
            busy = [loop for loop in self._loops if loop.busy != NOTHING]
            held_ns = {loop: cpu_ns for loop in busy if (cpu_ns := loop.blocked_ns()) != NOTHING}
            idle = 0 if busy or before != turns else idle + 1
            is_long = max(held_ns.values(), default=0) > LONG_NS
            self._long_checks = LONG_CHECKS if is_long else max(self._long_checks - 1, 0)
            self._balance(held_ns)

    def _rest(self) -> None:
        self._resting = True
        # a worker that is busy already may not see _resting and would not wake the balancer
        if not any(_is_busy(loop) for loop in self._loops):
            self._wake.acquire()
        self._resting = False

    def _balance(self, held: Collection[Loop]) -> None:
        """Divide the sockets that have requests equally among the active workers' loops.

        held: the loops whose workers are blocked by a handler, and which are therefore not active
        """
        served = {
            loop: loop.served_lately() for loop in self._loops if loop.fds or loop.busy != NOTHING
        }
        connections = sum(map(len, served.values()))
        free = [loop for loop in self._loops if loop not in held]
        if free:
            wanted = len(free) if self._long_checks else self._usual
            self._active = sorted(free, key=_size, reverse=True)[:wanted]
            served |= {loop: set() for loop in self._active if loop not in served}
            self._share(served, -(-connections // len(self._active)))

    def _share(self, served: dict[Loop, set[int]], target: int) -> None:
        """Move sockets between workers' loops: about *target* served sockets to each active loop,
        none to other loops.

        The connections of one client stay together if possible, because a client has fewer requests
        in flight than connections.
        """
        for loop in served:
            loop.retired = loop not in self._active
            if loop.retired:
                self._move_all(loop)
        every, active = set().union(*served.values()), set(self._active)
        even = all(len(served[loop]) <= target + target // 4 for loop in active)
        known = len(every) <= len(active) or every <= self._client.keys()
        if len(active) == 1 or (even and known and active == self._settled):
            return
        taken, stayed = dict.fromkeys(self._active, 0), False
        for fds in sorted(self._by_client(every), key=len, reverse=True):
            room = max(target, len(fds)) if len(fds) <= 2 * target else target
            there = max(self._active, key=lambda loop: (len(fds & served[loop]), -taken[loop]))
            for fd in [*(fds & served[there]), *(fds - served[there])]:
                if taken[there] >= room:
                    there = min(self._active, key=taken.__getitem__)
                taken[there] += 1
                here = self._home.get(fd, there)
                stayed |= here is not there and not self._move(fd, here, there)
        self._settled = set() if stayed else active

    def _by_client(self, fds: Collection[int]) -> Iterable[set[int]]:
        """Group the sockets *fds* by client process, because the sockets of one client should stay
        together.

        A socket forms a group of its own if its client process is unknown. So do all sockets if
        there are no more sockets than active loops.
        """
        if len(fds) <= len(self._active):
            return [{fd} for fd in fds]
        clients: dict[int, set[int]] = defaultdict(set)
        for fd in fds:
            if fd not in self._client:
                self._client[fd] = peer_of(fd) or -fd
            clients[self._client[fd]].add(fd)
        return clients.values()

    def _move_all(self, loop: Loop) -> None:
        """Move the sockets of a worker's loop to active loops, except the socket that the worker is
        serving.
        """
        for fd in loop.fds.copy():
            self._move(fd, loop, min(self._active, key=_size))

    def _move(self, fd: int, here: Loop, there: Loop) -> bool:
        """Move the socket *fd* from one worker's loop to another's. Return False if a worker is
        serving the socket.
        """
        if here is there or not here.remove(fd):
            return False
        self._home[fd] = there
        there.put(fd)
        return True


def _size(loop: Loop) -> int:
    return len(loop.fds)


def _is_busy(loop: Loop) -> bool:
    with loop.lock:
        return loop.busy >= 0


def dispatch_of(cell: Cell) -> SocketWatch | Loops:
    """Create the object that gives each readable socket to one worker as the parameter DISPATCH of
    *cell* says. threaded.py calls its run, add, pause, resume, forget and holds.

    DISPATCH `auto` means `leader` with the GIL, and `any` without it. Raises BadInput for an
    unsupported selector.
    """
    workers = cell.num_workers_per_api_service
    dispatch = ("leader" if gil_enabled() else "any") if cell.dispatch == "auto" else cell.dispatch
    if dispatch == "any":
        return make_watch(cell.selector, cell.select_mode)
    watches = [make_watch(cell.selector, cell.select_mode, shared=False) for _ in range(workers)]
    return Loops(watches, active=1 if dispatch == "leader" else workers)
