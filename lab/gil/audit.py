"""Which packages are ready for the free-threaded build: `runner.py audit`. See docs/audit.md.

Each is installed into a throw-away environment, from source where there is no wheel, and each of its top-level modules
is imported in a process of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from time import monotonic
from typing import Any

from core.errors import BadInput
from core.messages import NOTHING, Message, listed, message, verbatim
from lab.environments import requirements
from lab.environments.environment import distributions
from lab.environments.requirements import name_of, normalised
from lab.environments.throwaway import Throwaway
from lab.folders import PrivateFolder
from lab.gil.imports import IMPORT_TIMEOUT_S, Imported, imported
from lab.python.interpreters import Interpreter

SCHEMA = 1
SWITCHING_BUDGET_S = 60.0  # for all imports of an environment; what is left then is not imported
GIL, NO_WHEEL, NOT_INSTALLABLE, IMPORT_FAILS, WARNS = "gil", "no wheel", "not installable", "import fails", "warns"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """kind: GIL, NO_WHEEL, NOT_INSTALLABLE, IMPORT_FAILS or WARNS. module: what was imported, where that matters.

    culprit: of GIL, the module that switched it on, which may be another package's
    """

    kind: str
    detail: Message
    module: str = ""
    culprit: str = ""

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it: the detail as text, and as a message."""
        return {**vars(self), "detail": str(self.detail), "message": self.detail.to_json()}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit says of one package. version: "" if it could not be installed."""

    package: str
    version: str = ""
    modules: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The finding as `--json` prints it."""
        return {**vars(self), "problems": [problem.to_json() for problem in self.problems], "passes": self.passes}


def audit(packages: Path | Sequence[str], interpreter: Interpreter) -> list[Finding]:
    """A finding for each package of a requirements file, or of a list such as ["numpy", "pyyaml==6.0.3"].

    Raises BadInput for a file that cannot be read, an empty list, and a build that always has its GIL;
    EnvironmentFailed without uv, or without room.
    """
    name = interpreter.name
    if not interpreter.facts["gil_disabled_build"]:
        raise BadInput(
            "Runtime {name} always has its GIL; audit needs a free-threaded build, such as 3.14t.", name=name
        )
    wanted = requirements.read(packages) if isinstance(packages, Path) else requirements.listed(packages)
    if not wanted.entries:
        source = verbatim(str(packages)) if packages else message("The list of packages")
        raise BadInput("{source} names no package; it must name at least one.", source=source)
    with PrivateFolder() as private:
        place = Throwaway(private.folder, interpreter.executable, wanted)
        failures = place.install()
        return [_finding(entry, place, failures.get(entry, NOTHING)) for entry in wanted.entries]


def document(findings: Sequence[Finding], interpreter: Interpreter) -> dict[str, Any]:
    """What `--json` prints, and what reports.audit shows."""
    runtime = {"name": interpreter.name, "version": interpreter.facts["version"], "build": interpreter.facts["build"]}
    return {"schema": SCHEMA, "runtime": runtime, "packages": [finding.to_json() for finding in findings]}


def exit_status(findings: Sequence[Finding]) -> int:
    """0 if all pass, 3 if one does not."""
    return 0 if all(finding.passes for finding in findings) else 3


def _finding(entry: str, place: Throwaway, failure: Message) -> Finding:
    if failure:
        return _not_installable(entry, failure)
    package = place.distribution(entry)
    if package is None:
        left_out = ";" in entry  # its marker leaves it out for this interpreter
        missing = message("it is not in the environment")
        return Finding(package=name_of(entry)) if left_out else _not_installable(entry, missing)
    modules = tuple(top_modules(package))
    problems = [] if place.has_wheel(package) else [_built(package)]
    for module in modules:
        problems += judged(imported(place.python, module, place.folder))
    return Finding(package=normalised(package.name), version=package.version, modules=modules, problems=tuple(problems))


def _not_installable(entry: str, reason: Message) -> Finding:
    return Finding(package=name_of(entry), problems=(Problem(kind=NOT_INSTALLABLE, detail=reason),))


def _built(package: metadata.Distribution) -> Problem:
    detail = message(
        "no wheel of {package} {version} fits the free-threaded build; it was built from source",
        package=package.name,
        version=package.version,
    )
    return Problem(kind=NO_WHEEL, detail=detail)


def judged(outcome: Imported) -> list[Problem]:
    """What is wrong with an import. The GIL is named even if the import failed after it."""
    problems, module = [], outcome.module
    if outcome.gil_enabled:
        culprit = ", ".join(outcome.culprits)
        problems.append(Problem(kind=GIL, detail=switches_on(outcome), module=module, culprit=culprit))
    if outcome.error:
        detail = message("importing {module} fails: {error}", module=module, error=outcome.error)
        problems.append(Problem(kind=IMPORT_FAILS, detail=detail, module=module))
    problems += [Problem(kind=WARNS, detail=verbatim(text), module=module) for text in outcome.warnings]
    return problems


def switches_on(outcome: Imported) -> Message:
    """That an import switches the GIL on, and by which other module, if CPython named one."""
    others = [name for name in outcome.culprits if name != outcome.module]
    if not others:
        return message("importing {module} switches the GIL on", module=outcome.module)
    return message("importing {module} switches the GIL on, by {others}", module=outcome.module, others=listed(others))


def top_modules(package: metadata.Distribution) -> list[str]:
    """The modules to import: the outermost of its packages that have code, and modules beside them.

    A folder without __init__.py is a namespace, which holds no code itself: its packages are taken. Modules whose
    name begins with _ are left to the public ones, where there are any.
    """
    names = {dotted for file in package.files or () if (dotted := _dotted(file.parts))}
    if any(name.startswith("__editable__") for name in names):  # its modules are elsewhere, setuptools lists them
        names = set((package.read_text("top_level.txt") or "").split())
    outermost = sorted(name for name in names if not any(name.startswith(other + ".") for other in names))
    return [name for name in outermost if not name.startswith("_")] or outermost


def _dotted(parts: tuple[str, ...]) -> str:
    """The module that a file is, "" for any other file (data, scripts, tests, type stubs)."""
    *folders, file = parts
    stem, _, suffix = file.partition(".")
    if parts[0] == ".." or parts[0].endswith((".dist-info", ".data")) or parts[0] in ("test", "tests"):
        return ""
    if suffix != "py" and not suffix.endswith("so"):
        return ""
    names = folders if stem == "__init__" else [*folders, stem]
    return ".".join(names) if names and all(name.isidentifier() for name in names) else ""


@cache
def switching(python: Path) -> list[Message]:
    """A message for each module in *python*'s environment that switches the GIL on when it is imported; looked up once.

    Only packages with an extension are imported: Python code alone does not switch it on.
    """
    until, faults = monotonic() + SWITCHING_BUDGET_S, []
    with PrivateFolder() as private:
        for module in _modules(python):
            left_s = min(IMPORT_TIMEOUT_S, until - monotonic())
            if left_s <= 0:
                break
            outcome = imported(python, module, private.folder, left_s)
            if outcome.gil_enabled:
                faults.append(message("of its packages, {switching}", switching=switches_on(outcome)))
    return faults


def _modules(python: Path) -> list[str]:
    installed = distributions(python)
    native = [package for package in installed if any(file.suffix == ".so" for file in package.files or ())]
    return sorted(module for package in native for module in top_modules(package))
