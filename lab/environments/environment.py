"""Create virtual environments when they are first needed.

An environment's name contains a hash of its contents, and the environment never changes afterwards. Other contents get
an environment of their own, so the packages of a run in progress are never replaced. A process that uses an environment
holds a shared lock on it.
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
from lab.environments.requirements import Requirements, constraint_files, local_path, name_of, read, read_bytes
from lab.folders import remove_contents
from lab.places import REPOSITORY
from lab.python import uv
from lab.python.interpreters import Interpreter, scrubbed_environment

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"
LAYOUT = 3  # version of how environments are created; an environment with another version is not used
_DIGESTS = Digests()
RETRY_S = 0.05
_IN_USE: dict[Path, int] = {}  # environments that this process uses, each with the descriptor of its lock


class EnvironmentFailed(GilscopeError):
    """The error that the packages of a system could not be installed for a runtime."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The contents of an environment: a requirements file, wheels of our own extensions (lab.native.wheels), or both.

    hashed: whether the file must have a hash for each package, as all our files have; a user's file may have none
    """

    requirements_file: Path | None = None
    hashed: bool = True
    wheels: tuple[Path, ...] = ()

    @property
    def label(self) -> Message:
        """The names of the requirements file and wheels, for messages. A name may include the folder requirements/."""
        files = [self.requirements_file] if self.requirements_file else []
        return listed(map(_name, (*files, *self.wheels)), AND)

    @cached_property
    def wanted(self) -> Requirements:
        """The requirements in the requirements file and in the files that it includes. Raises BadInput."""
        return read(self.requirements_file) if self.requirements_file else Requirements()

    @property
    def folders(self) -> list[Path]:
        """The local folders that the environment installs, such as '.'."""
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
    """Return the path of an environment's Python. Create the environment first if it does not exist.

    folder: the folder of all environments
    hashed: whether the requirements file must have a hash for each package
    A stamp file marks a complete environment, so no process is started to check it. If several runs need the same
    environment at once, one of them creates it and the others wait. No run changes it while this process lives.
    Raises BadInput if the requirements file cannot be read, EnvironmentFailed if the environment cannot be created.
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
        _acquire(interpreter, contents, place, stamp)
    return _python(place)


