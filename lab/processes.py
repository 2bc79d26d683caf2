"""Runs each command under a guard process that kills its process tree, and describes how a process
ended.

run() is for commands that end, such as uv, git and compilers. guarded() runs a program during a
`with` block. start_child() starts children without a guard: they join the process group of the
reaper (lab/folders.py), which ends them. lab/guard.py describes its arguments and its report:
change both files together.
"""

import errno
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, Any, TypeVar

from core.messages import BadInput, Message, message
from lab.places import REPOSITORY
from lab.process_output import OutputReader, ProcessOutput

GUARD = Path(__file__).with_name("guard.py")
WATCH_S = 5.0  # between two calls of watch()
_GUARDS: set["subprocess.Popen[str]"] = set()  # that run now, of all threads
COMMANDS_AT_ONCE = 4  # the default of run_in_parallel()
END_EVERY_S = 0.1  # how often run_in_parallel() tries to end the commands after an error
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

    Its whole process tree ends with it, at the deadline, on Ctrl-C, and when this process is
    killed. The beginning and the newest mebibyte of the output are kept (lab.process_output).

    watch: called every WATCH_S with the newest line of the command's stderr
    options: cwd and pass_fds, as for guarded()
    Raises subprocess.TimeoutExpired, OSError if the command cannot be started, and BadInput if no
    process can be.
    """
    out, err, until = ProcessOutput(), ProcessOutput(), monotonic() + timeout_s
    with closing(out), closing(err), closing(OutputReader()) as reader:
        with guarded(
            command, environment, streams=(out.write_end, err.write_end), **options
        ) as guard:
            reader.watch(out)
            reader.watch(err)
            while not guard.has_ended(min(WATCH_S, until - monotonic())):
                if monotonic() >= until:
                    raise subprocess.TimeoutExpired(command, timeout_s)
                if watch:
                    watch(err.text().strip().rpartition("\n")[2].strip())
        return subprocess.CompletedProcess(command, guard.status(), out.text(), err.text())


def output_of(
    command: Sequence[str | Path],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> str | None:
    """Return what *command* writes to stdout; None if it cannot be started, fails, or exceeds
    *timeout_s*. Raises BadInput if no process can be started.
    """
    with suppress(OSError, subprocess.TimeoutExpired):
        done = run(command, timeout_s, environment, **options)
        return None if done.returncode else done.stdout
    return None


def scrubbed_environment() -> dict[str, str]:
    """Return this process's environment variables, except variables that change how a Python
    interpreter behaves.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name not in ("__PYVENV_LAUNCHER__", "VIRTUAL_ENV")
    }


