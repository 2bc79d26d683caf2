"""Define watches, which are objects on which many workers wait for readable sockets.

A watch gives each readable socket to one worker, and does not watch the socket again until arm() is
called. The workers wait on the watch themselves, without a watcher thread or a queue.

loops.py makes watches with make_watch(), and workers call wait() and arm() for each request. With
DISPATCH `any`, a service calls a watch itself: run(), add(), pause(), resume(), forget(), holds().
SocketWatch says what each kind must do. After forget(), the same number may be another socket.
"""

import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable

from core.messages import BadInput, listed

BATCH = 64  # most sockets that one wait() of BatchEpollWatch returns


class SocketWatch:
    """A watcher for readable sockets. Any thread may call add() and arm(), and many threads may
    call wait() at once.
    """

    def add(self, fd: int) -> None:
        """Start watching the socket *fd*."""
        raise NotImplementedError

    def arm(self, fd: int) -> None:
        """Watch the socket *fd* again after wait() has returned it."""
        raise NotImplementedError

    def wait(self) -> list[int]:
        """Wait for readable sockets and return some. No other thread gets a returned socket until
        arm() is called.
        """
        raise NotImplementedError

    def run(self, worker: int, serve: Callable[[int], bool]) -> None:
        """Run worker number *worker* for ever, as DISPATCH `any` says. serve(fd) returns whether to
        wait for the socket *fd* again.
        """
        wait, arm = self.wait, self.arm
        while True:
            for fd in wait():
                if serve(fd):
                    arm(fd)

    def pause(self, fd: int) -> None:
        """Do nothing: a socket that is being served is not watched anyway before resume() is
        called.
        """

    def resume(self, fd: int) -> None:
        """Watch the socket *fd* again after pause()."""
        self.arm(fd)

    def forget(self, fd: int) -> None:
        """Stop watching the socket *fd*, because the worker that serves the socket is about to
        close it.

        Some kernel interfaces stop by themselves when a file descriptor is closed, so there is
        nothing to do for them.
        """

    def holds(self, fd: int) -> bool:
        """Return whether this socket watcher supports file descriptors as high as *fd*."""
        return True


