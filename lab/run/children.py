"""Child processes and the lines they speak: the child contract, the orchestrator's side."""

import os
import selectors
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from tempfile import mkdtemp
from time import monotonic
from types import MappingProxyType
from typing import IO, Any

import msgspec

from core.decode import Misfit, decode_message, shown
from core.errors import ChildFailed
from core.limits import MAX_LINE_BYTES
from core.messages import NOTHING, SENTENCES, Message, chained, message, verbatim
from core.secret import line_for_child
from lab.gil.notice import notices
from lab.output import OutputReader, ProcessOutput, last_text
from lab.processes import describe_exit
from lab.run.process import LocalPlace, Place, Process
from lab.run.sandbox import Sandbox

STDERR_TAIL_BYTES = 2000
END_DEADLINE_S = 10.0
WHILE_SERVING = message("while it was serving")
READY, WARM, RESET, RESULT, FAILED = "ready", "warm", "reset", "result", "failed"
_READ_BYTES = 1 << 20
LONGEST_FAILURE_BYTES = 64 << 10


class Child:
    """One service or client. name: 'Service 2 of 4'

    program: of a native one what it said of itself when ready - its name, version, compiler and packages
    result: what its last line says, once that was checked (lab.run.contract)
    """

    def __init__(
        self, name: Message, runtime: str, command: Sequence[str], place: Place, variables: Mapping[str, str]
    ) -> None:
        try:
            self.process: Process = place.start(command, variables)
        except OSError as error:
            failed = message("could not be started: {program}: {error}", program=command[0], error=error.strerror)
            raise ChildFailed("{child} ({runtime}) {failed}.", child=name, runtime=runtime, failed=failed) from error
        self.place = place
        self._name = name
        self._runtime = runtime
        self._unread = bytearray()
        self._failure = NOTHING
        self.program: dict[str, Any] = {}
        self.result: dict[str, Any] = {}
        self.at_end = False
        self.finished = False

    def __repr__(self) -> str:
        return f"Child({self.label})"

    @property
    def label(self) -> Message:
        """Which child this is: 'Service 2 of 4 (3.14t, pid 812)', or '(3.14t, pid 812 on host b)'."""
        if self.place.name:
            return message(
                "{child} ({runtime}, pid {pid} on host {host})",
                child=self._name,
                runtime=self._runtime,
                pid=self.process.pid,
                host=self.place.name,
            )
        return message("{child} ({runtime}, pid {pid})", child=self._name, runtime=self._runtime, pid=self.process.pid)

    def fileno(self) -> int:
        """Its stdout: a child can be waited for by a selector."""
        return self.process.fileno()

    def tell(self, line: Mapping[str, Any] | str) -> None:
        """Write one line to its stdin: JSON, with secrets as they are, or a word.

        A child that is gone is noticed when it is listened to.
        """
        line = line if isinstance(line, str) else line_for_child(line)
        self.process.write(line.encode() + b"\n")

    def end_of_file(self) -> None:
        """Close its stdin: it is to stop."""
        self.process.close_stdin()

    def hear(self) -> None:
        """Read what it has written; call it when the selector says so."""
        data = self.process.read()
        self._unread += data
        self.at_end = not data
        if len(self._unread) > MAX_LINE_BYTES:
            size_mib, start = MAX_LINE_BYTES >> 20, repr(bytes(self._unread[:200]))
            self._unread.clear()
            raise failed(
                self,
                message(
                    "wrote more than {size_mib} MiB in one line, or unasked; it begins: {start}",
                    size_mib=size_mib,
                    start=start,
                ),
            )

    def line(self) -> dict[str, Any] | None:
        """The next whole line that it has written, or None. Raises ChildFailed if it is not a JSON object."""
        end = self._unread.find(b"\n")
        if end < 0:
            return None
        text = bytes(self._unread[:end])
        del self._unread[: end + 1]
        try:
            line = msgspec.json.decode(text, type=dict[str, Any])
            self._failure = _failure(line[FAILED], len(text)) if FAILED in line else NOTHING
        except (ValueError, RecursionError, Misfit):
            start = repr(text[:200])
            fault = message("wrote {text}; the child contract requires one JSON object a line.", text=start)
            raise failed(self, fault) from None
        return None if self._failure else line

    def stderr_tail(self) -> str:
        """The last lines of its stderr, without control codes."""
        return last_text(self.process.stderr.content(), STDERR_TAIL_BYTES)

    def notices(self) -> list[str]:
        """What its stderr says of its threads or its GIL (lab.gil.notice), of what is kept of it."""
        return notices(self.process.stderr.content().decode(errors="replace"))

    def exit_report(self, when: Message) -> Message:
        """How it ended too early, and why as far as it said so. The code is that of *when*."""
        if self.process.lost:
            return replace(self.process.lost, code=when.code)
        status = self.process.wait()
        assert status is not None, "it waits"
        how = message("{child} {ending} {when}.", child=self.label, ending=describe_exit(status), when=when)
        with suppress(ChildFailed):
            while self.line():
                pass
        why = self._failure or self.last_lines() or message("It wrote nothing to stderr.")
        return replace(chained([how, why], SENTENCES), code=when.code)

    def last_lines(self) -> Message:
        """The end of its stderr as a sentence, NOTHING if it wrote nothing."""
        lines = self.stderr_tail()
        return message("Its last lines: {output}", output=lines) if lines else NOTHING

    def kill(self) -> None:
        """End it at once and forget it."""
        self.process.kill()
        self.process.close()


