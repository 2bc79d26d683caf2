"""What must not outlive a run: a private folder for sockets, and a process group for children."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from core.errors import BadInput, ChildFailed

LONGEST_SOCKET_NAME = len("/12345678/9999.999")
SOCKET_PATH_LIMIT = 103  # sun_path of macOS less its end; Linux takes 107
_JANITOR = Path(__file__).with_name("reaper.py")


class Sandbox:
    """A folder (mode 0700) and a process group, both gone at the end, also when the orchestrator is killed.

    The janitor, a small process of its own, leads the group and sees to it.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gilscope-"))
        if len(str(self.folder)) + LONGEST_SOCKET_NAME > SOCKET_PATH_LIMIT:
            self.folder.rmdir()
            raise BadInput(
                f"The temporary folder {self.folder} is too long for Unix sockets ({SOCKET_PATH_LIMIT} bytes); "
                "set TMPDIR to a shorter one, such as /tmp."
            )
        try:
            self._janitor = _janitor(self.folder)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __repr__(self) -> str:
        return f"Sandbox({str(self.folder)!r}, process group {self.process_group})"

    @property
    def process_group(self) -> int:
        """The group that every child joins."""
        return self._janitor.pid

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._janitor.stdin is not None
        self._janitor.stdin.close()
        self._janitor.wait()
        shutil.rmtree(self.folder, ignore_errors=True)  # had somebody killed the janitor, it would still be there


def _janitor(folder: Path) -> "subprocess.Popen[bytes]":
    """A janitor that is on guard. Raises ChildFailed if it cannot be started."""
    try:
        janitor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_JANITOR), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except OSError as error:
        raise ChildFailed(
            f"No process can be started: {error.strerror}. End some, or raise the limit (ulimit -u)."
        ) from error
    assert janitor.stdout is not None
    with janitor.stdout:
        janitor.stdout.read(1)
    return janitor
