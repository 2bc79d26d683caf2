"""A user's own service as a run's plan keeps it, and the systems that it is to everything else."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from core.cell import PARAMETERS, Value
from core.errors import BadInput
from core.request_plan import RequestPlan
from core.system import SIZES, System
from systems import register

GROUP = "own"
PLACES = ("python", "host", "port", "socket", "workers", "threads")
SPREAD = ("NUM_API_SERVICES", "NUM_CLIENTS", "NUM_CONNECTIONS_PER_CLIENT")
WORKERS, THREADS = "NUM_API_SERVICES", "NUM_WORKERS_PER_API_SERVICE"
LONGEST_TITLE = 60
LAST_PORT = 65535
START_DEADLINE_S = 30.0
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A service that already runs. address: host:port, or a Unix path. prefix: of the path of every request."""

    name: str
    url: str
    protocol: str
    address: str
    prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class Own:
    """A command that starts the service, or targets that already run.

    command: with {python}, {host}, {port}, {socket}, {workers}, {threads}, which are filled in
    directory: where it is started. environment: variables that it gets besides
    requirements: a file, or "". packages: what is installed beside these
    first_port: of the first service, the others have the next ones; 0 for ports that are free
    start_deadline_s: how long the command may take until it answers
    """

    name: str = "own"
    command: str = ""
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    requirements: str = ""
    packages: tuple[str, ...] = ()
    first_port: int = 0
    start_deadline_s: float = START_DEADLINE_S
    targets: tuple[Target, ...] = ()
    protocol: str = "http"
    requests: RequestPlan = RequestPlan()  # noqa: RUF009 - frozen

    def to_json(self) -> dict[str, Any]:
        """As result.json keeps it."""
        return {**asdict(self), "requests": self.requests.to_json()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Own":
        """What to_json wrote."""
        more = {
            "packages": tuple(stored["packages"]),
            "targets": tuple(Target(**one) for one in stored["targets"]),
            "requests": RequestPlan.from_json(stored["requests"]),
        }
        return cls(**{**stored, **more})

    def systems(self) -> list[System]:
        """One for the command, or one for each target."""
        if self.targets:
            return [self._target(one) for one in self.targets]
        asked = {**self.to_json(), "prefix": ""}
        del asked["targets"]
        threads = (THREADS,) if "{threads}" in self.command else ()
        return [_system(self.name, _short(self.command), asked, threads, forks="{workers}" in self.command)]

    def check(self, values: Mapping[str, Sequence[Value]]) -> None:
        """Raises BadInput for *values* of parameters that this service cannot have."""
        services = [value for value in values.get(WORKERS, ()) if isinstance(value, int)]
        last = self.first_port + ("{workers}" not in self.command) * (max(services, default=1) - 1)
        if self.first_port and last > LAST_PORT:
            raise BadInput(
                f"port is {self.first_port} and {WORKERS} is {max(services)}: the last service would have port {last}; "
                f"there is none above {LAST_PORT}. Begin with a lower one."
            )
        rates = [value for value in values.get("RATE", ()) if value]
        if rates and self.requests.think_time_s:
            raise BadInput(
                f"think_time is {self.requests.think_time_s:g} s and RATE is {rates[0]}: a rate fixes when each "
                "request is sent, so there is no time to think. Leave one of them out."
            )

        self._check_connections(values)

    def _check_connections(self, values: Mapping[str, Sequence[Value]]) -> None:
        """Raises BadInput for services that nobody would call: each connection is to one of them."""
        if self.targets or "{workers}" in self.command:
            return
        services, clients, each = (
            [value for value in values.get(name, ()) if isinstance(value, int)] for name in SPREAD
        )
        called = min((one for one in clients if one), default=0) * min(each, default=1)
        if clients and 0 < called < max(services, default=1):
            raise BadInput(
                f"NUM_CLIENTS x NUM_CONNECTIONS_PER_CLIENT is {called} and {WORKERS} is {max(services)}: "
                f"{max(services) - called} services would not be called. Take at least {max(services)} connections."
            )

    def register(self) -> list[str]:
        """Make its systems known to this process; their names."""
        return [register(one).key for one in self.systems()]

    def _target(self, target: Target) -> System:
        return _system(target.name, target.url, {**asdict(target), "requests": self.requests.to_json()}, (), forks=True)


def _system(name: str, title: str, told: Mapping[str, Any], more: tuple[str, ...], *, forks: bool) -> System:
    reads = ("NUM_CONNECTIONS_PER_CLIENT", "RATE", *more)
    return System(name=name, title=title, group=GROUP, common=SIZES, reads=reads, told={"own": dict(told)}, forks=forks)


def _short(command: str) -> str:
    return command if len(command) <= LONGEST_TITLE else command[: LONGEST_TITLE - 3] + "..."


def check_command(command: str, *, has_environment: bool) -> None:
    """Raises BadInput for a command that cannot be started N times, or is the same under every runtime."""
    accepted = ", ".join(f"{{{name}}}" for name in PLACES)
    for name in _PLACE.findall(command):
        if name not in PLACES:
            raise BadInput(f"the command has {{{name}}}, which is not known; accepted are {accepted}.")
    if "{port}" not in command and "{socket}" not in command:
        raise BadInput(
            f"the command {command!r} is not told where to listen; it must have {{port}} or {{socket}}, "
            "such as '{python} -m myapp --port {port}'."
        )
    if "{python}" not in command and not has_environment:
        raise BadInput(
            f"the command {command!r} does not have {{python}}, so that every runtime would be the same; "
            "write {python} where the interpreter goes, or give --requirements."
        )


def shapes(text: str, command: str) -> list[tuple[int, int]]:
    """(processes, threads) from '8x1,4x2,1x8'. Raises BadInput, also where the command is not told the threads."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,4}) *x *([0-9]{1,4})", part.strip())
        if match is None:
            raise BadInput(f"topology is {text}; it must be processes x threads, such as 8x1,4x2,1x8.")
        pair = int(match[1]), int(match[2])
        for name, value in zip((WORKERS, THREADS), pair, strict=True):
            PARAMETERS[name].parse(value)
        found.append(pair)
    if "{threads}" not in command:
        raise BadInput("topology changes the number of threads, and the command does not have {threads}.")
    return list(dict.fromkeys(found))
