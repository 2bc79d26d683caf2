"""Write files atomically: under a temporary name first, then by rename. Readers never see a partly
written file.

record/run_file.py, lab/run, reports/ and `runner.py stress` write their files with it.
All calls of one process use the same temporary name, so two threads must not write into one folder
at the same time.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

# this process's temporary name; lab.run.runs removes what is left of it
BESIDE = f".gilscope-{secrets.token_hex(4)}"


def put(path: Path, content: str | bytes, *, durable: bool = False, private: bool = False) -> None:
    """Write *content* to a temporary file and rename it to *path*, which replaces a symbolic link.
    Raises OSError.

    durable: flush the file and its name to disk before returning
    private: no other user may ever read the file
    """
    # in the same folder, because a rename works only within one file system
    beside = path.with_name(BESIDE)
    mode = 0o600 if private else 0o666
    try:
        # "x": not through a link that another user has put there
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(_bytes(content))
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
        if durable:
            _flush_folder(path.parent)
    finally:  # the temporary file is left if the disk is full, or after Ctrl-C
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write *content* as put() does, but write directly to a pipe or device at *path*. Raises
    OSError.

    A link to a file is replaced, because another user may have put it into a common folder.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(_bytes(content))
    else:
        put(path, content, private=private)


def is_there(path: Path) -> bool:
    """Return whether *path* exists. Unlike Path.exists(), raise OSError if this cannot be
    determined.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _flush_folder(folder: Path) -> None:
    """Flush *folder* to disk, so that a power failure cannot undo a rename in the folder. Source:
    fsync(2).
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
