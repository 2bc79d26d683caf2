"""Processes of tests that say in a line that they are ready, and then wait."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Started:
    """A process that has written its first line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.pid = process.pid
        self.first = self.hear()
        assert self.first, "it ended before it was ready"

    def say(self, words: str) -> None:
        """Write a line to its standard input."""
        assert self.process.stdin
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """The next line of its standard output; "" at its end."""
        assert self.process.stdout
        return self.process.stdout.readline()


@contextmanager
def started(*command: str | Path, **more: Any) -> Iterator[Started]:
    """A process that is ready; killed at the end of the block. more: for Popen"""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more) as process:
        try:
            yield Started(process)
        finally:
            process.kill()
