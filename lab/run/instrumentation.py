"""Start instrumentation inside the processes of a service, and read the files that it writes
(core/inside).

Processes of a user write these files, so they are not trusted. Only regular files of the expected
names are read, and their number and size are limited.

A part is a module of core/inside, such as `pauses`. lab/run/cell_processes.py makes one
Instrumentation for each service, and puts its variables into the service's environment.
make_folder, file_names, content_of and remove_folder also run on other hosts, which find them by
their names. They must stay functions of this module, with JSON values as arguments.
"""

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from core.inside import FOLDER, OPTIONS
from core.messages import ChildFailed, Json
from lab.places import REPOSITORY

SOURCE = REPOSITORY / "core" / "inside"  # the folder of the parts, with sitecustomize.py
MOST_FILES = 512  # per part and service
MOST_BYTES = 4 << 20  # of one file
MOST_COMPLAINT_BYTES = 4096  # of one file of tracebacks
FAILED = "failed"  # files with the tracebacks of parts that failed (core/inside/sitecustomize.py)
# how a file's name goes on after the part: the process id and, if there may be several files, `.N`
_PID = r"-[0-9]{1,10}(\.[0-9]{1,2})?"


class TimeWindow(NamedTuple):
    """The timed part of a cell, in times of the host's monotonic clock. It is empty if the cell
    failed too early.
    """

    start_ns: int = 0
    end_ns: int = 0

    @property
    def length_ns(self) -> int:
        """Return the length of the window in ns."""
        return self.end_ns - self.start_ns


def make_folder(parent: str, parts: Mapping[str, Json]) -> tuple[str, str]:
    """Make the folder of one service's instrumentation in the folder *parent*. Return its path, and
    the path of gilscope's files.

    parts: options by the part's name (core/inside)
    """
    folder = mkdtemp(prefix="", dir=parent)
    Path(folder, OPTIONS).write_text(json.dumps(parts), "utf-8")
    return folder, str(REPOSITORY)


def file_names(folder: str, part: str) -> list[str]:
    """Return the names of the files in *folder* that one instrumentation, such as `pauses`, has
    written.
    """
    with suppress(OSError):
        names = filter(re.compile(part + _PID).fullmatch, sorted(os.listdir(folder)))
        return [*islice(names, MOST_FILES)]
    return []


def content_of(folder: str, name: str, most_bytes: int) -> bytes | None:
    """Return the first bytes of a file in *folder*; None if it is not a regular file that can be
    read.

    A link or a pipe of the user could lead elsewhere, or block.
    """
    try:
        descriptor = os.open(Path(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return (
            os.read(descriptor, most_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        )
    finally:
        os.close(descriptor)


def remove_folder(folder: str) -> None:
    """Remove the folder of an instrumentation."""
    shutil.rmtree(folder, ignore_errors=True)


class Instrumentation:
    """The instrumentation of one service: parts that run inside its Python processes, and the
    folder of their output.

    The folder is made when it is needed for the first time.
    place: returns the service's host (lab.run.children.Place), which may be connected again before
    parts: options by the part's name (core/inside); if empty, nothing is started and no folder is
        made
    """

    def __init__(self, place: Callable[[], Any], parts: Mapping[str, Json]) -> None:
        self._place, self._parts = place, parts
        self._made: tuple[str, str] | None = None

    @property
    def folder(self) -> Path | None:
        """Return the folder of the output; None without parts. Raises ChildFailed if the host is
        lost.
        """
        if self._parts and not self._made:
            place = self._place()
            self._made = place.call(tuple[str, str], make_folder, place.folder, self._parts)
        return Path(self._made[0]) if self._made else None

    @property
    def root(self) -> Path:
        """Return the folder of gilscope's files on the service's host."""
        return Path(self._made[1]) if self._made else REPOSITORY

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables that make a Python process start the instrumentation.
        Raises ChildFailed.
        """
        folder = self.folder
        return (
            {FOLDER: str(folder), "PYTHONPATH": str(self.root / SOURCE.relative_to(REPOSITORY))}
            if folder
            else {}
        )

    def files(self, part: str, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
        """Return {file name: content} of the files that one instrumentation, such as `pauses`, has
        written.

        If the host is lost, the files are unknown.
        part: the name of the instrumentation; at most MOST_FILES files are read, each up to
            *most_bytes*
        """
        contents = {}
        with suppress(ChildFailed):
            folder, call = str(self.folder or ""), self._place().call
            for name in call(list[str], file_names, folder, part) if folder else ():
                content = call(bytes | None, content_of, folder, name, most_bytes)
                if content is not None:
                    contents[name] = content
        return contents

    def complaints(self) -> list[str]:
        """Return one line for each process in which a part of the instrumentation failed, with the
        reason.
        """
        texts = self.files(FAILED, MOST_COMPLAINT_BYTES).values()
        return [text.decode(errors="replace").strip().rpartition("\n")[2] for text in texts]

    def remove(self) -> None:
        """Remove the instrumentation's folder."""
        if self._made:
            with suppress(ChildFailed):
                self._place().call(None, remove_folder, self._made[0])
