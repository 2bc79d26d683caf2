"""Services whose server is a command with its own processes: Gunicorn and Granian.

The service child starts the command, is not in the request path, and ends the command at its own end. CPU time,
switches and memory include the child and all its descendants.

Gunicorn has one worker of the class gthread with NUM_WORKERS_PER_API_SERVICE threads, on an inherited socket. gthread
is its documented class for threads. --keep-alive is longer than clients may take to start (the default is 2 s, and 75
is documented for servers behind a proxy). --worker-tmp-dir is in memory, as the FAQ advises. Gunicorn always forks, so
the master and the worker are descendants of the service child.
Source: docs.gunicorn.org/en/stable/settings.html, docs.gunicorn.org/en/stable/faq.html

Granian has one worker. On a free-threaded build the worker is a thread of the server. WSGI uses
NUM_WORKERS_PER_API_SERVICE blocking threads, which limit how much Python code runs at once. ASGI uses one event loop
(uvloop, from `granian[uvloop]`) and one blocking thread, the default. Both use one runtime thread and HTTP/1.1.
Granian refuses to run on a free-threaded build whose GIL is on, so there is no 3.14t+gil.
Source: github.com/emmett-framework/granian#workers-and-threads
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from core.cell import Cell
from core.inside import FOLDER
from core.processtree import usage_of_tree
from core.runtime import ready_and_end
from experiments.league.http_answer import IDLE_S
from experiments.league.launch import SERVER_PID_VARIABLE
from experiments.league.loaded import CONTROL_VARIABLE, RESET, STATE
from services.listeners import BACKLOG, LOOPBACK, Reach, listen_tcp

START_DEADLINE_S = 30.0
END_DEADLINE_S = 5.0
MEMORY_FOLDER = "/dev/shm"
TURN_S = 0.02
SETTINGS = ("GUNICORN_", "GRANIAN_", "WEB_CONCURRENCY", "GILSCOPE_")  # variables for the user's own servers


class CommandedService:
    """A service that runs a server's command with one worker. The object is also its own listener.

    held: the bound socket, which the command inherits
    """

    def __init__(self, arguments: Sequence[str], folder: str, held: socket.socket) -> None:
        port = held.getsockname()[1]
        self.listeners = [self]
        self.address = f"{Reach.address}:{port}"
        self._arguments = arguments
        self._held = held
        self._control = socket.socket(socket.AF_UNIX)
        self._path = os.path.join(folder, f"c{port}")
        self._control.bind(self._path)
        self._control.listen()

    def __repr__(self) -> str:
        return f"CommandedService({' '.join(self._arguments)} at {self.address})"

    def start(self) -> None:
        """Start the command and wait until it accepts connections. Raises RuntimeError if it ends or is too slow."""
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
        """Return the requests, the usage of all processes, and the GIL and JIT state of the worker."""
        state = self._ask(STATE)
        used = usage_of_tree(os.getpid()).since(self._since).to_json()
        return {
            **used,
            "requests": state["requests"],
            "run_queue_ns": state["run_queue_ns"] - self._waited_ns,
            **ready_and_end(self._ready, state),
        }

    def reset(self) -> None:
        """Set the worker's request counters to zero, and take a new snapshot of the usage."""
        self._count_from(self._ask(RESET))

    def remove_file(self) -> None:
        """End the server and its worker.

        SIGINT is sent first, so that the server waits for its worker. Otherwise the worker's CPU time would count as
        another program's.
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
            raise RuntimeError(f"the worker of {self!r} has ended")
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


def _environment(control: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name == FOLDER or not name.startswith(SETTINGS)}
    kept.pop(SERVER_PID_VARIABLE, None)
    return {**kept, CONTROL_VARIABLE: control}


def _gunicorn(factory: str, cell: Cell, service_id: int, folder: str) -> CommandedService:
    """Return the service of *cell* with Gunicorn.

    factory: a function of experiments.league.loaded, for the app
    """
    sock = listen_tcp().sock
    memory = f"--worker-tmp-dir {MEMORY_FOLDER}" if os.path.isdir(MEMORY_FOLDER) else ""
    command = (
        f"gunicorn --bind fd://{sock.fileno()} --backlog {BACKLOG} --worker-class gthread --workers 1 "
        f"--threads {cell.num_workers_per_api_service} --keep-alive {IDLE_S} --log-level error --no-control-socket "
        f"{memory} experiments.league.loaded:{factory}()"
    )
    return CommandedService(command.split(), folder, sock)


def _granian(interface: str, cell: Cell, service_id: int, folder: str) -> CommandedService:
    held = socket.socket()  # reserves a free port; Granian listens on the same port with SO_REUSEPORT
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((LOOPBACK, 0))
    threads = f"--blocking-threads {cell.num_workers_per_api_service}" if interface == "wsgi" else ""
    command = (
        f"granian --interface {interface} --host {LOOPBACK} --port {held.getsockname()[1]} --http 1 --no-ws "
        f"--workers 1 --log-level error {threads} --factory experiments.league.loaded:make_{interface}"
    )
    return CommandedService(command.split(), folder, held)


gunicorn_wsgi = partial(_gunicorn, "make_wsgi")
flask_on_gunicorn = partial(_gunicorn, "make_flask")
granian_wsgi = partial(_granian, "wsgi")
granian_asgi = partial(_granian, "asgi")
