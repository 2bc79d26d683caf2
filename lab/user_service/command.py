"""The command of a user's own service: filled in, started, waited for, and ended with all its descendants. Linux."""

import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from ctypes import CDLL
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from clients.channel import CallFailed
from clients.own.client import PROTOCOLS
from core.errors import BadInput, GilscopeError
from core.processtree import descendants
from core.request_plan import RequestPlan

HOST = "127.0.0.1"
ASK_DEADLINE_S = 5.0
STOP_DEADLINE_S = 5.0
TURN_S = 0.02
TAIL_BYTES = 1500
DEAF = "accept a connection"
LAST_PORT = 65535
_CULPRIT = b"GIL) has been enabled to load module"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PRCTL = getattr(CDLL(None), "prctl", None)  # looked up here: a new process should not, before it runs its program


class CommandFailed(GilscopeError):
    """The service did not start, or ended; the text says how, and what it wrote."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a service is to listen: a port, or a Unix path where the command asks for that."""

    host: str
    port: int
    socket: str
    by_socket: bool

    @property
    def address(self) -> str:
        """As clients are told it."""
        return self.socket if self.by_socket else f"{self.host}:{self.port}"


def place_for(own: Mapping[str, Any], service_id: int, folder: str) -> Place:
    """A place that is free. Raises CommandFailed where the port that was asked for is taken."""
    path = os.path.join(folder, f"{service_id}.0")
    if "{port}" not in own["command"]:
        return Place(host=HOST, port=0, socket=path, by_socket=True)
    asked = own["first_port"] + service_id if own["first_port"] else 0
    if asked > LAST_PORT:
        raise CommandFailed(f"Port {asked} is none: the last one is {LAST_PORT}. Begin with a lower --service-port.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, asked))
        except OSError as error:
            raise CommandFailed(
                f"Port {asked} of {HOST} cannot be had: {error.strerror}. End what listens there, or leave "
                "--service-port out."
            ) from None
        return Place(host=HOST, port=probe.getsockname()[1], socket=path, by_socket=False)


def filled(own: Mapping[str, Any], place: Place, params: Mapping[str, Any]) -> list[str]:
    """The words of the command with everything filled in. Raises CommandFailed where a quote is not closed."""
    values = {
        "python": own["python"],
        "host": place.host,
        "port": place.port,
        "socket": place.socket,
        "workers": params.get("NUM_API_SERVICES", 1),
        "threads": params.get("NUM_WORKERS_PER_API_SERVICE", 1),
    }
    try:
        words = shlex.split(own["command"])
    except ValueError as error:
        raise CommandFailed(f"The command {own['command']!r} cannot be read: {error}.") from None
    pattern = re.compile("|".join(re.escape(f"{{{name}}}") for name in values))
    return [pattern.sub(lambda match: str(values[match[0][1:-1]]), word) for word in words]


def environment(own: Mapping[str, Any]) -> dict[str, str]:
    """This process's, with the measured interpreter's folder before all others, and what the user asked for."""
    found = {**os.environ, "PYTHONNOUSERSITE": "1", **({"PYTHON_GIL": "1"} if own["gil_forced"] else {})}
    found["PATH"] = os.pathsep.join([os.path.dirname(own["python"]), found.get("PATH", os.defpath)])
    return found | dict(own["environment"])


class Command:
    """A command that runs. It ends when this process does, and all its descendants with it."""

    def __init__(self, own: Mapping[str, Any], service_id: int, folder: str, params: Mapping[str, Any]) -> None:
        place = place_for(own, service_id, folder)
        words = filled(own, place, params)
        self.address = place.address
        self._said = tempfile.TemporaryFile("a+b", dir=folder)  # noqa: SIM115 - it writes at the end wherever we read
        self._line = shlex.join(words)
        adopt_orphans()
        try:
            self.process = subprocess.Popen(
                words,
                cwd=own["directory"],
                env=environment(own),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=subprocess.STDOUT,
                preexec_fn=partial(die_with_parent, signal.SIGKILL),  # noqa: PLW1509 - there is no thread yet
            )
        except OSError as error:
            raise CommandFailed(f"The command {self._line} cannot be started: {error.strerror}.") from None

    def __repr__(self) -> str:
        return f"Command({self._line})"

    def wait_until_it_answers(self, own: Mapping[str, Any], deadline_s: float) -> None:
        """Wait until it accepts a connection and answers the plan's first request, rightly or not.

        Raises CommandFailed if it ends before, or does not do so within *deadline_s*.
        """
        began = monotonic()
        until, state, patience_s = began + deadline_s, "", min(ASK_DEADLINE_S, deadline_s)
        while monotonic() < until:
            self.expect_alive("before it listened")
            state = lacking(own, self.address, min(ASK_DEADLINE_S, deadline_s))
            if not state:
                return
            if state != DEAF and "timeout" not in state:  # it says something else than HTTP, or closes
                until, patience_s = min(until, monotonic() + patience_s), deadline_s
            try:
                self.process.wait(TURN_S)
            except subprocess.TimeoutExpired:
                continue
        waited_s = monotonic() - began
        raise CommandFailed(f"The command did not {state} at {self.address} in {waited_s:.0f} s: {self._account()}")

    def expect_alive(self, when: str) -> None:
        """Raises CommandFailed if it has ended."""
        status = self.process.poll()
        if status is not None:
            how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
            raise CommandFailed(f"The command {how} {when}: {self._account()}")

    def culprits(self) -> str:
        """CPython's own lines on modules that switched the GIL on, each once, from all that it wrote."""
        self._said.seek(0)
        lines = dict.fromkeys(line.strip() for line in self._said if _CULPRIT in line)
        return b"\n".join(lines).decode(errors="replace")

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        """Ask it to end (SIGTERM), and end it with all its descendants (SIGKILL) if it has not after *deadline_s*."""
        self.process.terminate()
        try:
            self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            pass
        end_descendants()

    def _account(self) -> str:
        """The command and the end of what it wrote."""
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - TAIL_BYTES))
        text = self._said.read().decode(errors="replace").strip()
        return f"{self._line}. " + (f"It wrote: {text}" if text else "It wrote nothing.")


