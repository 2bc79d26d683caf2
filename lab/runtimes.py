"""Runtimes as the orchestrator starts them: an interpreter, a GIL mode, and an environment where a system needs one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.method import SAME, Method
from core.runtime import NATIVE, RuntimeName
from core.system import CLIENT, System
from lab import natives
from lab.environments import EnvironmentFailed, environment, installed_packages
from lab.interpreters import Interpreter
from lab.wheels import wheel

REPOSITORY = Path(__file__).resolve().parent.parent
ENVIRONMENTS = REPOSITORY / ".runtimes"


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """A runtime that is present.

    pythons caches what each requirements file and its wheels led to: an interpreter, or why not.
    """

    name: RuntimeName
    interpreter: Interpreter
    pythons: dict[str, Path | EnvironmentFailed] = field(default_factory=dict, repr=False)

    def command(self, system: System, role: str) -> list[str]:
        """The command line of a child. Raises EnvironmentFailed where the system's packages cannot be had."""
        return [str(self.python(system.requirements, system.wheels)), "-s", *self.name.options, "-m", "systems", role]

    @property
    def version(self) -> str:
        """What its children must say they run under."""
        return str(self.interpreter.facts["version"])

    def python(self, requirements: str, wheels: tuple[str, ...] = ()) -> Path:
        """The interpreter, in an environment with *requirements* (a file of the repository, or "") and *wheels*.

        Raises EnvironmentFailed.
        """
        packages = " ".join(filter(None, (requirements, *wheels)))
        if packages not in self.pythons:
            self.pythons[packages] = self._find_python(requirements, wheels)
        found = self.pythons[packages]
        if isinstance(found, EnvironmentFailed):
            raise found
        return found

    def _find_python(self, requirements: str, wheels: tuple[str, ...]) -> "Path | EnvironmentFailed":
        if not requirements and not wheels:
            return self.interpreter.executable
        file = REPOSITORY / requirements if requirements else None
        try:
            built = [wheel(name, self.interpreter) for name in wheels]
            return environment(self.interpreter, file, ENVIRONMENTS, built)
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


@dataclass(frozen=True, kw_only=True)
class Native:
    """The runtime `native`: programs of machine code, which say of themselves what they are."""

    name: RuntimeName = RuntimeName.parse(NATIVE)  # noqa: RUF009 - frozen
    version: str = ""

    def command(self, system: System, role: str) -> list[str]:
        """The command line of a child. Raises ProgramMissing where there is no such program."""
        program = system.program(role)
        if program is None:
            raise natives.ProgramMissing(f"{system.name} has no native {role}")
        return natives.command(program)

    def to_json(self) -> dict[str, Any]:
        """What result.json keeps of it."""
        return {
            "executable": str(natives.BIN.relative_to(REPOSITORY)),
            "implementation": NATIVE,
            "version": "",
            "build": "release",
            "compiler": "",
            "gil_disabled_build": False,
            "gil_enabled": False,
            "flags": {},
            "packages": {},
        }


AnyRuntime = Runtime | Native


def runtime_of(role: str, system: System, runtimes: Mapping[str, AnyRuntime], name: str, method: Method) -> AnyRuntime:
    """What the *role* of *system* runs under where the cell's runtime is *name*.

    A program takes the part where there is no Python code for it.
    """
    asked = method.client_runtime
    name = asked if role == CLIENT and asked != SAME else name
    return runtimes[name] if name != NATIVE and system.has_python(role) else Native()


def present(names: tuple[str, ...], interpreters: Mapping[str, Interpreter]) -> dict[str, Runtime]:
    """The runtimes of *names* whose interpreter was found, in that order."""
    parsed = {name: RuntimeName.parse(name) for name in names}
    return {
        name: Runtime(name=one, interpreter=interpreters[one.interpreter])
        for name, one in parsed.items()
        if one.interpreter in interpreters
    }


def usable(names: tuple[str, ...], interpreters: Mapping[str, Interpreter]) -> dict[str, AnyRuntime]:
    """The same, and `native` where it is among *names*."""
    found = present(names, interpreters)
    return {name: Native() if name == NATIVE else found[name] for name in names if name == NATIVE or name in found}
