"""Virtual environments, made when they are first needed. One is named by what it is made of and never changed.

Other contents stand beside it, so that no run has its packages swapped; whoever uses one holds a shared lock on it.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from time import sleep
from typing import Any

from core.errors import GilscopeError
from core.files import put
from core.messages import AND, Message, listed
from lab import locks, processes
from lab.digests import Digests
from lab.environments.requirements import Requirements, constraint_files, content, local_path, name_of, read
from lab.folders import empty
from lab.places import REPOSITORY
from lab.python import uv
from lab.python.interpreters import Interpreter, scrubbed_environment

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"
LAYOUT = 3  # 1 was renamed after it was made, so that its scripts named no interpreter; 2 was made anew in place
_DIGESTS = Digests()
TURN_S = 0.05
MOST_TURNS = 3  # another run may prune what was just made, before we use it
_IN_USE: dict[Path, int] = {}  # by this process, each with its lock


class EnvironmentFailed(GilscopeError):
    """The packages of a system could not be installed for a runtime."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is installed: a requirements file, wheels of our own (lab.native.wheels), or both.

    hashed: the file must have the hash of each package, as all of ours do; a user's may have none
    """

    requirements_file: Path | None = None
    hashed: bool = True
    wheels: tuple[Path, ...] = ()

    @property
    def label(self) -> Message:
        """What messages call it: the names of the files, of ours with the folder."""
        files = [self.requirements_file] if self.requirements_file else []
        return listed(map(_name, (*files, *self.wheels)), AND)

    @cached_property
    def wanted(self) -> Requirements:
        """What the requirements file and those that it names ask for. Raises BadInput."""
        return read(self.requirements_file) if self.requirements_file else Requirements()

    @property
    def folders(self) -> list[Path]:
        """The folders on this machine that it installs: '.', say."""
        return [path for entry in self.wanted.entries if (path := local_path(entry)) and path.is_dir()]


def _name(path: Path) -> str:
    return f"requirements/{path.name}" if path.parent == REPOSITORY / "requirements" else path.name


def environment(
    interpreter: Interpreter,
    requirements_file: Path | None,
    folder: Path,
    wheels: Sequence[Path] = (),
    *,
    hashed: bool = True,
) -> Path:
    """Python of the environment with the packages of *requirements_file* and *wheels*; makes it unless it is ready.

    hashed: the file must have the hash of each package
    folder: where environments live, one for each executable, package file and contents
    A ready one is known by its stamp, without a process. Runs that need the same at once wait for each other. It stays
    as it is while this process lives.
    Raises BadInput for a package file that cannot be read, EnvironmentFailed if it cannot be made.
    """
    contents = Contents(
        requirements_file=requirements_file.absolute() if requirements_file else None,
        hashed=hashed,
        wheels=tuple(path.absolute() for path in wheels),
    )
    stamp = stamp_of(interpreter, contents)
    family = folder_name(interpreter, contents)
    place = folder.absolute() / f"{family}-{hashlib.sha256(stamp.encode()).hexdigest()[:12]}"
    if not (place in _IN_USE and _is_ready(place, stamp)):
        _use(interpreter, contents, place, stamp)
    return _python(place)


def requirements_file(user_file: str, packages: Sequence[str], folder: Path) -> str:
    """A file that asks for what *user_file* (or "") asks for, and for those of *packages* that it does not name.

    It is made in *folder* where one of the two is not all. "" where nothing is asked for. Raises BadInput.
    """
    if not user_file and not packages:
        return ""
    requirements = read(Path(user_file)) if user_file else Requirements()
    named = {name_of(entry) for entry in requirements.entries}
    unnamed = [package for package in packages if name_of(package) not in named]
    if not unnamed:
        return user_file
    if requirements.hashed:
        names = ", ".join(unnamed)
        raise EnvironmentFailed("{file} has hashes, so it must name {names} with hashes.", file=user_file, names=names)
    text = "\n".join([*requirements.options, *requirements.entries, *unnamed]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    stem = Path(user_file or "requirements.txt").stem
    place = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
    if not place.exists():
        put(place, text)  # another run may be reading it
    return str(place)


def installed_packages(python: Path) -> dict[str, str]:
    """Names and versions of the packages beside an environment's python, read from their metadata files."""
    return dict(sorted((package.name, package.version) for package in distributions(python)))


def distributions(python: Path) -> Iterable[metadata.Distribution]:
    """The packages beside an environment's python."""
    folders = python.parent.parent.glob("lib/python3.*/site-packages")
    return metadata.distributions(path=[str(folder) for folder in folders])


def _python(place: Path) -> Path:
    return place / "bin" / "python"


def _is_ready(place: Path, stamp: str) -> bool:
    try:
        return (place / STAMP_FILE).read_text() == stamp and os.access(_python(place), os.X_OK)
    except OSError:
        return False


def _use(interpreter: Interpreter, contents: Contents, place: Path, stamp: str) -> None:
    """Hold the environment, which is made unless another run did so while this one waited for the lock."""
    held = _IN_USE.pop(place, None)
    if held is not None:
        os.close(held)  # it is not whole any more
    try:
        for _ in range(MOST_TURNS):
            lock = locks.take(place, shared=True)
            assert lock is not None, "it waits"
            if _is_ready(place, stamp):
                _IN_USE[place] = lock
                return
            os.close(lock)
            building = _alone(place, stamp)
            if building is not None:
                try:
                    _make(interpreter, contents, place, stamp, building)
                    _prune(place)
                finally:
                    os.close(building)
    except OSError as error:
        if not _is_ready(place, stamp):  # one that is ready may lie where we cannot write
            raise EnvironmentFailed(
                "The environment of runtime {name} could not be made in {folder}: {error}. "
                "Make room or give write access there, then run again.",
                name=interpreter.name,
                folder=str(place.parent),
                error=error.strerror or str(error),
            ) from None


