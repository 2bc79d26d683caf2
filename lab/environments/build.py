"""Commands that make an environment, a wheel or a program: one maker of a place at a time, none outlives its time."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.python import interpreters


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock of the file *path*, which is made if need be; its descriptor, for run()."""
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def run(
    command: Sequence[str], lock: int, timeout_s: float, folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run *command* to its end, in *folder* and in the environment that every child has; what it said.

    It inherits the lock: should this process be killed, the next maker waits until the command has ended. It leads a
    process group, so that a compiler that it started ends with it when the time is over, or on Ctrl-C.
    Raises subprocess.TimeoutExpired, and OSError if it does not run.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=interpreters.scrubbed_environment() | {"NO_COLOR": "1"},
        pass_fds=(lock,),
        process_group=0,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout_s)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
