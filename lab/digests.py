"""Digests of files and folders: what tells one state of code, packages or programs from another."""

import hashlib
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

DIGITS = 12
WHOLE_BYTES = 16 << 20  # of a larger file, its size and its two ends
END_BYTES = 64 << 10
MOST_FILES = 5_000
MADE_FOLDERS = {
    "__pycache__",
    "build",
    "dist",
    "gilscope-runs",
    "node_modules",
    "site-packages",
    "target",
    "venv",
    "wheels",
}


class Digests:
    """Remembers each file's digest while its size, inode and time of change stay as they were."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}

    def __repr__(self) -> str:
        return f"Digests({len(self._known)} files)"

    def of_file(self, path: str | os.PathLike[str]) -> str:
        """Of its content, 12 hexadecimal digits. Raises OSError."""
        state = os.stat(path)
        mark = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
        known = self._known.get(os.fspath(path))
        if known is None or known[0] != mark:
            known = self._known[os.fspath(path)] = (mark, _content_digest(path, state.st_size))
        return known[1]

    def of_files(self, paths: Iterator[str], below: str = "") -> dict[str, str]:
        """{path: digest} of those that can be read; paths in the folder *below* from there."""
        digests: dict[str, str] = {}
        for path in paths:
            with suppress(OSError):
                digests[os.path.relpath(path, below) if below else path] = self.of_file(path)
        return digests

    def of_tree(self, folder: Path) -> str:
        """Of names and contents of all files in *folder* that no tool made there."""
        return short(sorted(self.of_files(files_in(folder), str(folder)).items()))


def short(value: object) -> str:
    """12 digits that stand for *value*, which has the same repr whenever it is equal."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:DIGITS]


def files_in(
    folder: Path, suffixes: tuple[str, ...] = ("",), left_out: Collection[str] = MADE_FOLDERS, most: int | None = None
) -> Iterator[str]:
    """Paths of the files with one of these *suffixes*, in order; without hidden folders and environments.

    most: it ends after so many files of any kind
    """
    return (path for path in islice(_walk(folder, left_out), most) if path.endswith(suffixes))


def _walk(folder: Path, left_out: Collection[str]) -> Iterator[str]:
    for here, below, names in os.walk(folder):
        if "pyvenv.cfg" in names:
            below.clear()
            continue
        below[:] = sorted(
            name for name in below if name not in left_out and not name.startswith(".") and "egg-info" not in name
        )
        yield from (os.path.join(here, name) for name in sorted(names))


def _content_digest(path: str | os.PathLike[str], size_bytes: int) -> str:
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        if size_bytes <= WHOLE_BYTES:
            sha.update(file.read())
        else:
            sha.update(b"%d\0" % size_bytes + file.read(END_BYTES))
            file.seek(-END_BYTES, os.SEEK_END)
            sha.update(file.read(END_BYTES))
    return sha.hexdigest()[:DIGITS]
