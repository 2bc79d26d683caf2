"""Virtual environments, each of which uv creates when it is needed for the first time.

An environment's folder is named by the digest of its recipe. uv fills a folder with another name,
which is then renamed, so the folder of an environment is complete. It never changes afterwards.
Other contents get an environment of their own, so the packages of a run in progress are never
replaced.

lab/run/measured_runtimes.py asks for one per runtime and set of packages, before anything is
measured; on other hosts with the standard library alone. If a change alters the digests, all
environments are made again. The commits of lab/project/commits.py lie beside the environments.
"""

import os
import secrets
import shutil
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

from core.messages import AND, GilscopeError, Message, listed, message
from lab.digests import short_digest, tree_digest
from lab.environments.requirements import Requirements, name_of, read, read_bytes
from lab.places import ENVIRONMENTS, REPOSITORY
from lab.processes import scrubbed_environment
from lab.python import uv
from lab.python.interpreters import Interpreter
from lab.python.trust import may_use

MAKE_TIMEOUT_S = 600.0  # of one command of uv
LEFTOVER_S = 86_400.0  # much longer than the creation of an environment may take
UNUSED_S = 30 * 86_400.0  # after so long without use, an environment is removed
UNFINISHED = "new-"  # how the names of folders begin that uv fills, or that are being removed
Note = Callable[..., None]  # prints a template, given with its arguments as to message()


