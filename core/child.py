"""The child contract, the child's side: docs/child-contract.md.

First line of stdin: the cell. First line of stdout: ready. Last line of stdout: the result. End of file on
stdin: stop.
"""

import json
import os
import resource
import sys
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from core.runtime import facts

STOPPED_EARLY = 3


def read_cell() -> dict[str, Any]:
    """What this child is told: the cell, and its place in it. Raises ValueError if the line is not JSON."""
    told = json.loads(sys.stdin.readline())
    if type(told) is not dict:
        raise ValueError("the first line of standard input must be a cell, a JSON object")
    return told


def say_ready(addresses: list[str]) -> None:
    """First line of stdout: where this child listens (clients: nowhere), and what it runs under."""
    _say({"ready": True, "pid": os.getpid(), "addresses": addresses, "runtime": facts()})


def say_result_and_exit(result: Mapping[str, Any]) -> NoReturn:
    """Last line of stdout. Exits at once: threads that still wait are not waited for."""
    _say({"result": result})
    sys.stderr.flush()
    os._exit(0)


def wait_for_go() -> None:
    """Block until the orchestrator releases all clients. Exits at end of file."""
    if sys.stdin.readline().strip() != "go":
        os._exit(STOPPED_EARLY)


def wait_for_end() -> None:
    """Block until end of file on stdin: the orchestrator has had enough, or is dead."""
    while sys.stdin.readline():
        pass


def end_with_parent() -> None:
    """From now on, exit at end of file on stdin, whatever the other threads do."""

    def watch() -> None:
        wait_for_end()
        os._exit(STOPPED_EARLY)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


class Usage:
    """What the operating system has counted for this process since the object was made."""

    def __init__(self) -> None:
        self._start = resource.getrusage(resource.RUSAGE_SELF)

    def to_json(self) -> dict[str, int]:
        """CPU times in ns and context switches since the start; peak memory of the process in bytes."""
        start, now = self._start, resource.getrusage(resource.RUSAGE_SELF)
        return {
            "cpu_user_ns": round((now.ru_utime - start.ru_utime) * 1e9),
            "cpu_system_ns": round((now.ru_stime - start.ru_stime) * 1e9),
            "voluntary_switches": now.ru_nvcsw - start.ru_nvcsw,
            "involuntary_switches": now.ru_nivcsw - start.ru_nivcsw,
            "max_rss_bytes": peak_memory_bytes(),
        }


def peak_memory_bytes() -> int:
    """Largest resident set of this process, in bytes.

    Linux's ru_maxrss of a child starts at its parent's, so /proc/self/status (VmHWM) is asked there.
    Source: proc_pid_status(5), getrusage(2).
    """
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            (line,) = (line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
