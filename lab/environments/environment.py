"""Create virtual environments when they are first needed.

An environment's name contains a hash of its contents, and the environment never changes afterwards. Other contents get
an environment of their own, so the packages of a run in progress are never replaced. A process that uses an environment
holds a shared lock on it.
"""

import json
import os
import shutil
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import sleep
from typing import Any

from core.errors import GilscopeError
from core.messages import AND, Message, listed, message
from lab.digests import Digests, text_digest
from lab.environments.requirements import Requirements, constraint_files, local_path, name_of, read, read_bytes
from lab.folders import lock_folder, remove_contents
from lab.places import ENVIRONMENTS, REPOSITORY
from lab.processes import scrubbed_environment
from lab.python import uv
from lab.python.interpreters import Interpreter
from lab.python.trust import may_use

MAKE_TIMEOUT_S = 600.0
STAMP_FILE = "gilscope.json"
LAYOUT = 3  # version of how environments are created; an environment with another version is not used
Note = Callable[..., None]
_DIGESTS = Digests()
RETRY_S, LONGEST_WAIT_S = 0.05, 60.0
_IN_USE: dict[Path, int] = {}  # environments that this process uses, each with the descriptor of its lock


class EnvironmentFailed(GilscopeError):
    """The error that a system cannot run under a runtime: its packages, wheel or native program are not there."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What an environment is made of: a requirements file, wheels of our own extensions (lab.native.wheels), or both.

    hashed: whether the file must have a hash for each package, as all our files have; a user's file may have none
    """

    interpreter: Interpreter
    requirements_file: Path | None = None
    wheels: tuple[Path, ...] = ()
    hashed: bool = True

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
    def source_folders(self) -> list[Path]:
        """The local folders that the environment installs, such as '.'."""
        return [path for entry in self.wanted.entries if (path := local_path(entry)) and path.is_dir()]

    @property
    def family(self) -> str:
        """The prefix of the environment's folder name, from the interpreter and the names of the files."""
        named = str(self.requirements_file or "")
        what = "\0".join((str(self.interpreter.executable), named, *(path.name for path in self.wheels)))
        return f"{self.interpreter.name}-{text_digest(what)[:8]}"

    @cached_property
    def stamp(self) -> str:
        """The text of the environment's stamp file: its interpreter, and digests of its contents. Raises BadInput."""
        facts = {
            "layout": LAYOUT,
            "requirements": text_digest("\n".join(_all_lines(self.wanted))),
            "wheels": [_digest(path) for path in self.wheels],
            "folders": [_DIGESTS.of_tree(folder) for folder in self.source_folders],
            **self.interpreter.identity,
        }
        return json.dumps(facts, indent=1)

    @cached_property
    def place(self) -> Path:
        """The environment's folder."""
        return ENVIRONMENTS / f"{self.family}-{text_digest(self.stamp)[:12]}"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.place / "bin" / "python"

    def is_ready(self) -> bool:
        """Return whether the environment is complete."""
        try:
            return (self.place / STAMP_FILE).read_text() == self.stamp and os.access(self.python, os.X_OK)
        except OSError:
            return False


def _name(path: Path) -> str:
    """Return the name by which the user knows a file. requirements_file() keeps it at the beginning of its files."""
    if path.parent == ENVIRONMENTS:
        return path.name.rpartition("-")[0]
    return f"requirements/{path.name}" if path.parent == REPOSITORY / "requirements" else path.name


def environment(recipe: Recipe, note: Note | None = None) -> Path:
    """Return the path of an environment's Python. Create the environment first if it does not exist.

    A stamp file marks a complete environment, so no process is started to check it. If several runs need the same
    environment at once, one of them creates it and the others wait. No run changes it while this process lives.
    note: prints every few seconds what is being installed
    Raises BadInput if the requirements file cannot be read, EnvironmentFailed if the environment cannot be created.
    """
    if reason := may_use(recipe.python):
        raise EnvironmentFailed(
            "The environments in {folder} are not used: {reason}. Set HOME and XDG_CACHE_HOME to your own folders.",
            folder=str(ENVIRONMENTS),
            reason=reason,
        )
    if not (recipe.place in _IN_USE and recipe.is_ready()):
        _acquire(recipe, note)
    return recipe.python


