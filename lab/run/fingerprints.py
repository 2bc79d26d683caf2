"""Compute fingerprints of everything that a measurement uses: code, interpreters, packages and
native programs.

lab/run/experiment.py asks for them before and after each measurement: a result is invalid if they
changed meanwhile. lab/run/runs.py asks before a run continues. core/fingerprint.py has the form of
the table and compares its entries. A folder whose code runs in measured processes must be in
CODE_FOLDERS.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from config.run_plan import Plan
from core.cell import Cell
from core.fingerprint import CODE, ENVIRONMENTS, code_changes, environment_changes
from core.messages import GilscopeError, Json, Message
from core.system import CLIENT, SERVICE, System
from core.user_service import Command
from experiments import is_section
from lab import native_builds
from lab.digests import MOST_FILES, file_digests, files_in, short_digest
from lab.environments.environment import installed_packages, site_packages
from lab.environments.requirements import local_path, read
from lab.places import REPOSITORY
from lab.python.interpreters import Interpreter
from lab.run.measured_runtimes import Native, Runtime, Runtimes, UserServiceRuntime, runtime_of
from record.saved_run import CellResult, Run

# of an entry in a requirements file: the source files of such a package are measured, too
EDITABLE = ("-e", "--editable")
# of the repository, whose Python files run in services and clients
# lab/user_service runs beside a user's service, and imports lab/machine
CODE_FOLDERS = (
    *("core", "services", "clients", "systems", "experiments"),
    *("lab/user_service", "lab/machine"),
)


class Fingerprinter:
    """A calculator of fingerprints for a plan's measurements: ids of the code and of the
    environment.

    table: Run.fingerprints, which holds the details of each id. This object adds entries to it
    """

    def __init__(self, plan: Plan, runtimes: Runtimes, table: dict[str, Any]) -> None:
        self._plan, self._runtimes = plan, runtimes
        self._code = table.setdefault(CODE, {})
        self._environments = table.setdefault(ENVIRONMENTS, {})
        self._native = any(self._is_built(system, runtime) for system, runtime in plan.pairs())

    def of(self, cell: Cell | CellResult, system: System) -> Json:
        """Return the ids of the code and the environment with which the measurement *cell* would
        run now.

        The keys are the fields of CellResult: code and environment.
        """
        parts = {role: self._part(role, cell.runtime, system) for role in (SERVICE, CLIENT)}
        return {"code": self._code_now(), "environment": _kept(self._environments, parts)}

    def changes(self, run: Run) -> list[Message]:
        """Return which code and packages have changed since the last cells of *run*
        were measured.
        """
        known = [cell for cell in run.cells if cell.code]
        if not known:
            return []
        changes = code_changes(self._code.get(known[-1].code, {}), self._code[self._code_now()])
        for cell in {cell.cell_id: cell for cell in known}.values():
            before = self._environments.get(cell.environment, {})
            now = self.of(cell, self._plan.system_of(cell))["environment"]
            changes += environment_changes(before, self._environments[now], cell.runtime)
        return list(dict.fromkeys(changes))

    def _code_now(self) -> str:
        files = file_digests(dict.fromkeys(_code_files(self._plan, native=self._native)))
        return _kept(self._code, _named(files))

    def _is_built(self, system: System, name: str) -> bool:
        """Return whether *system* uses a program or wheel built from native/ under the runtime
        *name*.
        """
        parts = [
            runtime_of(role, system, self._runtimes, name, self._plan.method)
            for role in (SERVICE, CLIENT)
        ]
        return bool(system.wheels) or any(isinstance(part, Native) for part in parts)

    def _part(self, role: str, name: str, system: System) -> Json:
        """Return runtime details of the service or client (*role*) of *system*; {} if its runtime
        is missing.
        """
        try:
            runtime = runtime_of(role, system, self._runtimes, name, self._plan.method)
            if isinstance(runtime, Native):
                words = (word for word in runtime.command(system, role) if os.path.isabs(word))
                return {"programs": _named(file_digests(words))}
            if isinstance(runtime, UserServiceRuntime):
                return self._python_part(runtime.runtime, Path(runtime.python(system)))
            return self._python_part(runtime, runtime.python(system.requirements, system.wheels))
        except (GilscopeError, KeyError):
            return {}

    def _python_part(self, runtime: Runtime | None, python: Path) -> Json:
        if runtime is None:  # the service already runs
            return {}
        interpreter = _interpreter(runtime.interpreter)
        if python == runtime.interpreter.executable:
            return {"interpreter": interpreter}
        files = (
            path
            for folder in site_packages(python)
            for path in files_in(folder)
            if ".dist-info/" not in path
        )
        installed = file_digests(files, str(python.parent.parent))
        return {
            "interpreter": interpreter,
            "packages": installed_packages(python),
            "installed": short_digest(sorted(installed.items())),
        }


def _kept(table: dict[str, Any], value: Any) -> str:
    """Add *value*, the details of code or environment, to *table* under its digest. Return the
    digest.
    """
    key = short_digest(value)
    table.setdefault(key, value)
    return key


def _code_files(plan: Plan, *, native: bool) -> Iterator[str]:
    """Yield the source files that the plan's child processes run, and the source files of native
    programs.
    """
    for folder in CODE_FOLDERS:
        yield from (
            path for path in files_in(REPOSITORY / folder, (".py",)) if not is_section(path)
        )
    if native:
        yield from native_builds.sources()
    for system in plan.systems.values():
        if system.file:
            yield system.file
            yield from files_in(Path(system.file).parent, (".py",), most=MOST_FILES)
    for command in plan.user_service.commands if plan.user_service else ():
        yield from _files_of(command)


def _files_of(command: Command) -> Iterator[str]:
    """Yield the files that a user's command names, and the Python files of its working
    directory.
    """
    folder = Path(command.directory).absolute()
    try:
        words = shlex.split(str(command.command))  # secrets are masked, but they are no file names
    except ValueError:  # such a command cannot be started either
        words = []
    yield from (str(folder / word) for word in words if (folder / word).is_file())
    if not REPOSITORY.is_relative_to(folder):
        yield from files_in(folder, (".py",), most=MOST_FILES)
    entries = read(Path(command.requirements)).entries if command.requirements else ()
    for entry in entries:
        path = local_path(entry)
        if entry.startswith(EDITABLE) and path is not None:
            yield from files_in(path, (".py",), most=MOST_FILES)


def _named(digests: Mapping[str, str]) -> dict[str, str]:
    """Return *digests* by the paths of files, which are relative to the repository for its own."""
    return {path.removeprefix(f"{REPOSITORY}/"): digest for path, digest in digests.items()}


def _interpreter(interpreter: Interpreter) -> Json:
    try:
        state = os.stat(interpreter.executable)
        digest = short_digest((state.st_size, state.st_mtime_ns))
    except OSError:
        digest = ""
    return {**interpreter.identity, "digest": digest}
