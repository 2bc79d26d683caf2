"""Workers that each wait for connections of their own and serve them in batches: DISPATCH leader and owned.

Every worker has a loop: a watch and the sockets that it waits for. Sockets that nobody holds move between loops, so how
many loops have any is how many workers wait and serve at once: one (leader, the others follow) or all (owned). A loop
that is held up in one handler for longer than PATIENCE_S loses its other sockets to one that is not, so that a long or
blocked handler stops nobody else; and while handlers are long, all serve.
Source: D. Schmidt et al., Leader/Followers, PLoP 2000; docs/decisions/021-dispatch.md.
"""

import socket
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from time import clock_gettime_ns

from services.watch import SocketWatch

PATIENCE_S = 0.005
CALM_S = 0.01  # between looks while nothing is held up: under a GIL each look waits for it, and slows who has it
LONG_NS = 2_000_000  # CPU time of a long handler between two looks: waiting for the GIL or for a core does not count
LATELY = 20  # looks of the balancer for which it remembers a long handler
REST_AFTER = 20  # looks at which nothing was served, until it sleeps
NOTHING = -1


class Loop:
    """One worker's sockets, but for the one that is being served.

    Taking an fd out of fds is what claims it, for the worker that serves it or for whom it moves to: a set gives each
    fd to one of them, without a lock. The lock keeps what else changes, fds and the watch, in step.

    busy: the socket that its worker serves, or is about to claim
    served: what has been readable since the balancer looked last
    turns: how many requests its worker has served, but for those of this batch
    retired: whether its worker is to give all to other loops, as soon as it has served this batch
    """

    __slots__ = ("_cpu_clock", "_look", "busy", "fds", "lock", "retired", "served", "turns", "watch")

    def __init__(self, watch: SocketWatch) -> None:
        self.watch = watch
        self.fds: set[int] = set()
        self.served: set[int] = set()
        self.lock = threading.Lock()
        self.busy = NOTHING
        self.turns = 0
        self.retired = False
        self._cpu_clock: int | None = None
        self._look: tuple[tuple[int, int], int] = (NOTHING, NOTHING), 0  # a request, and the worker's CPU time then

    def __repr__(self) -> str:
        return f"Loop({sorted(self.fds)}, busy with {self.busy}, {self.turns} turns)"

    def begin(self) -> None:
        """Called by the worker, once."""
        if hasattr(time, "pthread_getcpuclockid"):
            self._cpu_clock = time.pthread_getcpuclockid(threading.get_ident())

    def put(self, fd: int) -> None:
        """Wait for *fd*, too."""
        with self.lock:
            self.fds.add(fd)
            self.watch.add(fd)

    def remove(self, fd: int) -> bool:
        """Wait for *fd* no more; False if it is being served, or not here."""
        with self.lock:
            if not claimed(self.fds, fd):
                return False
            self.watch.forget(fd)
        return True

    def served_lately(self) -> set[int]:
        """What has been served since the last call and is still here."""
        served, self.served = self.served, set()
        here = served & self.fds
        if self.busy in served:
            here.add(self.busy)
        return here

    def held_up_ns(self) -> int:
        """CPU time the worker has spent on its request since the last call; NOTHING if that was another request."""
        request, looked = (self.turns, self.busy), self._look
        cpu_ns = 0 if self._cpu_clock is None else clock_gettime_ns(self._cpu_clock)
        self._look = request, cpu_ns
        return cpu_ns - looked[1] if looked[0] == request else NOTHING


def claimed(fds: set[int], fd: int) -> bool:
    """Take *fd* out of *fds*; False if another thread has."""
    try:
        fds.remove(fd)
    except KeyError:
        return False
    return True


