"""Digests of files and folders, by which a run detects that code, packages or programs have
changed.

lab/run/fingerprints.py compares them with those of earlier cells. lab/environments and
lab/native_builds.py name folders by them, and make what has no folder yet. If a change here alters
these digests, all environments and wheels are made again, and runs that are continued report
changes.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

DIGITS = 12  # hexadecimal digits of a digest
# the most files that lab/run/fingerprints.py looks at in a folder of a user's code
MOST_FILES = 5_000
# names of folders with what tools write or install, rather than sources
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


@cache
def _file_digest(path: str, *mark: int) -> str:
    """Return the digest of a file's content: 12 hexadecimal digits. Raises OSError.

    mark: time of the last change and inode of the file; if one differs, the digest is computed
        again
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]


def file_digests(paths: Iterable[str], below: str = "") -> dict[str, str]:
    """Return {path: digest} of the files that can be read; paths are relative to *below* if it is
    given.
    """
    digests = {}
    for path in paths:
        with suppress(OSError):
            state = os.stat(path)
            digest = _file_digest(path, state.st_ctime_ns, state.st_ino)
            digests[os.path.relpath(path, below) if below else path] = digest
    return digests


def tree_digest(folder: Path) -> str:
    """Return a digest of the names and contents of all files in *folder*, without build output."""
    return short_digest(sorted(file_digests(files_in(folder), str(folder)).items()))


def short_digest(value: object) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of repr(*value*)."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:DIGITS]


def files_in(
    folder: Path,
    suffixes: tuple[str, ...] = ("",),
    left_out: Collection[str] = MADE_FOLDERS,
    most: int | None = None,
) -> Iterator[str]:
    """Yield files whose path ends with one of *suffixes*, sorted per folder. Skip hidden folders
    and virtualenvs.

    left_out: names of folders that are skipped, too
    most: the search ends after this many files of any kind
    """
    files = walk(
        folder, lambda name: name in left_out or name.startswith(".") or "egg-info" in name
    )
    return (path for path in islice(files, most) if path.endswith(suffixes))


def walk(folder: Path, is_left_out: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths of all files below *folder*, sorted per folder, but not those in virtual
    environments.

    is_left_out: returns whether to skip the folders of a given name
    """
    for here, below, names in os.walk(folder):
        # changed in place, because os.walk() enters the folders that remain in this list
        below[:] = sorted(
            name
            for name in below
            if not is_left_out(name) and not os.path.exists(f"{here}/{name}/pyvenv.cfg")
        )
        yield from (os.path.join(here, name) for name in sorted(names))
