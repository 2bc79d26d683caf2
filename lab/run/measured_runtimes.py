"""Runtimes that services and clients run under: the command line, environment variables and
settings with which a child starts.

AnyRuntime is one of three classes without a common base class: Runtime (an interpreter), Native
(programs of machine code) and UserServiceRuntime (a user's command). Callers use `name`, `version`,
`variables`, `command`, `child_config` and `facts` of all three alike. lab/hosts/place.py derives
HostRuntime from Runtime for other hosts. runtime_of() chooses the runtime for a role of a system:
service or client. present() and usable() make the runtimes of the interpreters that were found.
lab/hosts/worker.py imports this module on other hosts: standard library and gilscope only.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from core.messages import Json, message
from core.method import ORCHESTRATOR, SAME, Method
from core.runtime import NATIVE, Flags, RuntimeFacts, RuntimeName, facts
from core.system import CLIENT, SERVICE, System
from core.user_service import OF_SYSTEM, Command, UserService
from lab import native_builds
from lab.environments.environment import (
    EnvironmentFailed,
    Note,
    Recipe,
    environment,
    installed_packages,
    requirements_file,
)
from lab.places import REPOSITORY
from lab.python.interpreters import Interpreter

# arguments of Python for the child that starts a user's command; -s leaves out user site-packages
USER_SERVICE_CHILD = ("-s", "-m", "lab.user_service.service_child")
NATIVE_NAME = RuntimeName(NATIVE)
ROLES = {SERVICE: message("service"), CLIENT: message("client")}  # in errors


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """A Python runtime that is installed.

    pythons: {requirements file and wheels: interpreter of the environment, or why it cannot be
        made}: what python() has made so far, although the object is frozen
    note: prints what is being installed
    """

    name: RuntimeName
    interpreter: Interpreter
    note: Note | None = field(default=None, repr=False, compare=False)
    pythons: dict[str, Path | EnvironmentFailed] = field(default_factory=dict, repr=False)

    def command(self, system: System, role: str) -> list[str]:
        """Return a child's command line. Make the environment of the system's packages first, if it
        does not exist. Raises EnvironmentFailed if the packages cannot be installed.
        """
        return child_words(str(self.python(system.requirements, system.wheels)), role)

    @property
    def version(self) -> str:
        """Return the Python version that children under this runtime must report."""
        return str(self.interpreter.facts["version"])

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables of children."""
        return self.name.variables

    def python(self, requirements: str, wheels: tuple[str, ...] = ()) -> Path:
        """Return the interpreter of an environment with *requirements* and *wheels*. The first call
        makes the environment, which may take minutes. Raises EnvironmentFailed, at later calls too.

        requirements: a file of the repository, a user's file by its absolute path, or ""
        """
        if not requirements and not wheels:
            return self.interpreter.executable
        packages = " ".join(filter(None, (requirements, *wheels)))
        if packages not in self.pythons:
            file = REPOSITORY / requirements if requirements else None
            hashed = not Path(
                requirements
            ).is_absolute()  # only the repository's own files have hashes
            try:
                built = tuple(native_builds.wheel(name, self.interpreter) for name in wheels)
                recipe = Recipe(
                    interpreter=self.interpreter,
                    requirements_file=file,
                    wheels=built,
                    hashed=hashed,
                )
                self.pythons[packages] = environment(recipe, self.note)
            except EnvironmentFailed as failed:
                self.pythons[packages] = failed
        python = self.pythons[packages]
        if isinstance(python, EnvironmentFailed):
            raise python
        return python

    def child_config(self, system: System) -> dict[str, Any]:
        """Return the settings that a child of *system* gets at its start, besides the cell's
        parameters.
        """
        return dict(system.child_config)

    def service_config(self, own: Json) -> Json:
        """Return the settings of a user's service that depend on its runtime: the interpreter and
        the runtime's label.

        own: the key `own` of System.child_config: the fields of the user's service
        Raises EnvironmentFailed if the packages cannot be installed.
        """
        file = requirements_file(
            own["requirements"], own["packages"], overrides=own.get("overrides", ())
        )
        return {"python": str(self.python(file)), "expected_python": self.interpreter.label}

    def facts(self) -> RuntimeFacts:
        """Return the runtime's facts for result.json."""
        packages = {
            name: self.installed(path)
            for name, path in self.pythons.items()
            if isinstance(path, Path)
        }
        facts = self.interpreter.facts
        known = {
            **facts,
            **self.name.promises,
            "executable": str(self.interpreter.executable),
            "source": self.interpreter.source,
            "packages": packages,
            "flags": Flags(**facts.get("flags", {})),
        }
        return RuntimeFacts(**known)

    def installed(self, python: Path) -> Mapping[str, str]:
        """Return the packages in the environment of the interpreter *python*, with
        their versions.
        """
        return installed_packages(python)


