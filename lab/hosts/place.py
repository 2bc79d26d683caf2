"""What runs on a connected host: services and clients, and their runtimes."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from core.errors import BadInput, ChildFailed
from core.layout import Host
from core.processtree import threads_ran_ns
from core.system import SERVICE, System
from core.system_file import PATH_KEY, file_of
from lab.digests import short_digest
from lab.environments.environment import EnvironmentFailed, requirements_file
from lab.folders import Sandbox
from lab.hosts import host_tasks as tasks
from lab.hosts.connection import HostConnection
from lab.machine.link import own_address
from lab.run.measured_runtimes import (
    USER_SERVICE_CHILD,
    AnyRuntime,
    Native,
    Runtime,
    UserServiceRuntime,
    child_words,
)
from lab.user_service.service_files import FILES, OWN, user_files, with_bodies
from record import child_lines as record

COMMAND_S = 900.0  # long enough to make an environment
RanNs = dict[Annotated[str, Meta(pattern="^[0-9]{1,10}$")], record.Count]


class HostPlace(HostConnection):
    """A connected host on which services and clients run.

    runtimes: the facts of the runtimes that were found on the host
        (record.cell_parts.RuntimeFacts), by name
    pythons: the interpreters of environments on the host, by runtime and file of requirements
    """

    process_group = None

    def __init__(self, host: Host, sandbox: Sandbox) -> None:
        """Connect to the agent on *host*. Raises HostLost, or ChildFailed, with the reason."""
        super().__init__(host, sandbox)
        self.folder, self.pids = self.booted["folder"], [self.booted["pid"]]
        try:
            self.before = self.clock = self.offset()
            self.host = replace(host, address=host.address or self.call(str, own_address))
        except ChildFailed:
            self.close()
            raise
        self.runtimes: Mapping[str, Mapping[str, Any]] = {}
        self.pythons: dict[str, dict[str, str]] = {}
        self._files: dict[str, tuple[str, str]] = {}

    @property
    def cpus_for_children(self) -> Sequence[int]:
        """Return the CPUs of the host on which children may run."""
        return self.host.cpus or self.booted["cpus"]

    def cpus(self, numbers: Sequence[int]) -> list[int]:
        """Return the CPUs of the host to pin children to. Raises BadInput if there are too few
        CPUs.

        numbers: indexes into the CPUs for children, from 0; if empty, all CPUs that the host's
            entry names
        """
        if numbers and max(numbers) >= len(self.cpus_for_children):
            raise BadInput(
                "The option --pin names CPU {number}, but host {host} has only {count} CPUs for "
                "services and clients, counted from 0.",
                number=max(numbers),
                host=self.name,
                count=len(self.cpus_for_children),
            )
        return [self.cpus_for_children[number] for number in numbers] or [*self.host.cpus]

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """Return the command line of a child on the host, whose environment is made if needed.
        Raises GilscopeError.
        """
        if isinstance(runtime, UserServiceRuntime):
            return [self.booted["python"], *USER_SERVICE_CHILD]
        if isinstance(runtime, Native):
            program, *arguments = runtime.command(system, role)
            return [f"native/bin/{Path(program).name}", *arguments]
        requirements = system.requirements
        if file_of(system):
            requirements = self._copied(_files_of(system))[1] or requirements
        return child_words(self._python(str(runtime.name), requirements), role)

    def _python(self, runtime: str, requirements: str) -> str:
        """Return the interpreter of an environment on the host, which is made if needed. Raises
        ChildFailed.

        requirements: a file of the repository, a file on the host by its absolute path, or ""
        """
        found, made = self.runtimes[runtime], self.pythons.setdefault(runtime, {})
        if requirements not in made:
            python = self.call(
                str, tasks.environment_python, runtime, found, requirements, deadline_s=COMMAND_S
            )
            made[requirements] = python
        return made[requirements]

    def service_config(self, runtime: str, own: Mapping[str, Any]) -> dict[str, str]:
        """Copy a user's service to the host, and return its folder and interpreter on the host.
        Raises ChildFailed.
        """
        try:
            folder, requirements = self._copied(own)
            python = self._python(runtime, requirements)
        except ChildFailed as failed:
            if self.lost:
                raise
            raise ChildFailed(
                "{reason} If the host cannot reach a package index, put wheels into the service's "
                "folder (see docs/hosts.md).",
                reason=failed.message,
            ) from None
        return {"directory": f"{folder}/{OWN}", "python": python}

    def _copied(self, own: Mapping[str, Any]) -> tuple[str, str]:
        """Copy a user's files to the host. Return their folder, and the path of a file of their
        requirements, there.

        Raises ChildFailed.
        """
        name = _copy_name(own)
        if name not in self._files:
            content, requirements = user_files(own)
            folder = self.call(
                str, tasks.unpack, name, b64encode(content).decode(), deadline_s=COMMAND_S
            )
            lines = [line.replace(FILES, folder) for line in requirements]
            self._files[name] = folder, self.call(str, requirements_file, "", lines)
        return self._files[name]

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children of *runtime* must report; "" if any version is
        accepted.
        """
        there = self.runtimes.get(runtime.name, {}) if runtime.version else {}
        return str(there.get("version", ""))

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants. Raises ChildFailed."""
        return {
            int(thread): ran_ns for thread, ran_ns in self.call(RanNs, threads_ran_ns, pid).items()
        }

    def packages(self, python: str) -> dict[str, str]:
        """Return the packages in the environment of an interpreter of the host. Raises
        ChildFailed.
        """
        installed: dict[str, str] = self.call(dict[str, str], tasks.packages, python)
        return installed


@dataclass(frozen=True, kw_only=True)
class HostRuntime(Runtime):
    """A runtime that is installed on the hosts of a run.

    interpreter: the interpreter on the services' host
    places_of: returns the hosts of a role
    """

    places_of: Callable[[str], Sequence[HostPlace]] = field(repr=False, compare=False)

    def command(self, system: System, role: str) -> list[str]:
        """Return a child's command line on the first host for *role*. Raises EnvironmentFailed,
        naming the host.
        """
        try:
            commands = [place.command(self, system, role) for place in self.places_of(role)]
        except ChildFailed as failed:
            raise EnvironmentFailed(failed.message) from None
        if system.requirements:
            self.pythons[system.requirements] = Path(commands[0][0])
        return commands[0]

    def service_config(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a user's service, with paths on the services' host. Raises
        EnvironmentFailed.

        This copies the service's files to that host. The error names the host.
        """
        try:
            there = self.places_of(SERVICE)[0].service_config(str(self.name), own)
        except ChildFailed as failed:
            raise EnvironmentFailed(failed.message) from None
        if own["requirements"] or own["packages"]:
            self.pythons[" ".join((own["requirements"], *own["packages"]))] = Path(there["python"])
        return {"expected_python": self.interpreter.label, **there, **with_bodies(own)}

    def child_config(self, system: System) -> dict[str, Any]:
        """Return the settings of *system* that a child gets when it starts, with the contents of
        request body files.

        Clients get contents instead of paths, because the files are not on their hosts.
        """
        config = super().child_config(system)
        if own := config.get("own"):
            return {"own": {**own, **with_bodies(own)}}
        if file := file_of(system):
            config[PATH_KEY] = (
                # in the agent's folder
                f"files/{_copy_name(_files_of(system))}/{OWN}/{Path(file).name}"
            )
        return config

    def installed(self, python: Path) -> dict[str, str]:
        """Return the packages in an environment on the services' host. Raises ChildFailed."""
        return self.places_of(SERVICE)[0].packages(str(python))


def _files_of(system: System) -> dict[str, Any]:
    """Return what is copied to a host for a system in a user's file: its folder, and its
    requirements.
    """
    own = system.requirements if Path(system.requirements).is_absolute() else ""
    return {"directory": str(Path(file_of(system)).parent), "requirements": own, "packages": ()}


def _copy_name(own: Mapping[str, Any]) -> str:
    return short_digest((own["directory"], own["requirements"], *own["packages"]))
