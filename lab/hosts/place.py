"""What runs on a connected host: services and clients, and their runtimes.

lab/hosts/cluster.py makes one HostPlace per host. It does what Place (lab/run/children.py) does for
this machine. HostRuntime takes the place of Runtime (lab/run/measured_runtimes.py) in a run across
hosts. The functions that are called on the host are in lab/hosts/host_tasks.py.
A command that needs packages makes their environment on the host first, which may take minutes.
Environments and copied files are remembered here until the host is lost.
"""

import platform
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from core.errors import BadInput, ChildFailed
from core.layout import Host
from core.messages import Message, message
from core.processtree import threads_ran_ns
from core.runtime import NATIVE, RuntimeFacts
from core.system import SERVICE, System
from core.system_file import PATH_KEY, file_of
from lab.digests import short_digest
from lab.environments.environment import EnvironmentFailed
from lab.folders import Sandbox
from lab.hosts import host_tasks as tasks
from lab.hosts.connection import HostConnection
from lab.machine.link import own_address
from lab.python import interpreters
from lab.run.measured_runtimes import (
    USER_SERVICE_CHILD,
    AnyRuntime,
    Native,
    Runtime,
    UserServiceRuntime,
    child_words,
)
from lab.user_service.service_files import OWN, user_files, with_bodies
from record import child_lines as record

COMMAND_S = 900.0  # long enough to make an environment
# CPU time in ns by thread id, which is a text because it is a key of JSON
RanNs = dict[Annotated[str, Meta(pattern="^[0-9]{1,10}$")], record.Count]


class HostPlace(HostConnection):
    """A connected host on which services and clients run.

    runtimes: the facts of the runtimes that were found on the host
        (record.cell_parts.RuntimeFacts), by name
    """

    def __init__(self, host: Host, sandbox: Sandbox) -> None:
        """Connect to the agent on *host*. Raises ChildFailed with the reason."""
        super().__init__(host, sandbox)
        self.folder, self.pids = self.booted["folder"], [self.booted["pid"]]
        try:
            self.before = self.clock = self.offset()
            address = host.address or self.call(str, own_address)
            if not address:
                raise ChildFailed(
                    "Host {host} has no default route, so its address is unknown. Add the key "
                    "`address` to the description of this host.",
                    host=self.name,
                )
        except ChildFailed:
            self.close()
            raise
        self.host = replace(host, address=address)
        self.runtimes: Mapping[str, Mapping[str, Any]] = {}
        # interpreters of environments on the host, by runtime and requirements
        self._pythons: dict[tuple[str, str], str] = {}
        # what copied() returned, by the name of the copy
        self._files: dict[str, tuple[str, str]] = {}

    def find(self, names: Sequence[str]) -> None:
        """Look for the runtimes *names* on the host. Raises ChildFailed."""
        found = self.call(dict[str, RuntimeFacts], tasks.find_runtimes, names, self.host.python)
        self.runtimes = msgspec.to_builtins(found)

    def has(self, name: str) -> bool:
        """Return whether the host has a runtime: an interpreter, or native programs of this
        machine's kind.
        """
        return self.machine == platform.machine() if name == NATIVE else name in self.runtimes

    def install(self, names: Sequence[str]) -> list[Message]:
        """Install the runtimes of *names* that are missing with uv. Return why, if it fails."""
        missing = [name for name in names if not self.has(name)]
        failures = self.call(list[Message], interpreters.install, missing, deadline_s=COMMAND_S)
        return [self.naming(failure) for failure in failures]

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
                "The option --pin names CPU {number}, but host {host} has only {count} CPUs "
                "for services and clients, counted from 0. Use lower numbers with --pin.",
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
            requirements = self.copied(_files_of(system))[1] or requirements
        return child_words(self.python(str(runtime.name), requirements), role)

    def python(self, runtime: str, requirements: str) -> str:
        """Return the interpreter of an environment on the host, which is made if needed. Raises
        ChildFailed.

        requirements: a file of the repository, a file on the host by its absolute path, or ""
        """
        recipe = runtime, requirements
        if recipe not in self._pythons:
            self._pythons[recipe] = self.call(
                str,
                tasks.environment_python,
                runtime,
                self.runtimes[runtime],
                requirements,
                deadline_s=COMMAND_S,
            )
        return self._pythons[recipe]

    def copied(self, own: Mapping[str, Any]) -> tuple[str, str]:
        """Copy a user's files to the host. Return their folder, and the path of a file of their
        requirements, there.

        Raises ChildFailed.
        """
        name = _copy_name(own)
        if name not in self._files:
            content, lines = user_files(own)
            files = b64encode(content).decode()
            self._files[name] = self.call(
                tuple[str, str], tasks.unpack, name, files, lines, deadline_s=COMMAND_S
            )
        return self._files[name]

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children of *runtime* must report; "" if any version is
        accepted.
        """
        return str(self.runtimes[runtime.name]["version"]) if runtime.version else ""

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants. Raises ChildFailed."""
        ran_ns = self.call(RanNs, threads_ran_ns, pid)
        return {int(thread): thread_ran_ns for thread, thread_ran_ns in ran_ns.items()}


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
        # all hosts have an environment now; that of the first one is reported (Runtime.facts)
        if system.requirements:
            self.pythons[system.requirements] = Path(commands[0][0])
        return commands[0]

    def service_config(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a user's service, with paths on the services' host. Raises
        EnvironmentFailed.

        This copies the service's files to that host. The error names the host.
        """
        (place,) = self.places_of(SERVICE)
        try:
            folder, requirements = place.copied(own)
            python = place.python(str(self.name), requirements)
        except ChildFailed as failed:
            raise EnvironmentFailed(
                place.lost
                or message(
                    "{reason} If the host cannot reach a package index, put wheels into the "
                    "service's folder (see docs/hosts.md).",
                    reason=failed.message,
                )
            ) from None
        if requirements:
            self.pythons[" ".join((own["requirements"], *own["packages"]))] = Path(python)
        return {
            "expected_python": self.interpreter.label,
            "directory": f"{folder}/{OWN}",
            "python": python,
            **with_bodies(own),
        }

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
                # children start in the agent's folder, into which tasks.unpack() puts the files
                f"files/{_copy_name(_files_of(system))}/{OWN}/{Path(file).name}"
            )
        return config

    def installed(self, python: Path) -> dict[str, str]:
        """Return the packages in an environment on the services' host. Raises ChildFailed."""
        (place,) = self.places_of(SERVICE)
        packages: dict[str, str] = place.call(dict[str, str], tasks.packages, str(python))
        return packages


def _files_of(system: System) -> dict[str, Any]:
    """Return what is copied to a host for a system in a user's file: its folder, and its
    requirements.
    """
    own = system.requirements if Path(system.requirements).is_absolute() else ""
    return {"directory": str(Path(file_of(system)).parent), "requirements": own, "packages": ()}


def _copy_name(own: Mapping[str, Any]) -> str:
    return short_digest((own["directory"], own["requirements"], *own["packages"]))