@dataclass(frozen=True, kw_only=True)
class Native:
    """The runtime `native`: programs of machine code, which report their own name and version."""

    name: RuntimeName = NATIVE_NAME
    version: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def command(self, system: System, role: str) -> list[str]:
        """Return a child's command line. Raises EnvironmentFailed if there is no such program."""
        program = system.program(role)
        if program is None:
            raise EnvironmentFailed(
                "the system {system} has no native program that can act as its {role}",
                system=system.name,
                role=ROLES[role],
            )
        return native_builds.command(program)

    def child_config(self, system: System) -> Json:
        """Return the settings that a child of *system* gets at its start, besides the cell's
        parameters.
        """
        return dict(system.child_config)

    def facts(self) -> RuntimeFacts:
        """Return the runtime's facts for result.json."""
        return RuntimeFacts(executable="native/bin", implementation=NATIVE, build="release")


@dataclass(frozen=True, kw_only=True)
class UserServiceRuntime:
    """The runtime of a service that a command line starts, or of a service that already runs.

    A child process under the orchestrator's Python starts the command.
    runtime: the runtime of the command; None for a service that already runs
    version, variables: empty, because the version of the child's own Python does not matter
    """

    runtime: Runtime | None
    version: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> RuntimeName:
        """Return the name of the runtime that is measured."""
        return self.runtime.name if self.runtime else NATIVE_NAME

    def command(self, system: System, role: str) -> list[str]:
        """Return the child's command line. Make the environments first, if they do not exist.

        Raises EnvironmentFailed if packages cannot be installed.
        """
        self.python(system)
        return [str(orchestrator().python(system.requirements)), *USER_SERVICE_CHILD]

    def child_config(self, system: System) -> Json:
        """Return the settings that the service's child gets at its start: the command and its
        runtime.
        """
        folder = str(Path(system.file).parent) if system.file else ""
        server = UserService(
            name=system.name, start=Command(command=system.command, directory=folder)
        )
        own = system.child_config.get("own") or {**server.to_json(), OF_SYSTEM: True}
        config = {**own, "variables": self.name.variables, **self._service_config(system)}
        return {**system.child_config, "own": config}

    def facts(self) -> RuntimeFacts:
        """Return the runtime's facts for result.json."""
        return (self.runtime or Native()).facts()

    def python(self, system: System) -> str:
        """Return the interpreter with the user's packages; "" if the service already runs. Raises
        EnvironmentFailed.
        """
        return str(self._service_config(system).get("python", ""))

    def _service_config(self, system: System) -> Json:
        if self.runtime is None:
            return {}
        if not system.command:
            return self.runtime.service_config(system.child_config["own"])
        python, *_ = self.runtime.command(system, SERVICE)
        return {"python": python, "expected_python": self.runtime.interpreter.label}


AnyRuntime = Runtime | Native | UserServiceRuntime
Runtimes = Mapping[str, AnyRuntime]


def child_words(python: str, role: str) -> list[str]:
    """Return the command line of a service or client (*role*) under the interpreter *python*."""
    return [python, "-s", "-m", "systems", role]


@cache
def orchestrator() -> Runtime:
    """Return the runtime that is this process's own Python.

    The clients of a user's service run under it, whichever runtime the service has, unless the run
    names another.
    """
    interpreter = Interpreter(executable=Path(sys.executable), source="orchestrator", facts=facts())
    return Runtime(name=interpreter.name, interpreter=interpreter)


def runtime_of(
    role: str, system: System, runtimes: Runtimes, name: str, method: Method
) -> AnyRuntime:
    """Return the runtime of the service or the client (*role*) of *system* in a measurement of the
    runtime *name*.

    A role without Python code is played by a native program.
    name: the runtime that is compared. Clients may have another (method.client_runtime)
    """
    client_runtime = method.client_runtime
    if system.hosted and role == SERVICE:
        runtime = None if name == NATIVE else runtimes[name]
        assert not isinstance(runtime, Native | UserServiceRuntime), (
            "an interpreter goes by another name"
        )
        return UserServiceRuntime(runtime=runtime)
    if client_runtime == ORCHESTRATOR or (
        system.hosted and client_runtime == SAME and name == NATIVE
    ):
        return orchestrator()
    name = client_runtime if role == CLIENT and client_runtime != SAME else name
    return runtimes[name] if name != NATIVE and system.has_python(role) else Native()


def present(
    names: Iterable[str], interpreters: Mapping[str, Interpreter], note: Note | None = None
) -> dict[str, Runtime]:
    """Return the runtimes of *names* whose interpreter was found, in the order of *names*."""
    return {
        name: Runtime(name=name, interpreter=interpreters[name.binary], note=note)
        for name in map(RuntimeName, names)
        if name.binary in interpreters
    }


def usable(
    names: Sequence[RuntimeName], interpreters: Mapping[str, Interpreter], note: Note | None = None
) -> dict[str, AnyRuntime]:
    """Return the runtimes of *names* whose interpreter was found, and `native` if it is among
    *names*.
    """
    known: dict[str, AnyRuntime] = {NATIVE: Native(), **present(names, interpreters, note)}
    return {name: known[name] for name in names if name in known}
