"""A real service of one system under one runtime, without clients: a test is its client."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from core.cell import Cell
from core.messages import verbatim
from core.system import System
from lab.environments.environment import EnvironmentFailed
from lab.folders import Sandbox
from lab.run.children import READY, RESULT, Child, Children
from lab.run.measured_runtimes import AnyRuntime, Runtime, UserServiceRuntime
from record.saved_run import CellResult
from systems import find
from tests.contract.dialects import FRAMES, HTTP, RAW, Dialect
from tests.contract.peers import DEADLINE_S, Peer

SMALL: Mapping[str, Any] = {
    "NUM_API_SERVICES": 1,
    "NUM_CLIENTS": 1,
    "NUM_WORKERS_PER_API_SERVICE": 1,
    "NUM_REQUESTS_PER_CLIENT": 20,
    "NUM_THREADS_PER_CLIENT": 2,
    "NUM_MULTI_SOCKET": 2,
    "CALC_TARGET": 50,
}


def small_cell(system: System, runtime: AnyRuntime, **params: Any) -> Cell:
    """A cell of a few requests, one worker and one client, but for *params*."""
    values = {**SMALL, **params}
    return Cell.build(system=system.key, runtime=str(runtime.name), reads=system.parameters, values=values)


def command_or_skip(runtime: AnyRuntime, system: System, role: str, first: str = "") -> list[str]:
    """The child's command line; statements in *first* are run in a Python child before anything else.

    The test is skipped where the system's packages could not be installed, or there is no such native program.
    """
    try:
        command = runtime.command(system, role)
    except EnvironmentFailed as failed:
        pytest.skip(str(failed))
    return prefixed(command, first) if first else command


def check_ok(result: CellResult) -> None:
    """It is ok, or its reason is shown, and every request was answered rightly."""
    assert result.status == "ok", str(result.reason)
    assert (result.answered, result.wrong, result.errors) == (result.requests, 0, {})


def prefixed(command: list[str], first: str) -> list[str]:
    """*command* (python ... -m systems ROLE) so that the statements in *first* are run before."""
    at = command.index("-m")
    go_on = f"import runpy; runpy.run_module({command[at + 1]!r}, run_name='__main__', alter_sys=True)"
    return [*command[:at], "-c", f"{first}\n{go_on}", *command[at + 2 :]]


def dialect_of(system: System) -> Dialect:
    """What its services speak."""
    return RAW if system.group == "echo" else FRAMES if system.framed else HTTP


class Serving:
    """A service that listens."""

    def __init__(self, children: Children, child: Child, addresses: list[str], dialect: Dialect) -> None:
        self._children = children
        self.child = child
        self.addresses = addresses
        self.dialect = dialect

    def peer(self, *, deadline_s: float = DEADLINE_S, receive_buffer_bytes: int = 0) -> Peer:
        """A connection to its first socket."""
        return Peer(self.addresses[0], deadline_s=deadline_s, receive_buffer_bytes=receive_buffer_bytes)

    def ask(self, request: bytes = b"") -> tuple[int, str]:
        """Code and msg that a new client is answered, to a count unless something else is asked."""
        with self.peer() as peer:
            return self.dialect.ask(peer, request or self.dialect.calc)

    def check_it_answers(self, within_s: float) -> None:
        """A new client gets its answer, on every socket."""
        for address in self.addresses:
            with Peer(address, deadline_s=within_s) as peer:
                assert self.dialect.ask(peer, self.dialect.calc) == (200, self.dialect.msg)

    def end(self) -> dict[str, Any]:
        """End it as the orchestrator does; its result. It has complained of nothing, and its socket files are gone."""
        self.child.process.close_stdin()
        line = self._children.await_lines([self.child], RESULT, verbatim("at the end"), DEADLINE_S)[self.child]
        assert self.child.process.wait(DEADLINE_S) == 0
        assert self.child.stderr_tail() == ""
        assert [address for address in self.addresses if os.path.exists(address)] == []
        result: dict[str, Any] = line[RESULT]
        return result


def serving(
    number: str, runtime: AnyRuntime, sandbox: Sandbox, first: str = "", **params: Any
) -> AbstractContextManager[Serving]:
    """A service of system *number*, with one worker unless *params* say otherwise; killed at the end of the block."""
    system = find(number)
    if system.hosted and isinstance(runtime, Runtime):
        runtime = UserServiceRuntime(runtime=runtime)
    command = command_or_skip(runtime, system, "service", first)
    cell = small_cell(system, runtime, **params)
    told = {**cell.to_json(), "service_id": 0, **runtime.child_config(system)}
    return listening(command, sandbox, told, runtime.variables, dialect_of(system))


@contextmanager
def listening(
    command: list[str], sandbox: Sandbox, told: dict[str, Any], variables: Mapping[str, str], dialect: Dialect
) -> Iterator[Serving]:
    """A service that has been told that and a folder of its own, and listens; killed at the end of the block."""
    folder = tempfile.mkdtemp(prefix="", dir=sandbox.folder)
    with Children(sandbox) as children:
        child = children.start(verbatim("Service 1 of 1"), told["runtime"], command, variables)
        child.tell({**told, "folder": folder})
        ready = children.await_lines([child], READY, verbatim("before it was ready"), DEADLINE_S)[child]
        yield Serving(children, child, ready["addresses"], dialect)
