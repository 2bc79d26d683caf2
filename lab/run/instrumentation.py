"""Start instrumentation inside the processes of a service, and read the files that it writes (core/inside).

Processes of a user write these files, so they are not trusted. Only regular files of the expected names are read, and
their number and size are limited.
"""

import json
import os
import re
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from core.inside import FOLDER, OPTIONS
from lab.places import REPOSITORY

SOURCE = REPOSITORY / "core" / "inside"
MOST_FILES = 512  # per part and service
MOST_BYTES = 4 << 20  # of one file
MOST_COMPLAINT_BYTES = 4096
FAILED = "failed"
_PID = r"-[0-9]{1,10}(\.[0-9]{1,2})?"


class TimeWindow(NamedTuple):
    """The timed part of a cell, in times of the host's monotonic clock. It is empty if the cell failed too early."""

    start_ns: int = 0
    end_ns: int = 0

    @property
    def length_ns(self) -> int:
        """Return the length of the window in ns."""
        return self.end_ns - self.start_ns


class Instrumentation:
    """The instrumentation of one service: parts that run inside its Python processes, and the folder of their output.

    parts: options by the part's name (core/inside); if empty, nothing is started and no folder is made
    root: the folder of gilscope's files on the service's host
    """

    def __init__(self, sandbox: Path, parts: Mapping[str, Mapping[str, Any]]) -> None:
        self.root = REPOSITORY
        self.folder = Path(mkdtemp(prefix="", dir=sandbox)) if parts else None
        if self.folder:
            text = json.dumps({name: dict(options) for name, options in parts.items()})
            (self.folder / OPTIONS).write_text(text, "utf-8")

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables that make a Python process start the instrumentation."""
        source = self.root / SOURCE.relative_to(REPOSITORY)
        return {FOLDER: str(self.folder), "PYTHONPATH": str(source)} if self.folder else {}

    def files(self, part: str, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
        """Return {file name: content} of the files that one instrumentation, such as `pauses`, has written.

        part: the name of the instrumentation; at most MOST_FILES files are read, each up to *most_bytes*
        """
        names: list[str] = []
        with suppress(OSError):
            names = sorted(os.listdir(self.folder)) if self.folder else []
        wanted = islice(filter(re.compile(part + _PID).fullmatch, names), MOST_FILES)
        contents = {name: self._content(name, most_bytes) for name in wanted}
        return {name: content for name, content in contents.items() if content is not None}

    def complaints(self) -> list[str]:
        """Return one line for each process in which a part of the instrumentation failed, with the reason."""
        texts = self.files(FAILED, MOST_COMPLAINT_BYTES).values()
        return [text.decode(errors="replace").strip().rpartition("\n")[2] for text in texts]

    def remove(self) -> None:
        """Remove the instrumentation's folder."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _content(self, name: str, most_bytes: int) -> bytes | None:
        assert self.folder
        try:
            descriptor = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return os.read(descriptor, most_bytes) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        finally:
            os.close(descriptor)
