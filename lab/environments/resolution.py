"""Resolve requirements with uv, find the packages that have wheels for an interpreter, and install them on trial.

uv reads the metadata of wheels, also of wheels for other platforms. It runs a package's build backend only if the
package has no wheel at all and its PKG-INFO does not list its dependencies.
Source: packaging.python.org - pylock.toml, binary distribution format; docs.astral.sh/uv - uv pip compile.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from core.messages import NOTHING, Message
from lab import processes
from lab.environments.environment import EnvironmentFailed, distributions
from lab.environments.requirements import Requirements, locked_entry, normalised
from lab.python import uv
from lab.python.interpreters import Interpreter, scrubbed_environment

RESOLVE_TIMEOUT_S = 60.0
BUILD_TIMEOUT_S = 600.0
MOST_PURE_RELEASES = 8  # releases without an extension to skip in search of the first release that has one
FORBID_EXACT = ("--require-hashes", "--no-binary", "--only-binary", "-c", "--constraint")
# uv's annotation of which packages and files require a package; a file appears as `-r FILE`
_ANNOTATED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*).*?# via (.+)")


@dataclass(frozen=True, kw_only=True)
class ResolvedPackage:
    """A package to which uv resolved the requirements, with its wheels.

    requirement: the line that installs exactly this version; wheels: the names of its wheels, for any platform
    is_folder: whether it is a local folder
    direct: whether an entry asks for it; needed_by: the packages that depend on it directly
    """

    name: str
    version: str
    requirement: str
    wheels: tuple[str, ...] = ()
    is_folder: bool = False
    direct: bool = True
    needed_by: tuple[str, ...] = ()

    @property
    def pure(self) -> bool:
        """Whether one of the package's wheels is pure Python."""
        return any(name.endswith("-none-any.whl") for name in self.wheels)


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """The result of resolving requirements.

    packages: the resolved packages by name; failures: the reasons by entry that cannot be resolved
    """

    packages: Mapping[str, ResolvedPackage]
    failures: Mapping[str, Message] = field(default_factory=dict)

    def all_needed_by(self, name: str) -> set[str]:
        """Return all packages that depend on package *name*, directly or indirectly."""
        dependants: set[str] = set()
        unvisited = [name]
        while unvisited:
            parents = set(self.packages[unvisited.pop()].needed_by) & self.packages.keys()
            unvisited += parents - dependants
            dependants |= parents
        return dependants - {name}


class Resolver:
    """A resolver of requirements for one interpreter.

    folder: for temporary files; the caller removes the folder
    """

    def __init__(self, program: Path, interpreter: Interpreter, folder: Path) -> None:
        self._program = program
        self._interpreter = interpreter
        self._folder = folder
        version = str(interpreter.facts["version"])
        minor = tuple(map(int, version.split(".")[:2]))
        self._tags: frozenset[Tag] = frozenset(
            [*cpython_tags(minor, [f"cp{minor[0]}{minor[1]}t"]), *compatible_tags(minor)]
        )
        self._marker_values = {"python_version": f"{minor[0]}.{minor[1]}", "python_full_version": version}

    def resolve(self, wanted: Requirements) -> Resolution:
        """Resolve all requirements together. If this fails, resolve only the entries that can be resolved alone."""
        failure, packages = self._resolve_together(wanted)
        if not failure:
            return Resolution(packages=packages)
        alone = processes.run_in_parallel(
            lambda entry: self._resolve_together(replace(wanted, entries=(entry,)))[0], wanted.entries
        )
        failures = {entry: why for entry, why in zip(wanted.entries, alone, strict=True) if why}
        rest = tuple(entry for entry in wanted.entries if entry not in failures)
        if failures and rest:
            failure, packages = self._resolve_together(replace(wanted, entries=rest))
        return Resolution(packages=packages, failures=failures | dict.fromkeys(rest if failure else (), failure))

    def fits(self, package: ResolvedPackage) -> bool:
        """Return whether this interpreter can install one of the package's wheels."""
        return any(not self._tags.isdisjoint(_tags(name)) for name in package.wheels)

    def first_ready(self, name: str, options: Sequence[str], after: str = "") -> str:
        """Return the first version that has a wheel with an extension for this interpreter, or "".

        after: the version must be later than this one, unless it is ""
        """
        for _ in range(MOST_PURE_RELEASES):
            release = self._find_release(name, options, f">{after}" if after else "", "lowest")
            if release is None or not release.pure:
                return release.version if release else ""
            after = release.version
        return ""

    def newest_ready(self, name: str, options: Sequence[str]) -> str:
        """Return the newest version that has a wheel for this interpreter, or ""."""
        release = self._find_release(name, options, "", "highest")
        return release.version if release else ""

    def _find_release(self, name: str, options: Sequence[str], bound: str, strategy: str) -> ResolvedPackage | None:
        kept = [option for option in options if not option.startswith(FORBID_EXACT)]
        wanted = Requirements(options=tuple(kept), entries=(f"{name}{bound}",))
        files = self._files(wanted)
        failure = self._compile(*files, "--no-deps", "--only-binary", ":all:", "--resolution", strategy)
        if failure and failure.code != uv.UNSATISFIED:
            raise EnvironmentFailed(
                "The versions of {package} could not be listed: {reason}. "
                "Check the network and the package index, then run again.",
                package=name,
                reason=failure,
            )
        return None if failure else next(self._packages(files[1]), None)

    def _resolve_together(self, wanted: Requirements) -> tuple[Message, dict[str, ResolvedPackage]]:
        source, lock = self._files(wanted)
        tree = lock.with_suffix(".txt")
        failure = self._compile(source, lock, "--universal")
        failure = failure or self._compile(source, tree, "--universal", "--annotation-style", "line")
        if failure:
            return failure, {}
        lines = map(_ANNOTATED.match, tree.read_text(encoding="utf-8").splitlines())
        needed_by = {normalised(line[1]): line[2].split(", ") for line in lines if line}
        packages = {}
        for package in self._packages(lock):
            origins = needed_by.get(package.name, ["-r"])
            parents = tuple(normalised(origin) for origin in origins if not origin.startswith("-"))
            direct = any(origin.startswith("-r") for origin in origins)
            packages[package.name] = replace(package, direct=direct, needed_by=parents)
        return NOTHING, packages

    def _files(self, wanted: Requirements) -> tuple[Path, Path]:
        """Write the requirements to a file, and return its path and the path for its lock file."""
        folder = Path(mkdtemp(dir=self._folder))
        source = folder / "wanted.txt"
        source.write_text("\n".join([*wanted.options, *wanted.entries]) + "\n", encoding="utf-8")
        return source, folder / "pylock.toml"

    def _compile(self, source: Path, result: Path, *how: str) -> Message:
        files: tuple[str | Path, ...] = ("--output-file", result, "--python", self._interpreter.executable, source)
        command = (self._program, "pip", "compile", "--quiet", "--no-header", *how, *files)
        return uv.run(command, RESOLVE_TIMEOUT_S, _uv_variables(self._folder))

    def _packages(self, lock: Path) -> Iterator[ResolvedPackage]:
        """Yield the packages of a lock file whose markers fit this interpreter."""
        for package in tomllib.loads(lock.read_text(encoding="utf-8")).get("packages", []):
            if "marker" not in package or Marker(package["marker"]).evaluate(self._marker_values):
                yield _parse_package(package, lock.parent)