def _failure(told: Any, size_bytes: int) -> Message:
    """The reason that a child gives. Raises Misfit if it is no message, or a long one."""
    if size_bytes > LONGEST_FAILURE_BYTES:
        raise Misfit("failed", size_bytes, f"at most {LONGEST_FAILURE_BYTES} bytes")
    return verbatim(told) if isinstance(told, str) else decode_message(told)


def failed(child: Child, fault: Message) -> ChildFailed:
    """The error that says what a child did wrong."""
    return ChildFailed("{child} {fault}", child=child.label, fault=fault)


class Children:
    """The children of one cell, and a folder for their sockets; whatever happens, none is left when the block ends."""

    def __init__(self, sandbox: Sandbox, cwd: str) -> None:
        self.folder = mkdtemp(prefix="", dir=sandbox.folder)
        self.here: Place = LocalPlace(sandbox, cwd, self.folder)
        self._children: list[Child] = []
        self._outputs = OutputReader()

    def __enter__(self) -> "Children":
        return self

    def __exit__(self, *error: object) -> None:
        for child in self._children:
            child.process.kill()
        for child in self._children:
            child.kill()
        self._outputs.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # a process that a child left behind may be writing there

    def start(
        self,
        name: Message,
        runtime: str,
        command: Sequence[str],
        variables: Mapping[str, str] = MappingProxyType({}),
        place: Place | None = None,
    ) -> Child:
        """A new child at *place* (this machine), with *variables* in its environment.

        Raises ChildFailed if its program cannot be started.
        """
        child = Child(name, runtime, command, place or self.here, variables)
        self._children.append(child)
        if isinstance(child.process.stderr, ProcessOutput):
            self._outputs.watch(child.process.stderr)
        return child

    def hear_all(self, speakers: Sequence[Child], key: str, when: Message, deadline_s: float) -> list[dict[str, Any]]:
        """One line from each of *speakers*, which must have *key*; meanwhile none of all the children may end.

        Raises ChildFailed, with the code of *when*, if one ends, writes something else, or the deadline passes.
        """
        lines: dict[Child, dict[str, Any]] = {}
        until = monotonic() + deadline_s
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                if not child.at_end:
                    selector.register(child, selectors.EVENT_READ)
            while True:
                lines |= {child: line for child in speakers if child not in lines and (line := child.line())}
                self._expect_alive(lines, when)
                if len(lines) == len(speakers):
                    break
                if monotonic() >= until:
                    raise ChildFailed(_late([child for child in speakers if child not in lines], when, deadline_s))
                self._hear_ready(selector, until - monotonic())
        for child in speakers:
            if key not in lines[child]:
                fault = message(
                    "wrote {line} {when}; the child contract requires {key} there.",
                    line=shown(lines[child]),
                    when=when,
                    key=repr(key),
                )
                raise failed(child, fault)
            child.finished = key == RESULT
        return [lines[child] for child in speakers]

    def watch_until_end_of(self, input_file: IO[str]) -> None:
        """Block until *input_file* ends. Raises ChildFailed if a child ends before."""
        with selectors.PollSelector() as selector:  # epoll refuses files and /dev/null
            for child in self._children:
                selector.register(child, selectors.EVENT_READ)
            selector.register(input_file, selectors.EVENT_READ)
            while not self._hear_ready(selector):
                self._expect_alive({}, WHILE_SERVING)

    def _hear_ready(self, selector: selectors.BaseSelector, patience_s: float | None = None) -> bool:
        """Read what children have written; what comes from another file is dropped. Return whether that has ended."""
        has_ended = False
        for key, _ in selector.select(patience_s):
            child = key.fileobj
            if not isinstance(child, Child):
                has_ended = not os.read(key.fd, _READ_BYTES)
                continue
            child.hear()
            if child.at_end:
                selector.unregister(child)
        return has_ended

    def _expect_alive(self, lines: Mapping[Child, Any], when: Message) -> None:
        for child in self._children:
            if child.at_end and child not in lines and not child.finished:
                raise ChildFailed(child.exit_report(when))


def _late(silent: Sequence[Child], when: Message, deadline_s: float) -> Message:
    first, others = silent[0], len(silent) - 1
    who = message("{child} and {others} more", child=first.label, others=others) if others else first.label
    silence = message("{children} said nothing for {wait_s:.0f} s {when}.", children=who, wait_s=deadline_s, when=when)
    return replace(chained([silence, *filter(None, [first.last_lines()])], SENTENCES), code=when.code)
