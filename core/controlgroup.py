"""Remove control groups, and kill the processes in them. Source: docs.kernel.org, cgroup v2 and v1."""

import os
import signal
import time
from contextlib import suppress

NOTE = "groups"  # a file in a private folder that names the groups that the reaper must remove
TRIES, TURN_S = 1000, 0.002


def remove(folder: str) -> None:
    """Kill every process in the control group *folder* and in the groups below it. Then remove these groups."""
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
