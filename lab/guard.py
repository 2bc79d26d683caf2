"""Runs one command. Kills its whole process tree when the command ends, or when the parent of this
program ends.

Usage: guard.py REPORT STOP COMMAND...
stdin is a pipe that the parent holds open for as long as the command shall run.
REPORT is a file descriptor. The guard writes "status 0" to it at the end; or "error 2" if the
command cannot be started.
STOP is the number of a signal that asks the command to end, within STOP_S, when the pipe is closed;
0 for none. On Linux this process is a subreaper: descendants that left their parent become its
children. Elsewhere it ends its process group.

lab/processes.py starts it for each command and reads REPORT: change both files together. It runs
under the orchestrator's Python with -I -S, and imports little, so that the command starts soon.
"""

import os
import select
import signal
import sys
from contextlib import suppress
from typing import NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from core.parent import adopt_orphans, die_with_parent

OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # ignored here; the command gets them back
PYTHONS = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores these signals from its start
TRIES = 1000  # rounds of killing descendants, with 2 ms between them
STOP_S = 2.0


def main() -> None:
    """Run the command in sys.argv, and end it if the pipe on stdin is closed."""
    report, stop, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(report, False)
    die_with_parent(
        os.getppid(), signal.SIGCONT
    )  # wakes this process if it is stopped when its parent ends
    ends, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # without a handler in Python, SIGCHLD would not write to the wake-up pipe
    signal.signal(signal.SIGCHLD, lambda *_: None)
    inherited = {number: signal.signal(number, signal.SIG_IGN) for number in OURS}
    adopts = adopt_orphans()
    parent_pid = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        say(report, f"error {error.errno}")
        return
    if not pid:
        for number, handler in inherited.items():
            signal.signal(number, handler)
        _become(command, report, parent_pid)
    status = _wait(pid, ends)
    if status is None and stop:
        os.kill(pid, stop)  # it is our child and nobody has waited for it
        _wait(pid, ends, (), STOP_S)
    _end_all(adopts)
    if status is not None:
        say(report, f"status {status}")


def say(report: int, line: str) -> None:
    """Write one line to the report pipe. Ignore errors, because the parent that reads the pipe may
    have ended.
    """
    with suppress(OSError):
        os.write(report, f"{line}\n".encode())


def _become(command: list[str], report: int, parent_pid: int) -> NoReturn:
    """Replace this forked process with the command, by exec."""
    for number in (*PYTHONS, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        die_with_parent(parent_pid, signal.SIGKILL)
        os.execvp(command[0], command)
    except OSError as error:
        say(report, f"error {error.errno}")
    finally:
        os._exit(127)


def _wait(
    pid: int, ends: int, pipe: tuple[int, ...] = (0,), patience_s: float | None = None
) -> int | None:
    """Wait for the command and return its exit status; None if the pipe is closed first or
    *patience_s* has passed. Reap all child processes that end meanwhile.

    ends: read end of the wake-up pipe, to which the end of each child process writes
    pipe: stdin, or () to wait whether it is closed or not
    patience_s: None for no limit; starts again when another child process ends
    """
    while True:
        readable, _, _ = select.select([*pipe, ends], [], [], patience_s)
        if ends in readable:
            os.read(ends, 4096)
            while ended := _ended():
                if ended[0] == pid:
                    return os.waitstatus_to_exitcode(ended[1])
        elif not readable or not os.read(0, 4096):
            return None


def _ended() -> tuple[int, int] | None:
    """Return the pid and wait status of a child process that has ended; None if none has."""
    try:
        ended = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return ended if ended[0] else None


def _end_all(adopts: bool) -> None:
    """Kill all descendants, until no child is left or TRIES rounds have passed. Orphaned
    descendants become children of this process.

    adopts: False if this system has no subreapers; then ask the process group to end (SIGTERM)
    """
    if not adopts:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        return
    for _ in range(TRIES):
        while _ended():
            pass
        try:
            # WNOWAIT: only ask whether any child is left
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        from core.processtree import (
            descendants,
        )  # most commands leave none, and start sooner without this import

        for pid in descendants(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        select.select([], [], [], 0.002)


if __name__ == "__main__":
    main()
