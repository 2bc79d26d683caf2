"""Functions that the worker of a host calls for the runner. They import only the standard library and gilscope."""

import socket
import threading
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.runtime import NATIVE, RuntimeFacts, RuntimeName
from core.system import NATIVE_CLIENT, System
from lab.environments.environment import installed_packages, requirements_file
from lab.hosts.boot import extract
from lab.machine import host, quiet
from lab.places import REPOSITORY
from lab.python import interpreters, uv
from lab.python.interpreters import Interpreter
from lab.run.runtimes import Native, Runtime, present
from systems import find

QUIET_WINDOW_S = 0.3
LINK_DEADLINE_S = 10.0
ROUNDS = 100
BULK_BYTES = 8 << 20
OWN = "own"  # the name of the service's working directory in an archive of a user's files
FILES = "{files}"  # in a line of requirements: the folder of the user's files on the host
PIECE_BYTES = 1 << 16
_HOSTED = System(name="own", title="", native_client=NATIVE_CLIENT)


# ---- the machine ---------------------------------------------------------------------------------------------------


def facts(boot_id: str) -> dict[str, Any]:
    """Return facts about this host for result.json (record.plan.HostFacts).

    boot_id: the boot ID of the runner's machine, or "" if it is unknown
    """
    return {
        **host.facts(),
        "quiet": quiet.facts(QUIET_WINDOW_S),
        "uv": uv.find() is not None,
        "with_runner": host.boot_id() == boot_id != "",
    }


# ---- runtimes ------------------------------------------------------------------------------------------------------


def find_runtimes(names: Sequence[str], chosen: Sequence[str]) -> dict[str, RuntimeFacts]:
    """Return the facts of the runtimes *names* that are installed here. *chosen* are paths of interpreters."""
    wanted = [*map(RuntimeName, names)]
    paths: dict[str, Path] = {}
    for path in chosen:
        given = interpreters.ask("given", Path(path))
        if given:
            paths |= {name.binary: given.executable for name in wanted if given.is_named(name)}
    found = present(wanted, interpreters.find(wanted, paths))
    return {name: runtime.facts() for name, runtime in found.items()}


def interpreter_of(found: Mapping[str, Any]) -> Interpreter:
    """Return the interpreter that find_runtimes() described."""
    return Interpreter(executable=Path(found["executable"]), source=found["source"], facts=found)


def child_command(name: str, found: Mapping[str, Any], system: str, role: str) -> list[str]:
    """Make a child's virtual environment, and return the child's command line. Raises GilscopeError.

    system: "" for the client of a user's service
    """
    declared = find(system) if system else _HOSTED
    if name == NATIVE:
        return Native().command(declared, role)
    return Runtime(name=RuntimeName(name), interpreter=interpreter_of(found)).command(declared, role)


def service_python(name: str, found: Mapping[str, Any], requirements: Sequence[str], folder: str) -> str:
    """Install the packages of a user's service, and return the service's interpreter. Raises EnvironmentFailed.

    folder: the folder of the service's files on this host
    """
    lines = [line.replace(FILES, folder) for line in requirements]
    runtime = Runtime(name=RuntimeName(name), interpreter=interpreter_of(found))
    return str(runtime.python(requirements_file("", lines)))


def packages(python: str) -> dict[str, str]:
    """Return the packages in the environment of an interpreter, with their versions."""
    return installed_packages(Path(python))


# ---- files ---------------------------------------------------------------------------------------------------------


def unpack(name: str, archive: str) -> str:
    """Unpack a user's files, and return their folder. It is removed with gilscope's files. Raises OSError.

    archive: in base64
    """
    folder = REPOSITORY / "files" / name
    folder.mkdir(parents=True)
    extract(b64decode(archive), str(folder))
    return str(folder)


# ---- the network ---------------------------------------------------------------------------------------------------


def listen(address: str, peer: str) -> int:
    """Listen for one connection of *peer*, which measures the link with reach(). Return the port.

    A thread accepts the connection, and answers each piece of data with one byte.
    """
    listener = socket.create_server((address, 0))
    listener.settimeout(LINK_DEADLINE_S)
    threading.Thread(target=_serve, args=(listener, peer), daemon=True).start()
    return int(listener.getsockname()[1])


def _serve(listener: socket.socket, peer: str) -> None:
    with suppress(OSError), listener:
        connection, (address, *_) = listener.accept()
        with connection:
            connection.settimeout(LINK_DEADLINE_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while address == peer and connection.recv(PIECE_BYTES):
                connection.sendall(b".")


def reach(address: str, port: int, source: str) -> dict[str, int]:
    """Measure round-trip times and bytes per second from *source* to a listener at *address*. Raises OSError."""
    trips = []
    with socket.create_connection((address, port), LINK_DEADLINE_S, (source, 0)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(ROUNDS):
            start_ns = time.perf_counter_ns()
            connection.sendall(b".")
            if not connection.recv(1):
                raise ConnectionResetError(104, "the other host refused the source address of this connection")
            trips.append(time.perf_counter_ns() - start_ns)
        start_ns = time.perf_counter_ns()
        for _ in range(BULK_BYTES // PIECE_BYTES):
            connection.sendall(bytes(PIECE_BYTES))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(PIECE_BYTES):
            pass
        spent_ns = time.perf_counter_ns() - start_ns
    rate = round(BULK_BYTES * 1e9 / max(1, spent_ns))
    return {"least_ns": min(trips), "median_ns": sorted(trips)[ROUNDS // 2], "bytes_per_s": rate}
