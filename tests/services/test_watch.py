"""Each readable socket is handed to one worker until it is armed again, whatever does the waiting."""

import os
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue

import pytest

from core.errors import BadInput
from services.watch import EpollWatch, ScanWatch, SocketWatch, accept_or_none, make_watch

DEADLINE_S = 10.0
NOTHING_S = 0.1
SELECTORS = [name for name in ("epoll", "poll", "select", "kqueue") if hasattr(select, name)]
WATCHES = [(selector, mode) for mode in ("all", "single") for selector in SELECTORS]


class Pair:
    """A watched socket and its peer."""

    def __init__(self) -> None:
        self.watched, self.peer = socket.socketpair()

    @property
    def fd(self) -> int:
        """Number of the watched one."""
        return self.watched.fileno()

    def speak(self) -> None:
        """Make the watched one readable."""
        self.peer.send(b"x")

    def hear(self) -> None:
        """Make it unreadable again."""
        self.watched.recv(4096)

    def close(self) -> None:
        """Close both."""
        self.watched.close()
        self.peer.close()


class Workers:
    """Threads that wait on the watch, each for one socket; an error of theirs is an error of the test."""

    def __init__(self, watch: SocketWatch) -> None:
        self.watch = watch
        self._taken: SimpleQueue[int | BaseException] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._pairs: list[Pair] = []

    def pair(self) -> Pair:
        """A new pair of sockets, closed with the watch."""
        self._pairs.append(Pair())
        return self._pairs[-1]

    def start(self, count: int = 1) -> None:
        """*count* more workers wait."""
        for _ in range(count):
            self._threads.append(threading.Thread(target=self._wait, daemon=True))
            self._threads[-1].start()

    def taken(self) -> int:
        """The number of the next socket that a worker got."""
        got = self._taken.get(timeout=DEADLINE_S)
        if isinstance(got, BaseException):
            raise got
        return got

    def nothing_is_taken(self) -> bool:
        """Whether no worker gets anything for a while."""
        with suppress(Empty):
            self._taken.get(timeout=NOTHING_S)
            return False
        return True

    def release(self) -> None:
        """Let the workers that still wait go, by a socket that is always readable; then close all sockets."""
        waking = self.pair()
        waking.speak()
        self.watch.add(waking.fd)
        for thread in self._threads:
            while thread.is_alive():
                thread.join(NOTHING_S)
                with suppress(Empty):
                    if self._taken.get_nowait() == waking.fd:
                        self.watch.arm(waking.fd)
        for pair in self._pairs:
            pair.close()

    def _wait(self) -> None:
        try:
            for fd in self.watch.wait():
                self._taken.put(fd)
        except BaseException as error:
            self._taken.put(error)


