"""A run's folder: held by the one process that measures into it, and nobody else's files in it."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import BadInput
from core.messages import NOTHING, Message, message
from core.result import FILE_NAME
from lab import locks

LOCK = ".lock"
LONGEST_COMMAND = 200


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold *folder*, which is made if need be, so that only this process writes result.json there.

    Raises BadInput, which names the process that holds it already, and if the folder cannot be written.
    """
    is_new = not folder.exists()
    try:
        lock = _taken(folder)
        try:
            yield
        finally:
            with suppress(OSError):
                locks.remove(lock, folder / LOCK)
    finally:
        if is_new:
            with suppress(OSError):  # there is something in it, as there should be
                folder.rmdir()


def expect_ours(folder: Path, names: Iterable[str]) -> None:
    """Raises BadInput where *folder* is no run's and holds files of somebody else by *names* that a run writes."""
    if (folder / FILE_NAME).exists():
        return
    for name in names:
        if (folder / name).exists() or (folder / name).is_symlink():
            raise BadInput(
                "{path} is not a run's: {folder} holds no {result}. It would be overwritten; name another folder.",
                path=str(folder / name),
                folder=str(folder),
                result=FILE_NAME,
            )


def _taken(folder: Path) -> int:
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = locks.take(path, wait=False)
        if lock is None:
            raise BadInput(
                "Another process measures into {folder}: {holder}. Wait until it ends, or name another folder (--out).",
                folder=str(folder),
                holder=_holder(path),
            )
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        return lock
    except OSError as error:
        raise BadInput(
            "{path} cannot be written: {error}; name another folder with --out.", path=str(path), error=error.strerror
        ) from error


def _holder(path: Path) -> Message:
    """Who wrote into the lock file, as /proc knows it: the command is nowhere on disk, for it may hold secrets."""
    try:
        pid = int(path.read_text(encoding="ascii", errors="replace") or 0)
    except (OSError, ValueError):
        pid = 0
    words = NOTHING
    with suppress(OSError):
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        shown = "".join(character for character in line if character.isprintable())[:LONGEST_COMMAND]
        words = message("pid {pid}, {command}", pid=pid, command=shown) if shown else NOTHING
    return words or (message("pid {pid}", pid=pid) if pid else message("it has not said which"))
