"""Find the interpreters on this machine, ask each what it really is, and choose one for each name."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.runtime import RuntimeName
from lab.places import REPOSITORY

QUERY_TIMEOUT_S = 5.0
INSTALL_TIMEOUT_S = 600.0
OLDEST_MINOR = 11
SOURCES = ("uv", "PATH", "pyenv")

_FILE_NAME = re.compile(r"python3\.(\d{1,2})t?")
_QUESTION = """
import json, sys
sys.path.insert(0, sys.argv[1])
from core.runtime import facts
executable = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps({"executable": executable, "facts": facts()}))
"""
_NETWORK_SYMPTOMS = ("dns error", "connection refused", "unreachable", "timed out", "error sending request")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A CPython that ran and said what it is.

    name:         '3.14' or '3.14t', from its own facts and not from its file's name
    executable:   the interpreter itself, also where a link, a virtual environment or a shim led to it: an
                  environment made from a link looks for the standard library around the link, and may well
                  find that of another build
    source:       uv, PATH, pyenv, or 'given' for one that the caller named
    facts:        core.runtime.facts() of it
    alternatives: the others of the same name, best first
    """

    name: str
    executable: Path
    source: str
    facts: Mapping[str, Any]
    alternatives: tuple["Interpreter", ...] = ()


def find(names: Iterable[str], chosen: Mapping[str, Path] | None = None) -> dict[str, Interpreter]:
    """The best interpreter for each runtime in *names* and *chosen*; one that is absent is not in the answer.

    names:  runtimes; '3.14t+gil' is found as '3.14t', the keys of the answer
    chosen: paths that the caller insists on, by name
    Raises BadInput for a name that is none, and for a chosen path that is not what its name says.
    """
    given = {_binary_name(name): _checked(_binary_name(name), path) for name, path in (chosen or {}).items()}
    wanted = dict.fromkeys(map(_binary_name, names))
    searched = [name for name in wanted if name not in given]
    found = _found({_minor(name) for name in searched}) if searched else {}
    return {name: _best(found[name]) for name in searched if name in found} | given


def all_found() -> list[Interpreter]:
    """Every CPython of at least 3.11 on this machine, by name, the best of each name first."""
    found = _found(range(OLDEST_MINOR, 100))
    names = sorted(found, key=lambda name: (_minor(name), name))
    return [one for name in names for one in (_best(found[name]), *found[name][1:])]


def missing_line(name: str) -> str:
    """One line for a runtime that was not found, with the command that installs it."""
    return f"Runtime {name} was not found. Install it with: uv python install {_binary_name(name)}"


def install(names: Iterable[str], timeout_s: float = INSTALL_TIMEOUT_S) -> list[str]:
    """Download the interpreters of these runtimes with uv; the answer has one line for each that failed."""
    lines = (_install(name, timeout_s) for name in dict.fromkeys(map(_binary_name, names)))
    return [line for line in lines if line]


def uv() -> Path | None:
    """The uv on PATH, or else the one in the orchestrator's own environment."""
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    return Path(found) if found else None


def scrubbed_environment() -> dict[str, str]:
    """This process's environment without what changes how another interpreter starts or runs."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name not in ("__PYVENV_LAUNCHER__", "VIRTUAL_ENV")
    }


def ask(source: str, executable: Path, timeout_s: float = QUERY_TIMEOUT_S) -> Interpreter | None:
    """What *executable* says of itself; None when it is no CPython, is broken or does not answer in time."""
    command = [str(executable), "-I", "-S", "-c", _QUESTION, str(REPOSITORY)]
    try:
        answer = json.loads(_output(command, scrubbed_environment(), timeout_s))
        facts = answer["facts"]
        itself = Path(answer["executable"])
        if facts["implementation"] != "cpython":
            return None
        name = ".".join(facts["version"].split(".")[:2]) + ("t" if facts["gil_disabled_build"] else "")
    except (ValueError, KeyError, TypeError):
        return None
    real = Path(os.path.realpath(itself if itself.is_file() else executable))
    return Interpreter(name=name, executable=real, source=source, facts=facts)


def _binary_name(name: str) -> str:
    return RuntimeName.parse(name).interpreter


def _minor(name: str) -> int:
    return int(name.removesuffix("t").partition(".")[2])


def _best(ranked: Sequence[Interpreter]) -> Interpreter:
    return replace(ranked[0], alternatives=tuple(ranked[1:]))


def _checked(name: str, path: Path) -> Interpreter:
    """The interpreter at a path that the caller named, which must be what its name says."""
    seen = f"--interpreter {name}={path}"
    accepted = f"it must be the path of a CPython {_described(name)}"
    remedy = "`python runner.py runtimes` lists those found."
    if not path.expanduser().is_file():
        raise BadInput(f"{seen}: there is no such file; {accepted}. {remedy}")
    interpreter = ask("given", _to_run(path.expanduser()))
    if interpreter is None:
        raise BadInput(f"{seen} did not answer as a CPython does; {accepted}. {remedy}")
    if interpreter.name != name:
        is_now = f"{interpreter.facts['version']}, {_described(interpreter.name)}"
        raise BadInput(f"{seen} is CPython {is_now}; {accepted}. {remedy}")
    return interpreter


def _described(name: str) -> str:
    return f"{name} ({'free-threaded' if name.endswith('t') else 'default'} build)"


def _found(minors: Container[int]) -> dict[str, list[Interpreter]]:
    """Interpreters of these minor versions by name, best first, each binary once."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        answers = list(pool.map(lambda candidate: ask(*candidate), _candidates(minors)))
    distinct: dict[Path, Interpreter] = {}
    for answer in filter(None, answers):
        distinct.setdefault(answer.executable, answer)
    by_name: dict[str, list[Interpreter]] = {}
    for interpreter in sorted(distinct.values(), key=_preference):
        if _minor(interpreter.name) in minors:
            by_name.setdefault(interpreter.name, []).append(interpreter)
    return by_name