def _alone(place: Path, stamp: str) -> int | None:
    """*place*, locked, once nobody uses what stands there; None once another has made it, who may keep it for long."""
    while not _is_ready(place, stamp):
        lock = locks.take(place, wait=False)
        if lock is None:
            sleep(TURN_S)
        elif _is_ready(place, stamp):
            os.close(lock)
        else:
            return lock
    return None


def _make(interpreter: Interpreter, contents: Contents, place: Path, stamp: str, lock: int) -> None:
    """Build where it is to stand, for the scripts in its bin name their interpreter by its path.

    The stamp comes last: nobody uses one without it.
    """
    empty(place)
    for command in _commands(interpreter.executable, contents, place):
        failure = uv.output_of(partial(run_build, command, lock, MAKE_TIMEOUT_S))[1]
        if failure:
            shutil.rmtree(place, ignore_errors=True)
            raise EnvironmentFailed(
                "The packages of {packages} could not be installed for runtime {name}: {reason}. "
                "Check the network and the package index, then run again.",
                packages=contents.label,
                name=interpreter.name,
                reason=failure,
            )
    (place / STAMP_FILE).write_text(stamp)


def run_build(
    command: Sequence[str], lock: int, timeout_s: float, folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command that builds an environment, a wheel or a program to its end, in *folder*; what it said.

    It inherits *lock* (lab.locks): should this process be killed, the next builder waits until the command has ended.
    Raises subprocess.TimeoutExpired, and OSError if it does not run.
    """
    variables = {"UV_COMPILE_BYTECODE": "1"} | scrubbed_environment() | {"NO_COLOR": "1"}
    return processes.run(command, timeout_s, variables, folder=folder, pass_fds=(lock,))


def _prune(place: Path) -> None:
    """Remove what was made of the same package file when it held something else, unless a run uses it."""
    family = place.name.rpartition("-")[0]
    for old in place.parent.glob(f"{family}-*/"):
        lock = None if old == place else locks.take(old, wait=False)
        if lock is not None:
            shutil.rmtree(old, ignore_errors=True)
            os.close(lock)


def _commands(executable: Path, contents: Contents, place: Path) -> list[list[str]]:
    """Commands that make the environment. run_build() has uv compile packages, so that no measured start does."""
    python = str(_python(place))
    program = uv.find()
    if program is None:
        make = [str(executable), "-m", "venv", str(place)]
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    else:
        make = [str(program), "venv", "--no-project", "--python", str(executable), str(place)]
        install = [str(program), "pip", "install", "--python", python]
    commands = [make]
    if contents.requirements_file:
        hashed = ["--require-hashes"] if contents.hashed else []
        anew = build_anew(contents) if program else []
        commands.append([*install, *hashed, *anew, "-r", str(contents.requirements_file)])
    if contents.wheels:
        commands.append([*install, "--no-index", "--no-deps", *map(str, contents.wheels)])
    return commands


def folder_name(interpreter: Interpreter, contents: Contents) -> str:
    """What its folder's name begins with: the same for whatever the files hold."""
    named = str(contents.requirements_file.absolute()) if contents.requirements_file else ""
    what = "\0".join((str(interpreter.executable), named, *(path.name for path in contents.wheels)))
    return f"{interpreter.name}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def stamp_of(interpreter: Interpreter, contents: Contents) -> str:
    """All that an environment is made from: another digest, executable or build needs another one. Raises BadInput."""
    facts = {
        "layout": LAYOUT,
        "requirements": hashlib.sha256("\n".join(_all_lines(contents.wanted)).encode()).hexdigest(),
        "wheels": [_digest(path) for path in contents.wheels],
        "folders": [_DIGESTS.of_tree(folder) for folder in contents.folders],
        **interpreter.identity,
    }
    return json.dumps(facts, indent=1)


def build_anew(contents: Contents) -> list[str]:
    """Options of uv that have it build its folders again: it takes the wheel that it built before, else.

    --refresh does so too, but not where UV_OFFLINE is set.
    """
    names = [_project_name(folder) for folder in contents.folders]
    if not all(names):
        return ["--reinstall"]
    return [word for name in names for word in ("--reinstall-package", name)]


def _all_lines(wanted: Requirements, outer: tuple[Path, ...] = ()) -> list[str]:
    """Every line that matters, of constraint files too, and the digests of archives that are installed."""
    lines = [*wanted.options, *wanted.entries]
    archives = [path for entry in wanted.entries if (path := local_path(entry)) and path.is_file()]
    lines += [_digest(path) for path in archives]
    for path in constraint_files(wanted):
        if path not in outer:
            lines += _all_lines(read(path), (*outer, path))
    return lines


def _project_name(folder: Path) -> str:
    """What pyproject.toml calls the project; "" if it does not say."""
    try:
        manifest: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        return str(manifest.get("project", {}).get("name", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _digest(path: Path) -> str:
    return hashlib.sha256(content(path)).hexdigest()
