"""Child processes and the lines that they exchange with the orchestrator, as docs/child-contract.md
defines them.

lab/run/cell_processes.py has one Children object for each cell: its services and clients. A child
may be anybody's program, so its lines are not trusted: lab/run/contract.py checks them. Process and
Place are for this machine. lab/hosts/remote_process.py and lab/hosts/connection.py derive those of
other hosts from them, so whoever changes a method here changes it there, too.
"""

import os
import selectors
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from tempfile import mkdtemp
from time import monotonic
from types import MappingProxyType
from typing import Any

import msgspec

from core.messages import NOTHING, SENTENCES, ChildFailed, Json, Message, chained, message, verbatim
from core.processtree import threads_ran_ns
from core.secret import line_for_child
from core.system import System
from core.wire import MAX_LINE_BYTES
from lab.folders import Sandbox
from lab.machine.link import SAME_CLOCK, ClockOffset
from lab.process_output import HeadTailBuffer, OutputReader, ProcessOutput, last_text, notices
from lab.processes import describe_exit, start_child
from lab.run.instrumentation import TimeWindow
from lab.run.measured_runtimes import AnyRuntime
from record.child_lines import NativeProgram
from record.decode import Misfit, decoded, shown

STDERR_TAIL_BYTES = 2000  # how much of the end of a child's stderr an error shows
READ_BYTES = 1 << 20  # the most that one read takes from a child's stdout
# to answer `reset`, and to write the result and end; docs/child-contract.md names it
END_DEADLINE_S = 10.0
# keys of the lines that children print; WARM and RESET are also the commands that ask for them
READY, WARM, RESET, RESULT, FAILED = "ready", "warm", "reset", "result", "failed"
LONGEST_FAILURE_BYTES = 64 << 10  # of a line with the key FAILED


class Process:
    """A child process on this machine.

    stderr: what it has written to its stderr
    """

    stderr: HeadTailBuffer
    lost: Message = NOTHING  # why the child's host cannot be reached any more

    def __init__(
        self, command: Sequence[str], process_group: int, variables: Mapping[str, str]
    ) -> None:
        self.stderr = self._output = ProcessOutput()
        try:
            self._process = start_child(command, process_group, variables, self._output.write_end)
        except OSError:
            self._output.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self.pid = self._process.pid

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
        """Return the exit status, negative for a signal; None if the child has not
        ended in time.
        """
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(deadline_s)
        return None

    def kill(self) -> None:
        """Kill the child if it still runs."""
        self._process.kill()

    def close(self) -> None:
        """Wait until the child has ended, and close its streams. It must have ended or
        been killed.
        """
        self._process.wait()
        self._stdin.close()
        self._stdout.close()
        self._output.drain()
        self._output.close_write_end()


class Place:
    """This machine, on which services and clients run.

    name: the host's name, "" for this machine
    folder: for sockets
    pids: processes that belong to the run besides this process
    before: the offset of its clock before the last timed windows, or when it was connected
    clock: the mean offset during these windows, once they are over
    """

    name = ""
    pids: Sequence[int] = ()
    before: ClockOffset = SAME_CLOCK
    clock: ClockOffset = SAME_CLOCK

    def __init__(self, sandbox: Sandbox, folder: str) -> None:
        self._sandbox, self.folder = sandbox, folder

    def start(self, command: Sequence[str], variables: Mapping[str, str]) -> Process:
        """Start a child, and return it. Raises OSError if its program cannot be started."""
        return Process(command, self._sandbox.process_group, variables)

    def call(
        self, kind: Any, function: Callable[..., Any], *arguments: Any, deadline_s: float = 0.0
    ) -> Any:
        """Call *function* on the host, and return its answer, which is of the type *kind*. Raises
        GilscopeError.

        function: of a module, because other hosts find it by its name; *arguments*: JSON values
        kind: for other hosts, which check the answer. This machine returns it as it is
        deadline_s: how long a call on another host may take
        """
        return function(*arguments)

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a generator function on the host up to its `yield`. Return what finish() needs.
        Raises GilscopeError.
        """
        begun = function(*arguments)
        next(begun)
        return begun

    def finish(self, kind: Any, begun: Any, deadline_s: float = 0.0) -> Any:
        """Run a generator function on the host to its end, and return its result, of the type
        *kind*.

        Raises GilscopeError.
        """
        try:
            next(begun)
        except StopIteration as end:
            return end.value

    def offset(self) -> ClockOffset:
        """Measure the offset of the host's clock to the orchestrator's clock. Raises
        ChildFailed.
        """
        return SAME_CLOCK

    def window(self, start_ns: int, end_ns: int) -> TimeWindow:
        """Convert a time window to the host's clock, and widen the window by the clock error. Call
        this once `clock` is known.
        """
        return TimeWindow(
            self.before.to_host_clock(start_ns),
            self.clock.to_host_clock(end_ns) + self.clock.error_ns,
        )

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """Return the command line of a child on this machine."""
        return runtime.command(system, role)

    def cpus(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return the CPUs of the machine to pin children to. *numbers* are those that the user
        chose.
        """
        return numbers

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children under *runtime* must report."""
        return runtime.version

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants."""
        return threads_ran_ns(pid)


