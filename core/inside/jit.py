"""Says whether this process compiles at run time: `3.14.7 1`, or 0, in the file `jit-PID`.

CPython settles it after it has run sitecustomize.py, and never again: the first imports after that tell. A process that
imports nothing more says nothing. Source: CPython 3.14 and 3.15, Python/pylifecycle.c, init_interp_main.
"""

import os
import sys
from typing import Any


class Finder:
    """In sys.meta_path it sees each import, and finds nothing."""

    __slots__ = ("_folder", "_written")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._written = -1

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Write the state if it has changed, when the import system asks for a module."""
        enabled = int(getattr(sys, "_jit").is_enabled())  # noqa: B009 - type stubs of older versions lack it
        if enabled == self._written:
            return
        self._written = enabled
        try:
            with open(os.path.join(self._folder, f"jit-{os.getpid()}"), "w", encoding="ascii") as file:
                file.write(f"{sys.version.partition(' ')[0]} {enabled}")
        except OSError:  # the cell is over, or this process may not write there any more
            pass


_running: Finder | None = None


def start(folder: str, options: dict[str, Any]) -> None:
    """Look at imports from now on. A forked child says what it is at once."""
    global _running
    inherited, _running = _running, Finder(folder)
    if inherited is not None:
        sys.meta_path.remove(inherited)
        _running.find_spec("")
    sys.meta_path.insert(0, _running)