def requirements_file(user_file: str, packages: Sequence[str], source: str = "requirements.txt") -> str:
    """Return the path of a requirements file that names all requirements of *user_file* and all *packages*.

    The path is *user_file* itself (or "") if no package is missing there, or else a new file beside the
    environments. The path is "" if there are no requirements. Raises BadInput and EnvironmentFailed.
    source: the name of the file from which the packages are, if there is no *user_file*; errors name it
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
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    place = ENVIRONMENTS / f"{_name(Path(user_file or source))}-{text_digest(text)[:8]}.txt"
    with NamedTemporaryFile("w", encoding="utf-8", dir=ENVIRONMENTS, delete=False) as file:  # mode 0600, for tokens
        file.write(text)
    os.replace(file.name, place)  # atomically, because another run may be reading the file
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


def _acquire(recipe: Recipe, note: Note | None) -> None:
    """Take a shared lock on the environment. Create the environment first, unless another run has created it."""
    held = _IN_USE.pop(recipe.place, None)
    if held is not None:
        os.close(held)  # the environment was in use, but it is no longer complete
    try:
        for _ in range(round(LONGEST_WAIT_S / RETRY_S)):
            lock = lock_folder(recipe.place, shared=True)  # waits while another run creates the environment
            assert lock is not None, "it waits"
            if recipe.is_ready():
                _IN_USE[recipe.place] = lock
                return
            os.close(lock)
            building = lock_folder(recipe.place, wait=False)
            if building is None:
                sleep(RETRY_S)  # another run looks at the folder, or creates the environment
                continue
            try:
                if not recipe.is_ready():
                    _create(recipe, building, note)
                    _remove_outdated(recipe.place)
            finally:
                os.close(building)
    except OSError as error:
        if not recipe.is_ready():  # a complete environment may be in a read-only folder
            raise EnvironmentFailed(
                "The environment of runtime {name} could not be created in {folder}: {error}. "
                "Free disk space or give write access there, then run again.",
                name=recipe.interpreter.name,
                folder=str(ENVIRONMENTS),
                error=error.strerror or str(error),
            ) from None
    else:
        raise EnvironmentFailed(
            "The environment of runtime {name} in {folder} is incomplete, and another process has used it for "
            "{wait_s:.0f} s. End that process, then run again.",
            name=recipe.interpreter.name,
            folder=str(recipe.place),
            wait_s=LONGEST_WAIT_S,
        )


def _create(recipe: Recipe, lock: int, note: Note | None) -> None:
    """Create the environment at its final place, because the scripts in its bin folder contain its path.

    The stamp file is written last, because it marks the environment as complete.
    The commands inherit *lock* (lab.folders). If this process is killed, the next builder waits until they end.
    """
    remove_contents(recipe.place)
    variables = {"UV_COMPILE_BYTECODE": "1"} | scrubbed_environment()
    label, name = recipe.label, recipe.interpreter.name
    doing = message("Installing the packages of {packages} for runtime {name}", packages=label, name=name)
    watch = uv.watcher(note, doing, MAKE_TIMEOUT_S) if note else None
    for command in _commands(recipe):
        _, failure = uv.run(command, MAKE_TIMEOUT_S, variables, pass_fds=(lock,), watch=watch)
        if failure:
            shutil.rmtree(recipe.place, ignore_errors=True)
            remedy = uv.remedy(failure, message("Change these packages, or measure without this runtime."))
            raise EnvironmentFailed(
                "The packages of {packages} could not be installed for runtime {name}: {reason}. {remedy}",
                packages=label,
                name=name,
                reason=failure,
                remedy=remedy,
            )
    (recipe.place / STAMP_FILE).write_text(recipe.stamp)


def _remove_outdated(place: Path) -> None:
    """Remove environments with older contents of the same requirements file and wheels, unless a run uses them."""
    family = place.name.rpartition("-")[0]
    for old in place.parent.glob(f"{family}-*/"):
        lock = None if old == place else lock_folder(old, wait=False)
        if lock is not None:
            shutil.rmtree(old, ignore_errors=True)
            os.close(lock)


def _commands(recipe: Recipe) -> list[list[str]]:
    """Return the commands that create the environment.

    _create() makes uv compile the packages to bytecode, so that no measured process has to compile them.
    """
    executable, place, python = str(recipe.interpreter.executable), str(recipe.place), str(recipe.python)
    program = uv.find()
    if program is None:
        make = [executable, "-m", "venv", place]
        install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    else:
        make = [str(program), "venv", "--no-project", "--python", executable, place]
        install = [str(program), "pip", "install", "--python", python]
    commands = [make]
    if recipe.requirements_file:
        hashed = ["--require-hashes"] if recipe.hashed else []
        anew = rebuild_options(recipe.source_folders) if program else []
        commands.append([*install, *hashed, *anew, "-r", str(recipe.requirements_file)])
    if recipe.wheels:
        commands.append([*install, "--no-index", "--no-deps", *map(str, recipe.wheels)])
    return commands


def rebuild_options(folders: Sequence[Path]) -> list[str]:
    """Return options that make uv rebuild local folders rather than reuse wheels that it built before.

    --refresh does the same, but has no effect if UV_OFFLINE is set.
    """
    names = [_project_name(folder) for folder in folders]
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
    return sha256(read_bytes(path)).hexdigest()