class EpollWatch(SocketWatch):
    """A socket watcher with one epoll for all workers. EPOLLONESHOT gives each readable socket to
    one worker.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._poll = self._epoll.poll
        self._modify = self._epoll.modify
        self._events = select.EPOLLIN | select.EPOLLONESHOT

    def add(self, fd: int) -> None:
        try:
            self._epoll.register(fd, self._events)
        except FileExistsError:  # the fd is registered already and was not closed since
            self._epoll.modify(fd, self._events)

    def arm(self, fd: int) -> None:
        self._modify(fd, self._events)

    def wait(self) -> list[int]:
        return [fd for fd, _ in self._poll(-1, 1)]


class BatchEpollWatch(EpollWatch):
    """A socket watcher with one epoll for one worker. The worker serves all readable sockets before
    it waits again.
    """

    def add(self, fd: int) -> None:
        self._epoll.register(fd, select.EPOLLIN)

    def arm(self, fd: int) -> None:
        """Do nothing, because epoll continues to watch the sockets that it has returned."""

    def wait(self) -> list[int]:
        return [fd for fd, _ in self._poll(-1, BATCH)]

    def forget(self, fd: int) -> None:
        self._epoll.unregister(fd)


def _poll_many(fds: set[int]) -> list[int]:
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll()]


def _select_many(fds: set[int], timeout_s: float | None = None) -> list[int]:
    try:
        return select.select(fds, (), (), timeout_s)[0]
    except OSError:  # a socket was closed meanwhile; it counts as readable
        return [fd for fd in fds if _is_closed(fd)]


def _is_closed(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return True
    return False


class LeaderWatch(SocketWatch):
    """A socket watcher with poll() or select(), which have no one-shot mode. One worker, the
    leader, waits at a time.

    Arming a socket wakes the leader, so that it waits for this socket, too.
    Source: D. Schmidt et al., Leader/Followers, PLoP 2000.
    """

    def __init__(
        self, wait_for_any: Callable[[set[int]], list[int]], highest_fd: int | None = None
    ) -> None:
        self._wait_for_any = wait_for_any
        self._highest_fd = highest_fd
        self._leading = threading.Lock()
        self._changes: deque[tuple[int, bool]] = deque()
        self._ready: deque[int] = deque()
        self._watched: set[int] = set()
        self._waiting = False
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        self._watched.add(self._woken)

    def arm(self, fd: int) -> None:
        self._changes.append((fd, True))
        if self._waiting:
            try:
                os.write(self._waker, b"\0")
            except BlockingIOError:
                pass  # the pipe is full, so a wake-up is pending

    add = arm

    def wait(self) -> list[int]:
        with self._leading:
            while not self._ready:
                self._lead()
            return [self._ready.popleft()]

    def forget(self, fd: int) -> None:
        self._changes.append((fd, False))

    def holds(self, fd: int) -> bool:
        return self._highest_fd is None or fd <= self._highest_fd

    def _lead(self) -> None:
        self._waiting = True
        while self._changes:
            fd, watched = self._changes.popleft()
            (self._watched.add if watched else self._watched.discard)(fd)
        ready = self._wait_for_any(self._watched)
        self._waiting = False
        if self._woken in ready:
            os.read(self._woken, 4096)
            ready.remove(self._woken)
        self._watched.difference_update(ready)
        self._ready.extend(ready)


class ScanWatch(SocketWatch):
    """A socket watcher that tests its sockets for readability one after the other.

    One worker at a time asks all sockets. If none is readable, the worker sleeps until the waker, a
    watcher for all of these sockets, finds a readable one. Then it asks each socket again. An old
    version of gilscope's predecessor worked in this way.
    """

    def __init__(self, waker: SocketWatch, readable: Callable[[int], bool]) -> None:
        self._waker = waker
        self._readable = readable
        self._leading = threading.Lock()
        self._idle: deque[int] = deque()

    def add(self, fd: int) -> None:
        self._waker.add(fd)
        self.arm(fd)

    def arm(self, fd: int) -> None:
        self._idle.append(fd)
        try:
            self._waker.arm(fd)
        except OSError:
            pass  # another worker took the socket after the append and closed it

    def wait(self) -> list[int]:
        with self._leading:
            while True:
                fd = self._ask_round()
                if fd is not None:
                    return [fd]
                self._waker.wait()

    def forget(self, fd: int) -> None:
        self._waker.forget(fd)

    def holds(self, fd: int) -> bool:
        return self._waker.holds(fd)

    def _ask_round(self) -> int | None:
        idle, readable = self._idle, self._readable
        for _ in range(len(idle)):
            fd = idle.popleft()
            if readable(fd):
                return fd
            idle.append(fd)
        return None


def _readable_by_select(fd: int) -> bool:
    return bool(_select_many({fd}, 0))


def is_readable(fd: int, wait_ms: int = 0) -> bool:
    """Return whether the socket *fd* has data to read within *wait_ms*, by poll()."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(wait_ms))


FD_SETSIZE = 1024  # select() takes only file descriptors below


def make_watch(selector: str, select_mode: str = "all", *, shared: bool = True) -> SocketWatch:
    """Create the socket watcher for SELECTOR and SELECT_MODE. Raises BadInput for a selector that
    is not supported.

    shared: whether many workers wait on the watcher at once
    """
    names = [name for name in ("epoll", "poll", "select") if hasattr(select, name)]
    name = names[0] if selector == "auto" else selector
    if name not in names:
        raise BadInput(
            "SELECTOR is {value}, but {platform} supports only: {names}.",
            value=selector,
            platform=sys.platform,
            names=listed(["auto", *names]),
        )
    watch: SocketWatch
    if name == "epoll":
        watch = BatchEpollWatch() if select_mode == "all" and not shared else EpollWatch()
    elif name == "poll":
        watch = LeaderWatch(_poll_many)
    else:
        watch = LeaderWatch(_select_many, highest_fd=FD_SETSIZE - 1)
    if select_mode == "all":
        return watch
    return ScanWatch(watch, _readable_by_select if name == "select" else is_readable)
