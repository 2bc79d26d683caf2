"""Keep an idle CPU core from sleeping (Linux only). With few connections, wake-up latency would dominate the result.

Usage: awake.py PARENT CPU, as a child process of the orchestrator. It ends with its parent. It spins on the core with
the scheduling policy SCHED_IDLE; any other thread preempts it at once.
Source: sched(7).
"""

import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from core.parent import die_with_parent

NICEST = 19  # /proc/stat counts niced processes separately


def main() -> None:
    """Run an empty loop on the CPU with the lowest priority until this process is killed."""
    parent, cpu = map(int, sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    die_with_parent(parent, signal.SIGKILL)
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.nice(NICEST)
    while True:
        pass


if __name__ == "__main__":
    main()
