"""`runner.py audit`: find out which packages are ready for the free-threaded build. See
docs/audit.md.

First, the audit looks for wheels of the requested packages and of all their dependencies. Then it
installs the packages that have wheels into a temporary environment and imports each module in a
process of its own. It builds no package. commands/audit.py calls read_requirements(), then audit(),
and has a text for each kind of problem: add new kinds there too.
"""

import json
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from core.messages import NOTHING, BadInput, Json, Message, message, verbatim
from lab.environments import requirements
from lab.environments.environment import EnvironmentFailed, distributions
from lab.environments.requirements import Requirements, name_of
from lab.environments.resolution import ResolvedPackage, Trial, asked_that_need
from lab.folders import PrivateFolder
from lab.process_output import switching_modules
from lab.processes import describe_exit, run, run_in_parallel, scrubbed_environment
from lab.project.packages import MANIFEST, OLDEST_PYTHON, PYLOCK, UV_LOCK, read_dependencies
from lab.python import uv
from lab.python.interpreters import Interpreter

# version of the JSON document: it rose when keys came (2: packages that others need, needed_by) or
# went (3: ready_since; 4: the kind "needs")
SCHEMA = 4
# kinds of Problem; they are in the JSON document, and commands/audit.py has a text for each
GIL, IMPORT_FAILS, WARNS = "gil", "import fails", "warns"
NO_WHEEL, NOT_INSTALLABLE = "no wheel", "not installable"
IMPORT_TIMEOUT_S = 60.0
# begins the line with the result, which distinguishes it from what the module prints
_MARK = "gilscope-import:"
# The program of the new process, which runs under the audited interpreter: standard library only.
# It takes the module's name. It prints gil (whether it is on now), error ("" if none) and warnings.
_TRY = f"""
import importlib, json, sys, warnings
error = ""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        importlib.import_module(sys.argv[1])
    except BaseException as raised:
        error = type(raised).__name__ + ": " + str(raised)
# these warnings say nothing about threads
plans = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, SyntaxWarning)
told = [warning for warning in caught if not issubclass(warning.category, plans)]
warned = [warning.category.__name__ + ": " + str(warning.message) for warning in told]
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
print("\\n{_MARK}" + json.dumps({{"gil": gil, "error": error, "warnings": warned}}), flush=True)
"""


class Problem(NamedTuple):
    """A problem that the audit found in a package, such as a failed import.

    kind: GIL, IMPORT_FAILS, WARNS, NO_WHEEL or NOT_INSTALLABLE
    module: the imported module in which the problem appeared, or ""
    culprit: for kind GIL, the module that switched the GIL on; it may belong to another package
    """

    kind: str
    detail: Message
    module: str = ""
    culprit: str = ""

    def to_json(self) -> Json:
        """Return this problem as a JSON object for the option `--json`.

        The object has the description twice: as plain text, and as a template with values, which
        can be translated.
        """
        return {**self._asdict(), "detail": str(self.detail), "message": self.detail.to_json()}


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
        source = message("The list of packages")
        if isinstance(packages, Path):
            source = verbatim(str(packages))
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
        return _findings(Trial(interpreter, private.folder, asked))


def to_document(findings: Sequence[PackageFinding], interpreter: Interpreter) -> Json:
    """Return all findings as the JSON document that `--json` prints."""
    facts = interpreter.facts
    return {
        "schema": SCHEMA,
        "runtime": {
            "name": interpreter.name,
            "version": facts["version"],
            "build": facts["build"],
        },
        "packages": [finding.to_json() for finding in findings],
    }


def _findings(trial: Trial) -> list[PackageFinding]:
    """Return the findings of all packages that environment markers do not exclude. Packages that
    cannot be resolved come last.
    """
    resolved, unresolved = trial.resolve()
    packages = [package for package in resolved.values() if not package.is_folder]
    failures = trial.install([package.requirement for package in packages])

    def finding(package: ResolvedPackage) -> PackageFinding:
        failure = failures.get(package.requirement, NOTHING)
        needed_by = asked_that_need(package.name, resolved)
        return _audit_package(trial, package, failure)._replace(needed_by=needed_by)

    findings = run_in_parallel(finding, packages)
    for entry, why in unresolved.items():
        findings.append(PackageFinding(name_of(entry), problems=(Problem(NOT_INSTALLABLE, why),)))
    if not findings and resolved:
        raise BadInput(
            "All packages are folders of source code, which audit does not build. Name "
            "packages that have wheels."
        )
    return findings


