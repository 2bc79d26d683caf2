"""One virtual environment for each interpreter, package file and wheels, made when it is first needed."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

from core.errors import GilscopeError
from lab.environments import build, recipes
from lab.environments.recipes import Contents
from lab.environments.requirements import Requirements, name_of
from lab.environments.requirements import read as read_requirements
from lab.python import uv
from lab.python.interpreters import Interpreter

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"
_MADE_HERE: set[Path] = set()  # by this process


class EnvironmentFailed(GilscopeError):
    """The packages of a system could not be installed for a runtime."""


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
    A ready one is known by its stamp, without a process. Runs that need the same at once wait for each other. One that
    installs a folder of this machine is made once in every process, for the folder may have changed.
    Raises BadInput for a package file that cannot be read, EnvironmentFailed if it cannot be made.
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
    requirements = read_requirements(Path(user_file)) if user_file else Requirements()
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
    place.write_text(text, encoding="utf-8")
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
            "The environment of runtime {name} could not be made in {folder}: {error}. "
            "Make room or give write access there, then run again.",
            name=interpreter.name,
            folder=str(place.parent),
            error=error.strerror or str(error),
        ) from None


def _make(interpreter: Interpreter, contents: Contents, place: Path, stamp: str, lock: int) -> None:
    """Build where it is to stand, for the scripts in its bin name their interpreter by its path; the stamp comes last.

    The one that stood there before is put aside, and back should this fail: it is right for its own requirements.
    """
    old = place.with_name(place.name + ".old")
    _put_aside(place, old)
    for command in _commands(interpreter.executable, contents, place):
        failure = uv.failure(partial(build.run, command, lock, MAKE_TIMEOUT_S))
        if failure:
            shutil.rmtree(place, ignore_errors=True)
            if old.exists():
                old.rename(place)
            raise EnvironmentFailed(
                "The packages of {packages} could not be installed for runtime {name}: {reason}. "
                "Check the network and the package index, then run again.",
                packages=contents.label,
                name=interpreter.name,
                reason=failure,
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
    program = uv.find()
    if program is None:
        make = [str(executable), "-m", "venv", str(place)]
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    else:
        make = [str(program), "venv", "--no-project", "--python", str(executable), str(place)]
        install = [str(program), "pip", "install", "--python", python, "--compile-bytecode"]
    commands = [make]
    if contents.requirements_file:
        hashed = ["--require-hashes"] if contents.hashed else []
        anew = recipes.build_anew(contents) if program else []
        commands.append([*install, *hashed, *anew, "-r", str(contents.requirements_file)])
    if contents.wheels:
        commands.append([*install, "--no-index", "--no-deps", *map(str, contents.wheels)])
    return commands
