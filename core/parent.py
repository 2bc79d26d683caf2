"""End processes with their parent: tie lives, adopt orphaned processes, and remove control groups.
Linux only.

Sources: prctl(2); docs.kernel.org, cgroup v2 and v1.

lab/reaper.py, lab/guard.py and the children that start other programs use it. Where prctl is
missing, die_with_parent() does nothing and adopt_orphans() returns False. A new process calls
die_with_parent() between fork and exec, so it must not import, look up or lock anything there.
"""

import os
import signal
import time
from contextlib import suppress
from ctypes import CDLL

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PRCTL = getattr(
    CDLL(None), "prctl", None
)  # looked up here because it is unsafe between fork and exec


def die_with_parent(parent_pid: int, number: int) -> None:
    """Let the kernel send the signal *number* to this process when its parent ends, or now if the
    parent has ended.

    The kernel means the *thread* that forked this process (prctl(2)), so fork from a thread that
    lives as long as the parent.
    parent_pid: the parent's os.getpid(), from before this process was forked
    """
    if _PRCTL:
        _PRCTL(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent_pid:
            os.kill(os.getpid(), number)


def adopt_orphans() -> bool:
    """Make this process the new parent of descendants whose parent ends. Return whether the system
    supports this.
    """
    if _PRCTL:
        _PRCTL(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return bool(_PRCTL)


# attempts of remove_group(), and the pause after each in s
TRIES, TURN_S = 1000, 0.002
INIT_PID = 1  # never killed; kill(2) takes 0 and negative numbers as groups of processes


def remove_group(folder: str) -> None:
    """Kill every process in the control group *folder* and in the groups below it. Then remove
    these groups. Blocks until they are gone, and gives up without an error after TRIES * TURN_S
    (2 s).
    """
    for _ in range(TRIES):
        for group, *_rest in os.walk(folder, topdown=False):
            with (
                suppress(OSError, ValueError),
                open(f"{group}/cgroup.procs", encoding="ascii") as pids,
            ):
                for pid in map(int, pids):
                    if pid > INIT_PID:  # 0: a process of another pid namespace
                        os.kill(pid, signal.SIGKILL)
            with suppress(OSError):
                os.rmdir(group)
        if not os.path.exists(folder):
            return
        time.sleep(TURN_S)
