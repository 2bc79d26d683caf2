"""Find out which Python a running process uses, and whether its GIL is on (see docs/audit.md).

The version and build are read from the interpreter's file. The GIL of a default build is always on. For the
free-threaded build of CPython 3.14 and 3.15, the GIL's state is read from the process's memory, which needs the right
to trace the process: the same user, and Linux's ptrace_scope. No program of the process is executed.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from lab.gil.memory import read_build, read_gil_state

_PYTHON = re.compile(r"python3(\.[0-9]+)?t?")


class PythonProcess(NamedTuple):
    """A process that runs Python.

    label: version of its interpreter, such as 3.14.7t; gil_enabled: whether its GIL is on, None if unknown
    """

    label: str
    gil_enabled: bool | None


def python_process(pid: int) -> PythonProcess | None:
    """Return the Python version and GIL state of process *pid*; None if it is not Python or may not be inspected."""
    executable = _find_executable(pid)
    label = read_build(pid, executable) if executable else ""
    if not label:
        return None
    return PythonProcess(label=label, gil_enabled=read_gil_state(pid) if label.endswith("t") else True)


def _find_executable(pid: int) -> Path | None:
    """Return the executable of process *pid*; None if the file is not named like a Python interpreter."""
    link = Path(f"/proc/{pid}/exe")
    try:
        path = Path(os.readlink(link))
        is_here = bool(_PYTHON.fullmatch(path.name)) and path.samefile(link)  # a container may have another file there
    except OSError:
        return None
    return path if is_here else None
