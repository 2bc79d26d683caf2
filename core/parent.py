"""Tie a process's life to its parent's, or adopt orphaned processes. Linux only. Source: prctl(2)."""

import os
from ctypes import CDLL

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PRCTL = getattr(CDLL(None), "prctl", None)  # looked up here because it is unsafe between fork and exec


def die_with_parent(parent_pid: int, number: int) -> None:
    """Let the kernel send the signal *number* to this process when its parent ends, or now if the parent has ended.

    parent_pid: the parent's os.getpid(), from before this process was forked
    """
    if _PRCTL:
        _PRCTL(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent_pid:
            os.kill(os.getpid(), number)


def adopt_orphans() -> bool:
    """Make this process the new parent of descendants whose parent ends. Return whether the system supports this."""
    if _PRCTL:
        _PRCTL(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return bool(_PRCTL)