def _parse_package(package: Mapping[str, Any], folder: Path) -> ResolvedPackage:
    files = [*package.get("wheels", []), *([package["archive"]] if "archive" in package else [])]
    names = (file.get("name") or (file.get("path") or file.get("url", "")).rpartition("/")[2] for file in files)
    return ResolvedPackage(
        name=normalised(package["name"]),
        version=str(package.get("version", "")),
        requirement=locked_entry(package, folder),
        wheels=tuple(name.replace("%2B", "+") for name in names if name.endswith(".whl")),
        is_folder="directory" in package,
    )


def _tags(name: str) -> frozenset[Tag]:
    try:
        return parse_wheel_filename(name)[3]
    except InvalidWheelFilename:
        return frozenset()


class TrialEnvironment:
    """A temporary environment in which packages are installed on trial.

    folder: where it is created; the caller removes the folder
    python: its interpreter; options: lines of a requirements file that apply to all packages, such as an index
    """

    def __init__(self, program: Path, folder: Path, executable: Path, options: Sequence[str]) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self._uv = program
        self._options = [option for option in options if not option.startswith(FORBID_EXACT)]
        failure = self._failure(["venv", "--no-project", "--python", str(executable), str(folder / "env")])
        if failure:
            raise EnvironmentFailed(
                "No virtual environment could be created with {executable}: {reason}.",
                executable=str(executable),
                reason=failure,
            )

    def install(self, requirements: Sequence[str]) -> dict[str, Message]:
        """Install requirements from wheels: all together or, if this fails, each alone. Return the failures."""
        wheels = ["--only-binary", ":all:"]
        if not requirements or not self._install(requirements, wheels):
            return {}
        failures = {requirement: self._install([requirement], wheels) for requirement in requirements}
        return {requirement: failure for requirement, failure in failures.items() if failure}

    def build(self, requirement: str, watch: Callable[[str], None]) -> Message:
        """Build a package from source and install it. Return why this failed, or NOTHING if it succeeded.

        watch: called every few seconds with the newest line of the build's output
        """
        return self._install([requirement], ["--verbose"], watch)

    def distribution(self, name: str) -> metadata.Distribution | None:
        """Return the installed package whose normalised name is *name*; None if it is not installed."""
        installed = distributions(self.python)
        return next((package for package in installed if normalised(package.name) == name), None)

    def _install(
        self, requirements: Sequence[str], how: Sequence[str], watch: Callable[[str], None] | None = None
    ) -> Message:
        file = self.folder / "wanted.txt"
        file.write_text("\n".join([*self._options, *requirements]) + "\n", encoding="utf-8")
        return self._failure(
            ["pip", "install", "--no-deps", *how, "--python", str(self.python), "-r", str(file)], watch
        )

    def _failure(self, arguments: Sequence[str], watch: Callable[[str], None] | None = None) -> Message:
        """Run a command of uv, and return why it failed, or NOTHING if it succeeded."""
        return uv.run([self._uv, *arguments], BUILD_TIMEOUT_S, _uv_variables(self.folder), watch)


def _uv_variables(folder: Path) -> dict[str, str]:
    """Return environment variables for uv, which put its temporary files in *folder*. The caller removes the folder."""
    return scrubbed_environment() | {"TMPDIR": str(folder)}
