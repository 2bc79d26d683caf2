"""Workers that each wait for connections of their own and serve them in batches: DISPATCH leader, owned and auto.

Every worker has a loop: a watch and the sockets that it waits for. Sockets that nobody holds move between loops, so how
many loops have any is how many workers wait and serve at once: one (leader, the others follow), all (owned), or as
many as raise throughput (auto). A loop that is held up in one handler for longer than PATIENCE_S loses its other
sockets to one that is not, so that a long or blocked handler stops nobody else.
Source: D. Schmidt et al., Leader/Followers, PLoP 2000; docs/decisions/021-dispatch.md.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from time import monotonic_ns

from services.climb import Climb
from services.watch import SocketWatch

PATIENCE_S = 0.005
REST_AFTER = 20  # turns of the balancer in which nothing was served, until it sleeps
NOTHING = -1


class Loop:
    """One worker's sockets. Only the lock's holder changes fds and sets busy: the socket that is being served."""

    __slots__ = ("busy", "fds", "lock", "turns", "watch")

    def __init__(self, watch: SocketWatch) -> None:
        self.watch = watch
        self.fds: set[int] = set()
        self.lock = threading.Lock()
        self.busy = NOTHING
        self.turns = 0

    def __repr__(self) -> str:
        return f"Loop({sorted(self.fds)}, busy with {self.busy}, {self.turns} turns)"

    def take(self, fd: int) -> bool:
        """Be busy with *fd*; False if it has moved to another loop."""
        with self.lock:
            if fd not in self.fds:
                return False
            self.busy = fd
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

    def _discard(self, fd: int) -> None:
        self.fds.discard(fd)
        self.watch.forget(fd)


class Loops:
    """One loop for each worker, and a thread that moves sockets between them; it sleeps while nothing is served.

    climb: how many loops are to have sockets, by what they serve
    listening: sockets that are rarely readable; they do not count where loops get their share
    """

    def __init__(self, watches: Sequence[SocketWatch], climb: Climb, listening: Iterable[int]) -> None:
        self._loops = [Loop(watch) for watch in watches]
        self._listening = frozenset(listening)
        self._home: dict[int, Loop] = {}
        self._climb = climb
        self._active = self._loops[: climb.active]
        self._resting = False
        self._wake = threading.Semaphore(0)
        threading.Thread(target=self._balance_for_ever, name="balancer", daemon=True).start()

    def __repr__(self) -> str:
        return f"Loops({len(self._active)} of {len(self._loops)} serve)"

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        """Serve what becomes readable in the worker's loop; serve(fd) says whether to go on waiting for it."""
        loop = self._loops[worker]
        wait, take, arm = loop.watch.wait, loop.take, loop.watch.arm
        while True:
            loop.busy = NOTHING
            fd = wait()
            if take(fd):
                if self._resting:
                    self._wake.release()
                if serve(fd):
                    arm(fd)

    def add(self, fd: int) -> None:
        """Wait for *fd* in the loop that has the fewest connections."""
        loop = min(self._active, key=self._size)
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
        turns, idle = [0] * len(self._loops), 0
        while True:
            if idle < REST_AFTER:
                self._wake.acquire(timeout=PATIENCE_S)
            else:
                self._rest()
            before, turns = turns, [loop.turns for loop in self._loops]
            pairs = zip(self._loops, before, turns, strict=True)
            held = [loop for loop, old, new in pairs if loop.busy >= 0 and old == new]
            idle = 0 if held or before != turns else idle + 1
            self._balance(held, sum(turns))

    def _rest(self) -> None:
        self._resting = True
        if not any(_is_busy(loop) for loop in self._loops):  # or who became busy just now has not seen that we rest
            self._wake.acquire()
        self._resting = False

    def _balance(self, held: Collection[Loop], served: int) -> None:
        self._climb.observe(served, monotonic_ns())
        free = [loop for loop in self._loops if loop not in held]
        if not free:
            return
        self._active = active = sorted(free, key=self._size, reverse=True)[: self._climb.active]
        most = -(-sum(map(self._size, self._loops)) // len(active))
        for loop in self._loops:
            fds = loop.fds.copy()
            moving = [*(fds - self._listening)][most:] if loop in active else fds
            for fd in moving:
                self._move(fd, loop, min(active, key=self._size))

    def _size(self, loop: Loop) -> int:
        fds = loop.fds.copy()
        return len(fds) - len(fds & self._listening)

    def _move(self, fd: int, here: Loop, there: Loop) -> None:
        if here is not there and here.remove(fd):
            self._home[fd] = there
            there.put(fd)


def _is_busy(loop: Loop) -> bool:
    with loop.lock:
        return loop.busy >= 0
