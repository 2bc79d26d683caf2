"""Which packages are ready for the free-threaded build: `runner.py audit`. See docs/audit.md.

Each is installed into a throw-away environment, from source where there is no wheel, and each of its top-level modules
is imported in a process of its own.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from core.errors import BadInput
from lab.environments.requirements import listed, name_of, normalised, read
from lab.environments.throwaway import Throwaway
from lab.gil.imports import Imported, imported
from lab.python.interpreters import Interpreter

SCHEMA = 1
GIL, NO_WHEEL, NOT_INSTALLABLE, IMPORT_FAILS, WARNS = "gil", "no wheel", "not installable", "import fails", "warns"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """kind: GIL, NO_WHEEL, NOT_INSTALLABLE, IMPORT_FAILS or WARNS. module: what was imported, where that matters.

    culprit: of GIL, the module that switched it on, which may be another package's.
    """

    kind: str
    detail: str
    module: str = ""
    culprit: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One package that was asked for. version is "" where it could not be installed."""

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
        return {**asdict(self), "passes": self.passes}


def audit(asked: Path | Sequence[str], interpreter: Interpreter) -> list[Finding]:
    """A finding for each package of a requirements file, or of a list such as ["numpy", "pyyaml==6.0.3"].

    Raises BadInput for a file that cannot be read, a list that is empty, and a build that always has its GIL;
    EnvironmentFailed where there is no uv or no room.
    """
    if not interpreter.facts["gil_disabled_build"]:
        raise BadInput(
            f"Runtime {interpreter.name} always has its GIL; audit needs a free-threaded build, such as 3.14t."
        )
    wanted = read(asked) if isinstance(asked, Path) else listed(asked)
    if not wanted.entries:
        raise BadInput(f"{asked or 'The list of packages'} names no package; it must name at least one.")
    with tempfile.TemporaryDirectory(prefix="gilscope-audit-") as folder:
        place = Throwaway(Path(folder), interpreter.executable, wanted)
        failures = place.install()
        return [_finding(entry, place, failures.get(entry, "")) for entry in wanted.entries]


def document(findings: Sequence[Finding], interpreter: Interpreter) -> dict[str, Any]:
    """What `--json` prints, and what reports.audit shows."""
    runtime = {"name": interpreter.name, "version": interpreter.facts["version"], "build": interpreter.facts["build"]}
    return {"schema": SCHEMA, "runtime": runtime, "packages": [one.to_json() for one in findings]}


def exit_status(findings: Sequence[Finding]) -> int:
    """0 where all pass, 3 where one does not."""
    return 0 if all(one.passes for one in findings) else 3


def _finding(entry: str, place: Throwaway, failure: str) -> Finding:
    if failure:
        return Finding(package=name_of(entry), problems=(Problem(kind=NOT_INSTALLABLE, detail=failure),))
    found = place.distribution(entry)
    if found is None:
        skipped = "its marker leaves it out for this interpreter" if ";" in entry else "it is not in the environment"
        return Finding(package=name_of(entry), problems=() if ";" in entry else _none_installed(skipped))
    modules = tuple(top_modules(found))
    problems = [] if place.has_wheel(entry, found) else [_built(found)]
    for module in modules:
        problems += judged(imported(place.python, module, place.folder))
    return Finding(package=normalised(found.name), version=found.version, modules=modules, problems=tuple(problems))


def _none_installed(detail: str) -> tuple[Problem, ...]:
    return (Problem(kind=NOT_INSTALLABLE, detail=detail),)


def _built(found: metadata.Distribution) -> Problem:
    detail = f"no wheel of {found.name} {found.version} fits the free-threaded build; it was built from source"
    return Problem(kind=NO_WHEEL, detail=detail)


def judged(seen: Imported) -> list[Problem]:
    """What is wrong with an import. The GIL is named even where the import failed after it."""
    problems = []
    if seen.gil_enabled:
        culprits = ", ".join(seen.culprits) or "a module that CPython did not name"
        detail = f"importing {seen.module} switches the GIL on, by {culprits}"
        problems.append(Problem(kind=GIL, detail=detail, module=seen.module, culprit=", ".join(seen.culprits)))
    if seen.error:
        detail = f"importing {seen.module} fails: {seen.error}"
        problems.append(Problem(kind=IMPORT_FAILS, detail=detail, module=seen.module))
    problems += [Problem(kind=WARNS, detail=text, module=seen.module) for text in seen.warnings]
    return problems


def top_modules(found: metadata.Distribution) -> list[str]:
    """The modules to import: of each of its packages the outermost that has code, and modules beside them.

    A folder without __init__.py is a namespace, which holds no code itself: its packages are taken. Modules whose
    name begins with _ are left to the public ones, where there are any.
    """
    names = {dotted for file in found.files or () if (dotted := _dotted(file.parts))}
    if any(name.startswith("__editable__") for name in names):  # its modules are elsewhere, setuptools lists them
        names = set((found.read_text("top_level.txt") or "").split())
    outermost = sorted(name for name in names if not any(name.startswith(other + ".") for other in names))
    return [name for name in outermost if not name.startswith("_")] or outermost


def _dotted(parts: tuple[str, ...]) -> str:
    """The module that a file is, "" for one that is none (data, scripts, tests, type stubs)."""
    *folders, file = parts
    stem, _, suffix = file.partition(".")
    if parts[0] == ".." or parts[0].endswith((".dist-info", ".data")) or parts[0] in ("test", "tests"):
        return ""
    if suffix != "py" and not suffix.endswith("so"):
        return ""
    names = folders if stem == "__init__" else [*folders, stem]
    return ".".join(names) if names and all(name.isidentifier() for name in names) else ""