def _preference(interpreter: Interpreter) -> tuple[bool, bool, int, bool, int]:
    """Sort key, best first: static (a shared libpython costs a fifth), not debug, newest patch, source."""
    flags = interpreter.facts["flags"]
    version = re.match(r"3\.\d+\.(\d+)(a|b|rc)?", interpreter.facts["version"])
    patch, is_preview = (int(version[1]), version[2] is not None) if version else (0, True)
    return (flags["shared"], flags["debug"], -patch, is_preview, SOURCES.index(interpreter.source))


def _candidates(minors: Container[int]) -> list[tuple[str, Path]]:
    """Files that are named like an interpreter of these versions, with their source, in order of sources."""
    distinct: dict[Path, str] = {}
    for source, folder in _folders():
        for path in _binaries(folder, minors):
            distinct.setdefault(_to_run(path), source)
    return [(source, path) for path, source in distinct.items()]


def _to_run(path: Path) -> Path:
    """The file that a link leads to, unless it is a shim that tells by the link's name what it should be."""
    real = Path(os.path.realpath(path))
    return real if real.name.startswith("python") else path.absolute()


def _folders() -> Iterator[tuple[str, Path]]:
    for folder in _uv_folders():
        yield "uv", folder
    for text in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(text):
            yield "PATH", Path(text)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in sorted(root.glob("versions/*/bin")):
        yield "pyenv", folder


def _binaries(folder: Path, minors: Container[int]) -> list[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    matches = filter(None, map(_FILE_NAME.fullmatch, names))
    paths = [folder / match[0] for match in matches if int(match[1]) in minors]
    return [path for path in paths if path.is_file() and os.access(path, os.X_OK)]


def _uv_folders() -> list[Path]:
    """Folders of the interpreters that uv installed.

    uv gets no PATH: it would start every Python there, one after the other, and PATH is searched here anyway.
    """
    tool = uv()
    if tool is None:
        return []
    command = [str(tool), "python", "list", "--only-installed", "--offline", "--output-format", "json"]
    try:
        listed = json.loads(_output(command, scrubbed_environment() | {"PATH": os.devnull}, QUERY_TIMEOUT_S))
        return list(dict.fromkeys(Path(entry["path"]).parent for entry in listed if entry["path"]))
    except (ValueError, KeyError, TypeError):
        return []


def _output(command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> str:
    """What a command printed, or nothing when it failed or was late; whatever it started goes with it."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError:
        return ""
    with process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return ""
        finally:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
    return output if process.returncode == 0 else ""


def _install(name: str, timeout_s: float) -> str:
    """The line that says why uv could not install it; empty when it did."""
    tool = uv()
    if tool is None:
        return _install_line(name, "uv was not found, `make setup` installs it")
    settings = {"UV_HTTP_RETRIES": "0", "UV_PYTHON_INSTALL_BIN": "0"} | os.environ | {"NO_COLOR": "1"}
    try:
        done = subprocess.run(
            [tool, "python", "install", name],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env=settings,
        )
    except subprocess.TimeoutExpired:
        return _install_line(name, f"no end after {timeout_s:g} s")
    except OSError as error:
        return _install_line(name, f"uv does not run ({error.strerror})")
    return _install_line(name, _reason(done.stderr)) if done.returncode else ""


def _install_line(name: str, reason: str) -> str:
    return f"Runtime {name} could not be installed: {reason}. Try again with: uv python install {name}"


def _reason(stderr: str) -> str:
    """A few words for uv's account of a failure, which runs to ten lines."""
    for symptom in _NETWORK_SYMPTOMS:
        if symptom in stderr.lower():
            return f"no network: {symptom}"
    last = (stderr.strip() or "uv gave no reason").splitlines()[-1]
    return re.sub(r"^\s*(error|cause):\s*", "", last).rstrip(".")[:160]
