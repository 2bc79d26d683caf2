"""A host as a place of children, a runtime that is on hosts, and what looks into services there."""

import zlib
from base64 import b64decode
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
from lab.digests import short
from lab.environments.environment import EnvironmentFailed
from lab.hosts.archive import OWN, user_files, with_bodies
from lab.hosts.clock import ClockOffset
from lab.hosts.connection import HostConnection, RemoteProcess
from lab.hosts.protocol import BEAT_S
from lab.profile.watchers import FACTS
from lab.run.instrumentation import MOST_BYTES, Instrumentation
from lab.run.runtimes import USER_SERVICE_CHILD, AnyRuntime, Runtime, UserServiceRuntime

WATCHED_S = 300.0  # for perf, which reads its recording
COMMAND_S = 900.0  # an environment may have to be made


class HostPlace(HostConnection):
    """A connected host as a place of children (lab.run.process.Place).

    before, after: its clock before and after a cell's windows
    """

    def __init__(self, host: Host, process_group: int) -> None:
        """Raises LinkLost with the reason."""
        super().__init__(host, process_group)
        self.name = host.name
        self.runtimes: Mapping[str, Mapping[str, Any]] = {}
        self.before: ClockOffset | None = None
        self.after: ClockOffset | None = None
        self._commands: dict[tuple[str, str, str], list[str]] = {}
        self._files: dict[tuple[str, ...], tuple[str, list[str]]] = {}

    @property
    def own_cpus(self) -> Sequence[int]:
        """Those that its children may run on."""
        return self.host.cpus or self.usable_cpus

    def cpus(self, numbers: Sequence[int]) -> list[int]:
        """Of the CPUs of its children, those with these *numbers*, from 0; all without any. Raises BadInput."""
        if numbers and max(numbers) >= len(self.own_cpus):
            raise BadInput(
                "pin names CPU {number}, but host {host} has {count} for its children, which are counted from 0.",
                number=max(numbers),
                host=self.name,
                count=len(self.own_cpus),
            )
        return [self.own_cpus[number] for number in numbers] or [*self.host.cpus]

    def command(self, runtime: AnyRuntime, system: System, role: str) -> list[str]:
        """The command line of a child there; makes its environment. Raises ChildFailed."""
        if isinstance(runtime, UserServiceRuntime):
            return [self.python, *USER_SERVICE_CHILD]
        key = (str(runtime.name), "" if system.hosted else system.key, role)
        if key not in self._commands:
            name, system_key, _ = key
            words = self.call("command", COMMAND_S, runtime=name, system=system_key, role=role)
            self._commands[key] = [str(word) for word in words]
        return self._commands[key]

    def service_config(self, runtime: str, own: Mapping[str, Any]) -> dict[str, str]:
        """Where a user's service is started there, and its interpreter; brings what it needs. Raises ChildFailed."""
        key = (own["directory"], own["requirements"], *own["packages"])
        if key not in self._files:
            content, requirements = user_files(own)
            self._files[key] = self.call("files", COMMAND_S, content, name=short(own["directory"])), requirements
        folder, requirements = self._files[key]
        try:
            python = self.call("own", COMMAND_S, runtime=runtime, requirements=requirements, folder=folder)
        except ChildFailed as failed:
            if self.lost:
                raise
            raise ChildFailed(
                "{reason} Where the host reaches no package index, put wheels into the folder (docs/hosts.md).",
                reason=failed.message,
            ) from None
        return {"directory": f"{folder}/{OWN}", "python": python}

    def builds(self) -> dict[str, dict[str, Any]]:
        """Facts of each runtime there, with the packages of the environments that were made. Raises ChildFailed."""
        pythons: dict[str, set[str]] = {}
        for (name, _, _), words in self._commands.items():
            pythons.setdefault(name, set()).add(words[0])
        return {
            name: {
                **told["facts"],
                "packages": {
                    path: self.call("packages", python=path)
                    for path in sorted(pythons.get(name, set()) - {told["executable"]})
                },
            }
            for name, told in self.runtimes.items()
        }

    def version(self, runtime: AnyRuntime) -> str:
        """What children must say they run under; "" where nothing is promised."""
        there = None if isinstance(runtime, UserServiceRuntime) else self.runtimes.get(str(runtime.name))
        return str(there["facts"]["version"]) if there else ""

    def ran_ns(self, pid: int) -> Mapping[int, int]:
        """Return the CPU time in ns of each thread of a child and its descendants, by thread id. Raises ChildFailed."""
        return {int(thread): ran_ns for thread, ran_ns in self.call("ran", pid=pid).items()}

    def release(self, at_ns: int, hold_ns: int, children: Sequence[RemoteProcess], part: Slice | None = None) -> None:
        """Release *children* at a time of our clock; nothing is said or heard until their window is over.

        part: how long they send; None for all that they have to send
        """
        before = self.before = self.before or self.offset()
        numbers = [child.number for child in children]
        self.silent_until_s = (at_ns + hold_ns) / 1e9 + BEAT_S
        there_ns = before.there(at_ns)
        words = f"go {there_ns}" if part is None else str(replace(part, at_ns=there_ns))
        self.tell("release", at_ns=there_ns, hold_ns=hold_ns, words=words, children=numbers)


