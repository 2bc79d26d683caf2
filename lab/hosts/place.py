"""What runs on a connected host: services and clients, and their runtimes.

lab/hosts/cluster.py makes one HostPlace per host. It does what Place (lab/run/children.py) does for
this machine. HostRuntime takes the place of Runtime (lab/run/measured_runtimes.py) in a run across
hosts. The functions that are called on the host are in lab/hosts/worker.py.
A command that needs packages makes their environment on the host first, which may take minutes.
Environments and copied files are remembered here until the host is lost.
"""

import platform
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from core.layout import Host
from core.messages import BadInput, ChildFailed, Json, Message, message
from core.processtree import threads_ran_ns
from core.runtime import NATIVE, RuntimeFacts
from core.system import PATH_KEY, SERVICE, System
from lab.digests import short_digest
from lab.environments.environment import EnvironmentFailed
from lab.folders import Sandbox
from lab.hosts import worker
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


class UserFiles(NamedTuple):
    """What of a user is copied to a host: a folder, and requirements with the files they name."""

    directory: str
    requirements: str = ""
    packages: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the copy, which is the same for the same files."""
        return short_digest(self)


class HostPlace(HostConnection):
    """A connected host on which services and clients run.

    runtimes: the facts of the runtimes that were found on the host
        (record.result_parts.RuntimeFacts), by name
    python(runtime, requirements): the interpreter of an environment on the host, which the first
        call makes; requirements: a file of the repository, a file on the host by its absolute path,
        or "". Raises ChildFailed
    copied(files): copies UserFiles with the first call. Returns their folder, and the path of a
        file of their requirements, there. Raises ChildFailed
    """

    # gilscope's helpers stay in the group of the worker that starts them
    process_group = None

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
        self.runtimes: Mapping[str, Json] = {}
        self.python, self.copied = cache(self._make_environment), cache(self._copy)

    def find(self, names: Sequence[str]) -> None:
        """Look for the runtimes *names* on the host. Raises ChildFailed."""
        found = self.call(dict[str, RuntimeFacts], worker.find_runtimes, names, self.host.python)
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
        if system.file:
            requirements = self.copied(files_of(system))[1] or requirements
        return child_words(self.python(str(runtime.name), requirements), role)

    def _make_environment(self, runtime: str, requirements: str) -> str:
        task, found = worker.environment_python, self.runtimes[runtime]
        return str(self.call(str, task, runtime, found, requirements, deadline_s=COMMAND_S))

    def _copy(self, files: UserFiles) -> tuple[str, str]:
        archive, lines = user_files(files._asdict())
        asked = files.name, b64encode(archive).decode(), lines
        folder, file = self.call(tuple[str, str], worker.unpack, *asked, deadline_s=COMMAND_S)
        return folder, file

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

    def service_config(self, own: Json) -> dict[str, Any]:
        """Return the settings of a user's service, with paths on the services' host. Raises
        EnvironmentFailed.

        This copies the service's files to that host. The error names the host.
        """
        (place,) = self.places_of(SERVICE)
        files = UserFiles(own["directory"], own["requirements"], tuple(own["packages"]))
        try:
            folder, requirements = place.copied(files)
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
        if file := system.file:
            config[PATH_KEY] = (
                # children start in the agent's folder, into which worker.unpack() puts the files
                f"files/{files_of(system).name}/{OWN}/{Path(file).name}"
            )
        return config

    def installed(self, python: Path) -> dict[str, str]:
        """Return the packages in an environment on the services' host. Raises ChildFailed."""
        (place,) = self.places_of(SERVICE)
        packages: dict[str, str] = place.call(dict[str, str], worker.packages, str(python))
        return packages


def files_of(system: System) -> UserFiles:
    """Return what is copied to a host for a system in a user's file: its folder, and its
    requirements.
    """
    own = system.requirements if Path(system.requirements).is_absolute() else ""
    return UserFiles(str(Path(system.file).parent), own)
