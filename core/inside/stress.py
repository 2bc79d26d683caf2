"""Makes races show: threads switch as often as they can. What a crash and a hang looked like is in files.

`crash-PID` in the folder has faulthandler's trace of a fatal error, `hang-PID` the stacks of all threads each time
that the process gets STACKS_SIGNAL. Source: docs.python.org, sys.setswitchinterval and faulthandler.
"""

import faulthandler
import os
import signal
import sys
from typing import Any

CRASH, HANG = "crash", "hang"
STACKS_SIGNAL = signal.SIGRTMAX - 1  # nobody's: servers have uses for SIGUSR1 and SIGUSR2


def start(folder: str, options: dict[str, Any]) -> None:
    """options: `switch_interval_s`, which is nothing to an interpreter without its GIL."""
    faulthandler.enable(_new_file(folder, CRASH))
    faulthandler.register(STACKS_SIGNAL, _new_file(folder, HANG), all_threads=True)
    sys.setswitchinterval(options["switch_interval_s"])


def _new_file(folder: str, name: str) -> int:
    """The descriptor of a file of this process, open until it ends."""
    return os.open(os.path.join(folder, f"{name}-{os.getpid()}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
