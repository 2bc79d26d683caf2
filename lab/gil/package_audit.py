"""`runner.py audit`: find out which packages are ready for the free-threaded build. See
docs/audit.md.

First, the audit looks for wheels of the requested packages and of all their dependencies. Then it
installs the packages that have wheels into a temporary environment and imports each module in a
process of its own (lab/gil/switching.py). It builds no package. commands/audit.py calls
read_requirements(), then audit(), and has a text for each kind of problem: add new kinds there too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.messages import NOTHING, BadInput, Json, message, verbatim
from lab import processes
from lab.environments import requirements
from lab.environments.environment import EnvironmentFailed, distributions
from lab.environments.requirements import Requirements, name_of
from lab.environments.resolution import ResolvedPackage, Trial
from lab.folders import PrivateFolder
from lab.gil.switching import Problem, top_modules, try_import
from lab.project.packages import MANIFEST, OLDEST_PYTHON, PYLOCK, UV_LOCK, read_dependencies
from lab.python import uv
from lab.python.interpreters import Interpreter

# version of the JSON document: it rose when keys came (2: packages that others need, needed_by) or
# went (3: ready_since; 4: the kind "needs")
SCHEMA = 4
# kinds of Problem, besides those of lab/gil/switching.py; they are in the JSON document
NO_WHEEL, NOT_INSTALLABLE = "no wheel", "not installable"


class PackageFinding(NamedTuple):
    """The result of an audit for one package.

    version: the audited version, or "" if none was found
    direct: whether the user asked for it; needed_by: the packages that the user asked for and that
        depend on it
    """

    package: str
    version: str = ""
    modules: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    direct: bool = True
    needed_by: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether the audit found no problem in the package."""
        return not self.problems

    def to_json(self) -> Json:
        """Return the finding as `--json` prints it."""
        return {
            **self._asdict(),
            "problems": [problem.to_json() for problem in self.problems],
            "passes": self.passes,
        }


def read_requirements(packages: Path | Sequence[str], python: str = OLDEST_PYTHON) -> Requirements:
    """Return the requirements in a list of packages, in a requirements file or in a project.

    packages: a project is given by its folder, its pyproject.toml or its lock file
    python: the Python version for which uv chooses the versions of a project without a lock file
    Raises BadInput if a file cannot be read, and if there is no package.
    """
    if not isinstance(packages, Path):
        asked = requirements.from_names(packages)
    elif packages.is_dir() or packages.name in (MANIFEST, UV_LOCK, PYLOCK):
        folder = packages.absolute() if packages.is_dir() else packages.absolute().parent
        project = read_dependencies(folder, python=python)
        asked = requirements.parsed(project.entries, folder) if project else Requirements()
    else:
        asked = requirements.read(packages)
    if not asked.entries:
        source = (
            verbatim(str(packages))
            if isinstance(packages, Path)
            else message("The list of packages")
        )
        raise BadInput("{source} names no package; it must name at least one.", source=source)
    return asked


def audit(asked: Requirements, interpreter: Interpreter) -> list[PackageFinding]:
    """Audit the requested packages and all their dependencies, which may take minutes. Return one
    finding per package.

    Raises BadInput for a default build of CPython, and if all packages are folders of source code;
    EnvironmentFailed if there is no uv.
    """
    if not interpreter.facts["gil_disabled_build"]:
        raise BadInput(
            "Runtime {name} is a default build, whose GIL is always on. Use a free-threaded build, "
            "such as 3.14t.",
            name=interpreter.name,
        )
    if uv.find() is None:
        missing = uv.why_missing()
        remedy = uv.remedy(missing, NOTHING)
        raise EnvironmentFailed(
            "No package can be audited: {reason}. {remedy}", reason=missing, remedy=remedy
        )
    with PrivateFolder() as private:
        return _Audit(asked, interpreter, private.folder).findings()


def to_document(findings: Sequence[PackageFinding], interpreter: Interpreter) -> Json:
    """Return all findings as the JSON document that `--json` prints."""
    runtime = {
        "name": interpreter.name,
        "version": interpreter.facts["version"],
        "build": interpreter.facts["build"],
    }
    return {
        "schema": SCHEMA,
        "runtime": runtime,
        "packages": [finding.to_json() for finding in findings],
    }


class _Audit:
    """An audit, whose packages are installed in an environment.

    failures: the reasons by requirement that could not be installed from a wheel
    """

    def __init__(self, asked: Requirements, interpreter: Interpreter, folder: Path) -> None:
        """Resolve the requirements, and install the packages into an environment in *folder*."""
        self.interpreter = interpreter
        self.trial = Trial(interpreter, folder, asked)
        self.resolution = self.trial.resolve()
        self.packages = [
            package for package in self.resolution.packages.values() if not package.is_folder
        ]
        self.failures = self.trial.install([package.requirement for package in self.packages])

    def findings(self) -> list[PackageFinding]:
        """Return the findings of all packages that environment markers do not exclude. Packages
        that cannot be resolved come last.
        """
        findings = processes.run_in_parallel(self._audit_package, self.packages)
        for entry, why in self.resolution.failures.items():
            problem = Problem(kind=NOT_INSTALLABLE, detail=why)
            findings.append(PackageFinding(package=name_of(entry), problems=(problem,)))
        if not findings and self.resolution.packages:
            raise BadInput(
                "All packages are folders of source code, which audit does not build. Name "
                "packages that have wheels."
            )
        return findings

    def _audit_package(self, package: ResolvedPackage) -> PackageFinding:
        name, version = package.name, package.version
        modules: list[str] = []
        problems: list[Problem] = []
        failure = self.failures.get(package.requirement, NOTHING)
        if failure.code == uv.UNSATISFIED:
            problems.append(self._no_wheel(package))
        elif failure:
            problems.append(Problem(kind=NOT_INSTALLABLE, detail=failure))
        # a dependency in pure Python cannot switch the GIL on, so it passes without an import
        elif package.direct or not package.pure:
            (installed,) = distributions(self.trial.python, name)
            version, modules = installed.version, top_modules(installed)
            for module in modules:
                problems += try_import(self.trial.python, module, self.trial.folder)
        return PackageFinding(
            package=name,
            version=version,
            modules=tuple(modules),
            problems=tuple(problems),
            direct=package.direct,
            needed_by=self.resolution.asked_that_need(name),
        )

    def _no_wheel(self, package: ResolvedPackage) -> Problem:
        name = package.name
        change = message("no version of the package has a wheel for this runtime")
        if ready := self.trial.ready_version(name):
            change = message(
                "version {version} of the package has a wheel for this runtime", version=ready
            )
        detail = message(
            "{package} {version} has no wheel for {runtime}; {change}",
            package=name,
            version=package.version,
            runtime=self.interpreter.name,
            change=change,
        )
        return Problem(kind=NO_WHEEL, detail=detail)