def _audit_package(trial: Trial, package: ResolvedPackage, failure: Message) -> PackageFinding:
    """Return what is found of a package.

    failure: why it could not be installed from a wheel; NOTHING if it is installed
    """
    found = PackageFinding(package.name, package.version, direct=package.direct)
    if failure.code == uv.UNSATISFIED:
        return found._replace(problems=(_no_wheel(trial, package),))
    if failure:
        return found._replace(problems=(Problem(NOT_INSTALLABLE, failure),))
    # a dependency in pure Python cannot switch the GIL on, so it passes without an import
    if package.is_pure and not package.direct:
        return found
    (installed,) = distributions(trial.python, package.name)
    modules, problems = top_modules(installed), list[Problem]()
    for module in modules:
        problems += try_import(trial.python, module, trial.folder)
    return found._replace(
        version=installed.version, modules=tuple(modules), problems=tuple(problems)
    )


def _no_wheel(trial: Trial, package: ResolvedPackage) -> Problem:
    change = message("no version of the package has a wheel for this runtime")
    if ready := trial.ready_version(package.name):
        change = message(
            "version {version} of the package has a wheel for this runtime", version=ready
        )
    return Problem(
        NO_WHEEL,
        message(
            "{package} {version} has no wheel for {runtime}; {change}",
            package=package.name,
            version=package.version,
            runtime=trial.interpreter.name,
            change=change,
        ),
    )


def try_import(python: Path, module: str, folder: Path) -> list[Problem]:
    """Import *module* in a new process of the interpreter *python*, and return the problems of the
    import.

    A GIL that was switched on is reported even if the import failed afterwards.
    folder: the working directory of the process
    """
    try:
        done = run(
            [python, "-I", "-c", _TRY, module], IMPORT_TIMEOUT_S, scrubbed_environment(), cwd=folder
        )
    except subprocess.TimeoutExpired:
        late = message("the import did not end within {limit_s:g} s", limit_s=IMPORT_TIMEOUT_S)
        return [_failure(module, late)]
    _, mark, report_line = done.stdout.rpartition("\n" + _MARK)
    if not mark:
        end = message("the interpreter {ending}", ending=describe_exit(done.returncode))
        if last_line := done.stderr.strip().rpartition("\n")[2].strip():
            end = message("{ending}: {output}", ending=end, output=last_line)
        return [_failure(module, end)]
    report = json.loads(report_line.splitlines()[0])
    warnings = dict.fromkeys(" ".join(text.split()) for text in report["warnings"])
    problems = []
    if report["gil"]:
        culprits = switching_modules("\n".join(warnings))
        switch = message("importing {module} switches the GIL on", module=module)
        if others := [name for name in culprits if name != module]:  # CPython blames them
            switch = message(
                "importing {module} switches the GIL on because {module} loads {others}",
                module=module,
                others=others,
            )
        problems.append(Problem(GIL, switch, module, ", ".join(culprits)))
    if report["error"]:
        problems.append(_failure(module, verbatim(" ".join(report["error"].split()))))
    kept = [text for text in warnings if not switching_modules(text)]
    return [*problems, *(Problem(WARNS, verbatim(text), module) for text in kept)]


def _failure(module: str, error: Message) -> Problem:
    return Problem(
        IMPORT_FAILS,
        message("importing {module} fails: {error}", module=module, error=error),
        module,
    )


def top_modules(package: metadata.Distribution) -> list[str]:
    """Return the modules of an installed distribution to import: its top-level packages with code,
    and single modules.

    A folder without __init__.py is a namespace without code, so the packages in it are imported
    instead. Modules whose name begins with _ are imported only if there is no public module.
    """
    names = {_module_of(file.parts) for file in package.files or ()}
    outermost: list[str] = []
    for name in sorted(names - {""}):  # a package comes right before what is in it
        if not (outermost and name.startswith(f"{outermost[-1]}.")):
            outermost.append(name)
    return [name for name in outermost if not name.startswith("_")] or outermost


def _module_of(parts: tuple[str, ...]) -> str:
    """Return the name of the module that a package's file defines; "" for data, scripts, tests and
    type stubs.
    """
    *folders, file = parts
    stem, _, suffix = file.partition(".")
    if parts[0] in ("test", "tests") or not (suffix == "py" or suffix.endswith("so")):
        return ""
    names = folders if stem == "__init__" else [*folders, stem]
    # metadata and scripts are in folders such as NAME.dist-info and ..
    return ".".join(names) if all(map(str.isidentifier, names)) else ""
