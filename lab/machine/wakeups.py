"""Keep CPU cores awake during a run (KEEP_AWAKE, Linux only). With few connections, wake-up latency
would dominate.

lab/run/cell_places.py runs awake() on each host during a measurement (Place.begin and finish).
This file is also a program: wakeups.py PARENT CPU..., a child process of the orchestrator. It ends
when its stdin is closed, or with its parent. One process with the scheduling policy SCHED_IDLE
spins on each core; any other thread preempts it at once.
Source: sched(7).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from core.messages import BadInput
from core.parent import die_with_parent

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


def awake(process_group: int | None) -> Generator[None]:
    """Keep all usable cores awake from the generator's `yield` to its end. Raises BadInput if that
    is impossible.
    """
    require_idle_class()
    with kept_awake(process_group=process_group):
        yield


@contextmanager
def kept_awake(process_group: int | None = None) -> Iterator[list[int]]:
    """Keep all usable cores awake during the `with` block. Yield the pids of the processes that do
    so.

    These processes end with the `with` block, or when this process ends.
    process_group: the process group that they join
    Raises BadInput if no process can be started.
    """
    pids: list[int] = []
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid())]
    with ExitStack() as keeping:
        with suppress(OSError):
            keeper = subprocess.Popen(
                [*command, *map(str, sorted(os.sched_getaffinity(0)))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=process_group,
            )
            # at its end, this closes the child's stdin, which ends the child, and waits
            keeping.enter_context(keeper)
            pids = [int(pid) for pid in keeper.stdout.readline().split()] if keeper.stdout else []
        if not pids:
            raise BadInput(
                "KEEP_AWAKE is true, but no process that keeps cores awake could be started. End "
                "some processes, or raise the limit (ulimit -u)."
            )
        yield pids


def main() -> None:
    """Start one spinning process per CPU, print the processes' pids, and kill the processes when
    stdin is closed.
    """
    parent, *cpus = map(int, sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    die_with_parent(parent, signal.SIGKILL)
    spinning = [spin(cpu, os.getpid()) for cpu in cpus]
    print(*spinning, flush=True)
    sys.stdin.read()
    for pid in spinning:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


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
    main()
