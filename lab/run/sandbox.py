"""What must not outlive a run: a private folder for sockets, and a process group for children."""

from collections.abc import Sequence
from pathlib import Path

from core.errors import BadInput
from lab.folders import PrivateFolder, temporary_folder

LONGEST_SOCKET_NAME = len("/12345678/9999.999")
SOCKET_PATH_LIMIT = 103  # sun_path of macOS less its end; Linux takes 107
_FOLDER_NAME = len("/gilscope-12345678")


class Sandbox(PrivateFolder):
    """A private folder whose path leaves room for Unix sockets. Raises BadInput where it does not."""

    def __init__(self, leftovers: Sequence[Path] = ()) -> None:
        parent = temporary_folder()
        if len(str(parent)) + _FOLDER_NAME + LONGEST_SOCKET_NAME > SOCKET_PATH_LIMIT:
            raise BadInput(
                "The path of the temporary folder {folder} is too long for Unix sockets ({limit} bytes); "
                "set TMPDIR to a shorter one, such as /tmp.",
                folder=str(parent),
                limit=SOCKET_PATH_LIMIT,
            )
        super().__init__(leftovers)

    def __enter__(self) -> "Sandbox":
        return self
