"""A process that ends when its parent does, or adopts orphans, by the kernel: Linux only. Source: prctl(2)."""

import os
from ctypes import CDLL

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PRCTL = getattr(CDLL(None), "prctl", None)  # looked up here: a new process should not, before it runs its program


def die_with_parent(parent_pid: int, number: int) -> None:
    """From now on this process gets the signal *number* when its parent ends; at once if it has ended already.

    parent_pid: the parent's os.getpid(), from before this process was forked
    """
    if _PRCTL:
        _PRCTL(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent_pid:
            os.kill(os.getpid(), number)


def adopt_orphans() -> bool:
    """Make descendants whose parent ends children of this process. Return whether the system can do that."""
    if _PRCTL:
        _PRCTL(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return bool(_PRCTL)
