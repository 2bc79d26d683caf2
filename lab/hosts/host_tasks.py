"""Functions that the worker of a host calls for the runner. They import only the standard library
and gilscope.

lab/hosts/place.py and lab/hosts/cluster.py name them in HostConnection.call(), and the worker
(lab/hosts/worker.py) runs them on the host. So each is a global function with JSON as arguments,
and its result is JSON, bytes or a dataclass. The caller states the type of the result: change both
together. The runner imports this module, too, and calls interpreter_of() itself.
"""

import socket
import threading
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from core.runtime import RuntimeFacts, RuntimeName
from lab.environments.environment import installed_packages, requirements_file
from lab.hosts.boot import extract
from lab.machine import host, quiet
from lab.places import REPOSITORY
from lab.python import interpreters
from lab.python.interpreters import Interpreter
from lab.run.measured_runtimes import Runtime, present
from lab.user_service.service_files import FILES

# how long facts() observes the load of the machine
QUIET_WINDOW_S = 0.3
# for each operation on a socket
LINK_DEADLINE_S = 10.0
# round trips of one byte, before the transfer
ROUNDS = 100
# size of the transfer, from which the rate is computed
BULK_BYTES = 8 << 20
# size of one write or read of the transfer
PIECE_BYTES = 1 << 16
ROUTED = ("192.0.2.1", 9)  # an address of the default route: RFC 5737. Nothing is sent to it.


# ---- the machine ---------------------------------------------------------------------------------


def facts() -> dict[str, Any]:
    """Observe this host for QUIET_WINDOW_S, and return facts about it for result.json
    (record.saved_plan.HostFacts).
    """
    return {**host.facts(), "quiet": quiet.facts(QUIET_WINDOW_S)}


# ---- the network between hosts, while nothing is measured ----------------------------------------


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
    """Measure round-trip times and bytes per second from *source* to a listener at *address*.
    Raises OSError.

    source: this host's address, which listen() got as *peer*
    Return a record.result_parts.Link: round-trip times in ns, and the rate of data from this host,
    until the listener has read all.
    """
    trips = []
    with socket.create_connection((address, port), LINK_DEADLINE_S, (source, 0)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(ROUNDS):
            start_ns = perf_counter_ns()
            connection.sendall(b".")
            if not connection.recv(1):
                # 104 is ECONNRESET on Linux: the listener closes a connection of another address
                raise ConnectionResetError(
                    104, "the other host refused the source address of this connection"
                )
            trips.append(perf_counter_ns() - start_ns)
        start_ns = perf_counter_ns()
        for _ in range(BULK_BYTES // PIECE_BYTES):
            connection.sendall(bytes(PIECE_BYTES))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(PIECE_BYTES):
            pass
        spent_ns = perf_counter_ns() - start_ns
    rate = round(BULK_BYTES * 1e9 / max(1, spent_ns))
    return {"least_ns": min(trips), "median_ns": sorted(trips)[ROUNDS // 2], "bytes_per_s": rate}


def own_address() -> str:
    """Return this machine's address on its default route; "" if it has none."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(ROUTED)
        return str(probe.getsockname()[0])
    return ""


# ---- runtimes ------------------------------------------------------------------------------------


def find_runtimes(names: Sequence[str], chosen: Sequence[str]) -> dict[str, RuntimeFacts]:
    """Return the facts of the runtimes *names* that are installed here. *chosen* are paths of
    interpreters.
    """
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


def environment_python(name: str, found: Mapping[str, Any], requirements: str) -> str:
    """Return the interpreter of an environment with *requirements*, which is made if needed. Raises
    EnvironmentFailed.

    requirements: a file of the repository, a user's file by its absolute path, or ""
    """
    return str(
        Runtime(name=RuntimeName(name), interpreter=interpreter_of(found)).python(requirements)
    )


def packages(python: str) -> dict[str, str]:
    """Return the packages in the environment of an interpreter, with their versions."""
    return installed_packages(Path(python))


# ---- files ---------------------------------------------------------------------------------------


def unpack(name: str, archive: str, requirements: Sequence[str]) -> tuple[str, str]:
    """Unpack a user's files. Return their folder, and a file of their requirements; "" if there are
    none. The folder is removed with gilscope's files. Raises OSError.

    name: of the folder, which must not exist yet
    archive: in base64
    requirements: lines in which FILES stands for the folder
    """
    folder = REPOSITORY / "files" / name
    folder.mkdir(parents=True)
    extract(b64decode(archive), str(folder))
    lines = [line.replace(FILES, str(folder)) for line in requirements]
    return str(folder), requirements_file("", lines)
