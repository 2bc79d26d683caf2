"""What must not outlive a run: a private folder for sockets, and a process group for children."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from core.errors import BadInput, ChildFailed

LONGEST_SOCKET_NAME = len("/12345678/9999.999")
SOCKET_PATH_LIMIT = 103  # sun_path of macOS less its end; Linux takes 107
_REAPER = Path(__file__).with_name("reaper.py")


class Sandbox:
    """A folder (mode 0700) and a process group, both gone at the end, also when the orchestrator is killed.

    The reaper, a small process of its own, leads the group and ends it.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gilscope-"))
        if len(str(self.folder)) + LONGEST_SOCKET_NAME > SOCKET_PATH_LIMIT:
            self.folder.rmdir()
            raise BadInput(
                "The path of the temporary folder {folder} is too long for Unix sockets ({limit} bytes); "
                "set TMPDIR to a shorter one, such as /tmp.",
                folder=str(self.folder),
                limit=SOCKET_PATH_LIMIT,
            )
        try:
            self._reaper = _reaper(self.folder)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __repr__(self) -> str:
        return f"Sandbox({str(self.folder)!r}, process group {self.process_group})"

    @property
    def process_group(self) -> int:
        """The group that every child joins."""
        return self._reaper.pid

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error: object) -> None:
        assert self._reaper.stdin is not None
        self._reaper.stdin.close()
        self._reaper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)  # it is still there if the reaper was killed


def _reaper(folder: Path) -> "subprocess.Popen[bytes]":
    """A reaper that is on guard. Raises ChildFailed if it cannot be started."""
    try:
        reaper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_REAPER), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except OSError as error:
        raise ChildFailed(
            "No process can be started: {error}. End some, or raise the limit (ulimit -u).", error=error.strerror
        ) from error
    assert reaper.stdout is not None
    with reaper.stdout:
        reaper.stdout.read(1)
    return reaper
