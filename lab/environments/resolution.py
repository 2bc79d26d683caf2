"""Resolve requirements with uv, and install those that have wheels for an interpreter on trial.

uv reads the metadata of wheels, also of wheels for other platforms. It runs a package's build
backend only if the package has no wheel at all and its PKG-INFO does not list its dependencies.

Only lab/project/package_audit.py uses this module, for the command `audit`. `packaging` is no part
of the standard library, so this module never runs on other hosts. Methods that run uv return why uv
failed, or NOTHING.

Source: packaging.python.org - pylock.toml, binary distribution format; docs.astral.sh/uv - uv pip
    compile.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from packaging.markers import Marker

from core.messages import NOTHING, Message, message
from lab.environments.environment import EnvironmentFailed
from lab.environments.requirements import Requirements, locked_entry, normalised
from lab.processes import run_in_parallel, scrubbed_environment
from lab.python import uv
from lab.python.interpreters import Interpreter

LOCK = "pylock.toml"  # the name of the file to which uv writes what it resolved
RESOLVE_TIMEOUT_S = 60.0  # of one command of uv
INSTALL_TIMEOUT_S = 600.0  # of one command of uv
# how options begin that demand given files or versions; left out to try a package by itself
FORBID_EXACT = ("--require-hashes", "--no-binary", "--only-binary", "-c", "--constraint")
# uv's annotation of which packages and files require a package; a file appears as `-r FILE`
_ANNOTATED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*).*?# via (.+)")


class ResolvedPackage(NamedTuple):
    """A package to which uv resolved the requirements.

    requirement: the line that installs exactly this version
    is_pure: whether one of its wheels is pure Python; is_folder: whether it is a local folder
    direct: whether an entry asks for it; needed_by: the packages that depend on it directly
    """

    name: str
    version: str
    requirement: str
    is_pure: bool = False
    is_folder: bool = False
    direct: bool = True
    needed_by: tuple[str, ...] = ()


def asked_that_need(name: str, packages: Mapping[str, ResolvedPackage]) -> tuple[str, ...]:
    """Return the packages that entries ask for and that depend on package *name*, directly or
    indirectly.

    packages: all resolved packages, by name
    """
    dependants = [name]
    # the list grows during the loop, until no package depends on one of its packages
    for dependant in dependants:
        parents = {*packages[dependant].needed_by} & packages.keys()
        dependants += parents - {*dependants}
    return tuple(sorted(one for one in dependants[1:] if packages[one].direct))


class Trial:
    """Resolves requirements for one interpreter, and installs packages into a temporary
    environment, whose interpreter is *python*.

    asked: the requirements, whose options apply to all packages
    folder: for temporary files and the environment; the caller removes the folder
    """

    def __init__(self, interpreter: Interpreter, folder: Path, asked: Requirements) -> None:
        """Create the environment. Raises EnvironmentFailed."""
        self.folder, self.interpreter = folder, interpreter
        self._asked = asked
        # markers take all other values from this process, which runs on the same machine
        self._marker_values = {
            "python_version": interpreter.name.version,
            "python_full_version": interpreter.facts["version"],
        }
        executable = str(interpreter.executable)
        place = folder / "env"
        failure = self._run(
            INSTALL_TIMEOUT_S, "venv", "--no-project", "--python", executable, place
        )
        if failure:
            raise EnvironmentFailed(
                "No virtual environment could be created with {executable}: {reason}.",
                executable=executable,
                reason=failure,
            )
        self.python = place / "bin" / "python"

    def resolve(self) -> tuple[dict[str, ResolvedPackage], dict[str, Message]]:
        """Resolve all requirements together. If this fails, resolve only the entries that can be
        resolved alone. Return the packages by name, and the reasons by entry that cannot be
        resolved.
        """
        entries = self._asked.entries
        failure, packages = self._resolve_together(entries)
        if not failure:
            return packages, {}
        alone = run_in_parallel(lambda entry: self._resolve_together([entry])[0], entries)
        # in the order of entries, so that zip() fits
        failures = {entry: why for entry, why in zip(entries, alone, strict=True) if why}
        rest = [entry for entry in entries if entry not in failures]
        if failures and rest:
            failure, packages = self._resolve_together(rest)
        return packages, failures | dict.fromkeys(rest if failure else (), failure)

    def ready_version(self, name: str) -> str:
        """Return the newest version of a package that has a wheel for this interpreter; "" if there
        is none. Raises EnvironmentFailed if uv fails for another reason.
        """
        source = self._write([name], exact=False)
        lock = source.with_name(LOCK)
        failure = self._compile(source, lock, "--no-deps", "--only-binary", ":all:")
        if not failure:
            # none fits if a marker excludes this interpreter
            return next((package.version for package in self._packages(lock)), "")
        if failure.code == uv.UNSATISFIED:
            return ""
        raise EnvironmentFailed(
            "The versions of {package} could not be listed: {reason}. {remedy}",
            package=name,
            reason=failure,
            remedy=uv.remedy(failure, message("Check the options of the requirements file.")),
        )

    def install(self, requirements: Sequence[str]) -> dict[str, Message]:
        """Install requirements from wheels: all together or, if this fails, each alone. Return the
        failures, whose code is uv.UNSATISFIED if there is no wheel for this interpreter.
        """
        if not requirements or not self._install(requirements):
            return {}
        return {
            requirement: why
            for requirement in requirements
            if (why := self._install([requirement]))
        }

    def _resolve_together(
        self, entries: Sequence[str]
    ) -> tuple[Message, dict[str, ResolvedPackage]]:
        # returns why uv failed, or NOTHING; and the packages by name
        source = self._write(entries)
        lock, tree = source.with_name(LOCK), source.with_name("tree.txt")
        annotated = "--universal", "--annotation-style", "line"
        failure = self._compile(source, lock, "--universal")
        if failure := failure or self._compile(source, tree, *annotated):
            return failure, {}
        lines = map(_ANNOTATED.match, tree.read_text("utf-8").splitlines())
        needed_by = {normalised(line[1]): line[2].split(", ") for line in lines if line}
        packages = {}
        for package in self._packages(lock):
            # without annotation, a package counts as one that an entry asks for
            origins = needed_by.get(package.name, ["-r"])
            parents = tuple(normalised(origin) for origin in origins if not origin.startswith("-"))
            direct = any(origin.startswith("-r") for origin in origins)
            packages[package.name] = package._replace(direct=direct, needed_by=parents)
        return NOTHING, packages

    def _install(self, requirements: Sequence[str]) -> Message:
        file = self._write(requirements, exact=False)
        wheels = ("--no-deps", "--only-binary", ":all:")
        python = ("--python", self.python)
        return self._run(INSTALL_TIMEOUT_S, "pip", "install", *wheels, *python, "-r", file)

    def _write(self, entries: Sequence[str], *, exact: bool = True) -> Path:
        """Write a requirements file in a folder of its own, and return its path.

        exact: with all options; otherwise without options that ask for given files or versions
        """
        options = [
            option for option in self._asked.options if exact or not option.startswith(FORBID_EXACT)
        ]
        source = Path(mkdtemp(dir=self.folder), "wanted.txt")
        source.write_text("\n".join([*options, *entries]) + "\n", "utf-8")
        return source

    def _compile(self, source: Path, result: Path, *how: str) -> Message:
        files = ("--output-file", result, source, "--python", self.interpreter.executable)
        quiet = ("--quiet", "--no-header")
        return self._run(RESOLVE_TIMEOUT_S, "pip", "compile", *quiet, *how, *files)

    def _run(self, timeout_s: float, *arguments: str | Path) -> Message:
        """Run a command of uv, with its temporary files in *folder*. Return why it failed, or
        NOTHING.
        """
        variables = scrubbed_environment() | {"TMPDIR": str(self.folder)}
        return uv.run(arguments, timeout_s, variables)[1]

    def _packages(self, lock: Path) -> Iterator[ResolvedPackage]:
        """Yield the packages of a lock file whose markers fit this interpreter."""
        for package in tomllib.loads(lock.read_text("utf-8")).get("packages", []):
            marker = package.get("marker", "")
            if marker and not Marker(marker).evaluate(self._marker_values):
                continue
            files = [*package.get("wheels", ()), package.get("archive", {})]
            wheels = (file.get("name") or file.get("path") or file.get("url", "") for file in files)
            yield ResolvedPackage(
                name=normalised(package["name"]),
                version=str(package.get("version", "")),
                requirement=locked_entry(package, lock.parent),
                is_pure=any(wheel.endswith("-none-any.whl") for wheel in wheels),
                is_folder="directory" in package,
            )
