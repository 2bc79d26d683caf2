"""Which Python a process runs and whether its GIL is on, ours or not, without its co-operation. See docs/audit.md.

A program that others could have changed is never executed (lab.python.trust): its file is read instead.
A default build's GIL is on. That of CPython 3.14 and 3.15 is read from its memory; if that is not allowed, and of later
versions, sys.remote_exec makes the process run a line, which waits for its main thread. Both need the right to trace
it: the same user, and Linux's ptrace_scope.
Source: PEP 768, docs.python.org/3.14/library/sys.html#sys.remote_exec
"""

import os
import re
import select
import tempfile
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired
from time import monotonic

from lab.gil.elf import PythonBuild
from lab.gil.memory import build_of, gil_in_memory
from lab.python.interpreters import ask, scrubbed_environment
from lab.python.trust import may_execute, run_trusted

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


@dataclass(frozen=True, kw_only=True)
class PythonProcess:
    """label: of its interpreter, 3.14.7t. gil_enabled: whether its GIL is on; None if that is not known."""

    label: str
    gil_enabled: bool | None


def python_process(pid: int, deadline_s: float = DEADLINE_S, *, may_ask: bool = True) -> PythonProcess | None:
    """What process *pid* runs under; None if it is not a Python, or may not be inspected.

    deadline_s: how long its main thread may take to answer, if it has to be asked
    may_ask: whether it may be asked at all, which makes it run a line; else it notices nothing
    """
    executable = _executable(pid)
    if executable is None:
        return None
    trusted = not may_execute(executable)
    build = _build(executable) if trusted else build_of(pid, executable)
    if build is None:
        return None
    enabled = _gil_enabled(pid, executable, build, deadline_s if may_ask and trusted else 0.0)
    return PythonProcess(label=build.label, gil_enabled=enabled)


def _gil_enabled(pid: int, executable: Path, build: PythonBuild, ask_s: float) -> bool | None:
    if not build.free_threaded:
        return True
    enabled = gil_in_memory(pid)
    if enabled is not None or not ask_s or int(build.version.split(".")[1]) < REMOTE_EXEC_MINOR:
        return enabled
    return gil_answered(pid, executable, ask_s)


_BUILDS: dict[tuple[Path, int, int], PythonBuild] = {}


def _build(executable: Path) -> PythonBuild | None:
    """Return what the program says of itself, asked once while its file is the same: workers of a service share one."""
    status = executable.stat()
    key = (executable, status.st_ino, status.st_mtime_ns)
    if key not in _BUILDS and (interpreter := ask("given", executable)):
        facts = interpreter.facts
        _BUILDS[key] = PythonBuild(version=facts["version"], free_threaded=facts["gil_disabled_build"])
    return _BUILDS.get(key)


def gil_answered(pid: int, executable: Path, deadline_s: float = DEADLINE_S) -> bool | None:
    """What process *pid* says when it is made to run one line; None if it does not within *deadline_s*.

    executable: the process's own, for remote_exec wants the very same version on both sides. A main thread that
    waits in the kernel does not answer: it runs the line when it next runs Python.
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
    """Whether the process took the script."""
    command = [str(executable), "-I", "-S", "-c", _INJECT, str(pid), str(script)]
    try:
        done = run_trusted(command, max(5.0, deadline_s), scrubbed_environment())
    except (OSError, TimeoutExpired):
        return False
    return done.returncode == 0


def _executable(pid: int) -> Path | None:
    """The interpreter that *pid* runs, if it is one: a program of another name is not started to be asked."""
    link = Path(f"/proc/{pid}/exe")
    try:
        path = Path(os.readlink(link))
        is_here = bool(_PYTHON.fullmatch(path.name)) and path.samefile(link)  # in a container it may be another one
    except OSError:
        return None
    return path if is_here else None
