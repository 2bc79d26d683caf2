"""One virtual environment for each interpreter, package file and wheels, made when it is first needed."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from core.errors import BadInput, GilscopeError
from lab import interpreters
from lab.interpreters import Interpreter
from lab.requirements import Requirements, name_of
from lab.requirements import read as read_requirements
from lab.uv_words import reason

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"


class EnvironmentFailed(GilscopeError):
    """Packages that a system needs could not be installed for a runtime."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is installed: a requirements file, wheels of our own (lab.wheels), or both.

    hashed: the file must have the hash of each package, as all of ours do; a user's may have none
    """

    requirements_file: Path | None = None
    hashed: bool = True
    wheels: tuple[Path, ...] = ()

    @property
    def label(self) -> str:
        """What messages call it: the names of the files."""
        files = [self.requirements_file] if self.requirements_file else []
        return " and ".join(path.name for path in (*files, *self.wheels))


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
    A ready one is known by its stamp alone: no process is started. Runs that need one at once wait for one.
    Raises BadInput for a package file that cannot be read, EnvironmentFailed when it cannot be made.
    """
    contents = Contents(
        requirements_file=requirements_file.absolute() if requirements_file else None,
        hashed=hashed,
        wheels=tuple(path.absolute() for path in wheels),
    )
    place = folder.absolute() / _folder_name(interpreter, contents)
    stamp = _stamp(interpreter, contents)
    if not _is_ready(place, stamp):
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


def _folder_name(interpreter: Interpreter, contents: Contents) -> str:
    named = str(contents.requirements_file.absolute()) if contents.requirements_file else ""
    what = "\0".join((str(interpreter.executable), named, *(path.name for path in contents.wheels)))
    return f"{interpreter.name}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _stamp(interpreter: Interpreter, contents: Contents) -> str:
    """All that an environment was made from: another digest, executable or build needs another one."""
    requirements = _read(contents.requirements_file) if contents.requirements_file else b""
    facts = {
        "requirements": hashlib.sha256(requirements).hexdigest(),
        "wheels": [hashlib.sha256(_read(path)).hexdigest() for path in contents.wheels],
        "executable": str(interpreter.executable),
        "version": interpreter.facts["version"],
        "build": interpreter.facts["build"],
    }
    return json.dumps(facts, indent=1)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"Package file {path} cannot be read ({error.strerror}); "
            "it must be a requirements file with hashes, or a wheel."
        ) from None


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
        with _locked(place.with_name(place.name + ".lock")) as lock:
            if not _is_ready(place, stamp):
                _make(interpreter, contents, place, stamp, lock)
    except OSError as error:
        raise EnvironmentFailed(
            f"The environment of runtime {interpreter.name} could not be made in {place.parent}: "
            f"{error.strerror or error}. Make room or give write access there, then run again."
        ) from None


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _make(interpreter: Interpreter, contents: Contents, place: Path, stamp: str, lock: int) -> None:
    """Build beside and rename, so that what stands at *place* is whole and an old one lasts until then."""
    building = place.with_name(place.name + ".new")
    shutil.rmtree(building, ignore_errors=True)
    for command in _commands(interpreter.executable, contents, building):
        failure = _failure(command, lock)
        if failure:
            shutil.rmtree(building, ignore_errors=True)
            raise EnvironmentFailed(
                f"The packages of {contents.label} could not be installed for runtime "
                f"{interpreter.name}: {failure}. Check the network and the package index, then run again."
            )
    (building / STAMP_FILE).write_text(stamp)
    shutil.rmtree(place, ignore_errors=True)
    building.rename(place)


def _commands(executable: Path, contents: Contents, building: Path) -> list[list[str]]:
    """Commands that make the environment; byte code too, or each first import of it would be timed compiling."""
    python = str(_python(building))
    tool = interpreters.uv()
    if tool is None:
        make = [str(executable), "-m", "venv", str(building)]
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    else:
        make = [str(tool), "venv", "--no-project", "--python", str(executable), str(building)]
        install = [str(tool), "pip", "install", "--python", python, "--compile-bytecode"]
    commands = [make]
    if contents.requirements_file:
        hashed = ["--require-hashes"] if contents.hashed else []
        commands.append([*install, *hashed, "-r", str(contents.requirements_file)])
    if contents.wheels:
        commands.append([*install, "--no-index", "--no-deps", *map(str, contents.wheels)])
    return commands


def _failure(command: list[str], lock: int) -> str:
    """Why a command failed, in its own last words; empty when it did not.

    It inherits the lock: should this process be killed, the next run waits until the command has ended.
    """
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=MAKE_TIMEOUT_S,
            env=interpreters.scrubbed_environment() | {"NO_COLOR": "1"},
            pass_fds=(lock,),
        )
    except subprocess.TimeoutExpired:
        return f"no end after {MAKE_TIMEOUT_S:g} s"
    except OSError as error:
        return f"{command[0]} does not run ({error.strerror})"
    if not done.returncode:
        return ""
    said = done.stderr.strip() or done.stdout.strip()
    return reason(said) if said else f"exit status {done.returncode} without a word"
