"""Files are written beside and put in their place: a reader, and whoever comes after a kill, finds whole ones only."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

BESIDE = f".gilscope-{secrets.token_hex(4)}"  # this process's; whoever cleans up after it looks for that name


def put(path: Path, content: str | bytes, *, durable: bool = False) -> None:
    """Write *content* beside *path* and put it in its place, in place of a link too. Raises OSError.

    durable: it is on the disk afterwards, and so is its name
    """
    beside = path.with_name(BESIDE)
    try:
        with open(beside, "wb") as file:
            file.write(_bytes(content))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
        if durable:
            _flush_folder(path.parent)
    finally:  # after "disk full", or Ctrl-C
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write(path: Path, content: str | bytes) -> None:
    """As put(), but through a link, and straight into what is no file, such as a pipe. Raises OSError."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(_bytes(content))
    else:
        put(path, content)


def is_there(path: Path) -> bool:
    """Whether there is anything at *path*. Raises OSError where that cannot be known: Path.exists() would say no."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _flush_folder(folder: Path) -> None:
    """Until then a power cut may undo a rename. Source: fsync(2)."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
