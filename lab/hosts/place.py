"""Remote hosts as places to run children, the runtimes on these hosts, and profilers of services on them."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from core.child import Slice
from core.errors import BadInput, ChildFailed
from core.hosts import Host
from core.messages import message
from core.system import SERVICE, System
from lab.digests import short_digest
from lab.environments.environment import EnvironmentFailed
from lab.hosts.archive import OWN, user_files, with_bodies
from lab.hosts.connection import ClockOffset, HostConnection, RemoteProcess
from lab.hosts.protocol import BEAT_S
from lab.profile.locks import LockFacts, LockWatcher
from lab.run.children import Place
from lab.run.instrumentation import MOST_BYTES, Instrumentation
from lab.run.runtimes import USER_SERVICE_CHILD, AnyRuntime, Runtime, UserServiceRuntime

WATCHED_S = 300.0
COMMAND_S = 900.0  # long enough to make an environment


class HostPlace(HostConnection, Place):
    """A connected host on which child processes run.

    runtimes: the facts of the runtimes that were found on the host (record.cell_parts.RuntimeFacts), by name
    before: the offset of the host's clock before a cell's windows
    clock: the mean offset of the host's clock during the windows
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Connect to the agent on *host*. Raises HostLost with the reason."""
        super().__init__(host, process_group)
        self.name = host.name
        self.runtimes: Mapping[str, Mapping[str, Any]] = {}
        self.before: ClockOffset | None = None
        self.clock: ClockOffset | None = None
        self._files: dict[tuple[str, ...], tuple[str, list[str]]] = {}

    @property
    def cpus_for_children(self) -> Sequence[int]:
        """Return the CPUs of the host on which children may run."""
        return self.host.cpus or self.usable_cpus

    def cpus(self, numbers: Sequence[int]) -> list[int]:
        """Return the CPUs of the host to pin children to. Raises BadInput if there are too few CPUs.

        numbers: indexes into the CPUs for children, from 0; if empty, all CPUs that the host's entry names
        """
        if numbers and max(numbers) >= len(self.cpus_for_children):
            raise BadInput(
                "The option --pin names CPU {number}, but host {host} has only {count} CPUs for services and clients, "
                "counted from 0.",
                number=max(numbers),
                host=self.name,
                count=len(self.cpus_for_children),
            )
        return [self.cpus_for_children[number] for number in numbers] or [*self.host.cpus]

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """Make a child's virtual environment on the host, and return the child's command line. Raises ChildFailed."""
        if isinstance(runtime, UserServiceRuntime):
            return [self.python, *USER_SERVICE_CHILD]
        key = "" if system.user_service else system.key
        words: list[str] = self.call("command", COMMAND_S, runtime=str(runtime.name), system=key, role=role)
        return words

    def service_config(self, runtime: str, own: Mapping[str, Any]) -> dict[str, str]:
        """Copy a user's service to the host, and return its folder and interpreter on the host. Raises ChildFailed."""
        key = (own["directory"], own["requirements"], *own["packages"])
        if key not in self._files:
            content, requirements = user_files(own)
            name, archive = short_digest(own["directory"]), b64encode(content).decode()
            self._files[key] = self.call("files", COMMAND_S, name=name, archive=archive), requirements
        folder, requirements = self._files[key]
        try:
            python = self.call("own", COMMAND_S, runtime=runtime, requirements=requirements, folder=folder)
        except ChildFailed as failed:
            if self.lost:
                raise
            raise ChildFailed(
                "{reason} If the host cannot reach a package index, put wheels into the service's folder (see "
                "docs/hosts.md).",
                reason=failed.message,
            ) from None
        return {"directory": f"{folder}/{OWN}", "python": python}

    def version(self, runtime: AnyRuntime) -> str:
        """Return the Python version that children of *runtime* must report; "" if any version is accepted."""
        there = self.runtimes.get(runtime.name, {}) if runtime.version else {}
        return str(there.get("version", ""))

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return {thread id: CPU time in ns} of a child and its descendants. Raises ChildFailed."""
        return {int(thread): ran_ns for thread, ran_ns in self.call("ran", pid=pid).items()}

    def release(self, at_ns: int, hold_ns: int, children: Sequence[RemoteProcess], part: Slice | None = None) -> None:
        """Tell the agent to start *children* at local time *at_ns*. It sends nothing until their timed window is over.

        part: the slice in which they send; None to send as the method says
        """
        before = self.before = self.before or self.offset()
        numbers = [child.number for child in children]
        self.silent_until_s = (at_ns + hold_ns) / 1e9 + BEAT_S
        there_ns = before.to_host_clock(at_ns)
        words = f"go {there_ns}" if part is None else str(replace(part, at_ns=there_ns))
        self.tell("release", at_ns=there_ns, hold_ns=hold_ns, words=words, children=numbers)


@dataclass(frozen=True, kw_only=True)
class HostRuntime(Runtime):
    """A runtime that is installed on the hosts of a run.

    interpreter: the interpreter on the services' host
    places_of: returns the hosts of a role
    """

    places_of: Callable[[str], Sequence[HostPlace]] = field(repr=False, compare=False)

    def command(self, system: System, role: str) -> list[str]:
        """Return a child's command line on the first host for *role*. Raises EnvironmentFailed, naming the host."""
        try:
            commands = [place.command(self, system, role) for place in self.places_of(role)]
        except ChildFailed as failed:
            raise EnvironmentFailed(failed.message) from None
        if system.requirements or system.wheels:
            self.pythons[" ".join(filter(None, (system.requirements, *system.wheels)))] = Path(commands[0][0])
        return commands[0]

    def service_config(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a user's service, with paths on the services' host. Raises EnvironmentFailed.

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
        """Return the settings of *system* that a child gets when it starts, with the contents of request body files.

        Clients get contents instead of paths, because the files are not on their hosts.
        """
        own = system.child_config.get("own")
        return {"own": {**own, **with_bodies(own)}} if own else super().child_config(system)

    def installed(self, python: Path) -> dict[str, str]:
        """Return the packages in an environment on the services' host. Raises ChildFailed."""
        packages: dict[str, str] = self.places_of(SERVICE)[0].call("packages", python=str(python))
        return packages


class RemoteInstrumentation(Instrumentation):
    """The instrumentation that runs inside one service on the services' host.

    ask: calls the agent of that host; if the host is lost, all files are unknown
    """

    def __init__(self, ask: Callable[..., Any], parts: Mapping[str, Mapping[str, Any]]) -> None:
        self._ask, self._parts = ask, parts
        self.folder, self.root = None, Path()

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables that make a Python process start the instrumentation. Raises ChildFailed.

        The first call makes the folder, because by then the host is connected.
        """
        if self._parts and not self.folder:
            made = self._ask("inside", parts={name: dict(options) for name, options in self._parts.items()})
            self.folder, self.root = Path(made["folder"]), Path(made["root"])
        return super().variables

    def files(self, part: str, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
        """Return {file name: content} of the files that one part of the instrumentation wrote on the host."""
        with suppress(ChildFailed, ValueError, zlib.error):
            folder = str(self.folder or "")
            packed = self._ask("inside_files", folder=folder, part=part, most_bytes=most_bytes) if folder else {}
            return {name: zlib.decompressobj().decompress(b64decode(text), most_bytes) for name, text in packed.items()}
        return {}

    def remove(self) -> None:
        """Tell the agent to remove the instrumentation's folder."""
        if self.folder:
            with suppress(ChildFailed):
                self._ask("inside_end", folder=str(self.folder))


class RemoteWatcher(LockWatcher):
    """A profiler that watches a service on the services' host.

    ask: calls the agent of that host
    """

    def __init__(self, ask: Callable[..., Any], executable: str) -> None:
        """Create the profiler on the host. Raises ChildFailed."""
        self._ask = ask
        ask("watcher", WATCHED_S, executable=executable)

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """Profile process *pid* during the `with` block, while clients send requests. Raises ChildFailed."""
        self._ask("watch", pid=pid)
        try:
            yield
        except BaseException:
            with suppress(ChildFailed):
                self._ask("watched", WATCHED_S)
            raise
        facts = self._ask("watched", WATCHED_S)
        try:
            self.facts = msgspec.convert(facts, LockFacts)
        except msgspec.ValidationError as error:
            raise ChildFailed(
                message("The host of the services sent a malformed profile: {error}", error=f"{error}"[:200])
            ) from None
