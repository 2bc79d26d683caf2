"""Find out which Python a running process uses, and whether its GIL is on (see docs/audit.md).

The version and build are read from the interpreter's file. The GIL of a default build is always on. For the
free-threaded build of CPython 3.14 and 3.15, the GIL's state is read from the process's memory. If that is not
permitted, and for later versions, sys.remote_exec makes the main thread of the process run one line, unless other users
could have changed the interpreter (lab.python.trust). Both ways need the right to trace the process: the same user, and
Linux's ptrace_scope.
Source: PEP 768, docs.python.org/3.14/library/sys.html#sys.remote_exec
"""

import os
import re
import select
import tempfile
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from lab.gil.memory import read_build, read_gil_state
from lab.python.trust import may_execute, trusted_output

DEADLINE_S = 2.0
TURN_S = 0.02
REMOTE_EXEC_MINOR = 14
_PYTHON = re.compile(r"python3(\.[0-9]+)?t?")
_INJECT = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])"
_ANSWER = """
import os, sys
with open({answer!r} + ".new", "w") as file:
    file.write(str(sys._is_gil_enabled()))
os.replace({answer!r} + ".new", {answer!r})
"""


class PythonProcess(NamedTuple):
    """A process that runs Python.

    label: version of its interpreter, such as 3.14.7t; gil_enabled: whether its GIL is on, None if unknown
    """

    label: str
    gil_enabled: bool | None


def python_process(pid: int, deadline_s: float = DEADLINE_S, *, may_ask: bool = True) -> PythonProcess | None:
    """Return the Python version and GIL state of process *pid*; None if it is not Python or may not be inspected.

    deadline_s: the time limit for the main thread to answer, if it has to be asked
    may_ask: whether the process may be made to run a line that reports its GIL's state
    """
    executable = _find_executable(pid)
    label = read_build(pid, executable) if executable else ""
    if not executable or not label:
        return None
    enabled = read_gil_state(pid) if label.endswith("t") else True
    can_ask = may_ask and int(label.split(".")[1]) >= REMOTE_EXEC_MINOR
    if enabled is None and can_ask and not may_execute(executable):
        enabled = ask_gil_state(pid, executable, deadline_s)
    return PythonProcess(label=label, gil_enabled=enabled)


def ask_gil_state(pid: int, executable: Path, deadline_s: float = DEADLINE_S) -> bool | None:
    """Make process *pid* execute a Python script that reports whether its GIL is on; None without a report.

    deadline_s: the time limit for the report
    executable: the process's own interpreter, because remote_exec needs the same version on both sides
    A main thread that waits in the kernel does not answer: it runs the script only when it next runs Python code.
    """
    with tempfile.TemporaryDirectory(prefix="gilscope-probe-") as folder:
        answer = Path(folder) / "answer"
        script = Path(folder) / "script.py"
        script.write_text(_ANSWER.format(answer=str(answer)))
        accepted = _inject(pid, executable, script, deadline_s)
        until = monotonic() + deadline_s
        while accepted and monotonic() < until:
            if answer.exists():
                return answer.read_text() == "True"
            select.select([], [], [], TURN_S)
    return None


def _inject(pid: int, executable: Path, script: Path, deadline_s: float) -> bool:
    """Pass a script to process *pid* with sys.remote_exec, and return whether the process accepted the script."""
    command = [str(executable), "-I", "-S", "-c", _INJECT, str(pid), str(script)]
    return trusted_output(command, max(5.0, deadline_s)) is not None


def _find_executable(pid: int) -> Path | None:
    """Return the executable of process *pid*; None if the file is not named like a Python interpreter."""
    link = Path(f"/proc/{pid}/exe")
    try:
        path = Path(os.readlink(link))
        is_here = bool(_PYTHON.fullmatch(path.name)) and path.samefile(link)  # a container may have another file there
    except OSError:
        return None
    return path if is_here else None
