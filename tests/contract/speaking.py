"""A child process spoken to by hand, line by line, as docs/child-contract.md says. Nothing of lab/ takes part."""

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
DEADLINE_S = 60.0
PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(sys.argv[1].encode() + b"\\n")
child.stdin.flush()
sys.stdout.buffer.write(child.stdout.readline())
sys.stdout.flush()
child.wait()
"""


class Spoken:
    """One child. Every wait has a deadline; the process is gone when the block ends."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str] = MappingProxyType({})) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            env=kept | dict(variables),
            bufsize=0,
        )
        self._heard = b""

    def __enter__(self) -> "Spoken":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def tell(self, message: Any) -> None:
        """One line to its stdin: text as it is, anything else as JSON."""
        assert self.process.stdin is not None
        line = message if isinstance(message, str) else json.dumps(message)
        self.process.stdin.write(line.encode() + b"\n")

    def line(self) -> Any:
        """The JSON value of the next line of its stdout. Raises EOFError when there is none."""
        while b"\n" not in self._heard:
            data = self._read()
            if not data:
                raise EOFError(f"no whole line; stdout ended with {self._heard!r}")
            self._heard += data
        line, _, self._heard = self._heard.partition(b"\n")
        return json.loads(line)

    def end(self) -> tuple[int, bytes, str]:
        """Close its stdin, and wait until it has gone: exit status, the rest of stdout, and stderr."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        rest, complaints = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, self._heard + rest, complaints.decode()

    def _read(self) -> bytes:
        assert self.process.stdout is not None
        wait_readable(self.process.stdout.fileno())
        return os.read(self.process.stdout.fileno(), 65536)


@contextmanager
def spoken(
    command: Sequence[str], told: object, variables: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[Spoken, Any]]:
    """A child that has been told that, and its first line."""
    with Spoken(command, variables) as child:
        child.tell(told)
        yield child, child.line()


def released(client: Spoken) -> dict[str, Any]:
    """The result of a client after `go`; it stays until the end of its stdin, and then exits with 0."""
    client.tell("go")
    result: dict[str, Any] = client.line()["result"]
    assert client.end() == (0, b"", "")
    return result


def wait_readable(fd: int, deadline_s: float = DEADLINE_S) -> None:
    """Wait until *fd* can be read, data or end of file. Raises TimeoutError."""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        if not selector.select(deadline_s):
            raise TimeoutError(f"nothing to read within {deadline_s} s")


def read_to_end(fd: int, deadline_s: float = DEADLINE_S) -> bytes:
    """All that is still to be read from *fd*, to its end: until every process that holds the other side has gone."""
    until, said = monotonic() + deadline_s, b""
    while True:
        wait_readable(fd, until - monotonic())
        data = os.read(fd, 65536)
        if not data:
            return said
        said += data


def check_it_ends_with_its_parent(command: list[str], told: str) -> None:
    """The child inherits stderr from a parent, which is killed: the end of that pipe is the child's end."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, told, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
        bufsize=0,
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        try:
            wait_readable(parent.stdout.fileno())
            assert json.loads(parent.stdout.readline())["ready"] is True
        finally:
            os.kill(parent.pid, signal.SIGKILL)
        read_to_end(parent.stderr.fileno())
