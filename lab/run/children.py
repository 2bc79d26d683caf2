"""Child processes and the lines they speak: the child contract, the orchestrator's side."""

import json
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from time import monotonic
from types import TracebackType
from typing import IO, Any

from core.errors import ChildFailed
from lab.python.interpreters import scrubbed_environment
from lab.run.sandbox import Sandbox

STDERR_TAIL_BYTES = 2000
END_DEADLINE_S = 10.0
READY, WARM, RESET, RESULT = "ready", "warm", "reset", "result"
_READ_BYTES = 1 << 20


class Child:
    """One service or client. label says which, in words: 'Service 2 of 4 (3.14t, pid 812)'.

    program: of a native one what it said of itself when ready - its name, version, compiler and packages
    """

    def __init__(self, label: str, runtime: str, command: Sequence[str], sandbox: Sandbox, cwd: str) -> None:
        self._stderr = tempfile.TemporaryFile(dir=sandbox.folder)  # noqa: SIM115
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                process_group=sandbox.process_group,
                cwd=cwd,
                env=scrubbed_environment(),
                bufsize=0,
            )
        except OSError as error:
            self._stderr.close()
            raise ChildFailed(f"{label} ({runtime}) could not be started: {command[0]}: {error.strerror}.") from error
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._name = label
        self._runtime = runtime
        self._heard = bytearray()
        self.program: dict[str, Any] = {}
        self.said_all = False
        self.finished = False

    def __repr__(self) -> str:
        return f"Child({self.label})"

    @property
    def label(self) -> str:
        """Which child this is, in words."""
        return f"{self._name} ({self._runtime}, pid {self.process.pid})"

    def fileno(self) -> int:
        """Its stdout: a child can be waited for by a selector."""
        return self._stdout.fileno()

    def tell(self, message: Mapping[str, Any] | str) -> None:
        """Write one line to its stdin: JSON, or a word. A child that is gone shows when it is listened to."""
        line = message if isinstance(message, str) else json.dumps(message)
        try:
            self._stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            pass

    def end_of_file(self) -> None:
        """Close its stdin: it is to stop."""
        self._stdin.close()

    def hear(self) -> None:
        """Take in what it has said; call it when the selector says so."""
        data = os.read(self.fileno(), _READ_BYTES)
        self._heard += data
        self.said_all = not data

    def line(self) -> dict[str, Any] | None:
        """The next whole line that it has said, or None. Raises ChildFailed if it is not a JSON object."""
        end = self._heard.find(b"\n")
        if end < 0:
            return None
        text = bytes(self._heard[:end])
        del self._heard[: end + 1]
        try:
            said = json.loads(text)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise ChildFailed(f"{self.label} said {text[:200]!r}; the child contract wants one JSON object a line.")
        return said

    def complaints(self) -> str:
        """The last lines of its stderr, without control codes."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - STDERR_TAIL_BYTES))
        text = self._stderr.read().decode(errors="replace")
        return "".join(one for one in text if one.isprintable() or one in "\n\t").strip()

    def obituary(self, when: str) -> str:
        """How it ended too early, in words, with the tail of its stderr."""
        status = self.process.wait()
        how = f"was killed by {_signal_name(-status)}" if status < 0 else f"exited with status {status}"
        last = self.complaints()
        return f"{self.label} {how} {when}. " + (f"Its last lines: {last}" if last else "It said nothing on stderr.")

    def let_end(self, deadline_s: float) -> None:
        """Wait for its end after its last line, if it comes in time: CPU time that it waited for is ours only then."""
        try:
            self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            pass

    def kill(self) -> None:
        """End it at once and forget it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._stdin.close()
        self._stdout.close()
        self._stderr.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


class _EndOfFile:
    """Reads a file, and drops what it reads, until its end."""

    def __init__(self, file: IO[str]) -> None:
        self._fd = file.fileno()
        self.said_all = False

    def fileno(self) -> int:
        return self._fd

    def hear(self) -> None:
        self.said_all = not os.read(self._fd, _READ_BYTES)


class Crew:
    """The children of one cell; whatever happens, none is left when the block ends."""

    def __init__(self, sandbox: Sandbox, cwd: str) -> None:
        self._sandbox = sandbox
        self._cwd = cwd
        self._children: list[Child] = []

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            if child.process.poll() is None:
                child.process.kill()
        for child in self._children:
            child.kill()

    def start(self, label: str, runtime: str, command: Sequence[str]) -> Child:
        """A new child. Raises ChildFailed if its program cannot be started."""
        child = Child(label, runtime, command, self._sandbox, self._cwd)
        self._children.append(child)
        return child

    def hear_all(self, wanted: Sequence[Child], key: str, when: str, deadline_s: float) -> list[dict[str, Any]]:
        """One line from each of *wanted*, which must have *key*; meanwhile no child of the crew may end.

        Raises ChildFailed when one ends, says something else, or the deadline passes.
        """
        heard: dict[Child, dict[str, Any]] = {}
        until = monotonic() + deadline_s
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                if not child.said_all:
                    selector.register(child, selectors.EVENT_READ)
            while True:
                heard |= {child: line for child in wanted if child not in heard and (line := child.line())}
                self._expect_alive(heard, when)
                if len(heard) == len(wanted):
                    break
                if monotonic() >= until:
                    raise ChildFailed(_late([child for child in wanted if child not in heard], when, deadline_s))
                self._hear_some(selector, until - monotonic())
        for child in wanted:
            if key not in heard[child]:
                raise ChildFailed(f"{child.label} said {heard[child]} {when}; the child contract wants {key!r} there.")
            child.finished = key == RESULT
        return [heard[child] for child in wanted]

    def watch_until_end_of(self, input_file: IO[str]) -> None:
        """Block until *input_file* ends. Raises ChildFailed if a child ends before."""
        with selectors.PollSelector() as selector:  # epoll refuses files and /dev/null
            for child in self._children:
                selector.register(child, selectors.EVENT_READ)
            ended = _EndOfFile(input_file)
            selector.register(ended, selectors.EVENT_READ)
            while not ended.said_all:
                self._hear_some(selector, None)
                self._expect_alive({}, "while it was serving")

    def _hear_some(self, selector: selectors.BaseSelector, patience_s: float | None) -> None:
        for key, _ in selector.select(patience_s if patience_s is None else max(0.0, patience_s)):
            source: Child | _EndOfFile = key.fileobj  # type: ignore[assignment]
            source.hear()
            if source.said_all:
                selector.unregister(source)

    def _expect_alive(self, heard: Mapping[Child, Any], when: str) -> None:
        for child in self._children:
            if child.said_all and child not in heard and not child.finished:
                raise ChildFailed(child.obituary(when))


def _late(silent: Sequence[Child], when: str, deadline_s: float) -> str:
    first = silent[0]
    more = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
    last = first.complaints()
    return f"{first.label}{more} said nothing for {deadline_s:.0f} s {when}." + (
        f" Its last lines: {last}" if last else ""
    )