@pytest.fixture(params=WATCHES, ids=["-".join(watch) for watch in WATCHES])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Workers of every kind of watch."""
    selector, mode = request.param
    workers = Workers(make_watch(selector, mode))
    yield workers
    workers.release()


def test_a_socket_that_is_added_while_a_worker_waits_is_noticed(workers: Workers) -> None:
    quiet, pair = workers.pair(), workers.pair()
    workers.watch.add(quiet.fd)
    workers.start()
    assert workers.nothing_is_taken()
    pair.speak()
    workers.watch.add(pair.fd)
    assert workers.taken() == pair.fd


def test_a_readable_socket_is_handed_to_one_worker_only_until_it_is_armed_again(workers: Workers) -> None:
    pair, other = workers.pair(), workers.pair()
    workers.watch.add(pair.fd)
    workers.watch.add(other.fd)
    workers.start(3)
    pair.speak()
    assert workers.taken() == pair.fd
    assert workers.nothing_is_taken()
    other.speak()
    assert workers.taken() == other.fd
    workers.watch.arm(pair.fd)
    assert workers.taken() == pair.fd


def test_each_of_many_readable_sockets_goes_to_one_of_many_workers(workers: Workers) -> None:
    pairs = [workers.pair() for _ in range(50)]
    for pair in pairs:
        workers.watch.add(pair.fd)
    workers.start(50)
    for pair in pairs:
        pair.speak()
    assert sorted(workers.taken() for _ in pairs) == sorted(pair.fd for pair in pairs)


def test_a_socket_that_is_closed_after_it_was_taken_disturbs_nobody(workers: Workers) -> None:
    pairs = [workers.pair() for _ in range(5)]
    for pair in pairs:
        workers.watch.add(pair.fd)
    for pair in pairs[:-1]:
        pair.speak()
        workers.start()
        assert workers.taken() == pair.fd
        workers.watch.forget(pair.fd)
        pair.close()
    workers.start(2)
    assert workers.nothing_is_taken()
    pairs[-1].speak()
    assert workers.taken() == pairs[-1].fd


def test_the_number_of_a_closed_socket_can_be_watched_again(workers: Workers) -> None:
    first, again = workers.pair(), workers.pair()
    workers.watch.add(first.fd)
    first.speak()
    workers.start()
    number = workers.taken()
    workers.watch.forget(number)
    first.watched.detach()
    os.dup2(again.fd, number)
    first.watched = socket.socket(fileno=number)
    workers.start()
    workers.watch.add(number)
    assert workers.nothing_is_taken()
    again.speak()
    assert workers.taken() == number


def test_select_cannot_watch_numbers_from_1024_on_and_the_others_can() -> None:
    held = {selector: make_watch(selector).holds(1024) for selector in SELECTORS}
    assert held == {selector: selector != "select" for selector in SELECTORS}
    assert all(make_watch(selector, mode).holds(1023) for selector, mode in WATCHES)
    assert not make_watch("select", "single").holds(1024)


@pytest.mark.skipif(SELECTORS[-1] == "kqueue", reason="this platform has every selector")
def test_a_selector_that_the_platform_lacks_is_refused_with_those_it_has() -> None:
    with pytest.raises(BadInput, match="kqueue"):
        make_watch("kqueue")


# ---- one worker is still arming a socket when another one already has it -----------------------------------------


class SlowWaker(EpollWatch):
    """A waker whose add() or arm() is held up before it does anything: the one that `slow` names, once."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = ""
        self.entered = threading.Event()
        self.go_on = threading.Event()

    def add(self, fd: int) -> None:
        self._hold("add")
        super().add(fd)

    def arm(self, fd: int) -> None:
        self._hold("arm")
        super().arm(fd)

    def _hold(self, name: str) -> None:
        if name == self.slow and not self.entered.is_set():
            self.entered.set()
            assert self.go_on.wait(DEADLINE_S)


def _readable(fd: int) -> bool:
    return bool(select.select((fd,), (), (), 0)[0])


def _started(errors: list[Exception], act: Callable[[], None]) -> threading.Thread:
    def run() -> None:
        try:
            act()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="needs epoll")
@pytest.mark.parametrize("slow", ["add", "arm"])
@pytest.mark.parametrize("then", ["arm", "close"])
def test_a_socket_that_is_taken_while_it_is_still_being_armed_kills_no_worker(slow: str, then: str) -> None:
    waker, pair, errors = SlowWaker(), Pair(), list[Exception]()
    watch = ScanWatch(waker, _readable)
    pair.speak()
    if slow == "arm":
        watch.add(pair.fd)
        assert watch.wait() == [pair.fd]
    waker.slow = slow

    def arming() -> None:
        (watch.add if slow == "add" else watch.arm)(pair.fd)

    def taking() -> None:
        (fd,) = watch.wait()
        if then == "arm":
            watch.arm(fd)
        else:
            watch.forget(fd)
            pair.watched.close()

    first = _started(errors, arming)
    assert waker.entered.wait(DEADLINE_S)
    second = _started(errors, taking)
    second.join(NOTHING_S)
    waker.go_on.set()
    first.join(DEADLINE_S)
    second.join(DEADLINE_S)
    pair.close()
    assert (first.is_alive(), second.is_alive(), errors) == (False, False, [])


# ---- accepting ----------------------------------------------------------------------------------------------------


def test_a_connection_that_another_worker_accepted_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        assert accept_or_none(listener) is None
        with socket.create_connection(listener.getsockname()):
            assert select.select([listener], [], [], DEADLINE_S)[0]
            accepted = accept_or_none(listener)
            assert accepted is not None
            accepted.close()
