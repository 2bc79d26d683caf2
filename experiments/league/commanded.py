"""A service whose server is a command with processes of its own: started by the service child, and ended with it.

The child is not in the request path. CPU, switches and memory are those of the child and all its descendants.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from core.inside import FOLDER
from core.processtree import usage_of_tree
from core.runtime import ready_and_end
from experiments.league.hosted import tcp_address
from experiments.league.launch import SERVER_PID_VARIABLE
from experiments.league.loaded import CONTROL_VARIABLE, RESET, STATE
from services.listeners import LOOPBACK

START_DEADLINE_S = 30.0
END_DEADLINE_S = 5.0
TURN_S = 0.02
SETTINGS = ("GUNICORN_", "GRANIAN_", "WEB_CONCURRENCY", "GILSCOPE_")  # of the user's own servers: not for ours


class CommandedService:
    """The service of a server's command with its one worker. It is its own listener: address is set at once.

    held: the socket of *port*, which the command inherits
    """

    def __init__(self, arguments: Sequence[str], port: int, folder: str, held: socket.socket) -> None:
        self.listeners = [self]
        self.address = tcp_address(port)
        self._arguments = arguments
        self._held = held
        self._control = socket.socket(socket.AF_UNIX)
        self._path = os.path.join(folder, f"c{port}")
        self._control.bind(self._path)
        self._control.listen()

    def __repr__(self) -> str:
        return f"CommandedService({' '.join(self._arguments)} at {self.address})"

    def start(self) -> None:
        """Start the command and wait until it accepts. Raises RuntimeError if it ends or takes too long."""
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", "experiments.league.launch", *self._arguments],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env=_environment(self._path),
            pass_fds=[self._held.fileno()],
        )
        until = monotonic() + START_DEADLINE_S
        worker = self._wait(self._accepted, until, "had loaded its application")
        self._worker = worker.makefile("rw", encoding="ascii")
        self._ready = self._read_state()
        self._wait(self._listens, until, "accepted connections")
        self._count_from(self._ready)

    def counters(self) -> dict[str, Any]:
        """Return requests, the usage of all processes, and the GIL and JIT of the worker, which is what is measured."""
        state = self._ask(STATE)
        used = usage_of_tree(os.getpid()).since(self._since).to_json()
        return {
            **used,
            "requests": state["requests"],
            "run_queue_ns": state["run_queue_ns"] - self._waited_ns,
            **ready_and_end(self._ready, state),
        }

    def reset(self) -> None:
        """Count from zero."""
        self._count_from(self._ask(RESET))

    def remove_file(self) -> None:
        """End the server and its worker.

        It is asked first: then it waits for its worker, whose CPU time counts as ours and not as another program's.
        """
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(END_DEADLINE_S)
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
            self._connection.settimeout(END_DEADLINE_S)
            while self._connection.recv(4096):
                pass
        self._control.close()
        Path(self._path).unlink(missing_ok=True)

    def _count_from(self, state: dict[str, Any]) -> None:
        self._waited_ns = state["run_queue_ns"]
        self._since = usage_of_tree(os.getpid())

    def _ask(self, word: str) -> dict[str, Any]:
        """Return the worker's state after *word* (state or reset)."""
        self._worker.write(word + "\n")
        self._worker.flush()
        return self._read_state()

    def _read_state(self) -> dict[str, Any]:
        line = self._worker.readline()
        if not line:
            raise RuntimeError(f"the worker of {self!r} has gone")
        state: dict[str, Any] = json.loads(line)
        return state

    def _wait(self, attempt: Callable[[], socket.socket | None], until: float, what: str) -> socket.socket:
        while monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError(f"{self!r} ended with status {self._process.returncode} before it {what}")
            sock = attempt()
            if sock is not None:
                return sock
        raise RuntimeError(f"{self!r} has not {what} within {START_DEADLINE_S:g} s")

    def _accepted(self) -> socket.socket | None:
        self._control.settimeout(TURN_S)
        try:
            self._connection, _ = self._control.accept()
        except TimeoutError:
            return None
        self._connection.settimeout(None)
        return self._connection

    def _listens(self) -> socket.socket | None:
        host, _, port = self.address.rpartition(":")
        try:
            with socket.create_connection((host, int(port))) as probe:
                return probe
        except OSError:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(TURN_S)
            return None


def free_port() -> tuple[socket.socket, int]:
    """A port of the loopback interface, and the socket that holds it: one with SO_REUSEPORT may listen there."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((LOOPBACK, 0))
    return held, held.getsockname()[1]


def _environment(control: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name == FOLDER or not name.startswith(SETTINGS)}
    kept.pop(SERVER_PID_VARIABLE, None)
    return {**kept, CONTROL_VARIABLE: control}
