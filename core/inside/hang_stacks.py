"""Provoke races by a short switch interval, and record crashes and hangs.

In the folder, `crash-PID` gets faulthandler's traceback of a fatal error. `hang-PID` gets the
stacks of all threads each time the process receives STACKS_SIGNAL. Source: docs.python.org,
sys.setswitchinterval and faulthandler.

Only `runner.py stress` starts this part (lab/run/stress_rounds.py). It runs within the process of
the service, and its two files stay open until this process ends.
"""

import faulthandler
import os
import signal
import sys

# beginnings of the files' names
CRASH, HANG = "crash", "hang"
STACKS_SIGNAL = signal.SIGRTMAX - 1  # a signal that servers do not use, unlike SIGUSR1 and SIGUSR2


def start(folder: str, options: dict[str, float]) -> None:
    """Enable faulthandler and set the switch interval.

    options: `switch_interval_s`, which has no effect without a GIL
    """
    crash, hang = (  # open until the process ends
        os.open(
            os.path.join(folder, f"{name}-{os.getpid()}"),
            os.O_WRONLY | os.O_CREAT | os.O_APPEND,
            0o600,
        )
        for name in (CRASH, HANG)
    )
    faulthandler.enable(crash)
    faulthandler.register(STACKS_SIGNAL, hang, all_threads=True)
    sys.setswitchinterval(options["switch_interval_s"])
