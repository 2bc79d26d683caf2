"""Commands that build an environment, a wheel or a program: one at a time for each place, each with a deadline."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import processes
from lab.python.interpreters import scrubbed_environment


def run(
    command: Sequence[str], lock: int, timeout_s: float, folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run *command* to its end, in *folder* and in the environment that every child has; what it said.

    It inherits *lock* (lab.locks): should this process be killed, the next builder waits until the command has ended.
    Raises subprocess.TimeoutExpired, and OSError if it does not run.
    """
    environment = {"UV_COMPILE_BYTECODE": "1"} | scrubbed_environment() | {"NO_COLOR": "1"}
    return processes.run(command, timeout_s, environment, folder=folder, pass_fds=(lock,))
