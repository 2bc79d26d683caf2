"""Count a service's processes and threads from outside during the timed window. Linux only.

A process serves if it holds an established connection from a client in any sample. Its workers are:

- for an ASGI application, its event loops: epoll instances that watch connections from clients;
- otherwise its busy threads, which used at least the share BUSY of the CPU time of the busiest
  thread. Threads that only move bytes do not count: one thread per event loop, or without a loop
  the first thread, which accepts connections in most servers. If there are at most twice as many
  busy threads as loops, the loops are the workers. If threads come and go, such as one per
  connection, the largest number at one time counts.

docs/own-service.md, "What ran", tells users what is counted.

service_child.py beside this file makes a WorkerSampler at its start and at each `reset`. result()
returns `workers` (record/child_lines.py, ServiceLine). Each sample takes CPU time from the service.
"""

import threading
from collections import Counter
from collections.abc import Sequence

from core.messages import Json
from core.processtree import ran_and_waited_ns, threads_of
from lab.user_service import holders

BUSY = 0.1  # see above: of the CPU time of the busiest thread
# pauses between samples; a long timed window has no more samples than a short one
PAUSES_S = (0.05, 0.2, 0.8, 3.2)


class WorkerSampler:
    """A thread that samples one service's connections and threads, until result() is called.

    Creating an instance takes the first sample and starts the thread.
    """

    def __init__(self, pids: Sequence[int], address: str, *, is_asgi: bool) -> None:
        self._pids, self._address, self._is_asgi = pids, address, is_asgi
        # by process: the most of each in any sample
        self._loops, self._connections = Counter[int](), Counter[int]()
        self._most_threads = Counter[int]()
        # CPU time in ns by process and thread: when the process was first seen, and last
        self._first: dict[int, dict[int, int]] = {}
        self._last: dict[int, dict[int, int]] = {}
        self._ended = threading.Event()
        self._sample()
        self._thread = threading.Thread(target=self._watch, name="worker count", daemon=True)
        self._thread.start()

    def result(self) -> list[Json]:
        """Stop the thread, take a last sample, and return the connections, workers and thread CPU
        times (ns, largest first) of each process that had a connection from a client.
        """
        self.stop()
        self._sample()
        return [self._served(pid) for pid in sorted(self._connections)]

    @property
    def has_several_loops(self) -> bool:
        """Return whether any process served clients with more than one event loop."""
        return any(loops > 1 for loops in self._loops.values())

    def stop(self) -> None:
        """Stop the sampling thread."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        for pause_s in PAUSES_S:
            if self._ended.wait(pause_s):
                return
            self._sample()

    def _sample(self) -> None:
        clients = holders.connections(self._address)
        for pid in self._pids:
            loops, held = holders.loops(pid, clients)
            threads = _cpu_ns_by_thread(pid)
            # |= keeps the larger number, and drops 0: these have only processes that served
            self._connections |= Counter({pid: held})
            self._loops |= Counter({pid: loops})
            self._most_threads |= Counter({pid: len(threads)})
            self._first.setdefault(pid, threads)
            self._last.setdefault(pid, {}).update(threads)

    def _served(self, pid: int) -> Json:
        used = {
            # a thread that began after the first sample used all of its time since
            thread: ns - self._first[pid].get(thread, 0)
            for thread, ns in self._last[pid].items()
        }
        busiest = max(used.values(), default=0)
        busy = {thread: ns for thread, ns in used.items() if ns >= BUSY * busiest}
        loops, alive = self._loops[pid], self._most_threads[pid]
        if self._is_asgi or 0 < loops <= len(busy) <= 2 * loops:
            threads = loops
        elif len(used) > 2 * alive:  # threads come and go; the first thread does not count
            threads = alive - 1
        else:
            # pid in busy counts as 1: the first thread, whose id is that of its process
            threads = len(busy) - max(loops, pid in busy)
        return {
            "connections": self._connections[pid],
            "threads": max(1, threads),
            "cpu_ns": sorted(busy.values(), reverse=True),
        }


def _cpu_ns_by_thread(pid: int) -> dict[int, int]:
    """Return {thread id: CPU time in ns} of the running threads of *pid*."""
    used = {}
    for thread in threads_of(pid):
        ran_ns, _ = ran_and_waited_ns(f"{pid}/task/{thread}")
        if ran_ns:  # a thread that has just ended reports nothing
            used[int(thread)] = ran_ns
    return used