def start_child(
    command: Sequence[str], process_group: int, variables: Mapping[str, str], stderr: int
) -> "subprocess.Popen[bytes]":
    """Start a child process with pipes to its stdin and stdout, in gilscope's folder. Raises
    OSError if its program cannot be started.

    process_group: the reaper's, which ends the child if the caller does not
    variables: added to scrubbed_environment()
    stderr: a descriptor, or subprocess.PIPE
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        process_group=process_group,
        cwd=REPOSITORY,
        env=scrubbed_environment() | dict(variables),
        bufsize=0,
    )


def run_in_parallel(
    call: Callable[[Value], Result], values: Iterable[Value], at_once: int = COMMANDS_AT_ONCE
) -> list[Result]:
    """Return the result of *call*, which runs a command, for each value. *at_once* calls run in
    parallel. If one raises, end all guarded commands of this process, and raise its error.
    """
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(call, value) for value in values]
        try:
            return [future.result() for future in futures]
        # including Ctrl-C: end the running processes, so that the threads need not wait for them
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                for guard in tuple(_GUARDS):
                    cut_lifeline(guard)
                # a cancelled future counts as done, but wait() does not know it
                wait(futures, END_EVERY_S)
            raise


@dataclass
class Guard:
    """A command that runs under a guard process (lab/guard.py).

    process: the guard process, which shares stdout and stderr with the command
    program: the name of the command in errors
    report_pipe: the guard process writes its report there at the command's end, and has it open
        until then
    report: what the guard process has reported, after its end: status or error
    """

    process: "subprocess.Popen[str]"
    program: str
    report_pipe: IO[bytes]
    report: dict[str, int] = field(default_factory=dict)

    def has_ended(self, wait_s: float) -> bool:
        """Wait up to *wait_s* until the command and its processes have ended. Return whether they
        have.
        """
        poll = select.poll()
        poll.register(self.report_pipe, select.POLLIN)
        return bool(poll.poll(max(0.0, wait_s) * 1000))

    def status(self) -> int:
        """Return the command's exit status, negative for a signal. Raises OSError if the command
        could not be started.

        Call this after the guarded() block has ended.
        """
        if number := self.report.get("error"):
            error = OSError(number, os.strerror(number), self.program)
            expect_process(error)
            raise error
        return self.report.get("status", -signal.SIGKILL)  # no status: the guard itself was killed


@contextmanager
def guarded(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    *,
    streams: tuple[int, int | IO[str]] = (subprocess.PIPE, subprocess.PIPE),
    stop: int = 0,
    **options: Any,
) -> Iterator[Guard]:
    """Start *command* under a guard process, which kills its process tree when the `with` block or
    this process ends.

    streams: where the command's stdout and stderr go
    stop: the number of a signal that asks the command to end before it is killed; 0 for none
    options: cwd and pass_fds, as for subprocess.Popen
    If the command cannot be started, only Guard.status() raises the error. Raises BadInput if no
    process can be started.
    """
    heard, report = os.pipe()
    options["pass_fds"] = (*options.get("pass_fds", ()), report)
    words = [report, stop, *command]
    with os.fdopen(heard, "rb") as report_pipe:
        try:
            process = start_script(
                GUARD,
                words,
                stdout=streams[0],
                stderr=streams[1],
                env=environment,
                **options,
            )
        finally:
            os.close(report)
        guard = Guard(process, str(command[0]), report_pipe)
        with process:
            _GUARDS.add(process)
            try:
                yield guard
            finally:
                _GUARDS.discard(process)
                _await_end(process)
                for line in report_pipe.read().decode().splitlines():
                    name, number = line.split()
                    guard.report[name] = int(number)


def start_script(
    file: Path, arguments: Sequence[object], **options: Any
) -> "subprocess.Popen[str]":
    """Start a program of gilscope, such as a guard, with a pipe to its stdin, as leader of a new
    process group. Raises BadInput if no process can be started.

    options: as for subprocess.Popen
    """
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(file), *map(str, arguments)],
            stdin=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
            **options,
        )
    except OSError as error:
        expect_process(error)
        raise


def expect_process(error: OSError) -> None:
    """Raise BadInput if *error* says that no process can be started: the limit of processes or
    memory is reached. Otherwise return.
    """
    if error.errno in (errno.EAGAIN, errno.ENOMEM):
        raise BadInput(
            "No process can be started: {error}. End some processes, or raise the limit (ulimit "
            "-u).",
            error=error.strerror,
        ) from error


def cut_lifeline(guard: "subprocess.Popen[str]") -> None:
    """Close the stdin of a guard or a reaper, so that it kills its processes and ends."""
    assert guard.stdin
    guard.stdin.close()
    guard.send_signal(signal.SIGCONT)  # a signal may have stopped it


def _await_end(guard: "subprocess.Popen[str]") -> None:
    """Wait until the process *guard* has killed the command's processes. If *guard* fails, kill its
    process group.
    """
    cut_lifeline(guard)
    with suppress(subprocess.TimeoutExpired):
        guard.wait(LAST_SECONDS_S)
    if guard.poll() != 0:
        with suppress(OSError):
            os.killpg(guard.pid, signal.SIGKILL)


def describe_exit(status: int) -> Message:
    """Describe an exit status in words, such as 'exited with status 1' or 'was killed
    by SIGKILL'.
    """
    if status >= 0:
        return message("exited with status {status}", status=status)
    name = f"SIG{-status}"
    with suppress(ValueError):
        name = signal.Signals(-status).name
    return message("was killed by {signal}", signal=name)
