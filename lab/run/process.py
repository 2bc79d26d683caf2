"""The interface to a child process on any machine, and its implementation for this machine."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from core.messages import NOTHING, Message
from core.processtree import threads_ran_ns
from core.system import System
from lab.folders import Sandbox
from lab.output import HeadTailBuffer, ProcessOutput
from lab.python.interpreters import scrubbed_environment
from lab.run.runtimes import AnyRuntime

_READ_BYTES = 1 << 20


class Process(Protocol):
    """A child process on any machine."""

    @property
    def pid(self) -> int:
        """Return the process id on its host."""

    @property
    def lost(self) -> Message:
        """Return why the child's host cannot be reached any more; NOTHING if it can."""

    @property
    def stderr(self) -> HeadTailBuffer:
        """Return the buffer that holds the child's stderr."""

    def fileno(self) -> int:
        """Return a descriptor that is readable when read() has data or stdout has ended."""

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""

    def write(self, data: bytes) -> None:
        """Write to the child's stdin. If the child has ended, do nothing."""

    def close_stdin(self) -> None:
        """Close the child's stdin."""

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return the exit status, negative for a signal; None if the child has not ended in time."""

    def kill(self) -> None:
        """Kill the child if it still runs."""

    def close(self) -> None:
        """Release the child's resources. The child must have ended or been killed."""


class Place(Protocol):
    """A machine on which services and clients run.

    name: the host's name, "" for this machine
    folder: for sockets
    """

    @property
    def name(self) -> str: ...

    @property
    def folder(self) -> str: ...

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> Process:
        """Start a child, and return it. Raises OSError if its program cannot be started."""

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """Return the command line of a child on this machine."""

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children under *runtime* must report."""

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants."""


class LocalProcess:
    """A child process on this machine."""

    lost = NOTHING

    def __init__(self, command: Sequence[str], process_group: int, cwd: str, variables: Mapping[str, str]) -> None:
        self.stderr = ProcessOutput()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.stderr.write_end,
                process_group=process_group,
                cwd=cwd,
                env=scrubbed_environment() | dict(variables),
                bufsize=0,
            )
        except OSError:
            self.stderr.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self.pid = self._process.pid

    def fileno(self) -> int:
        """Return the descriptor of the child's stdout."""
        return self._stdout.fileno()

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""
        return os.read(self.fileno(), _READ_BYTES)

    def write(self, data: bytes) -> None:
        """Write to the child's stdin. If the child has ended, do nothing."""
        with suppress(BrokenPipeError):
            self._stdin.write(data)

    def close_stdin(self) -> None:
        """Close the child's stdin."""
        self._stdin.close()

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Return the exit status, negative for a signal; None if the child has not ended in time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(deadline_s)
        return None

    def kill(self) -> None:
        """Kill the child if it still runs."""
        self._process.kill()

    def close(self) -> None:
        """Wait until the child has ended, and close its streams."""
        self._process.wait()
        self._stdin.close()
        self._stdout.close()
        self.stderr.drain()
        self.stderr.close_write_end()


class LocalPlace:
    """The local machine, on which child processes are started."""

    name = ""

    def __init__(self, sandbox: Sandbox, cwd: str, folder: str) -> None:
        self._sandbox, self._cwd, self.folder = sandbox, cwd, folder

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> LocalProcess:
        """Start a child, and return it. Raises OSError if its program cannot be started."""
        return LocalProcess(command, self._sandbox.process_group, self._cwd, variables)

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """Return the command line of a child."""
        return runtime.command(system, role)

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children under *runtime* must report."""
        return runtime.version

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants."""
        return threads_ran_ns(pid)
