"""Creates a private folder for a gilscope command. When the command ends, kills its processes and
removes the folder.

Usage: reaper.py FOLDER [LEFTOVER...], as leader of the process group, with a pipe from the
    orchestrator on stdin.
Each line on stdin is a folder that the reaper also removes: of a control group, or a folder beside
its lock file. No file names these folders, because FOLDER may belong to the user of a database.
The reaper makes FOLDER itself, so a folder never exists without a process that removes it. It
writes a test file there, and reports by one line on stdout: 0, or the error number.
A LEFTOVER is a file, which is removed, or a folder, which is removed if it is empty and not locked
(lab/folders.py).

lab/folders.py starts it with -I -S and writes its stdin: change both files together. It imports the
standard library and core alone.
"""

import errno
import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from core.parent import die_with_parent, remove_group

TRIES = 1000  # at removing a folder
LOCK_TRIES, LOCK_TURN_S = 250, 0.002  # waits up to 0.5 s for a lock
ROOM_BYTES = 1 << 16  # size of the test file, for which the disk must have room


def main() -> None:
    """Make the folder of a gilscope command, and clean up when the command ends.

    The command has ended when its end of the pipe on stdin is closed.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # wakes this process if it is stopped when its parent ends
    die_with_parent(os.getppid(), signal.SIGCONT)
    folder, leftovers = sys.argv[1], sys.argv[2:]
    error = _made(folder)
    with suppress(OSError):
        os.write(1, b"%d\n" % error)
    os.close(1)
    # the end of file comes when the command ends
    more = b"" if error else sys.stdin.buffer.read()
    # a group of another leader has processes that are not the command's
    leads = os.getpgrp() == os.getpid()
    if leads:
        # children do not handle SIGTERM; SIGKILL below ends any process that does
        os.killpg(0, signal.SIGTERM)
    if error != errno.EEXIST:  # an existing folder belongs to another process
        for path in map(os.fsdecode, more.splitlines()):
            with suppress(OSError):
                _remove_unlocked(path) if os.path.exists(f"{path}.lock") else remove_group(path)
        _remove(folder)
    for path in leftovers:
        with suppress(OSError):
            _remove_empty(path) if os.path.isdir(path) else os.unlink(path)
    if leads:
        os.killpg(0, signal.SIGKILL)


def _made(folder: str) -> int:
    """Make the private folder, and write a test file in it. Return 0, or the number of
    the error.
    """
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
    for _ in range(TRIES):  # a child that is being killed may still create a file
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return


def _remove_unlocked(folder: str) -> None:
    """Remove *folder*. Raises OSError if another command has locked its lock file."""
    with _locked(f"{folder}.lock"):
        _remove(folder)


def _remove_empty(folder: str) -> None:
    """Remove *folder*. Raises OSError if another command keeps it locked, or if it is not empty."""
    with _locked(folder):
        os.rmdir(folder)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Lock *path* during the `with` block. Raises OSError if another command keeps it locked.

    When an orchestrator is killed, the kernel may close its pipe before it frees its lock. So this
    waits for the lock.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if not any(_try_lock(descriptor) for _ in range(LOCK_TRIES)):
            raise BlockingIOError
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    time.sleep(LOCK_TURN_S)
    return False


if __name__ == "__main__":
    main()
