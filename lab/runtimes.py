"""Runtimes as the orchestrator starts them: an interpreter, a GIL mode, and an environment where a system needs one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.runtime import RuntimeName
from core.system import System
from lab.environments import EnvironmentFailed, environment, installed_packages
from lab.interpreters import Interpreter

REPOSITORY = Path(__file__).resolve().parent.parent
ENVIRONMENTS = REPOSITORY / ".runtimes"


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """A runtime that is present. pythons caches what each requirements file led to: an interpreter, or why not."""

    name: RuntimeName
    interpreter: Interpreter
    pythons: dict[str, Path | EnvironmentFailed] = field(default_factory=dict, repr=False)

    def command(self, system: System, role: str) -> list[str]:
        """The command line of a child. Raises EnvironmentFailed where the system's packages cannot be had."""
        return [str(self.python(system.requirements)), "-s", *self.name.options, "-m", "systems", role]

    def python(self, requirements: str) -> Path:
        """The interpreter, in an environment with *requirements* (a file of the repository, or "")."""
        if requirements not in self.pythons:
            self.pythons[requirements] = self._find_python(requirements)
        found = self.pythons[requirements]
        if isinstance(found, EnvironmentFailed):
            raise found
        return found

    def _find_python(self, requirements: str) -> "Path | EnvironmentFailed":
        if not requirements:
            return self.interpreter.executable
        try:
            return environment(self.interpreter, REPOSITORY / requirements, ENVIRONMENTS)
        except EnvironmentFailed as failed:
            return failed

    def to_json(self) -> dict[str, Any]:
        """What result.json keeps of it."""
        packages = {
            name: installed_packages(path) for name, path in self.pythons.items() if name and isinstance(path, Path)
        }
        return {
            "executable": str(self.interpreter.executable),
            "source": self.interpreter.source,
            **self.interpreter.facts,
            "gil_enabled": self.name.gil_enabled,
            "packages": packages,
        }


def present(names: tuple[str, ...], interpreters: Mapping[str, Interpreter]) -> dict[str, Runtime]:
    """The runtimes of *names* whose interpreter was found, in that order."""
    parsed = {name: RuntimeName.parse(name) for name in names}
    return {
        name: Runtime(name=one, interpreter=interpreters[one.interpreter])
        for name, one in parsed.items()
        if one.interpreter in interpreters
    }
