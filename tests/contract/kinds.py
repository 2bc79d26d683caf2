"""Every service that answers on a socket: all variants under 3.14t, two or three under the others, and in native all.

The alternatives are not among them: how they treat bad peers is their library's affair.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.runtime import NATIVE
from lab.folders import Sandbox
from systems import find
from tests.conftest import runtime_or_skip
from tests.contract.dialects import BODY, FRAMES, RAW, Dialect
from tests.contract.serving import Serving, command_or_skip, dialect_of, listening, serving, small_cell
from tests.contract.speaking import Spoken
from tests.native.programs import as_service, told_service
from tests.tables import table

READ_DEADLINE_S = 120.0  # of system 1 here: no peer is closed for what the machine holds up
PATIENT = f"import services.threaded; services.threaded.READ_DEADLINE_S = {READ_DEADLINE_S}\n"
SILENT_PEERS = 300
NATIVE_ECHO = ("echo-tokio", "echo-libuv", "echo-asio", "echo-coroutine", "echo-netty.jar")
TABLES: dict[str, dict[str, Any]] = table(__file__)
SERVICES, PROGRAMS = TABLES["services"], TABLES["programs"]


def more_kinds(table: str) -> list[tuple[str, str]]:
    """(runtime, name) of a table that has the names of each runtime."""
    return [(runtime, name) for runtime, names in TABLES[table].items() for name in names]


def params_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters in an entry of a table, which has its system, too."""
    return {name: value for name, value in entry.items() if name.isupper()}


KINDS = [
    *(("3.14t", name) for name in SERVICES),
    *more_kinds("few"),
    *((NATIVE, name) for name in PROGRAMS if not name.startswith("axum")),  # whose bad peers are its library's affair
]
ECHO = [kind for kind in KINDS if kind[1].startswith("echo")]
FRAMED = [kind for kind in KINDS if kind[1][0] in "124"]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A system, or a program in its place, with some of its parameters."""

    runtime: str
    name: str

    @property
    def entry(self) -> dict[str, Any]:
        """Of its table."""
        entry: dict[str, Any] = (PROGRAMS if self.runtime == NATIVE else SERVICES)[self.name]
        return entry

    @property
    def key(self) -> str:
        """Of the system."""
        return str(self.entry["system"])

    @property
    def keeps(self) -> bool:
        """Whether it answers more than one request on a connection."""
        return self.key != "1"

    @property
    def crowd(self) -> int:
        """How many peers may connect at once: the backlog of an event loop's Unix socket is 100."""
        return 50 if self.key.startswith("echo") and self.runtime != NATIVE else SILENT_PEERS

    @property
    def prompt_s(self) -> float:
        """Who is answered within it did not wait until a silent peer is closed: after 5 s in the native system 1."""
        return 4.0 if self.runtime == NATIVE else 30.0

    @property
    def dialect(self) -> Dialect:
        """What it speaks."""
        if self.runtime != NATIVE:
            return dialect_of(find(self.key))
        return {"calc-service": FRAMES, "http-echo": BODY, "axum-server": BODY}.get(self.entry["program"], RAW)

    def command(self) -> list[str]:
        """The command line of its service. May skip the test."""
        if self.runtime == NATIVE:
            return as_service(self.entry["program"])
        return command_or_skip(runtime_or_skip(self.runtime), find(self.key), "service")

    def told(self, folder: Path, **more: Any) -> dict[str, Any]:
        """What its service is told."""
        params = {**params_of(self.entry), **more}
        if self.runtime == NATIVE:
            return told_service(folder, params, system=self.key)
        cell = small_cell(find(self.key), runtime_or_skip(self.runtime), **params)
        return {**cell.to_json(), "service_id": 0, "folder": str(folder)}

    @contextmanager
    def spoken(self, folder: Path, cpus: Sequence[int] = (), **more: Any) -> Iterator[Spoken]:
        """A service that has been told its cell and its CPUs, by hand."""
        command = self.command()
        variables = {} if self.runtime == NATIVE else runtime_or_skip(self.runtime).variables
        with Spoken(command, variables) as child:
            child.tell({**self.told(folder, **more), "cpus": [*cpus]})
            yield child

    def serving(self, sandbox: Sandbox, first: str = "", **more: Any) -> AbstractContextManager[Serving]:
        """A service of this kind with one worker; statements in *first* are run before it. May skip the test."""
        params = {**params_of(self.entry), **more}
        if self.runtime == NATIVE:
            told = told_service("", {"NUM_WORKERS_PER_API_SERVICE": 1, **params}, system=self.key)
            return listening(self.command(), sandbox, told, {}, self.dialect)
        first = PATIENT + first if self.key == "1" else first
        return serving(self.key, runtime_or_skip(self.runtime), sandbox, first=first, **params)
