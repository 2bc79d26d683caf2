"""A user's service in a plan: a command that starts it, an application on a server, or the address
where it runs. And the programs that a plan starts beside its services, such as a database.

config/user_service makes a UserService of the flags or the plan. Its to_json() is `plan.own` in
result.json, and children get parts of it as `own`: lab/user_service/service_child.py, which starts
the command, and clients/user_service.py. So the names of the fields are names in files, too.

config/sidecar_options.py makes a Beside of the key `beside` of a plan, and
lab/run/running_sidecars.py starts the program.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import ClassVar

from core.messages import Json
from core.request_plan import RequestPlan
from core.secret import Text, for_file, from_file, map_json, revealed

START_DEADLINE_S = 30.0  # the default of start_deadline_s
# of a service without --name, in result.json and in the name of a run's folder
DEFAULT_NAME = "own"
MOST_TITLES = 2  # requests that UserService.label names
HTTP, HTTP2 = "http", "http2"  # values of `protocol`
HTTPS = "https"  # the scheme of a URL
# key of a child's settings: a system's command, whose clients and requests the system declares
OF_SYSTEM = "of_system"
# names of settings that tell the variants of a service apart: whole ones, or those of --vary server
VARIANT, SERVER = "variant", "server"
PORT, SOCKET = "port", "socket"  # values of Beside.ready, and names of placeholders
HOST = "127.0.0.1"  # where the programs beside the services listen
PLACE = re.compile(r"\{([a-z_]+)\}")  # the placeholders of gilscope
_NAMED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")  # also the settings of a user's service


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace each placeholder in *text* whose name is a key of *values*. Keep all others."""
    return _NAMED.sub(lambda match: values.get(match[1], match[0]), text)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line that starts a user's service.

    command: may contain {python}, {host}, {port}, {socket}, {workers} and {threads}, which are
        replaced by values
    directory: working directory of the command
    environment: variables that are added to the environment
    requirements: path of a requirements file, or ""
    first_port: port of the first service; the others get the following ports. 0 for free ports
    start_deadline_s: the longest time from the command's start to its first answer
    tls: None, or how the certificate of the service is checked: `ca`, a file, and `insecure`
    knobs: names of the settings that replace {NAME} in the command, or else are environment
        variables
    overrides: packages that replace those of the same name in the requirements
    repository, ref: the repository of the directory, and the commit of it that is measured; "" for
        the files as they are
    """

    command: Text
    directory: str = ""
    environment: Mapping[str, Text] = field(default_factory=dict)
    requirements: str = ""
    packages: tuple[str, ...] = ()
    first_port: int = 0
    start_deadline_s: float = START_DEADLINE_S
    tls: Json | None = None
    knobs: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    repository: str = ""
    ref: str = ""

    already_runs: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """Return the words of the command that name the program: 'app.py' of '{python} app.py
        --port {port}'.
        """
        words = [word for word in str(self.command).split() if word not in ("{python}", "-m")]
        return (
            " ".join(takewhile(lambda word: not word.startswith("-") and "{" not in word, words))
            or DEFAULT_NAME
        )

    @property
    def plain(self) -> Json:
        """Return the fields with their secrets, to compare commands. Raises ValueError if a secret
        is not known.
        """
        fields: Json = map_json(vars(self), revealed)
        return fields

    @property
    def forks(self) -> bool:
        """Return whether one command starts all processes of the service, because it contains
        {workers}.
        """
        return "{workers}" in str(self.command)

    @property
    def threaded(self) -> bool:
        """Return whether the command contains {threads}, the number of threads."""
        return "{threads}" in str(self.command)


@dataclass(frozen=True, kw_only=True)
class App(Command):
    """An application, as module:name, on a server that gilscope knows. The server determines
    command and packages.

    has_topology: whether the plan sets both the number of processes and the number of threads
    """

    app: str
    server: str
    interface: str
    has_topology: bool = False

    @property
    def label(self) -> str:
        """Return the name of the application, as it was given."""
        return self.app

    @property
    def threaded(self) -> bool:
        """Return whether the number of threads is a parameter, even if the server runs one event
        loop in a process.
        """
        return self.has_topology or super().threaded


@dataclass(frozen=True, kw_only=True)
class Target:
    """A service that already runs.

    address: host:port, or the path of a Unix socket
    prefix: text before the path of every request
    tls: as of Command
    """

    name: str
    url: Text
    protocol: str = HTTP
    address: Text = ""
    prefix: Text = ""
    tls: Json | None = None

    already_runs: ClassVar[bool] = True
    forks: ClassVar[bool] = True  # nothing is started for each of NUM_API_SERVICES
    threaded: ClassVar[bool] = False


Start = Command | Target


def only_native(protocol: str, plan: RequestPlan) -> str:
    """Return what only the native client can send: the protocol, or a request that needs a session.
    "" if nothing.
    """
    if protocol == HTTP2:
        return f"--protocol {HTTP2}"
    return next((str(request) for request in plan.requests if request.needs_session), "")


@dataclass(frozen=True, kw_only=True)
class UserService:
    """A user's service, and the requests that clients send to it.

    name: name in reports
    start: how gilscope starts the service, or where it already runs
    requests: the requests and their expected answers
    variants: other commands by name, which are compared with each other; they replace *start*
    varied: the name of the setting whose values are the names of the variants
    """

    name: str
    start: Command | tuple[Target, ...]
    protocol: str = HTTP
    requests: RequestPlan = RequestPlan()  # noqa: RUF009 - frozen
    variants: Mapping[str, Command] = field(default_factory=dict)
    varied: str = VARIANT

    @property
    def targets(self) -> tuple[Target, ...]:
        """Return the services that already run; () if gilscope starts the service."""
        return self.start if isinstance(self.start, tuple) else ()

    @property
    def label(self) -> str:
        """Return what reports call the service: its name, or by default its application or program
        and its requests.
        """
        only = " (handshakes only)" * self.requests.has_only_handshakes
        if self.name != DEFAULT_NAME or not self.command:
            return f"{self.name}{only}"
        titles = [str(request) for request in self.requests.requests if not request.first]
        more = ", ..." * (len(titles) > MOST_TITLES)
        return f"{self.command.label} {', '.join(titles[:MOST_TITLES])}{more}{only}"

    @property
    def command(self) -> Command | None:
        """Return the command with which gilscope starts the service; None if it already runs."""
        return None if isinstance(self.start, tuple) else self.start

    @property
    def commands(self) -> list[Command]:
        """Return all commands that gilscope starts: those of the variants, or the only one."""
        return [*self.variants.values()] or ([self.command] if self.command else [])

    def to_json(self) -> Json:
        """Return the service in the form in which result.json stores it, without secrets."""
        start = (
            {"targets": [*map(vars, self.start)]}
            if isinstance(self.start, tuple)
            else vars(self.start)
        )
        own = {
            "name": self.name,
            "protocol": self.protocol,
            "requests": self.requests.to_json(),
            **start,
        }
        if self.variants:
            variants = {name: vars(command) for name, command in self.variants.items()}
            own |= {"variants": variants, "varied": self.varied}
        stored: Json = for_file(own)
        return stored

    @classmethod
    def from_json(cls, stored: Json) -> "UserService":
        """Decode a user's service that to_json() encoded."""
        known = from_file(stored)
        names = {"name", "protocol", "requests", "variants", "varied"} & known.keys()
        own = {name: known.pop(name) for name in names}
        own["requests"] = RequestPlan.from_json(own["requests"])
        if "variants" in own:
            own["variants"] = {name: _command(one) for name, one in own["variants"].items()}
        if "targets" in known:
            return cls(**own, start=tuple(Target(**target) for target in known["targets"]))
        return cls(**own, start=_command(known))


