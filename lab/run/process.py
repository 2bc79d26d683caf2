"""A child wherever it runs: two streams of bytes, a kill and an exit status; here, as a process of this machine."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from core.messages import NOTHING, Message
from core.processtree import threads_ran_ns
from core.system import System
from lab.output import HeadTailBuffer, ProcessOutput
from lab.python.interpreters import scrubbed_environment
from lab.run.runtimes import AnyRuntime
from lab.run.sandbox import Sandbox

_READ_BYTES = 1 << 20


class Process(Protocol):
    """What the orchestrator needs of a child."""

    @property
    def pid(self) -> int:
        """On its host."""

    @property
    def lost(self) -> Message:
        """Why nothing is known of it any more."""

    @property
    def stderr(self) -> HeadTailBuffer:
        """What it has written there."""

    def fileno(self) -> int:
        """Readable when read() has something, or its stdout has ended."""

    def read(self) -> bytes:
        """What has come from its stdout; nothing at its end."""

    def write(self, data: bytes) -> None:
        """To its stdin; one that is gone takes nothing."""

    def close_stdin(self) -> None:
        """End of file."""

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Its exit status, negative for a signal; None if it has not ended in time."""

    def kill(self) -> None:
        """End it at once."""

    def close(self) -> None:
        """Forget it, once it has ended."""


class Place(Protocol):
    """A machine on which children run. name: of the host, "" for this machine; folder: for sockets."""

    @property
    def name(self) -> str: ...

    @property
    def folder(self) -> str: ...

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> Process:
        """A new child. Raises OSError if its program cannot be started."""

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """The command line of a child there."""

    def version(self, runtime: AnyRuntime) -> str:
        """What children under *runtime* must say they run under there."""

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return the CPU time in ns of each thread of a child and of its descendants, by thread id."""


class LocalProcess:
    """A process of this machine."""

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
        """Its stdout."""
        return self._stdout.fileno()

    def read(self) -> bytes:
        """What has come from its stdout; nothing at its end."""
        return os.read(self.fileno(), _READ_BYTES)

    def write(self, data: bytes) -> None:
        """To its stdin."""
        with suppress(BrokenPipeError):
            self._stdin.write(data)

    def close_stdin(self) -> None:
        """End of file."""
        self._stdin.close()

    def wait(self, deadline_s: float | None = None) -> int | None:
        """Its exit status, negative for a signal; None if it has not ended in time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(deadline_s)
        return None

    def kill(self) -> None:
        """End it at once."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Close its streams, once it has ended."""
        self._process.wait()
        self._stdin.close()
        self._stdout.close()
        self.stderr.drain()
        self.stderr.close_write_end()


class LocalPlace:
    """This machine."""

    name = ""

    def __init__(self, sandbox: Sandbox, cwd: str, folder: str) -> None:
        self._sandbox, self._cwd, self.folder = sandbox, cwd, folder

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> LocalProcess:
        """A new child."""
        return LocalProcess(command, self._sandbox.process_group, self._cwd, variables)

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """The command line of a child."""
        return runtime.command(system, role)

    def version(self, runtime: AnyRuntime) -> str:
        """What its children must say they run under."""
        return runtime.version

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return the CPU time in ns of each thread of a child and of its descendants, by thread id."""
        return threads_ran_ns(pid)
