"""Keep CPU cores awake during a run (KEEP_AWAKE, Linux only). With few connections, wake-up latency
would dominate.

lab/run/cell_places.py runs awake() on each host during a measurement (Place.begin and finish).
This file is also a program: wakeups.py CPU..., which a guard process ends (lab/processes.py). One
process with the scheduling policy SCHED_IDLE spins on each core; any other thread preempts it at
once.
Source: sched(7).
"""

import os
import signal
import sys
from collections.abc import Generator
from subprocess import DEVNULL, PIPE

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from core.messages import BadInput
from core.parent import die_with_parent
from lab.processes import guarded

# the largest nice value; /proc/stat counts niced processes separately
NICEST = 19


def require_idle_class() -> None:
    """Raise BadInput if this platform cannot keep CPU cores awake."""
    if not hasattr(os, "SCHED_IDLE"):
        raise BadInput(
            "KEEP_AWAKE is true, but {platform} lacks the Linux scheduling policy SCHED_IDLE. Use "
            "--keep-awake false.",
            platform=sys.platform,
        )


def awake() -> Generator[list[int]]:
    """Keep all usable cores awake from the generator's `yield` to its end, or until this process
    ends. Yield the pids of the processes that do so. Raises BadInput if that is impossible.
    """
    require_idle_class()
    cpus = map(str, sorted(os.sched_getaffinity(0)))
    command = [sys.executable, "-I", "-S", __file__, *cpus]
    with guarded(command, streams=(PIPE, DEVNULL)) as guard:
        assert guard.process.stdout
        pids = [int(pid) for pid in guard.process.stdout.readline().split()]
        if not pids:
            raise BadInput(
                "KEEP_AWAKE is true, but no process that keeps cores awake could be started. End "
                "some processes, or raise the limit (ulimit -u)."
            )
        yield pids


def spin(cpu: int, parent: int) -> int:
    """Start a process that runs an empty loop on *cpu* with the lowest priority until it is killed.
    Return its pid.
    """
    if pid := os.fork():
        return pid
    die_with_parent(parent, signal.SIGKILL)
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.nice(NICEST)
    while True:
        pass


if __name__ == "__main__":
    print(*[spin(int(cpu), os.getpid()) for cpu in sys.argv[1:]], flush=True)
    signal.pause()