class Child:
    """A service or client that was started as a child process.

    name: such as 'Service 2 of 4'
    program: the program that a native child runs
    noted: keys of its result that the orchestrator knows better: JIT states
    at_end: whether its stdout has ended
    finished: whether its result has been read; only then may it end without an error
    idle_ns: the CPU time that it and its descendants used between its time slices
    is_observer: whether it only observes a service that the user runs
    """

    program: NativeProgram | None = None
    at_end = finished = is_observer = False
    idle_ns = 0
    _ran_ns: Mapping[int, int] = MappingProxyType({})
    _failure = NOTHING

    def __init__(
        self,
        name: Message,
        runtime: str,
        command: Sequence[str],
        place: Place,
        variables: Mapping[str, str],
    ) -> None:
        try:
            self.process = place.start(command, variables)
        except OSError as error:
            failed = message(
                "could not be started: {program}: {error}", program=command[0], error=error.strerror
            )
            raise ChildFailed(
                "{child} ({runtime}) {failed}.", child=name, runtime=runtime, failed=failed
            ) from error
        self.place = place
        self._name = name
        self._runtime = runtime
        self._unread = bytearray()
        self.noted: dict[str, bool | None] = {}

    @property
    def label(self) -> Message:
        """Return the child's name for messages, such as 'Service 2 of 4 (3.14t, pid 812)'."""
        known: Json = {"child": self._name, "runtime": self._runtime, "pid": self.process.pid}
        if self.place.name:
            return message(
                "{child} ({runtime}, pid {pid} on host {host})", **known, host=self.place.name
            )
        return message("{child} ({runtime}, pid {pid})", **known)

    def tell(self, line: Json | str) -> None:
        """Write one line to the child's stdin: a word, or JSON with secrets in plain text.

        This does not report a child that has ended; the next read does.
        """
        line = line if isinstance(line, str) else line_for_child(line)
        self.process.write(line.encode() + b"\n")

    def read(self) -> None:
        """Read the child's new output. Call this when a selector reports the child as readable."""
        data = self.process.read()
        self._unread += data
        self.at_end = not data
        if len(self._unread) > MAX_LINE_BYTES:
            fault = message(
                "wrote more than {size_mib} MiB to stdout, in one line or in lines that gilscope "
                "did not ask for. The output begins: {start}",
                size_mib=MAX_LINE_BYTES >> 20,
                start=repr(bytes(self._unread[:200])),
            )
            self._unread.clear()
            raise failed(self, fault)

    def line(self) -> Json | None:
        """Return the next complete line of the child's stdout, or None. Raises ChildFailed if it is
        no JSON object.

        A line with the key FAILED is kept for exit_report(), and None is returned in its place.
        """
        end = self._unread.find(b"\n")
        if end < 0:
            return None
        text = bytes(self._unread[:end])
        del self._unread[: end + 1]
        try:
            line = msgspec.json.decode(text, type=dict[str, Any])
            self._failure = _failure(line[FAILED], len(text)) if FAILED in line else NOTHING
        except (ValueError, RecursionError, Misfit):
            fault = message(
                "wrote {text} to stdout, but docs/child-contract.md requires one JSON object per "
                "line.",
                text=repr(text[:200]),
            )
            raise failed(self, fault) from None
        return None if self._failure else line

    def stderr_tail(self) -> str:
        """Return the last lines of the child's stderr, without control characters."""
        return last_text(self.process.stderr.content(), STDERR_TAIL_BYTES)

    def notices(self) -> list[str]:
        """Return CPython's warnings about threads or the GIL in the child's stderr (see
        lab.process_output).
        """
        return notices(self.process.stderr.text())

    def rest(self) -> None:
        """Begin to measure the CPU time that the child uses after its time slice has ended."""
        self._ran_ns = self.place.ran_ns(self.process.pid)

    def wake(self) -> None:
        """Add the CPU time that the child has used since rest() was called, if it was, to idle_ns.

        Call this when the child's next time slice begins, or when the measurement ends.
        """
        if before := self._ran_ns:
            now = self.place.ran_ns(self.process.pid)
            self.idle_ns += sum(
                max(0, ran_ns - before.get(thread, 0)) for thread, ran_ns in now.items()
            )
        self._ran_ns = {}

    def exit_report(self, when: Message) -> Message:
        """Describe how the child process ended too early, with the reason if it wrote one.

        The message gets the message code of *when*, which says when the process ended.
        """
        if self.process.wait(END_DEADLINE_S) is None:  # it closed its stdout, and lives on
            self.process.kill()
        status = self.process.wait()
        if self.process.lost:
            return replace(self.process.lost, code=when.code)
        assert status is not None, "wait() without a deadline returns a status"
        how = message(
            "{child} {ending} {when}.", child=self.label, ending=describe_exit(status), when=when
        )
        with suppress(ChildFailed):
            while self.line():
                pass
        if self._failure and self.is_observer:
            return replace(self._failure, code=when.code)
        why = (
            self._failure
            or self.last_lines()
            or message("The child process wrote nothing to stderr.")
        )
        return replace(chained([how, why], SENTENCES), code=when.code)

    def last_lines(self) -> Message:
        """Return a sentence with the end of the child's stderr, or NOTHING if the child wrote
        nothing.
        """
        if lines := self.stderr_tail():
            return message(
                "The last lines that the child process wrote to stderr: {output}", output=lines
            )
        return NOTHING


