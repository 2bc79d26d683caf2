"""Record the memory mappings of this process at its start, and the allocator's statistics on request.

`memory-PID` is a copy of /proc/self/smaps before the service's code runs. At each signal ASK, the output of
sys._debugmallocstats() and END are appended to `mallocs-PID`. On a free-threaded build, whose allocator reports nothing
useful, only END is appended.
"""

import os
import signal
import sys
import sysconfig
from typing import Any

ASK = signal.SIGRTMAX - 2  # a signal that servers do not use, unlike SIGUSR1 and SIGUSR2
END = "# end\n"
SMAPS = "/proc/self/smaps"


def start(folder: str, options: dict[str, Any]) -> None:
    """Copy this process's memory mappings to a file, and install a handler for the signal ASK.

    A forked child inherits the handler, so it copies nothing.
    """
    if not callable(signal.getsignal(ASK)):
        with open(SMAPS, "rb") as smaps, open(os.path.join(folder, f"memory-{os.getpid()}"), "wb") as file:
            file.write(smaps.read())
        signal.signal(ASK, lambda number, frame: _answer(folder))


def _answer(folder: str) -> None:
    try:
        with open(os.path.join(folder, f"mallocs-{os.getpid()}"), "ab", buffering=0) as file:
            if not sysconfig.get_config_var("Py_GIL_DISABLED"):
                _print_to(file.fileno())
            file.write(END.encode())
    except OSError:  # the cell has ended, or this process has lost the permission to write
        pass


def _print_to(file: int) -> None:
    """Write the allocator's statistics to *file*. CPython prints them to C's stderr, which is redirected meanwhile."""
    try:
        stderr = os.dup(2)
    except OSError:  # stderr is closed
        return
    try:
        os.dup2(file, 2, inheritable=True)
        sys._debugmallocstats()
    finally:
        os.dup2(stderr, 2, inheritable=True)
        os.close(stderr)
