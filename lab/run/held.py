"""A run's folder: held by the one process that measures into it, and nobody else's files in it."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import BadInput
from core.files import BESIDE, is_there
from core.messages import NOTHING, Message, message
from core.result import FILE_NAME, PLOTS
from lab import locks
from lab.run.sandbox import Sandbox

LONGEST_COMMAND = 200


def leftovers(folder: Path) -> list[Path]:
    """What a process that is killed while it writes into *folder* may leave: half-written files, and nothing in it."""
    return [folder / BESIDE, folder / PLOTS / BESIDE, *([] if folder.exists() else [folder])]


@contextmanager
def held(folder: Path) -> Iterator[Sandbox]:
    """Hold *folder*, which is made if need be, so that only this process writes result.json there.

    The sandbox, whose reaper removes what would be left, is there before the folder is.
    Raises BadInput, which names the process that holds it already, and if the folder cannot be written.
    """
    with Sandbox(leftovers(folder)) as sandbox:
        lock = _taken(folder)
        try:
            yield sandbox
        finally:
            with suppress(OSError):
                os.close(lock)


def expect_ours(folder: Path, names: Iterable[str]) -> None:
    """Raises BadInput where *folder* is no run's and holds files of somebody else by *names* that a run writes."""
    if is_there(folder / FILE_NAME):
        return
    for name in names:
        if is_there(folder / name):
            raise BadInput(
                "{path} is not a run's: {folder} holds no {result}. It would be overwritten; name another folder.",
                path=str(folder / name),
                folder=str(folder),
                result=FILE_NAME,
            )


def _taken(folder: Path) -> int:
    try:
        lock = locks.take(folder, wait=False)
    except OSError as error:
        raise BadInput(
            "{path} cannot be written: {error}; name another folder with --out.", path=str(folder), error=error.strerror
        ) from error
    if lock is None:
        raise BadInput(
            "Another process measures into {folder}: {holder}. Wait until it ends, or name another folder (--out).",
            folder=str(folder),
            holder=_holder(folder),
        )
    return lock


def _holder(folder: Path) -> Message:
    """Who has locked it, as /proc knows it: the command is nowhere on disk, for it may hold secrets."""
    pid = locks.holder(folder)
    words = NOTHING
    with suppress(OSError):
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        shown = "".join(character for character in line if character.isprintable())[:LONGEST_COMMAND]
        words = message("pid {pid}, {command}", pid=pid, command=shown) if shown else NOTHING
    return words or (message("pid {pid}", pid=pid) if pid else message("which one is not known"))
