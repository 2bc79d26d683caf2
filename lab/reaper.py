"""Makes the private folder of a command and cleans up after it: ends every process of its group, removes the folder.

Usage: reaper.py FOLDER [LEFTOVER...], as leader of the process group, with a pipe from the orchestrator on stdin. It
makes FOLDER itself, so that there is none that nobody removes, tries whether a file fits into it, and says so by a line
on stdout: 0, or the number of the error. LEFTOVERs are a file that is removed, and a folder that is if it is empty and
nobody holds it (lab/locks.py).
"""

import errno
import fcntl
import os
import shutil
import signal
import sys
import time
from contextlib import suppress

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from core.parent import die_with_parent

TRIES = 1000
LOCK_TRIES, LOCK_TURN_S = 250, 0.002
ROOM_BYTES = 1 << 16


def main() -> None:
    """Wait until the orchestrator closes the pipe, by finishing or by dying."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    die_with_parent(os.getppid(), signal.SIGCONT)  # if it is stopped then, it goes on, and notices
    folder, leftovers = sys.argv[1], sys.argv[2:]
    error = _made(folder)
    with suppress(OSError):
        os.write(1, b"%d\n" % error)
    os.close(1)
    if not error:
        sys.stdin.buffer.read()
    leads = os.getpgrp() == os.getpid()
    if leads:
        os.killpg(0, signal.SIGTERM)  # the children do not handle it; whatever does, ends below
    if error != errno.EEXIST:  # it is somebody else's
        _remove(folder)
    for path in leftovers:
        with suppress(OSError):
            _remove_empty(path) if os.path.isdir(path) else os.unlink(path)
    if leads:
        os.killpg(0, signal.SIGKILL)


def _made(folder: str) -> int:
    """Make the folder; 0, or the number of the error that keeps it from holding a file."""
    try:
        os.mkdir(folder, 0o700)
        descriptor = os.open(os.path.join(folder, "room"), os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            if os.write(descriptor, bytes(ROOM_BYTES)) < ROOM_BYTES:
                raise OSError(errno.ENOSPC, "")
        finally:
            os.close(descriptor)
            os.unlink(os.path.join(folder, "room"))
    except OSError as error:
        return error.errno or 1
    return 0


def _remove(folder: str) -> None:
    for _ in range(TRIES):  # a child that is just ending may still make a file
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return


def _remove_empty(folder: str) -> None:
    """Raises OSError if there is something in it. One that another command has taken meanwhile stays.

    The kernel may close the pipe of an orchestrator that was killed before its lock: that is waited for.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(LOCK_TRIES):
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.rmdir(folder)
                return
            time.sleep(LOCK_TURN_S)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
