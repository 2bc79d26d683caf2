"""Commands that build an environment, a wheel or a program: one at a time for each place, each with a deadline."""

import fcntl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab import processes
from lab.python.interpreters import scrubbed_environment


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

    It inherits the lock: should this process be killed, the next builder waits until the command has ended.
    Raises subprocess.TimeoutExpired, and OSError if it does not run.
    """
    environment = scrubbed_environment() | {"NO_COLOR": "1"}
    return processes.run(command, timeout_s, environment, folder=folder, pass_fds=(lock,))
