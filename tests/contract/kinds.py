"""Every service that answers on a socket: all variants under 3.14t, two or three under the others, and in native all.

The alternatives are not among them: how they treat bad peers is their library's affair.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.runtime import NATIVE
from lab.folders import Sandbox
from systems import find
from tests.conftest import runtime_or_skip
from tests.contract.dialects import BODY, FRAMES, RAW, Dialect
from tests.contract.serving import Serving, command_or_skip, dialect_of, serving, small_cell
from tests.contract.speaking import Spoken
from tests.native.programs import as_service, native_serving, told_service

READ_DEADLINE_S = 120.0  # of system 1 here: no peer is closed for what the machine holds up
PATIENT = f"import services.threaded; services.threaded.READ_DEADLINE_S = {READ_DEADLINE_S}\n"
SILENT_PEERS = 300
TCP, UNIX = {"TRANSPORT": "tcp"}, {"TRANSPORT": "unix"}
IN_PYTHON = ("echo-asyncio", "echo-pool", "echo-uvloop")
SERVICES: dict[str, tuple[str, dict[str, Any]]] = {
    "1 unix": ("1", UNIX),
    "1 tcp": ("1", TCP),
    "2 unix": ("2", UNIX),
    "2 tcp": ("2", TCP),
    "2 poll": ("2", {"SELECTOR": "poll"}),
    "2 leader": ("2", {"DISPATCH": "leader"}),
    "2 owned poll": ("2", {"DISPATCH": "owned", "SELECTOR": "poll"}),
    "3": ("3", {}),
    "4 unix": ("4", UNIX),
    "4 tcp": ("4", TCP),
    "4 select": ("4", {"SELECTOR": "select"}),
    "4 single": ("4", {"SELECT_MODE": "single"}),
    "4 single select": ("4", {"SELECT_MODE": "single", "SELECTOR": "select"}),
    "4 owned tcp": ("4", {"DISPATCH": "owned", **TCP}),
    "4 auto": ("4", {"DISPATCH": "auto"}),
    "4 leader single": ("4", {"DISPATCH": "leader", "SELECT_MODE": "single"}),
    **{f"{name} {way['TRANSPORT']}": (name, way) for name in IN_PYTHON for way in (TCP, UNIX)},
}
FEW = {
    "3.11": ("1 unix", "2 tcp", "3"),
    "3.14": ("2 owned poll", "echo-asyncio tcp"),
    "3.14t+gil": ("4 tcp", "echo-pool unix"),
}
NATIVE_ECHO = ("echo-tokio", "echo-libuv", "echo-asio", "echo-coroutine", "echo-netty.jar")
# Of programs: the system that they stand in for, or their own name.
PROGRAMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "1 unix": ("calc-service", "1", UNIX),
    "1 tcp": ("calc-service", "1", TCP),
    "2 tcp": ("calc-service", "2", TCP),
    "2 unix": ("calc-service", "2", UNIX),
    "4 unix": ("calc-service", "4", {"NUM_MULTI_SOCKET": 2, **UNIX}),
    "4 two threads": ("calc-service", "4", {"NUM_MULTI_SOCKET": 2, "NUM_WORKERS_PER_API_SERVICE": 2, **TCP}),
    **{
        f"{program.removesuffix('.jar')} {transport['TRANSPORT']}": (program, program, params | transport)
        for program in (*NATIVE_ECHO, "http-echo", "axum-server")
        for transport, params in ((TCP, {"NUM_SERVER_THREADS": 2}), (UNIX, {"NUM_SERVER_THREADS": 1}))
    },
}
KINDS = [
    *(("3.14t", name) for name in SERVICES),
    *((runtime, name) for runtime, names in FEW.items() for name in names),
    *((NATIVE, name) for name in PROGRAMS if not name.startswith("axum")),  # whose bad peers are its library's affair
]
FRAMED = [kind for kind in KINDS if kind[1][0] in "124"]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A system, or a program in its place, with some of its parameters."""

    runtime: str
    name: str

    @property
    def key(self) -> str:
        """Of the system."""
        return PROGRAMS[self.name][1] if self.runtime == NATIVE else SERVICES[self.name][0]

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
        return {"calc-service": FRAMES, "http-echo": BODY, "axum-server": BODY}.get(PROGRAMS[self.name][0], RAW)

    def command(self) -> list[str]:
        """The command line of its service. May skip the test."""
        if self.runtime == NATIVE:
            return as_service(PROGRAMS[self.name][0])
        return command_or_skip(runtime_or_skip(self.runtime), find(self.key), "service")

    def told(self, folder: Path, **more: Any) -> dict[str, Any]:
        """What its service is told."""
        if self.runtime == NATIVE:
            return told_service(folder, {**PROGRAMS[self.name][2], **more}, system=self.key)
        cell = small_cell(find(self.key), runtime_or_skip(self.runtime), **{**SERVICES[self.name][1], **more})
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
        if self.runtime == NATIVE:
            params = {"NUM_WORKERS_PER_API_SERVICE": 1, **PROGRAMS[self.name][2], **more}
            return native_serving(self.command(), sandbox, params, system=self.key, dialect=self.dialect)
        first = PATIENT + first if self.key == "1" else first
        params = {**SERVICES[self.name][1], **more}
        return serving(self.key, runtime_or_skip(self.runtime), sandbox, first=first, **params)
