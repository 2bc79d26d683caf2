"""A command that is run to its end: what it printed, how it ended, and what it cost."""

import ctypes
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from core.child import peak_memory_bytes

PR_SET_PDEATHSIG = 1
LOOK_EVERY_S = 0.1
_LIBC = ctypes.CDLL(None)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """status: below 0 the signal that ended it. peak_bytes: its largest resident set, 0 where nothing tells."""

    output: str
    complaints: str
    status: int
    peak_bytes: int


def run(command: Sequence[str]) -> Ended:
    """Run *command* to its end; it ends with this process. Raises OSError where there is no such program."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - no more than a system call
    )
    return heard(process)


def heard(process: "subprocess.Popen[str]") -> Ended:
    """Wait for the end of *process*, with an eye on its memory: when it has ended, VmHWM is no longer there."""
    seen_bytes = 0
    while True:
        seen_bytes = max(seen_bytes, _peak_bytes_of(process.pid))
        try:
            output, complaints = process.communicate(timeout=LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue
        peak_bytes = max(seen_bytes, _peak_bytes_of_ended())
        return Ended(output=output, complaints=complaints, status=process.returncode, peak_bytes=peak_bytes)


def _peak_bytes_of(pid: int) -> int:
    """VmHWM of a process that runs, in bytes; 0 where /proc does not say. Source: proc_pid_status(5)."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            found = [line for line in status if line.startswith("VmHWM:")]
        return int(found[0].split()[1]) * 1024 if found else 0
    except (OSError, ValueError):
        return 0


def _peak_bytes_of_ended() -> int:
    """ru_maxrss of the children that have ended, in bytes, or 0 where it may be this process's own.

    A child's begins with what its parent had when it was forked (docs/decisions/006): only above that is it a child's.
    """
    most_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return most_bytes if most_bytes > peak_memory_bytes() else 0


def _die_with_parent() -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class ChildUsage:
    """What the operating system has counted for child processes that have ended, since the object was made."""

    def __init__(self) -> None:
        self._start = resource.getrusage(resource.RUSAGE_CHILDREN)

    def to_json(self) -> dict[str, int]:
        """CPU times (ns) and context switches."""
        start, now = self._start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "cpu_user_ns": round((now.ru_utime - start.ru_utime) * 1e9),
            "cpu_system_ns": round((now.ru_stime - start.ru_stime) * 1e9),
            "voluntary_switches": now.ru_nvcsw - start.ru_nvcsw,
            "involuntary_switches": now.ru_nivcsw - start.ru_nivcsw,
        }