class Loops:
    """One loop for each worker, and a thread that moves sockets between them; it sleeps while nothing is served.

    Each of them gets its share of those that are served; where the silent ones wait makes no difference.

    active: how many loops have sockets while no handler is long
    """

    def __init__(self, watches: Sequence[SocketWatch], active: int) -> None:
        self._loops = [Loop(watch) for watch in watches]
        self._home: dict[int, Loop] = {}
        self._client: dict[int, int] = {}
        self._usual = active
        self._active = self._loops[:active]
        self._settled: set[Loop] = set()
        self._long_looks = 0
        self._resting = False
        self._wake = threading.Semaphore(0)
        threading.Thread(target=self._balance_for_ever, name="balancer", daemon=True).start()

    def __repr__(self) -> str:
        return f"Loops({len(self._active)} of {len(self._loops)} serve)"

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        """Serve what becomes readable in the worker's loop; serve(fd) says whether to go on waiting for it."""
        loop = self._loops[worker]
        loop.begin()
        wait, arm, claim, put_back = loop.watch.wait, loop.watch.arm, loop.fds.remove, loop.fds.add
        while True:
            batch = wait()
            for fd in batch:
                loop.busy = fd
                try:
                    claim(fd)
                except KeyError:  # it has moved to another loop
                    continue
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
        """Wait for *fd* in the loop that has the fewest sockets."""
        loop = min(self._active, key=_size)
        self._home[fd] = loop
        loop.put(fd)

    resume = add

    def pause(self, fd: int) -> None:
        """Wait for *fd* no more, until resume(); for the worker that serves it."""
        self._client.pop(fd, None)
        self._home.pop(fd).watch.forget(fd)

    forget = pause

    def holds(self, fd: int) -> bool:
        """Return whether every loop can wait for an fd of that number."""
        return self._loops[0].watch.holds(fd)

    def _balance_for_ever(self) -> None:
        turns = idle = 0
        held_ns: dict[Loop, int] = {}
        while True:
            if idle < REST_AFTER:
                self._wake.acquire(timeout=PATIENCE_S if held_ns or self._long_looks else CALM_S)
            else:
                self._rest()
            before, turns = turns, sum([loop.turns for loop in self._loops])
            busy = [loop for loop in self._loops if loop.busy != NOTHING]
            held_ns = {loop: cpu_ns for loop in busy if (cpu_ns := loop.held_up_ns()) != NOTHING}
            idle = 0 if busy or before != turns else idle + 1
            self._long_looks = LATELY if max(held_ns.values(), default=0) > LONG_NS else max(self._long_looks - 1, 0)
            self._balance(held_ns)

    def _rest(self) -> None:
        self._resting = True
        if not any(
            _is_busy(loop) for loop in self._loops
        ):  # or who became busy just now may not have seen that we rest
            self._wake.acquire()
        self._resting = False

    def _balance(self, held: Collection[Loop]) -> None:
        """Give every loop its share of what is served."""
        served = {loop: loop.served_lately() for loop in self._loops if loop.fds or loop.busy != NOTHING}
        connections = sum(map(len, served.values()))
        free = [loop for loop in self._loops if loop not in held]
        if free:
            wanted = len(free) if self._long_looks else self._usual
            self._active = sorted(free, key=_size, reverse=True)[:wanted]
            served |= {loop: set() for loop in self._active if loop not in served}
            self._share(served, -(-connections // len(self._active)))

    def _share(self, served: dict[Loop, set[int]], most: int) -> None:
        """Leave about *most* of what is served to an active loop, and nothing at all to others.

        The connections of one client stay together where they can: it has fewer requests under way than connections.
        """
        for loop in served:
            loop.retired = loop not in self._active
            if loop.retired:
                self._move_all(loop)
        every, active = set().union(*served.values()), set(self._active)
        even = all(len(served[loop]) <= most + most // 4 for loop in active)
        known = len(every) <= len(active) or every <= self._client.keys()
        if len(active) == 1 or (even and known and active == self._settled):
            return
        taken, stayed = dict.fromkeys(self._active, 0), False
        for fds in sorted(self._by_client(every), key=len, reverse=True):
            room = max(most, len(fds)) if len(fds) <= 2 * most else most
            there = max(self._active, key=lambda loop: (len(fds & served[loop]), -taken[loop]))
            for fd in [*(fds & served[there]), *(fds - served[there])]:
                if taken[there] >= room:
                    there = min(self._active, key=taken.__getitem__)
                taken[there] += 1
                here = self._home.get(fd, there)
                stayed |= here is not there and not self._move(fd, here, there)
        self._settled = set() if stayed else active

    def _by_client(self, fds: Collection[int]) -> Iterable[set[int]]:
        """*fds* of the same process together, where that is known and there are more of them than loops to serve."""
        if len(fds) <= len(self._active):
            return [{fd} for fd in fds]
        clients: dict[int, set[int]] = defaultdict(set)
        for fd in fds:
            if fd not in self._client:
                self._client[fd] = peer_of(fd) or -fd
            clients[self._client[fd]].add(fd)
        return clients.values()

    def _move_all(self, loop: Loop) -> None:
        """All but what is being served."""
        for fd in loop.fds.copy():
            self._move(fd, loop, min(self._active, key=_size))

    def _move(self, fd: int, here: Loop, there: Loop) -> bool:
        """False for what is being served."""
        if here is there or not here.remove(fd):
            return False
        self._home[fd] = there
        there.put(fd)
        return True


def peer_of(fd: int) -> int:
    """The process at the other end of a Unix socket; 0 where that is not known. Source: unix(7), SO_PEERCRED."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    try:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
        try:
            pid: int = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            return pid
        finally:
            sock.detach()
    except OSError:  # closed just now
        return 0


def _size(loop: Loop) -> int:
    return len(loop.fds)


def _is_busy(loop: Loop) -> bool:
    with loop.lock:
        return loop.busy >= 0
