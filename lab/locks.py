"""Locks on folders. The kernel frees a lock when its process ends, and no lock file remains.

Source: flock(2). On a network file system, other machines may not see the lock.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold an exclusive lock on *folder* during the `with` block. Create the folder if needed. Raises OSError."""
    lock = acquire(folder)
    assert lock is not None, "acquire() waits for the lock"
    try:
        yield lock
    finally:
        os.close(lock)


def acquire(folder: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    """Lock *folder*, and create it if needed. Return its file descriptor; closing the descriptor frees the lock.

    wait: block until the lock is free; if False, return None when another process has the lock
    Children inherit the descriptor only if it is passed to them. Raises OSError.
    """
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # another process removed the folder after mkdir()
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, kind)
                if os.path.samestat(os.fstat(descriptor), os.stat(folder)):
                    return descriptor
            except BlockingIOError:
                os.close(descriptor)
                return None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # the folder was removed and made again while this call waited for the lock


def holder(folder: Path) -> int:
    """Return the pid of the process that has locked *folder*; 0 if it is unknown. Source: proc_pid_fdinfo(5)."""
    for facts in Path("/proc").glob("[0-9]*/fdinfo/*"):
        with suppress(OSError):  # the process has ended, or belongs to another user
            descriptor = facts.parents[1] / "fd" / facts.name
            if "FLOCK" in facts.read_text() and os.path.samestat(os.stat(descriptor), os.stat(folder)):
                return int(facts.parts[2])
    return 0