def _failure(reason: Any, size_bytes: int) -> Message:
    """Parse the reason that a child gave for its failure. Raises Misfit if the reason is too long
    or not a message.
    """
    if size_bytes > LONGEST_FAILURE_BYTES:
        raise Misfit("failed", size_bytes, f"at most {LONGEST_FAILURE_BYTES} bytes")
    return verbatim(reason) if isinstance(reason, str) else decoded(reason, Message)


def failed(child: Child, fault: Message) -> ChildFailed:
    """Return a ChildFailed error whose message names *child* and says what it did wrong."""
    return ChildFailed("{child} {fault}", child=child.label, fault=fault)


class Children(ExitStack):
    """The child processes of one cell, with a folder for their sockets. All are killed when the
    `with` block ends.

    started: the children, in the order of their start
    """

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        folder = mkdtemp(prefix="", dir=sandbox.folder)
        # a child's descendant may still write there
        self.callback(shutil.rmtree, folder, ignore_errors=True)
        self.here = Place(sandbox, folder)
        self.started: list[Child] = []
        self._outputs = self.enter_context(closing(OutputReader()))
        # The last callback runs first: children end before their folder goes.
        self.callback(self._end_all)

    def _end_all(self) -> None:
        # All are killed before any is awaited, so that they end at the same time.
        for child in self.started:
            child.process.kill()
        for child in self.started:
            child.process.close()

    def start(
        self,
        name: Message,
        runtime: str,
        command: Sequence[str],
        variables: Mapping[str, str] = MappingProxyType({}),
        place: Place | None = None,
    ) -> Child:
        """Start a child process, and return the child. Raises ChildFailed if its program cannot be
        started.

        variables: added to its environment
        place: where it runs; None for this machine
        """
        child = Child(name, runtime, command, place or self.here, variables)
        self.started.append(child)
        if isinstance(child.process.stderr, ProcessOutput):
            self._outputs.watch(child.process.stderr)
        return child

    def await_lines(
        self, speakers: Sequence[Child], key: str, when: Message, deadline_s: float
    ) -> dict[Child, Json]:
        """Wait for one line from each child in *speakers*, and return the lines. Each line must
        have the key *key*.

        This blocks, and sets Child.finished of the speakers: true if *key* is RESULT.
        when: when a failure happened, for its message
        deadline_s: for all lines together, from now on
        Raises ChildFailed, with the code of *when*, if any child of the cell ends, a line lacks
        *key*, or the deadline passes.
        """
        lines: dict[Child, Json] = {}
        until = monotonic() + deadline_s
        with selectors.DefaultSelector() as selector:
            for child in self.started:
                if not child.at_end:
                    selector.register(child.process, selectors.EVENT_READ, child)
            while True:
                lines |= {
                    child: line
                    for child in speakers
                    if child not in lines and (line := child.line())
                }
                # after the lines: a child may end once it has written the expected line
                self._expect_alive(lines, when)
                if len(lines) == len(speakers):
                    break
                if monotonic() >= until:
                    raise ChildFailed(
                        _late([child for child in speakers if child not in lines], when, deadline_s)
                    )
                self._hear_ready(selector, until - monotonic())
        for child in speakers:
            if key not in lines[child]:
                fault = message(
                    "wrote {line} {when}, but docs/child-contract.md requires the key {key} in "
                    "this line.",
                    line=shown(lines[child]),
                    when=when,
                    key=repr(key),
                )
                raise failed(child, fault)
            child.finished = key == RESULT
        return {child: lines[child] for child in speakers}

    def _hear_ready(self, selector: selectors.BaseSelector, patience_s: float) -> None:
        """Read what the children of *selector* wrote."""
        for key, _ in selector.select(patience_s):
            child = key.data
            child.read()
            if child.at_end:
                selector.unregister(child.process)

    def _expect_alive(self, lines: Mapping[Child, Any], when: Message) -> None:
        for child in self.started:
            if child.at_end and child not in lines and not child.finished:
                raise ChildFailed(child.exit_report(when))


def _late(silent: Sequence[Child], when: Message, deadline_s: float) -> Message:
    first, others = silent[0], len(silent) - 1
    who = (
        message("{child} and {others} more", child=first.label, others=others)
        if others
        else first.label
    )
    silence = message(
        "{children} wrote no line to stdout for {wait_s:.0f} s {when}.",
        children=who,
        wait_s=deadline_s,
        when=when,
    )
    return replace(chained([silence, first.last_lines()], SENTENCES), code=when.code)