def _command(stored: Json) -> Command:
    """Decode a command, or an application on a server."""
    lists = {name: tuple(stored.get(name, ())) for name in ("packages", "knobs", "overrides")}
    kind = App if "app" in stored else Command
    return kind(**{**stored, **lists})


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A program that gilscope starts once for a run. Its command and config may contain
    placeholders such as {port}.

    name: the name in reports
    command: starts the program. first: commands that run before it, such as the one that makes its
        data folder
    ready: `port` or `socket` if the program is ready when that accepts a connection. Otherwise a
        command that exits with 0 when the program is ready
    environment: variables that tell the services its address. config: the text of the file {config}
    pin: the CPUs on which it runs; empty for all
    start_deadline_s: the time within which it must be ready
    stop: the name of the signal that ends it
    users: if gilscope runs as root, the program runs as the first of these users that exists.
        Empty: as root
    """

    name: str
    command: str
    first: tuple[str, ...] = ()
    ready: str = PORT
    environment: Mapping[str, str] = field(default_factory=dict)
    config: str = ""
    pin: tuple[int, ...] = ()
    start_deadline_s: float = START_DEADLINE_S
    stop: str = "SIGTERM"
    users: tuple[str, ...] = ()

    def variables(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables with *values* in place of the placeholders."""
        return {name: filled(text, values) for name, text in self.environment.items()}
