"""Run a command to its end, under a guard; how a process ended, and what it wrote last."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import IO

from core.errors import BadInput
from core.messages import Message, message
from lab.output import Output

GUARD = Path(__file__).with_name("guard.py")
WATCH_S = 5.0
_LIFELINES: set[IO[bytes]] = set()
LAST_SECONDS_S = 5.0  # for the guard to end what it has started


def run(
    command: Sequence[str | Path],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
    pass_fds: Sequence[int] = (),
    program: str | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run *command* without input. All that comes of it is gone afterwards: at its end, at the deadline, on Ctrl-C,
    and when this process is killed. Of what it writes, the beginning and the newest mebibyte are kept (lab.output).

    program: what is executed under the name of command[0], where that is another path
    Raises subprocess.TimeoutExpired, and OSError if it does not run.
    """
    start = partial(guarded, command, environment, folder=folder, pass_fds=pass_fds, program=program)
    return _run(start, command, timeout_s, None)


def run_watched(
    command: Sequence[str | Path], timeout_s: float, environment: Mapping[str, str], watch: Callable[[str], None]
) -> "subprocess.CompletedProcess[str]":
    """As run(); *watch* is called every WATCH_S with the newest line of its stderr."""
    return _run(partial(guarded, command, environment), command, timeout_s, watch)


def _run(
    start: "Callable[..., AbstractContextManager[Guard]]",
    command: Sequence[str | Path],
    timeout_s: float,
    watch: Callable[[str], None] | None,
) -> "subprocess.CompletedProcess[str]":
    out, err = Output(), Output()
    with closing(out), closing(err):
        with start(streams=(out.write_end, err.write_end)) as guard:
            _read((out, err), command, timeout_s, watch)
        texts = [output.kept().decode(errors="replace") for output in (out, err)]
    return subprocess.CompletedProcess(command, guard.status(), *texts)


def _read(
    outputs: Sequence[Output], command: Sequence[str | Path], timeout_s: float, watch: Callable[[str], None] | None
) -> None:
    """Until both have ended, as they do with the guard. Raises subprocess.TimeoutExpired."""
    until, next_look = monotonic() + timeout_s, monotonic() + WATCH_S
    with DefaultSelector() as selector:
        for output in outputs:
            output.close_write_end()
            selector.register(output, EVENT_READ, output)
        while selector.get_map():
            ready = selector.select((min(until, next_look) if watch else until) - monotonic())
            if watch and monotonic() >= next_look:
                watch(_newest_line(outputs[-1]))
                next_look = monotonic() + WATCH_S
            if monotonic() >= until:
                raise subprocess.TimeoutExpired(command, timeout_s)
            for key, _ in ready:
                key.data.drain()
                if key.data.has_ended:
                    selector.unregister(key.fileobj)


def _newest_line(output: Output) -> str:
    lines = output.kept().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def end_all() -> None:
    """End every command that runs in a thread of this process; what waits for one then sees its end."""
    for lifeline in tuple(_LIFELINES):
        lifeline.close()


class Guard:
    """A command that runs under lab/guard.py. process: the guard's, whose stdout and stderr are the command's."""

    def __init__(self, process: "subprocess.Popen[str]", program: str) -> None:
        self.process = process
        self._program = program
        self._facts: dict[str, int] = {}

    def read_report(self, report: IO[bytes]) -> None:
        """What the guard said before it ended."""
        self._facts = {name: int(number) for name, number in map(str.split, report.read().decode().splitlines())}

    def status(self) -> int:
        """How the command ended, after the block; as Popen.returncode. Raises OSError if it did not run."""
        if "error" in self._facts:
            error = OSError(self._facts["error"], os.strerror(self._facts["error"]), self._program)
            expect_process(error)
            raise error
        return self._facts.get("status", -signal.SIGKILL)  # without a word the guard itself was killed


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
    """A command that is ended, with all that has come of it, when the block or this process ends.

    streams: where its stdout and its stderr go
    stop: a signal that asks it to end, before it is killed; 0 for none
    """
    wanted, hold = os.pipe()
    heard, report = os.pipe()
    words = [
        sys.executable,
        "-I",
        "-S",
        str(GUARD),
        str(report),
        str(int(stop)),
        program or str(command[0]),
        *map(str, command),
    ]
    with os.fdopen(hold, "wb", 0) as lifeline, os.fdopen(heard, "rb") as told, ExitStack() as ended:
        _LIFELINES.add(lifeline)
        ended.callback(_LIFELINES.discard, lifeline)
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=wanted,
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
            os.close(wanted)
            os.close(report)
        with process:
            guard = Guard(process, str(command[0]))
            try:
                yield guard
            finally:
                lifeline.close()
                _await_end(process)
                guard.read_report(told)


def expect_process(error: OSError) -> None:
    """Raises BadInput if *error* says that there are too many processes, or too little memory for another one."""
    if error.errno in (errno.EAGAIN, errno.ENOMEM):
        raise BadInput(
            "No process can be started: {error}. End some, or raise the limit (ulimit -u).", error=error.strerror
        ) from error


def _await_end(guard: "subprocess.Popen[str]") -> None:
    """Wait until the guard has ended all; end its group where it does not, or was killed itself."""
    guard.send_signal(signal.SIGCONT)  # it may have been stopped
    with suppress(subprocess.TimeoutExpired):
        guard.wait(LAST_SECONDS_S)
    if guard.poll() != 0:
        with suppress(OSError):
            os.killpg(guard.pid, signal.SIGKILL)


def ending(status: int) -> Message:
    """Of its exit status, as after its name: 'exited with status 1', 'was killed by SIGKILL'."""
    if status >= 0:
        return message("exited with status {status}", status=status)
    try:
        return message("was killed by {signal}", signal=signal.Signals(-status).name)
    except ValueError:
        return message("was killed by {signal}", signal=f"SIG{-status}")
