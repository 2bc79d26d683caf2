"""Runs one command, and ends all that has come of it: when the command ends, or when this program's starter is gone.

Usage: guard.py REPORT STOP PROGRAM COMMAND... with, on stdin, a pipe that the starter holds open while it wants the
command.
REPORT is the descriptor that is told how it went: "started 812", then "status 0", or "error 2" where it does not run.
STOP is the signal that asks the command to end, within STOP_S, when the pipe ends; 0 for none.
Descendants that left their parent are this process's children (a subreaper): Linux. Elsewhere their group is ended.
"""

import os
import select
import signal
import sys
from contextlib import suppress
from typing import NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from core.parent import adopt_orphans, die_with_parent

OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PYTHONS = (signal.SIGPIPE, signal.SIGXFSZ)  # ignored by every Python from its start
TRIES = 1000
STOP_S = 2.0


def main() -> None:
    """Run the command until it ends or the pipe on stdin does."""
    report, stop, program, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    os.set_inheritable(report, False)
    die_with_parent(os.getppid(), signal.SIGCONT)  # if it is stopped then, it goes on, and notices
    ends, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
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
        _become(program, command, report, parent_pid)
    say(report, f"started {pid}")
    status = _wait(pid, ends)
    if status is None and stop:
        os.kill(pid, stop)  # it is our child and nobody has waited for it
        _wait(pid, ends, (), STOP_S)
    _end_all(adopts)
    if status is not None:
        say(report, f"status {status}")


def say(report: int, line: str) -> None:
    """One line for the starter, which may be gone."""
    with suppress(OSError):
        os.write(report, f"{line}\n".encode())


def _become(program: str, command: list[str], report: int, parent_pid: int) -> NoReturn:
    """In the new process: be the command."""
    for number in (*PYTHONS, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        die_with_parent(parent_pid, signal.SIGKILL)
        os.execvp(program, command)
    except OSError as error:
        say(report, f"error {error.errno}")
    finally:
        os._exit(127)


def _wait(pid: int, ends: int, pipe: tuple[int, ...] = (0,), patience_s: float | None = None) -> int | None:
    """The command's exit status; None where the pipe ended before it, or nothing happened for *patience_s*."""
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
    """A child that has ended, with its wait status."""
    try:
        ended = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return ended if ended[0] else None


def _end_all(adopts: bool) -> None:
    """End every descendant; there is none where there is no child, for orphans are adopted."""
    if not adopts:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        return
    for _ in range(TRIES):
        while _ended():
            pass
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        for pid in _descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        select.select([], [], [], 0.002)


def _descendants() -> list[int]:
    """All processes that have come of this one, from /proc: proc_pid_stat(5)."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            if fields[0] not in (b"Z", b"X"):
                children.setdefault(int(fields[1]), []).append(int(name))
    tree = children.get(os.getpid(), [])
    for pid in tree:
        tree += children.get(pid, [])
    return tree


if __name__ == "__main__":
    main()
