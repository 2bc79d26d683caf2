"""A child process, and its machine.

Process and Place are for this machine; lab.hosts derives those of other hosts from them.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from core.messages import NOTHING, Message
from core.processtree import threads_ran_ns
from core.system import System
from lab.folders import Sandbox
from lab.output import HeadTailBuffer, ProcessOutput
from lab.places import REPOSITORY
from lab.processes import scrubbed_environment
from lab.run.runtimes import AnyRuntime

READ_BYTES = 1 << 20


class Process:
    """A child process on this machine.

    stderr: what it has written to its stderr
    """

    stderr: HeadTailBuffer

    def __init__(self, command: Sequence[str], process_group: int, variables: Mapping[str, str]) -> None:
        self.stderr = self._output = ProcessOutput()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output.write_end,
                process_group=process_group,
                cwd=REPOSITORY,
                env=scrubbed_environment() | dict(variables),
                bufsize=0,
            )
        except OSError:
            self._output.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self.pid = self._process.pid

    @property
    def lost(self) -> Message:
        """Return why the child's host cannot be reached any more; NOTHING if it can."""
        return NOTHING

    def fileno(self) -> int:
        """Return a descriptor that is readable when read() has data or stdout has ended."""
        return self._stdout.fileno()

    def read(self) -> bytes:
        """Return new data from the child's stdout; b"" when stdout has ended."""
        return os.read(self.fileno(), READ_BYTES)

    def write(self, data: bytes) -> None:
        """Write to the child's stdin. If the child has ended, do nothing."""
        with suppress(BrokenPipeError):
            self._stdin.write(data)

    def close_stdin(self) -> None:
        """Close the child's stdin, which tells the child to stop."""
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
        """Wait until the child has ended, and close its streams. It must have ended or been killed."""
        self._process.wait()
        self._stdin.close()
        self._stdout.close()
        self._output.drain()
        self._output.close_write_end()


class Place:
    """This machine, on which services and clients run.

    name: the host's name, "" for this machine
    folder: for sockets
    """

    name = ""

    def __init__(self, sandbox: Sandbox, folder: str) -> None:
        self._sandbox, self.folder = sandbox, folder

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> Process:
        """Start a child, and return it. Raises OSError if its program cannot be started."""
        return Process(command, self._sandbox.process_group, variables)

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """Return the command line of a child on this machine."""
        return runtime.command(system, role)

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children under *runtime* must report."""
        return runtime.version

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants."""
        return threads_ran_ns(pid)
