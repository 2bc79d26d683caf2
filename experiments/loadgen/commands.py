"""Run a command to its end, and return its output, exit status and peak memory."""

import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from core.child import own_peak_memory_bytes
from core.parent import die_with_parent
from core.processtree import peak_memory_bytes

LOOK_EVERY_S = 0.1


@dataclass(frozen=True, kw_only=True)
class CommandOutcome:
    """The result of a command: its stdout and stderr, exit status and peak memory.

    status: negative for the signal that ended the command
    peak_bytes: its largest resident set; 0 if not known
    """

    output: str
    stderr: str
    status: int
    peak_bytes: int


def run(command: Sequence[str]) -> CommandOutcome:
    """Run *command* to its end. The kernel kills it if this process ends. Raises OSError if the program is missing."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),  # noqa: PLW1509 - no more than system calls
    )
    return outcome_of(process)


def outcome_of(process: "subprocess.Popen[str]") -> CommandOutcome:
    """Wait until *process* ends. Its peak memory is read meanwhile, because VmHWM is lost at the end."""
    seen_bytes = 0
    while True:
        seen_bytes = max(seen_bytes, peak_memory_bytes(process.pid))
        try:
            output, stderr = process.communicate(timeout=LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue
        peak_bytes = max(seen_bytes, _peak_bytes_of_ended())
        return CommandOutcome(output=output, stderr=stderr, status=process.returncode, peak_bytes=peak_bytes)


def _peak_bytes_of_ended() -> int:
    """Return ru_maxrss of the ended children in bytes, or 0 if the value may be this process's own.

    A child's ru_maxrss starts at its parent's value (docs/decisions/006), so only a higher value is the child's.
    """
    most_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return most_bytes if most_bytes > own_peak_memory_bytes() else 0
