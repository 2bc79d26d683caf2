"""Write this process's Python version and JIT state (1 is on, 0 is off) to the file `jit-PID`, such
as `3.14.7 1`.

CPython decides this once, after it has run sitecustomize.py. The first imports after that show the
state, so there is no file for a process that imports nothing more. Source: CPython 3.14 and 3.15,
Python/pylifecycle.c, init_interp_main.

lab/run/cell_results.py compares the state with the runtime's name. find_spec() is called at every
import of the service, so it does as little as possible.
"""

import os
import sys


class Finder:
    """An import finder in sys.meta_path that finds no module. Python calls it for each module that
    is imported.
    """

    __slots__ = ("_folder", "_written")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._written = -1

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Write the JIT's state to the file jit-PID if it has changed. The import system calls this
        for each module.
        """
        enabled = int(getattr(sys, "_jit").is_enabled())  # noqa: B009 - type stubs of older versions lack it
        if enabled == self._written:
            return
        self._written = enabled
        try:
            with open(
                os.path.join(self._folder, f"jit-{os.getpid()}"), "w", encoding="ascii"
            ) as file:
                file.write(f"{sys.version.partition(' ')[0]} {enabled}")
        except OSError:  # the cell has ended, or this process has lost the permission to write
            pass


_running: Finder | None = None


def start(folder: str, options: object) -> None:
    """Start watching imports. A forked child records its JIT state at once, because it may not exit
    normally.
    """
    global _running
    inherited, _running = _running, Finder(folder)
    if inherited is not None:
        sys.meta_path.remove(inherited)
        _running.find_spec("")
    sys.meta_path.insert(0, _running)
