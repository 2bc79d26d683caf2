"""Keep idle CPU cores from sleeping (Linux only). With few connections, wake-up latency would dominate the result.

Usage: awake.py PARENT CPU..., as a child process of the orchestrator. It ends when its stdin is closed, or with its
parent. One process with the scheduling policy SCHED_IDLE spins on each core; any other thread preempts it at once.
Source: sched(7).
"""

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from core.parent import die_with_parent

NICEST = 19  # /proc/stat counts niced processes separately


def main() -> None:
    """Start one spinning process per CPU, print the processes' pids, and kill the processes when stdin is closed."""
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
    """Start a process that runs an empty loop on *cpu* with the lowest priority until it is killed. Return its pid."""
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
