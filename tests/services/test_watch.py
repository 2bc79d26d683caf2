"""Each readable socket is handed to one worker until it is armed again, whatever does the waiting."""

import os
import select
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from queue import Empty, SimpleQueue

import pytest

from core.errors import BadInput
from services.watch import EpollWatch, ScanWatch, SocketWatch, accept_or_none, make_watch

DEADLINE_S = 10.0
NOTHING_S = 0.1
SELECTORS = [name for name in ("epoll", "poll", "select") if hasattr(select, name)]
WATCHES = [(selector, mode) for mode in ("all", "single") for selector in SELECTORS]


class Workers:
    """Threads that wait on the watch, each for one socket; an error of theirs is a warning, an error of the test."""

    def __init__(self, watch: SocketWatch) -> None:
        self.watch = watch
        self._taken: SimpleQueue[int] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []

    def pair(self, *, is_watched: bool = True) -> tuple[socket.socket, socket.socket]:
        """A new pair of sockets, the watched one and its peer; closed with the watch."""
        watched, peer = socket.socketpair()
        self._sockets += watched, peer
        if is_watched:
            self.watch.add(watched.fileno())
        return watched, peer

    def start(self, count: int = 1) -> None:
        """*count* more workers wait."""
        for _ in range(count):
            self._threads.append(threading.Thread(target=self._wait, daemon=True))
            self._threads[-1].start()

    def taken(self) -> int:
        """The number of the next socket that a worker got."""
        return self._taken.get(timeout=DEADLINE_S)

    def check_nothing_is_taken(self) -> None:
        """No worker gets anything for a while."""
        with pytest.raises(Empty):
            self._taken.get(timeout=NOTHING_S)

    def release(self) -> None:
        """Let the workers that still wait go, by a socket that is always readable; then close all sockets."""
        waking, peer = self.pair()
        peer.send(b"x")
        for thread in self._threads:
            while thread.is_alive():
                thread.join(NOTHING_S)
                with suppress(Empty):
                    if self._taken.get_nowait() == waking.fileno():
                        self.watch.arm(waking.fileno())
        for one in self._sockets:
            one.close()

    def _wait(self) -> None:
        for fd in self.watch.wait():
            self._taken.put(fd)


@pytest.fixture(params=WATCHES, ids="-".join)
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Workers of every kind of watch."""
    selector, mode = request.param
    workers = Workers(make_watch(selector, mode))
    yield workers
    workers.release()


def test_a_socket_that_is_added_while_a_worker_waits_is_noticed(workers: Workers) -> None:
    workers.pair()
    workers.start()
    workers.check_nothing_is_taken()
    watched, peer = workers.pair(is_watched=False)
    peer.send(b"x")
    workers.watch.add(watched.fileno())
    assert workers.taken() == watched.fileno()


def test_a_readable_socket_is_handed_to_one_worker_only_until_it_is_armed_again(workers: Workers) -> None:
    (watched, peer), (other, others_peer) = workers.pair(), workers.pair()
    workers.start(3)
    peer.send(b"x")
    assert workers.taken() == watched.fileno()
    workers.check_nothing_is_taken()
    others_peer.send(b"x")
    assert workers.taken() == other.fileno()
    workers.watch.arm(watched.fileno())
    assert workers.taken() == watched.fileno()


def test_a_socket_that_is_closed_after_it_was_taken_disturbs_nobody(workers: Workers) -> None:
    *gone, (last, lasts_peer) = [workers.pair() for _ in range(5)]
    for watched, peer in gone:
        peer.send(b"x")
        workers.start()
        assert workers.taken() == watched.fileno()
        workers.watch.forget(watched.fileno())
        watched.close()
    workers.start(2)
    workers.check_nothing_is_taken()
    lasts_peer.send(b"x")
    assert workers.taken() == last.fileno()


def test_the_number_of_a_closed_socket_can_be_watched_again(workers: Workers) -> None:
    (first, peer), (again, agains_peer) = workers.pair(), workers.pair(is_watched=False)
    peer.send(b"x")
    workers.start()
    number = workers.taken()
    workers.watch.forget(number)
    os.dup2(again.fileno(), number)  # closes what the first had
    workers.start()
    workers.watch.add(number)
    workers.check_nothing_is_taken()
    agains_peer.send(b"x")
    assert workers.taken() == number == first.fileno()


def test_a_selector_that_the_platform_lacks_is_refused_with_those_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "epoll", raising=False)
    with pytest.raises(BadInput, match=r"SELECTOR is epoll, but .* supports only: auto, poll, select"):
        make_watch("epoll")


# ---- one worker is still arming a socket when another one already has it -----------------------------------------


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="needs epoll")
@pytest.mark.parametrize("slow", ["add", "arm"])
@pytest.mark.parametrize("then", ["arm", "close"])
def test_a_socket_that_is_taken_while_it_is_still_being_armed_kills_no_worker(
    monkeypatch: pytest.MonkeyPatch, slow: str, then: str
) -> None:
    """The waker's add() or arm() is held up before it does anything, once."""
    waker, entered, go_on = EpollWatch(), threading.Event(), threading.Event()
    watch = ScanWatch(waker, lambda fd: bool(select.select((fd,), (), (), 0)[0]))
    watched, peer = socket.socketpair()
    fd, act = watched.fileno(), getattr(waker, slow)

    def held_up(fd: int) -> None:
        if not entered.is_set():
            entered.set()
            assert go_on.wait(DEADLINE_S)
        act(fd)

    def take() -> None:
        assert watch.wait() == [fd]
        if then == "arm":
            watch.arm(fd)
        else:
            watch.forget(fd)
            watched.close()

    with watched, peer, ThreadPoolExecutor() as pool:
        peer.send(b"x")
        if slow == "arm":
            watch.add(fd)
            assert watch.wait() == [fd]
        monkeypatch.setattr(waker, slow, held_up)
        arming = pool.submit(getattr(watch, slow), fd)
        assert entered.wait(DEADLINE_S)
        taking = pool.submit(take)
        wait([taking], NOTHING_S)
        go_on.set()
        arming.result(DEADLINE_S)
        taking.result(DEADLINE_S)


# ---- accepting ----------------------------------------------------------------------------------------------------


def test_a_connection_that_another_worker_accepted_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        assert accept_or_none(listener) is None
        with socket.create_connection(listener.getsockname()):
            assert select.select([listener], [], [], DEADLINE_S)[0]
            accepted = accept_or_none(listener)
            assert accepted
            accepted.close()