def requirements_file(user_file: str, packages: Sequence[str], folder: Path) -> str:
    """Return the path of a requirements file that names all requirements of *user_file* and all *packages*.

    The path is *user_file* itself (or "") if no package is missing there, or else a new file in *folder*. The path is
    "" if there are no requirements. Raises BadInput and EnvironmentFailed.
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
        raise EnvironmentFailed(
            "{file} has hashes, but it does not contain {names}. Add {names} to it, with hashes.",
            file=user_file,
            names=names,
        )
    text = "\n".join([*requirements.options, *requirements.entries, *unnamed]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    stem = Path(user_file or "requirements.txt").stem
    place = folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
    if not place.exists():
        put(place, text)  # atomically, because another run may be reading the file
    return str(place)


def installed_packages(python: Path) -> dict[str, str]:
    """Return the names and versions of the packages in an environment, from their metadata files."""
    return dict(sorted((package.name, package.version) for package in distributions(python)))


def distributions(python: Path) -> Iterable[metadata.Distribution]:
    """Return the packages that are installed in the environment of *python*."""
    return metadata.distributions(path=[str(folder) for folder in site_packages(python)])


def site_packages(python: Path) -> list[Path]:
    """Return the folders of the packages that are installed in the environment of *python*."""
    return sorted(python.parent.parent.glob("lib/python3.*/site-packages"))


def _python(place: Path) -> Path:
    return place / "bin" / "python"


def _is_ready(place: Path, stamp: str) -> bool:
    try:
        return (place / STAMP_FILE).read_text() == stamp and os.access(_python(place), os.X_OK)
    except OSError:
        return False


def _acquire(interpreter: Interpreter, contents: Contents, place: Path, stamp: str) -> None:
    """Take a shared lock on the environment. Create the environment first, unless another run has created it."""
    held = _IN_USE.pop(place, None)
    if held is not None:
        os.close(held)  # the environment was in use, but it is no longer complete
    try:
        while True:
            lock = locks.acquire(place, shared=True)  # waits while another run creates the environment
            assert lock is not None, "it waits"
            if _is_ready(place, stamp):
                _IN_USE[place] = lock
                return
            os.close(lock)
            building = locks.acquire(place, wait=False)
            if building is None:
                sleep(RETRY_S)  # another run looks at the folder, or creates the environment
                continue
            try:
                if not _is_ready(place, stamp):
                    _create(interpreter, contents, place, stamp, building)
                    _remove_outdated(place)
            finally:
                os.close(building)
    except OSError as error:
        if not _is_ready(place, stamp):  # a complete environment may be in a read-only folder
            raise EnvironmentFailed(
                "The environment of runtime {name} could not be created in {folder}: {error}. "
                "Free disk space or give write access there, then run again.",
                name=interpreter.name,
                folder=str(place.parent),
                error=error.strerror or str(error),
            ) from None


def _create(interpreter: Interpreter, contents: Contents, place: Path, stamp: str, lock: int) -> None:
    """Create the environment at its final place, because the scripts in its bin folder contain its path.

    The stamp file is written last, because it marks the environment as complete.
    """
    remove_contents(place)
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
    """Run a command that builds an environment, a wheel or a program in *folder*, and return its output.

    The command inherits *lock* (lab.locks). If this process is killed, the next builder waits until the command ends.
    Raises subprocess.TimeoutExpired, and OSError if the command cannot be started.
    """
    variables = {"UV_COMPILE_BYTECODE": "1"} | scrubbed_environment() | {"NO_COLOR": "1"}
    return processes.run(command, timeout_s, variables, folder=folder, pass_fds=(lock,))


def _remove_outdated(place: Path) -> None:
    """Remove environments with older contents of the same requirements file and wheels, unless a run uses them."""
    family = place.name.rpartition("-")[0]
    for old in place.parent.glob(f"{family}-*/"):
        lock = None if old == place else locks.acquire(old, wait=False)
        if lock is not None:
            shutil.rmtree(old, ignore_errors=True)
            os.close(lock)


def _commands(executable: Path, contents: Contents, place: Path) -> list[list[str]]:
    """Return the commands that create the environment.

    run_build() makes uv compile the packages to bytecode, so that no measured process has to compile them.
    """
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
        anew = rebuild_options(contents) if program else []
        commands.append([*install, *hashed, *anew, "-r", str(contents.requirements_file)])
    if contents.wheels:
        commands.append([*install, "--no-index", "--no-deps", *map(str, contents.wheels)])
    return commands


def folder_name(interpreter: Interpreter, contents: Contents) -> str:
    """Return the prefix of an environment's folder name, from the interpreter and the names of the files."""
    named = str(contents.requirements_file or "")
    what = "\0".join((str(interpreter.executable), named, *(path.name for path in contents.wheels)))
    return f"{interpreter.name}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def stamp_of(interpreter: Interpreter, contents: Contents) -> str:
    """Return the text of an environment's stamp file: its interpreter, and digests of its contents. Raises BadInput."""
    facts = {
        "layout": LAYOUT,
        "requirements": hashlib.sha256("\n".join(_all_lines(contents.wanted)).encode()).hexdigest(),
        "wheels": [_digest(path) for path in contents.wheels],
        "folders": [_DIGESTS.of_tree(folder) for folder in contents.folders],
        **interpreter.identity,
    }
    return json.dumps(facts, indent=1)


def rebuild_options(contents: Contents) -> list[str]:
    """Return options that make uv rebuild local folders rather than reuse wheels that it built before.

    --refresh does the same, but has no effect if UV_OFFLINE is set.
    """
    names = [_project_name(folder) for folder in contents.folders]
    if not all(names):
        return ["--reinstall"]
    return [word for name in names for word in ("--reinstall-package", name)]


def _all_lines(wanted: Requirements, outer: tuple[Path, ...] = ()) -> list[str]:
    """Return all lines of the requirements and their constraint files, and the digests of local archives."""
    lines = [*wanted.options, *wanted.entries]
    archives = [path for entry in wanted.entries if (path := local_path(entry)) and path.is_file()]
    lines += [_digest(path) for path in archives]
    for path in constraint_files(wanted):
        if path not in outer:
            lines += _all_lines(read(path), (*outer, path))
    return lines


def _project_name(folder: Path) -> str:
    """Return the project's name from pyproject.toml; "" if there is none."""
    try:
        manifest: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        return str(manifest.get("project", {}).get("name", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
