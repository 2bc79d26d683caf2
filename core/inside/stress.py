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
    """Begin. options: `switch_interval_s`, which is nothing to an interpreter without its GIL."""
    crash, hang = (  # open until the process ends
        os.open(os.path.join(folder, f"{name}-{os.getpid()}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for name in (CRASH, HANG)
    )
    faulthandler.enable(crash)
    faulthandler.register(STACKS_SIGNAL, hang, all_threads=True)
    sys.setswitchinterval(options["switch_interval_s"])
