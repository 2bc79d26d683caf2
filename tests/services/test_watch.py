"""Each readable socket is handed to one worker until it is armed again, whatever does the waiting."""

import select
import socket
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue

import pytest

from core.messages import BadInput
from services.watch import EpollWatch, ScanWatch, make_watch

DEADLINE_S = 10.0
NOTHING_S = 0.1
SELECTORS = [name for name in ("epoll", "poll", "select") if hasattr(select, name)]
WATCHES = [(selector, mode) for mode in ("all", "single") for selector in SELECTORS]


@pytest.mark.parametrize(("selector", "mode"), WATCHES)
def test_a_readable_socket_is_handed_to_one_worker_only_until_it_is_armed_again(selector: str, mode: str) -> None:
    """Three workers wait, each for one socket. An error of theirs is a warning, which is an error of the test."""
    watch, taken = make_watch(selector, mode), SimpleQueue[int]()

    def work() -> None:
        for fd in watch.wait():
            taken.put(fd)

    (watched, peer), (other, others_peer) = socket.socketpair(), socket.socketpair()
    workers = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    with watched, peer, other, others_peer:
        watch.add(watched.fileno())
        watch.add(other.fileno())
        for worker in workers:
            worker.start()
        peer.send(b"x")
        assert taken.get(timeout=DEADLINE_S) == watched.fileno()
        with pytest.raises(Empty):
            taken.get(timeout=NOTHING_S)
        others_peer.send(b"x")
        assert taken.get(timeout=DEADLINE_S) == other.fileno()
        watch.arm(watched.fileno())
        assert taken.get(timeout=DEADLINE_S) == watched.fileno()
        for worker in workers:
            worker.join(DEADLINE_S)


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
