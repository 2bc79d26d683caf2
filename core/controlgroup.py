"""The end of control groups: removed with all that runs in them. Source: docs.kernel.org, cgroup v2 and v1."""

import os
import signal
import time
from contextlib import suppress

NOTE = "groups"  # the file of a private folder that names the groups to be removed, for the reaper
TRIES, TURN_S = 1000, 0.002


def remove(folder: str) -> None:
    """End every process in the group *folder* and in groups below it, and remove them."""
    for _ in range(TRIES):
        for group, *_rest in os.walk(folder, topdown=False):
            with suppress(OSError), open(f"{group}/cgroup.procs", encoding="ascii") as pids:
                for pid in pids:
                    os.kill(int(pid), signal.SIGKILL)
            with suppress(OSError):
                os.rmdir(group)
        if not os.path.exists(folder):
            return
        time.sleep(TURN_S)
