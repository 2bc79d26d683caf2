"""Holds cores awake: on each a process of the idle class, which any other thread displaces at once.

Usage: awake.py PARENT CPU..., as a child of the orchestrator. Ends when its stdin does, or its parent: Linux alone.
An idle (virtual) core takes long to wake up, and a closed loop of few connections measures that. Source: sched(7).
"""

import os
import select
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from core.parent import die_with_parent

NICEST = 19  # so that /proc/stat counts it apart


def main() -> None:
    """One process for each CPU; this one waits for them."""
    parent, *cpus = map(int, sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    die_with_parent(parent, signal.SIGKILL)
    pid, children = os.getpid(), []
    for cpu in cpus:
        child = os.fork()
        if not child:
            spin(cpu, pid)
        children.append(child)
    os.write(1, b"%s\n" % b" ".join(b"%d" % child for child in children))
    select.select([0], [], [])
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def spin(cpu: int, parent: int) -> None:
    """Until it is killed."""
    die_with_parent(parent, signal.SIGKILL)
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.nice(NICEST)
    while True:
        pass


if __name__ == "__main__":
    main()