def check_requests(own: Mapping[str, Any]) -> None:
    """Raises CommandFailed for a request that cannot be sent: its file cannot be read, or it is none in a frame."""
    _, message = PROTOCOLS[own["protocol"]]
    for request in RequestPlan.from_json(own["requests"]).requests:
        try:
            message(request, "", own["prefix"])
        except BadInput as error:
            raise CommandFailed(str(error)) from None
        except OSError as error:
            raise CommandFailed(f"The body of {request}, {request.body_file}: {error.strerror}.") from None


def lacking(own: Mapping[str, Any], address: str, deadline_s: float) -> str:
    """What the service does not do yet; empty once it answers the first request."""
    connect, message = PROTOCOLS[own["protocol"]]
    request = RequestPlan.from_json(own["requests"]).requests[0]
    try:
        connection = connect(address, deadline_s)
    except CallFailed:
        return DEAF
    try:
        connection.ask(message(request, address, own["prefix"]), request.method)
    except CallFailed as failed:
        return f"answer {request} in {own['protocol']} ({failed.code})"
    finally:
        connection.close()
    return ""


def end_descendants() -> None:
    """End every descendant of this process, also one that left its parent or its group."""
    while others := descendants(os.getpid()):
        for pid in others:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def adopt_orphans() -> None:
    """Descendants whose parent ends become children of this process. Source: prctl(2)."""
    if _PRCTL:
        _PRCTL(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(number: int) -> None:
    """From now on this process gets the signal *number* when its parent ends. Source: prctl(2)."""
    if _PRCTL:
        _PRCTL(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
