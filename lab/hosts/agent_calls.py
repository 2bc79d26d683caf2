"""The calls that an agent answers: host facts, interpreters, profiling, and network measurements to another host."""

import os
import socket
import threading
import time
import zlib
from base64 import b64decode, b64encode
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from core.messages import Json
from core.processtree import threads_ran_ns
from core.runtime import NATIVE, RuntimeName
from core.system import NATIVE_CLIENT, System
from lab.environments.environment import installed_packages, requirements_file
from lab.folders import Sandbox
from lab.hosts.archive import FILES
from lab.hosts.boot import extract, own_folder
from lab.machine import host, quiet
from lab.machine.wakeups import kept_awake, require_idle_class
from lab.profile.locks import OBSTACLES, LockWatcher
from lab.python import interpreters, uv
from lab.run.instrumentation import Instrumentation
from lab.run.runtimes import AnyRuntime, Native, Runtime, present
from systems import find

QUIET_WINDOW_S = 0.3
LINK_DEADLINE_S = 10.0
ROUNDS = 100
BULK_BYTES = 8 << 20
_CHUNK = bytes(1 << 16)
_HOSTED = System(name="own", title="", native_client=NATIVE_CLIENT)


class AgentCalls:
    """The calls of the runner, one public method each. Each call runs on its own thread. Answers are plain JSON."""

    _watcher: LockWatcher  # from the call of watcher() on
    ran = staticmethod(threads_ran_ns)

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._locks: list[int] = []  # of folders that the reaper may remove once they are free
        self._instruments: dict[str, Instrumentation] = {}
        self._watching = ExitStack()
        self._keeping = ExitStack()
        self._runtimes: dict[str, AnyRuntime] = {NATIVE: Native()}
        self._snapshot = quiet.snapshot()

    def close(self) -> None:
        """Free the folders of users' files, so that the reaper can remove them."""
        for lock in self._locks:
            os.close(lock)

    def find(self, names: list[str], chosen: list[str]) -> dict[str, Any]:
        """Return the facts of the runtimes *names* that are installed on this host."""
        given = filter(None, (interpreters.ask("given", Path(path)) for path in chosen))
        wanted = [*map(RuntimeName, names)]
        paths: dict[str, Path] = {name.binary: one.executable for one in given for name in wanted if one.is_named(name)}
        found = present(wanted, interpreters.find(wanted, paths))
        self._runtimes |= found
        return self.builds()

    def builds(self) -> dict[str, Any]:
        """Return the facts of each runtime that find() found, with the packages in its environments."""
        return {name: asdict(runtime.facts()) for name, runtime in self._runtimes.items() if name != NATIVE}

    def command(self, runtime: str, system: str, role: str) -> list[str]:
        """Make a child's virtual environment, and return the child's command line. Raises GilscopeError.

        system: "" for the client of a user's service
        """
        return self._runtimes[runtime].command(find(system) if system else _HOSTED, role)

    def own(self, runtime: str, requirements: list[str], folder: str) -> str:
        """Install the packages of a user's service, and return the service's interpreter. Raises EnvironmentFailed.

        folder: the folder of the service's files on this host
        """
        measured = self._runtimes[runtime]
        assert isinstance(measured, Runtime)
        lines = [line.replace(FILES, folder) for line in requirements]
        apart = replace(measured, pythons={})  # the packages of a user's service are no difference between hosts
        return str(apart.python(requirements_file("", lines)))

    def mark(self) -> None:
        """Begin to count what disturbs this host."""
        self._snapshot = quiet.snapshot()

    def window(self, neighbours: list[str]) -> dict[str, Any]:
        """Return what disturbed this host since the last mark() call, such as other processes and CPU steal."""
        return quiet.between(self._snapshot, quiet.snapshot(), neighbours)

    def obstacle(self, kind: str) -> Json:
        """Return why this host cannot take a profile of *kind*; NOTHING if it can."""
        return OBSTACLES[kind]().to_json()

    def watcher(self, executable: str) -> None:
        """Create a profiler of locks. *executable* is for its self-test."""
        self._watcher = LockWatcher(executable)

    def watch(self, pid: int) -> None:
        """Begin to profile process *pid*."""
        self._watching.enter_context(self._watcher.watch(pid))

    def watched(self) -> Any:
        """Stop profiling the first service, and return the profiler's results."""
        self._watching.close()
        return self._watcher.facts

    def awake(self) -> None:
        """Keep idle cores of this host awake."""
        require_idle_class()
        self._keeping.enter_context(kept_awake(process_group=self._sandbox.process_group))

    def asleep(self) -> None:
        """Let idle cores sleep again."""
        self._keeping.close()

    def inside(self, parts: dict[str, Any]) -> dict[str, str]:
        """Prepare the instrumentation of one service. Return its output folder, and the folder of gilscope's files."""
        inside = Instrumentation(self._sandbox.folder, parts)
        self._instruments[str(inside.folder)] = inside
        return {"folder": str(inside.folder), "root": str(inside.root)}

    def inside_files(self, folder: str, part: str, most_bytes: int) -> dict[str, str]:
        """Return {file name: content} of the files that one part of the instrumentation wrote, compressed."""
        files = self._instruments[folder].files(part, most_bytes)
        return {name: b64encode(zlib.compress(content, 1)).decode() for name, content in files.items()}

    def inside_end(self, folder: str) -> None:
        """Remove the instrumentation's folder."""
        self._instruments.pop(folder).remove()

    def install(self, names: list[str]) -> list[Json]:
        """Install runtimes with uv. Return a message for each failure."""
        return [failure.to_json() for failure in interpreters.install(names)]

    def packages(self, python: str) -> dict[str, str]:
        """Return the packages in the environment of an interpreter, with their versions."""
        return installed_packages(Path(python))

    def facts(self, boot_id: str) -> dict[str, Any]:
        """Return facts about this host for result.json (record.plan.HostFacts).

        boot_id: the boot ID of the runner's machine, or "" if it is unknown
        """
        return {
            **host.facts(),
            "quiet": quiet.facts(QUIET_WINDOW_S),
            "uv": uv.find() is not None,
            "with_runner": host.boot_id() == boot_id != "",
        }

    def files(self, name: str, archive: str) -> str:
        """Unpack a user's files into a new folder, and return its path. Raises OSError.

        The files, which may have secrets, are removed when the agent ends.
        archive: in base64
        """
        folder, lock = own_folder(f"files-{name}")
        self._locks.append(lock)
        self._sandbox.remove_at_end(Path(folder))
        extract(b64decode(archive), folder)
        return folder

    def listen(self, address: str, peer: str) -> str:
        """Listen for one connection of *peer*, which measures the link with reach(). Return the address to connect to.

        A thread accepts the connection and answers.
        """
        listener = socket.create_server((address, 0))
        listener.settimeout(LINK_DEADLINE_S)
        threading.Thread(target=_serve, args=(listener, peer), daemon=True).start()
        return f"{address}:{listener.getsockname()[1]}"

    def reach(self, address: str, source: str) -> dict[str, Any]:
        """Measure round-trip times and bytes per second from *source* to a listener at *address*. Raises OSError."""
        name, _, port = address.rpartition(":")
        with socket.create_connection((name, int(port)), LINK_DEADLINE_S, (source, 0)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            trips = []
            for _ in range(ROUNDS):
                start_ns = time.perf_counter_ns()
                connection.sendall(b".")
                if not connection.recv(1):
                    raise ConnectionResetError(104, "the other host refused the source address of this connection")
                trips.append(time.perf_counter_ns() - start_ns)
            start_ns = time.perf_counter_ns()
            for _ in range(BULK_BYTES // len(_CHUNK)):
                connection.sendall(_CHUNK)
            connection.recv(1)
            spent_ns = time.perf_counter_ns() - start_ns
        trips.sort()
        return {
            "least_ns": trips[0],
            "median_ns": trips[ROUNDS // 2],
            "bytes_per_s": round(BULK_BYTES * 1e9 / max(1, spent_ns)),
        }


def _serve(listener: socket.socket, peer: str) -> None:
    with suppress(OSError), listener:
        connection, (address, *_) = listener.accept()
        with connection:
            connection.settimeout(LINK_DEADLINE_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address != peer:
                return
            for _ in range(ROUNDS):
                connection.sendall(connection.recv(1))
            left = BULK_BYTES
            while left > 0 and (data := connection.recv(len(_CHUNK))):
                left -= len(data)
            connection.sendall(b".")