class EnvironmentFailed(GilscopeError):
    """The error that a system cannot run under a runtime: its packages, wheel or native program are
    not there.
    """


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What an environment is made of: a requirements file, wheels of our own extensions
    (lab.native_builds), or both.

    hashed: whether the file must have a hash for each package, as all our files have; a user's file
        may have none
    """

    interpreter: Interpreter
    requirements_file: Path | None = None
    wheels: tuple[Path, ...] = ()
    hashed: bool = True

    @property
    def label(self) -> Message:
        """The names of the requirements file and wheels, for messages. A name may include the
        folder requirements/.
        """
        return listed(map(_name, filter(None, (self.requirements_file, *self.wheels))), AND)

    @cached_property
    def wanted(self) -> Requirements:
        """The requirements in the requirements file and in the files that it includes. Raises
        BadInput.
        """
        return read(self.requirements_file) if self.requirements_file else Requirements()

    @property
    def source_folders(self) -> list[Path]:
        """The local folders that the environment installs, such as '.'."""
        return [*filter(Path.is_dir, self.wanted.local_paths)]

    @cached_property
    def place(self) -> Path:
        """The environment's folder, named by a digest of the interpreter and of all contents.
        Raises BadInput.
        """
        contents = (
            sysconfig.get_platform(),
            sorted(self.interpreter.identity.items()),
            _all_lines(self.wanted),
            [*map(_digest, self.wheels)],
            [*map(tree_digest, self.source_folders)],
        )
        return ENVIRONMENTS / f"{self.interpreter.name}-{short_digest(contents)}"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.place / "bin" / "python"


def _name(path: Path) -> str:
    """Return the name by which the user knows a file. requirements_file() keeps it at the beginning
    of its files.
    """
    if path.parent == ENVIRONMENTS:
        return path.name.rpartition("-")[0]
    return f"requirements/{path.name}" if path.parent == REPOSITORY / "requirements" else path.name


def environment(recipe: Recipe, note: Note | None = None) -> Path:
    """Return the path of an environment's Python. Create the environment first if it does not
    exist.

    No process is started for an environment that exists, and no run removes it in the next 30 days.
    If several runs create the same environment at once, all of them use the one that is ready
    first.
    note: prints every few seconds what is being installed
    Raises BadInput if the requirements file cannot be read, EnvironmentFailed if the environment
    cannot be created.
    """
    if reason := may_use(recipe.python):
        raise EnvironmentFailed(
            "The environments in {folder} are not used: {reason}. Set HOME and XDG_CACHE_HOME to "
            "your own folders.",
            folder=ENVIRONMENTS,
            reason=reason,
        )
    try:
        make_folder(recipe.place, lambda folder: _install(recipe, folder, note))
    except OSError as error:
        raise EnvironmentFailed(
            "The environment of runtime {name} could not be created in {folder}: {error}. "
            "Free some disk space, or give write access to this folder, then run again.",
            name=recipe.interpreter.name,
            folder=ENVIRONMENTS,
            error=error.strerror or str(error),
        ) from None
    return recipe.python


def make_folder(place: Path, fill: Callable[[Path], None]) -> None:
    """Fill the folder *place*, beside the environments, unless it exists. No run removes it in the
    next 30 days. Raises OSError, and what *fill* raises.

    fill: makes and fills a folder at the given path, where nothing exists; it then gets the name
    """
    with suppress(OSError):  # the folder may be missing or read-only
        os.utime(place)  # notes its use, so that no run removes it
    if place.exists():
        return
    _remove_old()
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    folder = _unfinished()
    try:
        fill(folder)
        folder.rename(place)
    except OSError:
        if not place.exists():  # otherwise another run has made the same folder
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def requirements_file(
    user_file: str,
    packages: Sequence[str],
    source: str = "requirements.txt",
    overrides: Sequence[str] = (),
) -> str:
    """Return the path of a requirements file that names all requirements of *user_file* and all
    *packages*. Write this file if *user_file* does not name them all.

    The path is *user_file* itself (or "") if no package is missing there, or else a new file beside
    the environments. The path is "" if there are no requirements. Raises BadInput and
    EnvironmentFailed.
    source: the name of the file from which the packages are, if there is no
    *user_file*; errors name it
    overrides: packages that replace those of the same name
    """
    requirements = read(Path(user_file)) if user_file else Requirements()
    replaced = {*map(name_of, overrides)}
    kept = [entry for entry in requirements.entries if name_of(entry) not in replaced]
    named = replaced.union(map(name_of, kept))
    unnamed = [package for package in packages if name_of(package) not in named] + [*overrides]
    if not unnamed:
        return user_file
    if requirements.hashed:
        raise EnvironmentFailed(
            "{file} has hashes, but it does not contain {names}. Add {names} to it, with hashes.",
            file=user_file,
            names=unnamed,
        )
    text = "\n".join([*requirements.options, *kept, *unnamed]) + "\n"
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    place = ENVIRONMENTS / f"{_name(Path(user_file or source))}-{short_digest(text)}.txt"
    with NamedTemporaryFile(
        "w", encoding="utf-8", dir=ENVIRONMENTS, delete=False
    ) as file:  # mode 0600, for tokens
        file.write(text)
    os.replace(file.name, place)  # atomically, because another run may be reading the file
    return str(place)


def installed_packages(python: Path) -> dict[str, str]:
    """Return the names and versions of the packages in an environment, from their
    metadata files.
    """
    return dict(sorted((package.name, package.version) for package in distributions(python)))


def distributions(python: Path, name: str | None = None) -> Iterable[metadata.Distribution]:
    """Return the packages that are installed in the environment of *python*, or only the package
    *name*.
    """
    return metadata.distributions(name=name, path=[*map(str, site_packages(python))])


def site_packages(python: Path) -> list[Path]:
    """Return the folders of the packages that are installed in the environment of *python*."""
    return sorted(python.parent.parent.glob("lib/python3.*/site-packages"))


def _remove_old() -> None:
    """Remove environments that were last used 30 days ago, and what killed runs left. Rename each
    first, so that only complete ones have their names.
    """
    for folder in ENVIRONMENTS.glob("*/"):
        longest_s = LEFTOVER_S if folder.name.startswith(UNFINISHED) else UNUSED_S
        with suppress(OSError):  # another run removes it
            if time() - folder.stat().st_mtime > longest_s:
                shutil.rmtree(folder.rename(_unfinished()))


def _unfinished() -> Path:
    """Return a path for a folder that is not an environment yet, or no longer."""
    return ENVIRONMENTS / f"{UNFINISHED}{secrets.token_hex(4)}"


def _install(recipe: Recipe, folder: Path, note: Note | None) -> None:
    """Create the environment in *folder*. uv compiles the packages, so that no measured process has
    to compile them.
    """
    # the user's own value of this variable goes first
    variables = {"UV_COMPILE_BYTECODE": "1"} | scrubbed_environment()
    label, name = recipe.label, recipe.interpreter.name
    doing = message(
        "Installing the packages of {packages} for runtime {name}", packages=label, name=name
    )
    watch = note and uv.watcher(note, doing, MAKE_TIMEOUT_S)
    for arguments in _commands(recipe, folder):
        _, failure = uv.run(arguments, MAKE_TIMEOUT_S, variables, watch=watch)
        if failure:
            raise EnvironmentFailed(
                "The packages of {packages} could not be installed for runtime {name}: {reason}. "
                "{remedy}",
                packages=label,
                name=name,
                reason=failure,
                remedy=uv.remedy(
                    failure,
                    message(
                        "Use other versions of these packages, or measure without this runtime."
                    ),
                ),
            )


def _commands(recipe: Recipe, folder: Path) -> Iterator[list[str | Path]]:
    """Yield the arguments of the uv commands that create the environment in *folder*.

    The scripts of a relocatable environment find their interpreter beside themselves after the
    folder is renamed.
    """
    relocatable = ("--no-project", "--relocatable")
    yield ["venv", *relocatable, "--python", recipe.interpreter.executable, folder]
    install: list[str | Path] = ["pip", "install", "--python", folder / "bin" / "python"]
    if recipe.requirements_file:
        hashed = ["--require-hashes"] if recipe.hashed else []
        # uv builds local folders anew, rather than reuse wheels that it built before. --refresh
        # does the same, but has no effect if UV_OFFLINE is set.
        anew = ["--reinstall"] if recipe.source_folders else []
        yield [*install, *hashed, *anew, "-r", recipe.requirements_file]
    if recipe.wheels:
        yield [*install, "--no-index", "--no-deps", *recipe.wheels]


def _all_lines(wanted: Requirements, outer: tuple[Path, ...] = ()) -> list[str]:
    """Return all lines of the requirements and their constraint files, and the digests of local
    archives.

    outer: the constraint files that include them, which are not read again
    """
    lines = [*wanted.options, *wanted.entries]
    lines += map(_digest, filter(Path.is_file, wanted.local_paths))
    for path in wanted.constraint_files:
        if path not in outer:
            lines += _all_lines(read(path), (*outer, path))
    return lines


def _digest(path: Path) -> str:
    return sha256(read_bytes(path)).hexdigest()
