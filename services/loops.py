"""Workers that each wait for connections of their own and serve them in batches: DISPATCH leader, owned and auto.

Every worker has a loop: a watch and the sockets that it waits for. Sockets that nobody holds move between loops, so how
many loops have any is how many workers wait and serve at once: one (leader, the others follow), all (owned), or as
as many as raise throughput (auto). A loop that is held up in one handler for longer than PATIENCE_S loses its other
sockets to one that is not, so that a long or blocked handler stops nobody else; and while handlers are long, all serve.
Source: D. Schmidt et al., Leader/Followers, PLoP 2000; docs/decisions/021-dispatch.md.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from time import clock_gettime_ns, monotonic_ns

from services.climb import Climb
from services.watch import SocketWatch

PATIENCE_S = 0.005
LONG_NS = 2_000_000  # CPU time of a long handler between two looks: waiting for the GIL or for a core does not count
LATELY = 20  # looks of the balancer for which it remembers a long handler
REST_AFTER = 20  # looks at which nothing was being served, until it sleeps
NOTHING = -1


class Loop:
    """One worker's sockets. Only the lock's holder changes fds and sets busy: the socket that is being served.

    served: what has been readable since the balancer looked last
    retired: whether its worker is to give all to other loops, as soon as it has served what it serves now
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
        self._look = (NOTHING, 0)

    def __repr__(self) -> str:
        return f"Loop({sorted(self.fds)}, busy with {self.busy}, {self.turns} turns)"

    def begin(self) -> None:
        """Called by the worker, once."""
        if hasattr(time, "pthread_getcpuclockid"):
            self._cpu_clock = time.pthread_getcpuclockid(threading.get_ident())

    def take(self, fd: int) -> bool:
        """Be busy with *fd*; False if it has moved to another loop."""
        with self.lock:
            if fd not in self.fds:
                return False
            self.busy = fd
            self.served.add(fd)
        self.turns += 1
        return True

    def put(self, fd: int) -> None:
        """Wait for *fd*, too."""
        with self.lock:
            self.fds.add(fd)
            self.watch.add(fd)

    def remove(self, fd: int) -> bool:
        """Wait for *fd* no more; False if it is being served, or not here."""
        with self.lock:
            if fd == self.busy or fd not in self.fds:
                return False
            self._discard(fd)
        return True

    def release(self, fd: int) -> None:
        """The same, by the worker that serves it."""
        with self.lock:
            self.busy = NOTHING
            self._discard(fd)

    def served_lately(self) -> set[int]:
        """What has been served since the last call and is still here."""
        if not self.served:
            return set()
        with self.lock:
            served, self.served = self.served, set()
            return served & self.fds

    def held_up_ns(self) -> int:
        """CPU time the worker has spent on its request since the last call; NOTHING if that was another request."""
        looked, self._look = self._look, (NOTHING, 0)
        if self.busy == NOTHING:
            return NOTHING
        cpu_ns = 0 if self._cpu_clock is None else clock_gettime_ns(self._cpu_clock)
        self._look = self.turns, cpu_ns
        return cpu_ns - looked[1] if looked[0] == self.turns else NOTHING

    def _discard(self, fd: int) -> None:
        self.fds.discard(fd)
        self.watch.forget(fd)


class Loops:
    """One loop for each worker, and a thread that moves sockets between them; it sleeps while nothing is served.

    Each of them gets its share of those that are served; where the silent ones wait makes no difference.

    climb: how many loops are to have sockets, by what they serve
    """

    def __init__(self, watches: Sequence[SocketWatch], climb: Climb) -> None:
        self._loops = [Loop(watch) for watch in watches]
        self._home: dict[int, Loop] = {}
        self._climb = climb
        self._active = self._loops[: climb.active]
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
        wait, take, arm = loop.watch.wait, loop.take, loop.watch.arm
        while True:
            loop.busy = NOTHING
            if loop.retired:
                loop.retired = False
                self._move_all(loop)
            fd = wait()
            if take(fd):
                if self._resting:
                    self._wake.release()
                if serve(fd):
                    arm(fd)

    def add(self, fd: int) -> None:
        """Wait for *fd* in the loop that has the fewest sockets."""
        loop = min(self._active, key=_size)
        self._home[fd] = loop
        loop.put(fd)

    resume = add

    def pause(self, fd: int) -> None:
        """Wait for *fd* no more, until resume(); for the worker that serves it."""
        self._home.pop(fd).release(fd)

    forget = pause

    def holds(self, fd: int) -> bool:
        """Whether every loop can wait for an fd of that number."""
        return self._loops[0].watch.holds(fd)

    def _balance_for_ever(self) -> None:
        turns = idle = 0
        while True:
            if idle < REST_AFTER:
                self._wake.acquire(timeout=PATIENCE_S)
            else:
                self._rest()
            before, turns = turns, sum([loop.turns for loop in self._loops])
            held_ns = {loop: loop.held_up_ns() for loop in self._loops}
            held = [loop for loop, cpu_ns in held_ns.items() if cpu_ns != NOTHING]
            idle = 0 if held or before != turns else idle + 1
            self._long_looks = LATELY if max(held_ns.values()) > LONG_NS else max(self._long_looks - 1, 0)
            if idle or self._long_looks:
                self._climb.pause()
            self._balance(held, turns)

    def _rest(self) -> None:
        self._resting = True
        if not any(_is_busy(loop) for loop in self._loops):  # or who became busy just now has not seen that we rest
            self._wake.acquire()
        self._resting = False

    def _balance(self, held: Collection[Loop], turns: int) -> None:
        """Give every loop its share of what is served."""
        served = {loop: loop.served_lately() for loop in self._loops}
        connections = sum(map(len, served.values()))
        if not self._long_looks:
            self._climb.observe(turns, monotonic_ns(), connections)
        free = [loop for loop in self._loops if loop not in held]
        if free:
            wanted = len(free) if self._long_looks else self._climb.active
            self._active = sorted(free, key=_size, reverse=True)[:wanted]
            self._share(served, -(-connections // len(self._active)))

    def _share(self, served: dict[Loop, set[int]], most: int) -> None:
        """Leave no more than *most* of what is served to an active loop, and nothing at all to others."""
        for loop, fds in served.items():
            loop.retired = False
            if loop not in self._active:
                self._move_all(loop)
                loop.retired = bool(loop.fds)
            for fd in [*fds][most:]:
                there = min(self._active, key=lambda active: len(served[active]))
                served[there].add(fd)
                self._move(fd, loop, there)

    def _move_all(self, loop: Loop) -> None:
        """All but what is being served."""
        for fd in loop.fds.copy():
            self._move(fd, loop, min(self._active, key=_size))

    def _move(self, fd: int, here: Loop, there: Loop) -> None:
        if here is not there and here.remove(fd):
            self._home[fd] = there
            there.put(fd)


def _size(loop: Loop) -> int:
    return len(loop.fds)


def _is_busy(loop: Loop) -> bool:
    with loop.lock:
        return loop.busy >= 0
