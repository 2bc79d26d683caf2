"""Run a command to its end; how a process ended, and what it wrote last."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from core.messages import Message, message


def run(
    command: Sequence[str | Path],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> "subprocess.CompletedProcess[str]":
    """Run *command* without input. It leads a process group, which is killed at the deadline, or on Ctrl-C.

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
        env=environment,
        pass_fds=pass_fds,
        process_group=0,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout_s)
        except BaseException:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def ending(status: int) -> Message:
    """Of its exit status, as after its name: 'exited with status 1', 'was killed by SIGKILL'."""
    if status >= 0:
        return message("exited with status {status}", status=status)
    try:
        return message("was killed by {signal}", signal=signal.Signals(-status).name)
    except ValueError:
        return message("was killed by {signal}", signal=f"SIG{-status}")
