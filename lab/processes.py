"""Runs each command under a guard process that kills its process tree, and describes how a process ended."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import IO, Any, TypeVar

from core.errors import BadInput
from core.messages import Message, message
from lab.output import ProcessOutput

GUARD = Path(__file__).with_name("guard.py")
WATCH_S = 5.0
_GUARDS: set["subprocess.Popen[str]"] = set()  # that run now
COMMANDS_AT_ONCE = 4
END_EVERY_S = 0.1
Value = TypeVar("Value")
Result = TypeVar("Result")
LAST_SECONDS_S = 5.0  # how long the guard may take to end the command's processes


def run(
    command: Sequence[str | Path],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    *,
    watch: Callable[[str], None] | None = None,
    **options: Any,
) -> "subprocess.CompletedProcess[str]":
    """Run *command* with empty stdin until it ends, and return its exit status and output.

    Its whole process tree ends with it, at the deadline, on Ctrl-C, and when this process is killed. The beginning and
    the newest mebibyte of the output are kept (lab.output).

    watch: called every WATCH_S with the newest line of the command's stderr
    options: folder, pass_fds and program, as for guarded()
    Raises subprocess.TimeoutExpired, and OSError if the command cannot be started.
    """
    out, err = ProcessOutput(), ProcessOutput()
    streams = out.write_end, err.write_end
    with closing(out), closing(err):
        with guarded(command, environment, streams=streams, **options) as guard:
            _read((out, err), command, timeout_s, watch)
        texts = [output.content().decode(errors="replace") for output in (out, err)]
    return subprocess.CompletedProcess(command, guard.status(), *texts)


def _read(
    outputs: Sequence[ProcessOutput],
    command: Sequence[str | Path],
    timeout_s: float,
    watch: Callable[[str], None] | None,
) -> None:
    """Read a command's stdout and stderr (*outputs*) until they end. Raises subprocess.TimeoutExpired."""
    until, next_look = monotonic() + timeout_s, monotonic() + WATCH_S
    with DefaultSelector() as selector:
        for output in outputs:
            output.close_write_end()
            selector.register(output, EVENT_READ, output)
        while selector.get_map():
            ready = selector.select(min(until, next_look) - monotonic())
            if monotonic() >= next_look:
                next_look = monotonic() + WATCH_S
                if watch:
                    watch(_newest_line(outputs[-1]))
            if monotonic() >= until:
                raise subprocess.TimeoutExpired(command, timeout_s)
            for key, _ in ready:
                key.data.drain()
                if key.data.has_ended:
                    selector.unregister(key.fileobj)


def _newest_line(output: ProcessOutput) -> str:
    lines = output.content().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def end_all() -> None:
    """End all commands that this process runs. A thread that waits for a command then continues."""
    for guard in tuple(_GUARDS):
        _cut_lifeline(guard)


def run_in_parallel(
    call: Callable[[Value], Result], values: Iterable[Value], at_once: int = COMMANDS_AT_ONCE
) -> list[Result]:
    """Return the result of *call*, which runs a command, for each value. *at_once* calls run in parallel."""
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(call, value) for value in values]
        try:
            return [future.result() for future in futures]
        except BaseException:  # including Ctrl-C: end the running processes rather than wait for them
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                end_all()
                wait(futures, END_EVERY_S)
            raise


@dataclass
class Guard:
    """A command that runs under a guard process (lab/guard.py).

    process: the guard process, which shares stdout and stderr with the command
    report: what the guard process has reported, after its end: status or error
    """

    process: "subprocess.Popen[str]"
    program: str
    report: dict[str, int] = field(default_factory=dict)

    def status(self) -> int:
        """Return the command's exit status, negative for a signal. Raises OSError if the command could not be started.

        Call this after the guarded() block has ended.
        """
        if number := self.report.get("error"):
            error = OSError(number, os.strerror(number), self.program)
            expect_process(error)
            raise error
        return self.report.get("status", -signal.SIGKILL)  # no status: the guard itself was killed


@contextmanager
def guarded(  # noqa: PLR0913 - a process has them all
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
    pass_fds: Sequence[int] = (),
    program: str | None = None,
    streams: tuple[int, int | IO[str]] = (subprocess.PIPE, subprocess.PIPE),
    stop: int = 0,
) -> Iterator[Guard]:
    """Start *command* under a guard process, which kills its process tree when the `with` block or this process ends.

    folder: the command's working directory
    program: the file to execute, if it differs from command[0]
    streams: where the command's stdout and stderr go
    stop: the number of a signal that asks the command to end before it is killed; 0 for none
    """
    heard, report = os.pipe()
    before = [sys.executable, "-I", "-S", str(GUARD), str(report), str(int(stop))]
    words = [*before, program or str(command[0]), *map(str, command)]
    with os.fdopen(heard, "rb") as report_file:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=streams[0],
                stderr=streams[1],
                text=True,
                errors="replace",
                env=environment,
                pass_fds=(*pass_fds, report),
                process_group=0,
            )
        except OSError as error:
            expect_process(error)
            raise
        finally:
            os.close(report)
        _GUARDS.add(process)
        with process:
            guard = Guard(process, str(command[0]))
            try:
                yield guard
            finally:
                _GUARDS.discard(process)
                _await_end(process)
                lines = report_file.read().decode().splitlines()
                guard.report |= {name: int(number) for name, number in map(str.split, lines)}


def expect_process(error: OSError) -> None:
    """Raise BadInput if *error* says that no process can be started: the limit of processes or memory is reached."""
    if error.errno in (errno.EAGAIN, errno.ENOMEM):
        raise BadInput(
            "No process can be started: {error}. End some processes, or raise the limit (ulimit -u).",
            error=error.strerror,
        ) from error


def _cut_lifeline(guard: "subprocess.Popen[str]") -> None:
    """Make the process *guard* kill the command's processes, by closing its stdin."""
    assert guard.stdin
    guard.stdin.close()
    guard.send_signal(signal.SIGCONT)  # the guard may be stopped


def _await_end(guard: "subprocess.Popen[str]") -> None:
    """Wait until the process *guard* has killed the command's processes. If *guard* fails, kill its process group."""
    _cut_lifeline(guard)
    with suppress(subprocess.TimeoutExpired):
        guard.wait(LAST_SECONDS_S)
    if guard.poll() != 0:
        with suppress(OSError):
            os.killpg(guard.pid, signal.SIGKILL)


def describe_exit(status: int) -> Message:
    """Describe an exit status in words, such as 'exited with status 1' or 'was killed by SIGKILL'."""
    if status >= 0:
        return message("exited with status {status}", status=status)
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"SIG{-status}"
    return message("was killed by {signal}", signal=name)
