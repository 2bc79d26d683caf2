"""Locks on files: they end with the process that holds them, however it ends. Source: flock(2)."""

import fcntl
import os
from pathlib import Path


def take(path: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    """The descriptor of the lock file *path*, which is made if need be, locked; None if it is another's.

    wait: until it can be had. Children do not inherit it unless they are passed it. Raises OSError.
    """
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, kind)
            if _is_at(descriptor, path):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # whoever held it removed the file while we waited


def share(descriptor: int) -> None:
    """Let others have a shared lock, too."""
    fcntl.flock(descriptor, fcntl.LOCK_SH)


def remove(descriptor: int, path: Path) -> None:
    """Remove the lock file, then let it go: take() notices that the file it waited for is gone."""
    try:
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
