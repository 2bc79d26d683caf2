"""One virtual environment for each interpreter and package file, made when it is first needed."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from core.errors import BadInput, GilscopeError
from lab import interpreters
from lab.interpreters import Interpreter

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"


class EnvironmentFailed(GilscopeError):
    """Packages that a system needs could not be installed for a runtime."""


def environment(interpreter: Interpreter, requirements_file: Path, folder: Path) -> Path:
    """Python of the environment with the packages of *requirements_file*; makes it unless it is ready.

    folder: where environments live, one for each executable and package file
    A ready one is known by its stamp alone: no process is started. Runs that need one at once wait for one.
    Raises BadInput for a package file that cannot be read, EnvironmentFailed when it cannot be made.
    """
    place = folder.absolute() / _folder_name(interpreter, requirements_file)
    stamp = _stamp(interpreter, requirements_file)
    if not _is_ready(place, stamp):
        _make_once(interpreter, requirements_file.absolute(), place, stamp)
    return _python(place)


def installed_packages(python: Path) -> dict[str, str]:
    """Names and versions of the packages beside an environment's python, read from their metadata files."""
    folders = python.parent.parent.glob("lib/python3.*/site-packages")
    found = metadata.distributions(path=[str(folder) for folder in folders])
    return dict(sorted((package.name, package.version) for package in found))


def _folder_name(interpreter: Interpreter, requirements_file: Path) -> str:
    what = f"{interpreter.executable}\0{requirements_file.name}"
    return f"{interpreter.name}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _stamp(interpreter: Interpreter, requirements_file: Path) -> str:
    """All that an environment was made from: another digest, executable or build needs another one."""
    try:
        requirements = requirements_file.read_bytes()
    except OSError as error:
        raise BadInput(
            f"Package file {requirements_file} cannot be read ({error.strerror}); "
            "it must be a requirements file with hashes."
        ) from None
    facts = {
        "requirements": hashlib.sha256(requirements).hexdigest(),
        "executable": str(interpreter.executable),
        "version": interpreter.facts["version"],
        "build": interpreter.facts["build"],
    }
    return json.dumps(facts, indent=1)


def _python(place: Path) -> Path:
    return place / "bin" / "python"


def _is_ready(place: Path, stamp: str) -> bool:
    try:
        return (place / STAMP_FILE).read_text() == stamp and os.access(_python(place), os.X_OK)
    except OSError:
        return False


def _make_once(interpreter: Interpreter, requirements_file: Path, place: Path, stamp: str) -> None:
    """Make the environment unless another run did so while this one waited for the lock."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _locked(place.with_name(place.name + ".lock")) as lock:
            if not _is_ready(place, stamp):
                _make(interpreter, requirements_file, place, stamp, lock)
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


def _make(interpreter: Interpreter, requirements_file: Path, place: Path, stamp: str, lock: int) -> None:
    """Build beside and rename, so that what stands at *place* is whole and an old one lasts until then."""
    building = place.with_name(place.name + ".new")
    shutil.rmtree(building, ignore_errors=True)
    for command in _commands(interpreter.executable, requirements_file, building):
        failure = _failure(command, lock)
        if failure:
            shutil.rmtree(building, ignore_errors=True)
            raise EnvironmentFailed(
                f"The packages of {requirements_file.name} could not be installed for runtime "
                f"{interpreter.name}: {failure}. Check the network and the package index, then run again."
            )
    (building / STAMP_FILE).write_text(stamp)
    shutil.rmtree(place, ignore_errors=True)
    building.rename(place)


def _commands(executable: Path, requirements_file: Path, building: Path) -> list[list[str]]:
    """Commands that make the environment; byte code too, or each first import of it would be timed compiling."""
    python = str(_python(building))
    tool = interpreters.uv()
    if tool is None:
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        return [
            [str(executable), "-m", "venv", str(building)],
            [*pip, "--require-hashes", "-r", str(requirements_file)],
        ]
    install = [str(tool), "pip", "install", "--python", python, "--compile-bytecode"]
    return [
        [str(tool), "venv", "--no-project", "--python", str(executable), str(building)],
        [*install, "--require-hashes", "-r", str(requirements_file)],
    ]


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
    return _last_words(done) if done.returncode else ""


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1].strip().rstrip(".") if lines else f"exit status {done.returncode} without a word"
