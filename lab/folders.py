"""Private temporary folders, and locks on folders.

The reaper process makes a private folder, and removes it even if the orchestrator is killed. The
kernel frees a lock when its process ends, and no lock file remains. On a network file system, other
machines may not see the lock.

A run and a host's agent have a Sandbox, whose process group all their children join. Other commands
that need files have a PrivateFolder. Builds and runs lock the folder to which they write.
lab/reaper.py describes the arguments and lines that it reads: change both files together.
Source: flock(2).
"""

import errno
import fcntl
import os
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from core.messages import Arg, BadInput
from lab.processes import LAST_SECONDS_S, cut_lifeline, start_script

READY_S = 30.0  # for the reaper to make the folder, on a machine that may be busy
_REAPER = Path(__file__).with_name("reaper.py")


class PrivateFolder:
    """A folder (mode 0700) and a process group that last until the `with` block ends or the
    orchestrator is killed.

    The reaper (lab/reaper.py) is a separate process. It makes the folder, leads the group and ends
    both. Creating an instance starts the reaper, and waits until the folder exists.
    leftovers: further paths that the reaper removes: files, and folders that are empty by
    then
    Raises BadInput if no file or no process can be made.
    """

    def __init__(self, leftovers: Sequence[Path] = ()) -> None:
        self.folder = temporary_folder() / f"gilscope-{secrets.token_hex(4)}"
        self._reaper = _reaper([self.folder, *leftovers])

    @property
    def process_group(self) -> int:
        """Return the id of the process group that every child joins."""
        return self._reaper.pid

    def remove_at_end(self, folder: Path) -> None:
        """Tell the reaper to remove another *folder* at the end: a control group with its
        processes, or a folder whose lock file, FOLDER.lock, is free by then.
        """
        assert self._reaper.stdin
        with suppress(OSError):  # the reaper was killed, or was stopped until its pipe was full
            os.write(self._reaper.stdin.fileno(), os.fsencode(folder) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        _end(self._reaper, self.folder)


def temporary_folder() -> Path:
    """Return the folder in which private folders are created: TMPDIR if it is set, even if that
    folder is full. Raises BadInput if there is none.
    """
    # gettempdir() would pass over a full TMPDIR; a tempfile.tempdir that is set goes before both
    named = "" if tempfile.tempdir else os.environ.get("TMPDIR", "")
    if named:
        return Path(named).absolute()
    try:
        return Path(tempfile.gettempdir())
    except OSError as error:
        raise _unusable("/tmp", error.strerror or str(error)) from error


def _unusable(folder: str, reason: Arg) -> BadInput:
    return BadInput(
        "No file can be created in the temporary folder {folder}: {reason}. "
        "Free some space there, or set TMPDIR to another folder.",
        folder=folder,
        reason=reason,
    )


def _reaper(paths: Sequence[Path]) -> "subprocess.Popen[str]":
    """Start a reaper, which creates folder paths[0] and removes all *paths* when its stdin closes.
    Raises BadInput.
    """
    reaper = start_script(_REAPER, paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert reaper.stdin
    assert reaper.stdout
    os.set_blocking(reaper.stdin.fileno(), False)
    try:
        with reaper.stdout as answer:
            has_answered, *_ = select.select([answer], [], [], READY_S)
            # EAGAIN: the reaper was killed or is stopped
            number = int((has_answered and answer.readline()) or errno.EAGAIN)
    except BaseException:  # Ctrl-C
        _end(reaper, paths[0])
        raise
    if number:
        _end(reaper, None if number == errno.EEXIST else paths[0])
        raise _unusable(str(paths[0].parent), os.strerror(number))
    return reaper


def _end(reaper: "subprocess.Popen[str]", folder: Path | None) -> None:
    """Make the reaper process kill the child processes and remove *folder*, or do this here if the
    reaper fails.

    folder: None if the folder belongs to another process
    """
    cut_lifeline(reaper)
    with suppress(subprocess.TimeoutExpired):
        reaper.wait(LAST_SECONDS_S)
        if folder is None or not folder.exists():
            return
    with suppress(OSError):
        os.killpg(reaper.pid, signal.SIGKILL)
    reaper.wait()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


LONGEST_SOCKET_NAME = len("/12345678/9999.999")  # CELL_FOLDER/SERVICE.SOCKET in a sandbox
SOCKET_PATH_LIMIT = 103  # the size of sun_path on macOS without its final zero; Linux allows 107
_FOLDER_NAME = len("/gilscope-12345678")  # of a private folder


class Sandbox(PrivateFolder):
    """A private folder whose path is short enough for Unix sockets. Raises BadInput if TMPDIR is
    too long.
    """

    def __init__(self, leftovers: Sequence[Path] = ()) -> None:
        parent = temporary_folder()
        if len(str(parent)) + _FOLDER_NAME + LONGEST_SOCKET_NAME > SOCKET_PATH_LIMIT:
            raise BadInput(
                "The path of the temporary folder {folder} is too long for Unix sockets, whose "
                "limit is {limit} bytes. Set TMPDIR to a shorter path, such as /tmp.",
                folder=parent,
                limit=SOCKET_PATH_LIMIT,
            )
        super().__init__(leftovers)


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold an exclusive lock on *folder* during the `with` block. Create the folder if needed.
    Raises OSError.
    """
    lock = lock_folder(folder)
    assert lock is not None, "lock_folder() waits for the lock"
    try:
        yield lock
    finally:
        os.close(lock)


def lock_folder(folder: Path, *, wait: bool = True) -> int | None:
    """Lock *folder*, and create it if needed. Return its file descriptor; closing the descriptor
    frees the lock.

    wait: block until the lock is free; if False, return None when another process has the lock
    Children inherit the descriptor only if it is passed to them. Raises OSError.
    """
    kind = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # another process removed the folder after mkdir()
            descriptor, is_ours = os.open(folder, os.O_RDONLY | os.O_DIRECTORY), False
            try:
                fcntl.flock(descriptor, kind)
                # otherwise the folder was removed and made again while this call waited
                is_ours = os.path.samestat(os.fstat(descriptor), os.stat(folder))
                if is_ours:
                    return descriptor
            except BlockingIOError:
                return None
            finally:
                if not is_ours:
                    os.close(descriptor)
