"""A service that takes a known time for each request: service.py PORT WITH_GIL WITHOUT_GIL [THREADS].

WITH_GIL and WITHOUT_GIL are two behaviours, such as answer_ms=10,slow_ms=150,slow_every=50. The state of the GIL picks
one of them. Without the GIL, requests take SLOWER times as long if THREADS is above 1. A connection's next answer is
due a known time after its previous answer, so neither the client nor the network nor this process makes the cycle
longer, if together they take less than TURN_S.
"""

import socket
import sys
import threading
from ast import literal_eval
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from time import perf_counter, sleep

TURN_S = 0.005
SLOWER = 1.1
SWITCH_S = 0.0001  # with the GIL, a thread that reads or answers does not wait for the one that works
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How long requests take.

    answer_ms:            time of a request: it sleeps, or works if *works* is 1
    works:                1 if requests take CPU time, one request after the other
    queued:               1 if requests wait for one another and take exponential times, as in an M/M/1 queue
    slow_ms, slow_every:  one of slow_every successive requests, and each request of /slow, takes slow_ms
    stop_ms, stop_every:  with every stop_every-th request, the whole service stops for stop_ms
    cold_ms, cold_requests: the service's first cold_requests requests take cold_ms
    """

    answer_ms: float
    works: int = 0
    queued: int = 0
    slow_ms: float = 0
    slow_every: int = 0
    stop_ms: float = 0
    stop_every: int = 0
    cold_ms: float = 0
    cold_requests: int = 0

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in vars(self).items() if value)


def parse_behaviour(text: str) -> Behaviour:
    """Parse a behaviour as it is written on the command line."""
    pairs = [pair.split("=") for pair in text.split(",")]
    return Behaviour(**{name: literal_eval(value) for name, value in pairs})


class Pattern:
    """The times of a service's requests. It has no clock, so that a simulation can play it, too.

    stopped_until_s: when the last stop of the whole service ends
    """

    def __init__(self, behaviour: Behaviour, random: Random) -> None:
        self._behaviour, self._random = behaviour, random
        self._requests = 0
        self._until_stop = random.randrange(behaviour.stop_every or 1)
        self._slow = self._slow_requests()
        self.stopped_until_s = 0.0

    def begin_request(self, now_s: float, is_slow: bool = False) -> float:
        """Return how long the request that arrived at *now_s* takes, in seconds."""
        behaviour = self._behaviour
        self._requests += 1
        if behaviour.stop_every and self._requests % behaviour.stop_every == self._until_stop:
            self.stopped_until_s = now_s + behaviour.stop_ms / 1e3
        if self._requests <= behaviour.cold_requests:
            return behaviour.cold_ms / 1e3
        if behaviour.queued:
            return self._random.expovariate(1e3 / behaviour.answer_ms)
        return (behaviour.slow_ms if next(self._slow) or is_slow else behaviour.answer_ms) / 1e3

    def _slow_requests(self) -> Iterator[bool]:
        """Yield for each request whether it is slow: one of slow_every, at a random place among them."""
        every = self._behaviour.slow_every
        while True:
            slow = self._random.randrange(every or 1)
            for place in range(every or 1):
                yield bool(every) and place == slow


class Server:
    """Answers requests, with a thread for each connection. Requests that work are done by one more thread, in order."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._in_turn, self._is_asleep = behaviour.works or behaviour.queued, bool(behaviour.queued)
        self._pattern = Pattern(behaviour, Random())
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1)
        self._free_s = 0.0

    def serve(self, port: int) -> None:
        """Accept connections until the process ends."""
        with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
            while True:
                threading.Thread(target=self._answer, args=(listener.accept()[0],), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        due_s = 0.0
        with connection, suppress(ConnectionError), connection.makefile("rb") as reader:
            while line := reader.readline():
                while reader.readline().strip():
                    pass
                arrived_s = perf_counter()
                with self._lock:
                    time_s = self._pattern.begin_request(arrived_s, b"/slow" in line)
                if self._in_turn:
                    self._worker.submit(self._work, arrived_s, time_s).result()
                else:
                    begun_s = due_s if arrived_s - due_s < TURN_S else arrived_s
                    due_s = self._sleep_until(begun_s + time_s)
                connection.sendall(ANSWER)

    def _work(self, arrived_s: float, time_s: float) -> None:
        """Work or sleep until *time_s* after the end of the previous request, or after the arrival if that is later."""
        begun_s = max(arrived_s, self._free_s)
        if perf_counter() - begun_s > TURN_S:
            begun_s = perf_counter()
        self._free_s = begun_s + time_s
        if self._is_asleep:
            sleep(max(0.0, self._free_s - perf_counter()))
        while perf_counter() < self._free_s:
            pass

    def _sleep_until(self, due_s: float) -> float:
        """Sleep until *due_s*, and until no stop of the service is left. Return when the answer is due then."""
        while True:
            sleep(max(0.0, due_s - perf_counter()))
            if self._pattern.stopped_until_s <= due_s:
                return due_s
            due_s = self._pattern.stopped_until_s


if __name__ == "__main__":
    sys.setswitchinterval(SWITCH_S)
    is_gil_enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    chosen = parse_behaviour(sys.argv[2 if is_gil_enabled else 3])
    if not is_gil_enabled and int([*sys.argv, "1"][4]) > 1:
        chosen = replace(chosen, answer_ms=SLOWER * chosen.answer_ms)
    Server(chosen).serve(int(sys.argv[1]))
