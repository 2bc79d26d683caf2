"""A user's service as a run's plan keeps it: a command that starts it, an application on a server, or its address."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from core.request_plan import RequestPlan
from core.secret import Text, for_file, from_file

START_DEADLINE_S = 30.0
HTTP, FRAMED = "http", "framed"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line that starts the service.

    command: with {python}, {host}, {port}, {socket}, {workers}, {threads}, which are filled in
    directory: where it is started. environment: variables that are added to its environment
    requirements: a file, or ""
    first_port: of the first service, the others have the next ones; 0 for free ports
    start_deadline_s: how long the command may take until it answers
    """

    command: Text
    directory: str = ""
    environment: Mapping[str, Text] = field(default_factory=dict)
    requirements: str = ""
    packages: tuple[str, ...] = ()
    first_port: int = 0
    start_deadline_s: float = START_DEADLINE_S

    already_runs: ClassVar[bool] = False

    @property
    def forks(self) -> bool:
        """Whether one command starts all processes of the service: it takes their number."""
        return "{workers}" in str(self.command)

    @property
    def threaded(self) -> bool:
        """Whether it takes the number of threads."""
        return "{threads}" in str(self.command)


@dataclass(frozen=True, kw_only=True)
class App(Command):
    """An application (module:name) on a server that gilscope knows; command and packages are the server's."""

    app: str
    server: str
    interface: str


@dataclass(frozen=True, kw_only=True)
class Target:
    """A service that already runs. address: host:port, or a Unix path. prefix: of the path of every request."""

    name: str
    url: Text
    protocol: str = HTTP
    address: Text = ""
    prefix: Text = ""

    already_runs: ClassVar[bool] = True


Start = Command | App | tuple[Target, ...]


@dataclass(frozen=True, kw_only=True)
class UserService:
    """name: what reports call it. start: how it is started, or where it runs already.

    requests: what clients send, and the answers they expect
    """

    name: str
    start: Start
    protocol: str = HTTP
    requests: RequestPlan = RequestPlan()  # noqa: RUF009 - frozen

    @property
    def targets(self) -> tuple[Target, ...]:
        """The services that already run; empty where gilscope starts it."""
        return self.start if isinstance(self.start, tuple) else ()

    @property
    def command(self) -> Command | None:
        """How gilscope starts it; None where it runs already."""
        return None if isinstance(self.start, tuple) else self.start

    def to_json(self) -> dict[str, Any]:
        """Return what result.json keeps: the keys of its start beside its own, without secrets."""
        start = {"targets": [*map(asdict, self.start)]} if isinstance(self.start, tuple) else asdict(self.start)
        own = {"name": self.name, "protocol": self.protocol, "requests": self.requests.to_json(), **start}
        stored: dict[str, Any] = for_file(own)
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "UserService":
        """Return the service that to_json wrote."""
        known = from_file(stored)
        own = {"name": known.pop("name"), "protocol": known.pop("protocol", HTTP)}
        requests = RequestPlan.from_json(known.pop("requests"))
        start: Start
        if "targets" in known:
            start = tuple(Target(**target) for target in known["targets"])
        else:
            start = (App if "app" in known else Command)(**{**known, "packages": tuple(known.get("packages", ()))})
        return cls(**own, requests=requests, start=start)
