"""Find the Python interpreters on this machine, run each to learn its version and build, and choose
one per runtime.

The commands and lab/hosts ask find() for the runtimes of a plan, and missing() for the message if
there is none. Each call executes the candidates again: nothing is kept. The interpreter itself runs
core/runtime.py and what that imports, in 3.11 syntax.
"""

import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.messages import AND, BadInput, Json, Message, listed, message
from core.program import PROGRAM
from core.runtime import JIT, RuntimeName
from lab.places import REPOSITORY
from lab.processes import run_in_parallel
from lab.python import uv
from lab.python.trust import may_execute, trusted_output

# long, because all interpreters are started at once and the machine may be busy
QUERY_TIMEOUT_S = 20.0
INSTALL_TIMEOUT_S = 600.0  # of one interpreter
SOURCES = ("uv", "PATH", "pyenv")  # the preferred one first

# file names of interpreters; the first group is the minor version
_FILE_NAME = re.compile(r"python3\.(\d{1,2})(\.\d+((a|b|rc)\d+)?)?t?")
# what an interpreter is asked with -I -S; its argument is gilscope's folder
_QUESTION = """
import json, sys
sys.path.insert(0, sys.argv[1])
from core.runtime import facts
executable = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps({"executable": executable, "facts": facts()}))
"""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A CPython interpreter that was run to learn its version and build.

    executable: the interpreter itself rather than a link, virtual environment or shim that leads to
                it, because an environment made from a link looks for its standard library near the
                link
    source:     uv, PATH, pyenv, or 'given' if the caller named its path
    facts:      the result of core.runtime.facts() in this interpreter
    """

    executable: Path
    source: str
    facts: Json

    @property
    def name(self) -> RuntimeName:
        """The runtime name from its facts rather than from its file name: 3.14, or 3.14t for a
        free-threaded build.
        """
        version = str(self.facts["version"]).rpartition(".")[0]
        return RuntimeName.of(version, free_threaded=bool(self.facts["gil_disabled_build"]))

    @property
    def label(self) -> str:
        """The CPython version, with the suffix t for a free-threaded build: 3.14.7 or 3.14.7t."""
        return str(self.facts["version"]) + "t" * bool(self.facts["gil_disabled_build"])

    def is_named(self, name: RuntimeName) -> bool:
        """Return whether version and build are those of *name*. The patch release must match only
        if *name* has one.
        """
        return name.interpreter == (self.label if name.patch else self.name)

    @property
    def has_jit(self) -> bool:
        """Whether the interpreter was built with a JIT, which may be on or off."""
        return bool(self.facts["flags"].get("jit"))

    @property
    def identity(self) -> dict[str, str]:
        """The interpreter's path, version and build. If one of them changes, environments and
        wheels are rebuilt.
        """
        return {
            "executable": str(self.executable),
            "version": self.facts["version"],
            "build": self.facts["build"],
        }


def find(names: Iterable[str], chosen: Mapping[str, Path] | None = None) -> dict[str, Interpreter]:
    """Return the most suitable interpreter for each runtime in *names*, and the interpreters given
    by *chosen*.

    Runtimes that were not found are left out.

    names:  runtimes; the keys of the result are their binaries: '3.14t+gil' becomes '3.14t'
    chosen: paths that the caller requires, by binary
    If a plan measures a version with its JIT on and off, both use the same interpreter, so that
    only the JIT differs.
    Raises BadInput if a name is not a runtime, and if a chosen path does not
    have the version and build of its name.
    """
    found = {name: _check(RuntimeName(name), path) for name, path in (chosen or {}).items()}
    wanted = {name.binary: name for name in map(RuntimeName, names)}
    searched = [name for binary, name in wanted.items() if binary not in found]
    known = [*found.values(), *(all_found({name.minor for name in searched}) if searched else ())]
    for name in searched:
        fitting = [interpreter for interpreter in known if interpreter.is_named(name)]
        if f"{name.interpreter}+{JIT}" in wanted:
            with_jit = [interpreter for interpreter in fitting if interpreter.has_jit]
            fitting = with_jit if name.jit_enabled else with_jit or fitting
        if fitting:
            found[name.binary] = fitting[0]
    return found


def missing(runtime: str) -> Message:
    """Return a message that a runtime was not found, with the command to install it or the option
    to give its path.
    """
    name = RuntimeName(runtime)
    if name.jit_enabled:
        return message(
            "Runtime {name} was not found: no CPython {version} on this machine was built with a "
            "JIT (--enable-experimental-jit=yes-off). Give the path of a build with a JIT: "
            "--interpreter {name}=PATH",
            name=name,
            version=name.version,
        )
    exact = name.interpreter
    installed = all_found({name.minor}) if name.patch else []
    if others := [one.label for one in installed if one.name == name.series]:
        return message(
            "Runtime {name} was not found. Installed: {others}. Install it with: uv python install "
            "{exact}. If it is installed in a folder that is not on PATH, give its path with: "
            "--interpreter {exact}=PATH",
            name=name,
            others=listed(others, AND),
            exact=exact,
        )
    command = ["python", "list", "--only-downloads", "--all-versions", exact]
    offers, failure = uv.run(command, QUERY_TIMEOUT_S)
    if not (offers or failure):
        return message(
            "Runtime {name} was not found, and uv does not offer CPython {exact}. Name another "
            "runtime, or give the path of its interpreter with: --interpreter {exact}=PATH",
            name=name,
            exact=exact,
        )
    return message(
        "Runtime {name} was not found. Install it with: uv python install {exact}",
        name=name,
        exact=exact,
    )


def refused(names: Iterable[str]) -> list[Message]:
    """Return a message for each interpreter file that gilscope refuses to execute, with the reason.

    names: runtimes; files are only considered if they are named like an interpreter of one of these
        versions
    """
    minors = {name.minor for name in map(RuntimeName, names)}
    return [
        message("{path} is not executed: {reason}.", path=path, reason=reason)
        for _, path in _candidates(minors)
        if (reason := may_execute(path))
    ]


def install(names: Iterable[str]) -> list[Message]:
    """Install the interpreters for the runtimes *names* with uv. Return a message for each failed
    installation.
    """
    # defaults: the user's own values go first
    settings = {"UV_HTTP_RETRIES": "0", "UV_PYTHON_INSTALL_BIN": "0", **os.environ}
    failures = []
    for name in dict.fromkeys(name.interpreter for name in map(RuntimeName, names)):
        _, reason = uv.run(["python", "install", name], INSTALL_TIMEOUT_S, settings)
        if reason:
            remedy = message("Try again with: uv python install {name}", name=name)
            if reason.code == uv.MISSING:
                remedy = uv.remedy(reason, remedy)
            failures.append(
                message(
                    "Runtime {name} could not be installed: {reason}. {remedy}",
                    name=name,
                    reason=reason,
                    remedy=remedy,
                )
            )
    return failures


def ask(source: str, executable: Path, timeout_s: float = QUERY_TIMEOUT_S) -> Interpreter | None:
    """Run an interpreter to learn its version and build; None if it is not CPython, fails, or
    exceeds *timeout_s*.
    """
    command = [str(executable), "-I", "-S", "-c", _QUESTION, str(REPOSITORY)]
    try:
        answer = json.loads(trusted_output(command, timeout_s) or "")
        itself = Path(answer["executable"])
        real = Path(os.path.realpath(itself if itself.is_file() else executable))
        found = Interpreter(executable=real, source=source, facts=answer["facts"])
        # found.name is never empty, but raises KeyError here if facts are missing
        return found if found.facts["implementation"] == "cpython" and found.name else None
    except (ValueError, KeyError, TypeError):
        return None


def _check(name: RuntimeName, path: Path) -> Interpreter:
    """Return the interpreter at the given *path*. Raises BadInput if it is not suitable for runtime
    *name*.
    """
    program = _resolve_link(path.expanduser())
    if not program.is_file():
        reason = message("the file does not exist")
    elif refusal := may_execute(program):
        reason = message("the file is not executed because {reason}", reason=refusal)
    elif (interpreter := ask("given", program)) is None:
        reason = message("the program did not answer like a CPython interpreter")
    elif not interpreter.is_named(name):
        reason = message("the program is CPython {label}", label=interpreter.label)
    elif name.jit_enabled and not interpreter.has_jit:
        reason = message("the interpreter was built without a JIT")
    else:
        return interpreter
    raise BadInput(
        "--interpreter {name}={path}: {reason}. Give the path of a CPython {build}. "
        "`{program} runtimes` lists the interpreters found.",
        name=name.binary,
        path=path,
        reason=reason,
        build=name.binary,
        program=PROGRAM,
    )


def all_found(minors: Container[int]) -> list[Interpreter]:
    """Return this machine's CPython interpreters of the minor versions *minors*, the most suitable
    one first. No executable appears twice.
    """
    answers = run_in_parallel(lambda candidate: ask(*candidate), _candidates(minors), at_once=16)
    distinct: dict[Path, Interpreter] = {}
    for answer in answers:
        if answer and answer.name.minor in minors:
            distinct.setdefault(answer.executable, answer)
    return sorted(distinct.values(), key=_preference)


def _preference(interpreter: Interpreter) -> list[int]:
    """Return a key to sort interpreters, best first: static, not debug, newest patch release, no
    preview, where it was found.

    Static comes first because an interpreter with a shared libpython is about a fifth slower.
    docs/decisions/008-interpreter-choice.md has the reasons for this order.
    """
    flags = interpreter.facts["flags"]
    # of 3.15.0rc2, the preview is 2; a release has none
    _, _, patch, *preview = re.findall(r"\d+", interpreter.facts["version"])
    source = SOURCES.index(interpreter.source)
    return [flags["shared"], flags["debug"], -int(patch), bool(preview), source]


def _candidates(minors: Container[int]) -> list[tuple[str, Path]]:
    """Return executable files named like interpreters of the minor versions *minors*, as (source,
    path) pairs.

    source: where the file was found (uv, PATH or pyenv); the pairs are in this order
    """
    distinct: dict[Path, str] = {}
    for source, folder, pattern in _places():
        for path in _matching(folder, pattern):
            match = _FILE_NAME.fullmatch(path.name)
            if match and int(match[1]) in minors and path.is_file() and os.access(path, os.X_OK):
                distinct.setdefault(_resolve_link(path), source)
    return [(source, path) for path, source in distinct.items()]


def _resolve_link(path: Path) -> Path:
    """Return the target of a link. Keep a link to a shim, because a shim chooses the interpreter by
    the link's name.
    """
    real = Path(os.path.realpath(path))
    return real if real.name.startswith("python") else path.absolute()


def _places() -> Iterator[tuple[str, str, str]]:
    """Yield where interpreters may be installed: the source, such as uv or pyenv, a folder, and a
    pattern of their paths in it.
    """
    folder, _ = uv.run(["python", "dir"], QUERY_TIMEOUT_S)
    yield "uv", folder.strip(), "*/bin/python3.*"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield "PATH", folder, "python3.*"
    folder = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    yield "pyenv", folder, "versions/*/bin/python3.*"


def _matching(folder: str, pattern: str) -> list[Path]:
    """Return the paths in *folder* that match; none if it is a relative path or ""."""
    with suppress(OSError):  # the folder may belong to another user
        return sorted(Path(folder).glob(pattern)) if os.path.isabs(folder) else []
    return []