@dataclass(frozen=True, kw_only=True)
class HostRuntime(Runtime):
    """A runtime that is on the hosts. interpreter: that of the services' host; places_of: the hosts of a role"""

    places_of: Callable[[str], Sequence[HostPlace]] = field(repr=False, compare=False)

    def command(self, system: System, role: str) -> list[str]:
        """As on the first host of that role. Raises EnvironmentFailed, which names the host."""
        try:
            commands = [place.command(self, system, role) for place in self.places_of(role)]
        except ChildFailed as failed:
            raise EnvironmentFailed(failed.message) from None
        if system.requirements or system.wheels:
            self.pythons[" ".join(filter(None, (system.requirements, *system.wheels)))] = Path(commands[0][0])
        return commands[0]

    def service_config(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """As on the services' host, which is brought what it needs. Raises EnvironmentFailed, which names it."""
        try:
            there = self.places_of(SERVICE)[0].service_config(str(self.name), own)
        except ChildFailed as failed:
            raise EnvironmentFailed(failed.message) from None
        if own["requirements"] or own["packages"]:
            self.pythons[" ".join((own["requirements"], *own["packages"]))] = Path(there["python"])
        return {"expected_python": self.interpreter.label, **there, **with_bodies(own)}

    def child_config(self, system: System) -> dict[str, Any]:
        """With what the files hold that clients send: they are not on their hosts."""
        own = system.told.get("own")
        return {"own": {**own, **with_bodies(own)}} if own else super().child_config(system)

    def to_json(self) -> dict[str, Any]:
        """With the packages as they are on the services' host."""
        place = self.places_of(SERVICE)[0]
        paths = {name: str(path) for name, path in self.pythons.items() if isinstance(path, Path)}
        known = Runtime(name=self.name, interpreter=self.interpreter).to_json()
        return known | {"packages": {name: place.call("packages", python=path) for name, path in paths.items()}}


class RemoteInstrumentation(Instrumentation):
    """A folder on the services' host. ask: call() of the connection there; where that is lost, nothing is known."""

    def __init__(self, ask: Callable[..., Any], parts: Mapping[str, Mapping[str, Any]]) -> None:
        self._ask, self._parts = ask, parts
        self.folder, self.root = None, Path()

    @property
    def variables(self) -> dict[str, str]:
        """The folder is made when these are first asked for: the host is connected then. Raises ChildFailed."""
        if self._parts and not self.folder:
            told = self._ask("inside", parts={name: dict(options) for name, options in self._parts.items()})
            self.folder, self.root = Path(told["folder"]), Path(told["root"])
        return super().variables

    def files(self, part: str, most_bytes: int = MOST_BYTES) -> dict[str, bytes]:
        """As the agent reads them."""
        with suppress(ChildFailed, ValueError, zlib.error):
            folder = str(self.folder or "")
            packed = self._ask("inside_files", folder=folder, part=part, most_bytes=most_bytes) if folder else {}
            return {name: zlib.decompressobj().decompress(b64decode(text), most_bytes) for name, text in packed.items()}
        return {}

    def remove(self) -> None:
        """Have the agent remove the folder."""
        if self.folder:
            with suppress(ChildFailed):
                self._ask("inside_end", folder=str(self.folder))


class RemoteWatcher:
    """A watcher of that kind on the services' host. ask: call() of the connection there."""

    def __init__(self, ask: Callable[..., Any], kind: str, told: Mapping[str, Any]) -> None:
        """Raises ChildFailed."""
        self._ask, self._kind = ask, kind
        self.facts: Any = None
        ask("watcher", WATCHED_S, kind=kind, told=dict(told))

    def listening(self, pid: int) -> None:
        """A service listens, and no client knows of it."""
        self._ask("listening", pid=pid)

    @contextmanager
    def watch(self, pid: int) -> Iterator[None]:
        """While clients call."""
        self._ask("watch", pid=pid)
        try:
            yield
        except BaseException:
            with suppress(ChildFailed):
                self._ask("watched", WATCHED_S)
            raise
        facts = self._ask("watched", WATCHED_S)
        try:
            self.facts = msgspec.convert(facts, FACTS[self._kind])
        except msgspec.ValidationError as error:
            raise ChildFailed(message("The services' host answered {error}", error=str(error)[:200])) from None
