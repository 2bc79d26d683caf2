"""A process that ends when its parent does, by the kernel: Linux only. Source: prctl(2)."""

import os
from ctypes import CDLL

_PR_SET_PDEATHSIG = 1
_PRCTL = getattr(CDLL(None), "prctl", None)  # looked up here: a new process should not, before it runs its program


def die_with_parent(parent_pid: int, number: int) -> None:
    """From now on this process gets the signal *number* when its parent ends; at once if it has ended already.

    parent_pid: the parent's os.getpid(), from before this process was forked
    """
    if _PRCTL:
        _PRCTL(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent_pid:
            os.kill(os.getpid(), number)
