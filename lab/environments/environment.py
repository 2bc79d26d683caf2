"""One virtual environment for each interpreter, package file and wheels, made when it is first needed."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from core.errors import GilscopeError
from lab.environments import build, recipes
from lab.environments.recipes import Contents
from lab.environments.requirements import Requirements, name_of
from lab.environments.requirements import read as read_requirements
from lab.python import interpreters
from lab.python.interpreters import Interpreter
from lab.python.uv import reason

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"
_MADE_HERE: set[Path] = set()  # by this process


class EnvironmentFailed(GilscopeError):
    """Packages that a system needs could not be installed for a runtime."""


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
    folder: where environments live, one for each executable, package file and names of wheels
    A ready one is known by its stamp alone: no process is started. Runs that need one at once wait for one. One that
    installs a folder of this machine is made once in every process: nothing else says that the folder has changed.
    Raises BadInput for a package file that cannot be read, EnvironmentFailed when it cannot be made.
    """
    contents = Contents(
        requirements_file=requirements_file.absolute() if requirements_file else None,
        hashed=hashed,
        wheels=tuple(path.absolute() for path in wheels),
    )
    place = folder.absolute() / recipes.folder_name(interpreter, contents)
    stamp = recipes.stamp(interpreter, contents)
    if (contents.folders and place not in _MADE_HERE) or not _is_ready(place, stamp):
        _make_once(interpreter, contents, place, stamp)
    return _python(place)


def requirements_file(user_file: str, packages: Sequence[str], folder: Path) -> str:
    """A file that asks for what *user_file* (or "") asks for, and for those of *packages* that it does not name.

    It is made in *folder* where one of the two is not all. "" where nothing is asked for. Raises BadInput.
    """
    if not user_file and not packages:
        return ""
    asked = read_requirements(Path(user_file)) if user_file else Requirements()
    named = {name_of(entry) for entry in asked.entries}
    more = [one for one in packages if name_of(one) not in named]
    if not more:
        return user_file
    if asked.hashed:
        raise EnvironmentFailed(f"{user_file} has hashes, so it must name {', '.join(more)} with its hashes, too.")
    text = "\n".join([*asked.options, *asked.entries, *more]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    stem = Path(user_file or "requirements.txt").stem
    place = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
    place.write_text(text, encoding="utf-8")
    return str(place)


def installed_packages(python: Path) -> dict[str, str]:
    """Names and versions of the packages beside an environment's python, read from their metadata files."""
    folders = python.parent.parent.glob("lib/python3.*/site-packages")
    found = metadata.distributions(path=[str(folder) for folder in folders])
    return dict(sorted((package.name, package.version) for package in found))


def _python(place: Path) -> Path:
    return place / "bin" / "python"


def _is_ready(place: Path, stamp: str) -> bool:
    try:
        return (place / STAMP_FILE).read_text() == stamp and os.access(_python(place), os.X_OK)
    except OSError:
        return False


def _make_once(interpreter: Interpreter, contents: Contents, place: Path, stamp: str) -> None:
    """Make the environment unless another run did so while this one waited for the lock."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with build.locked(place.with_name(place.name + ".lock")) as lock:
            if contents.folders or not _is_ready(place, stamp):
                _make(interpreter, contents, place, stamp, lock)
                _MADE_HERE.add(place)
    except OSError as error:
        raise EnvironmentFailed(
            f"The environment of runtime {interpreter.name} could not be made in {place.parent}: "
            f"{error.strerror or error}. Make room or give write access there, then run again."
        ) from None


def _make(interpreter: Interpreter, contents: Contents, place: Path, stamp: str, lock: int) -> None:
    """Build where it is to stand, for the scripts in its bin name their interpreter by its path; the stamp comes last.

    The one that stood there before is put aside, and back should this fail: it is right for its own requirements.
    """
    old = place.with_name(place.name + ".old")
    _put_aside(place, old)
    for command in _commands(interpreter.executable, contents, place):
        failure = _failure(command, lock)
        if failure:
            shutil.rmtree(place, ignore_errors=True)
            if old.exists():
                old.rename(place)
            raise EnvironmentFailed(
                f"The packages of {contents.label} could not be installed for runtime "
                f"{interpreter.name}: {failure}. Check the network and the package index, then run again."
            )
    (place / STAMP_FILE).write_text(stamp)
    shutil.rmtree(old, ignore_errors=True)


def _put_aside(place: Path, old: Path) -> None:
    """One without a stamp was left half made, and what was put aside then still stands there."""
    if (place / STAMP_FILE).exists():
        shutil.rmtree(old, ignore_errors=True)
        place.rename(old)
    else:
        shutil.rmtree(place, ignore_errors=True)


def _commands(executable: Path, contents: Contents, place: Path) -> list[list[str]]:
    """Commands that make the environment; byte code too, or each first import of it would be timed compiling."""
    python = str(_python(place))
    tool = interpreters.uv()
    if tool is None:
        make = [str(executable), "-m", "venv", str(place)]
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    else:
        make = [str(tool), "venv", "--no-project", "--python", str(executable), str(place)]
        install = [str(tool), "pip", "install", "--python", python, "--compile-bytecode"]
    commands = [make]
    if contents.requirements_file:
        hashed = ["--require-hashes"] if contents.hashed else []
        anew = recipes.build_anew(contents) if tool else []
        commands.append([*install, *hashed, *anew, "-r", str(contents.requirements_file)])
    if contents.wheels:
        commands.append([*install, "--no-index", "--no-deps", *map(str, contents.wheels)])
    return commands


def _failure(command: list[str], lock: int) -> str:
    """Why a command failed, in its own last words; empty when it did not."""
    try:
        done = build.run(command, lock, MAKE_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"no end after {MAKE_TIMEOUT_S:g} s"
    except OSError as error:
        return f"{command[0]} does not run ({error.strerror})"
    if not done.returncode:
        return ""
    said = done.stderr.strip() or done.stdout.strip()
    return reason(said) if said else f"exit status {done.returncode} without a word"
