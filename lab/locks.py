"""Locks on folders themselves: they end with the process that holds them, however it ends, and leave nothing.

Source: flock(2). On a network file system such a lock is known on its own machine only.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold *folder*, which is made if need be, alone, as soon as it can be had; the descriptor. Raises OSError."""
    lock = acquire(folder)
    assert lock is not None, "it waits"
    try:
        yield lock
    finally:
        os.close(lock)


def acquire(folder: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    """A descriptor of *folder*, which is made if need be, locked until it is closed; None if it is another's.

    wait: until it can be had. Children do not inherit it unless they are passed it. Raises OSError.
    """
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # it was removed meanwhile
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
            os.close(descriptor)  # whoever held it removed the folder while we waited, and another has made it anew


def holder(folder: Path) -> int:
    """The process that has locked *folder*, as far as we may look; else 0. Source: proc_pid_fdinfo(5)."""
    for facts in Path("/proc").glob("[0-9]*/fdinfo/*"):
        with suppress(OSError):  # it has ended, or is another user's
            descriptor = facts.parents[1] / "fd" / facts.name
            if "FLOCK" in facts.read_text() and os.path.samestat(os.stat(descriptor), os.stat(folder)):
                return int(facts.parts[2])
    return 0
