"""What this process had mapped when its interpreter had started, and what its allocator says when it is asked.

`memory-PID` is /proc/self/smaps before the service's own code. Each ASK appends to `mallocs-PID` what
sys._debugmallocstats() prints, and END. A free-threaded build's allocator says nothing of use there: END alone.
"""

import os
import signal
import sys
import sysconfig
from typing import Any

ASK = signal.SIGRTMAX - 2  # nobody's: servers have uses for SIGUSR1 and SIGUSR2
END = "# end\n"
SMAPS = "/proc/self/smaps"


def start(folder: str, options: dict[str, Any]) -> None:
    """Note what is mapped, and answer ASK from now on; what a forked child has at first is its parent's."""
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
    except OSError:  # the cell is over, or this process may not write there any more
        pass


def _print_to(file: int) -> None:
    """Have the statistics printed, which CPython does to the stderr of C, in place of which *file* is for that time."""
    try:
        stderr = os.dup(2)
    except OSError:  # it is closed
        return
    try:
        os.dup2(file, 2, inheritable=True)
        sys._debugmallocstats()
    finally:
        os.dup2(stderr, 2, inheritable=True)
        os.close(stderr)
