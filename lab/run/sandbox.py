"""The sandbox of a run: a private folder for sockets and a process group for children, both removed at the end."""

from collections.abc import Sequence
from pathlib import Path

from core.errors import BadInput
from lab.folders import PrivateFolder, temporary_folder

LONGEST_SOCKET_NAME = len("/12345678/9999.999")
SOCKET_PATH_LIMIT = 103  # the size of sun_path on macOS without its final zero; Linux allows 107
_FOLDER_NAME = len("/gilscope-12345678")


class Sandbox(PrivateFolder):
    """A private folder whose path is short enough for Unix sockets. Raises BadInput if TMPDIR is too long."""

    def __init__(self, leftovers: Sequence[Path] = ()) -> None:
        parent = temporary_folder()
        if len(str(parent)) + _FOLDER_NAME + LONGEST_SOCKET_NAME > SOCKET_PATH_LIMIT:
            raise BadInput(
                "The path of the temporary folder {folder} is too long for Unix sockets, whose limit is {limit} bytes. "
                "Set TMPDIR to a shorter path, such as /tmp.",
                folder=str(parent),
                limit=SOCKET_PATH_LIMIT,
            )
        super().__init__(leftovers)

    def __enter__(self) -> "Sandbox":
        return self
