"""The command of a user's own service: filled in, started, waited for, and ended with all its descendants. Linux."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from clients.channel import CallFailed
from clients.user_service.client import PROTOCOLS
from core.errors import BadInput, GilscopeError
from core.messages import NOTHING, Message, listed, message
from core.parent import adopt_orphans, die_with_parent
from core.processtree import descendants
from core.request_plan import RequestPlan
from lab.gil.notice import notices
from lab.output import OutputReader, ProcessOutput, last_text
from lab.processes import describe_exit
from lab.user_service import holders, ports

LOOPBACK = "127.0.0.1"
ASK_DEADLINE_S = 5.0
STOP_DEADLINE_S = 5.0
TURN_S = 0.02
TAIL_BYTES = 1500
STARTS = 3
DEAF, SLOW = "deaf", "slow"  # codes of what a service does not do yet
_FOREIGN_LOOP = re.compile("attached to a different loop|is bound to a different event loop")


class CommandFailed(GilscopeError):
    """The service did not start, or ended; the message says how, and what it wrote."""


class PortLost(CommandFailed):
    """Another process listens at the port that was chosen for the service."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a service is to listen: a port of *host*, or a Unix path if the command asks for that; port is 0 then.

    lease: holds the port for as long as this process has it
    """

    host: str
    port: int
    socket: str
    lease: ports.PortLease | None = None

    @property
    def address(self) -> str:
        """As clients are told it."""
        return f"{self.host}:{self.port}" if self.port else self.socket


def endpoint_for(own: Mapping[str, Any], service_id: int, folder: str) -> Endpoint:
    """Return a free endpoint. Raises CommandFailed if the port that the user chose is taken."""
    path, host = os.path.join(folder, f"{service_id}.0"), own.get("host", LOOPBACK)
    if "{port}" not in own["command"]:
        return Endpoint(host=host, port=0, socket=path)
    port = own["first_port"] + service_id if own["first_port"] else 0
    if port > ports.LAST_PORT:
        raise CommandFailed("{port} is not a port (1-65535). Begin with a lower --service-port.", port=port)
    try:
        lease = ports.lease(host, port)
    except OSError as error:
        raise CommandFailed(
            "Port {port} of {host} is not available: {error}. End what listens there, or leave --service-port out.",
            port=port,
            host=host,
            error=error.strerror,
        ) from None
    return Endpoint(host=host, port=lease.port, socket=path, lease=lease)


def filled(own: Mapping[str, Any], endpoint: Endpoint, params: Mapping[str, Any]) -> list[str]:
    """The words of the command with everything filled in. Raises CommandFailed if a quote is not closed."""
    values = {
        "python": own["python"],
        "loops": Path(__file__).with_name("loops.py"),
        "host": endpoint.host,
        "port": endpoint.port,
        "socket": endpoint.socket,
        "workers": params.get("NUM_API_SERVICES", 1),
        "threads": params.get("NUM_WORKERS_PER_API_SERVICE", 1),
    }
    try:
        words = shlex.split(own["command"])
    except ValueError as error:
        raise CommandFailed(
            "The command {line} cannot be read: {error}.", line=own["command"], error=str(error)
        ) from None
    pattern = re.compile("|".join(re.escape(f"{{{name}}}") for name in values))
    return [pattern.sub(lambda match: str(values[match[0][1:-1]]), word) for word in words]


def environment(own: Mapping[str, Any], inside: Mapping[str, str]) -> dict[str, str]:
    """This process's, with the measured interpreter's folder first on PATH, and what the user added.

    inside: variables that start parts of core/inside in its Python processes
    """
    variables = {**os.environ, "PYTHONNOUSERSITE": "1", **own["variables"]}
    variables["PATH"] = os.pathsep.join([os.path.dirname(own["python"]), variables.get("PATH", os.defpath)])
    variables |= dict(own["environment"])
    paths = (inside.get("PYTHONPATH", ""), variables.get("PYTHONPATH", ""))
    return variables | dict(inside) | ({"PYTHONPATH": os.pathsep.join(filter(None, paths))} if any(paths) else {})


class ServiceCommand:
    """A command that runs. It ends when this process does, and all its descendants with it."""

    def __init__(self, own: Mapping[str, Any], cell: Mapping[str, Any]) -> None:
        self._endpoint = endpoint_for(own, cell["service_id"], cell["folder"])
        words = filled(own, self._endpoint, cell["params"])
        self.address = self._endpoint.address
        self._output, self._reader = ProcessOutput(), OutputReader()
        self._line = shlex.join(words)
        adopt_orphans()
        try:
            self.process = subprocess.Popen(
                words,
                cwd=own["directory"],
                env=environment(own, cell.get("inside", {})),
                stdin=subprocess.DEVNULL,
                stdout=self._output.write_end,
                stderr=subprocess.STDOUT,
                preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),  # noqa: PLW1509 - there is no thread yet
            )
        except OSError as error:
            raise CommandFailed(
                "The command {line} cannot be started: {error}.", line=self._line, error=error.strerror
            ) from None
        self._reader.watch(self._output)

    def wait_until_it_answers(self, own: Mapping[str, Any], deadline_s: float) -> None:
        """Wait until it accepts a connection and answers the plan's first request, rightly or not.

        Raises PortLost if another process listens there, too, and CommandFailed if the command ends before, or does
        not answer within *deadline_s*.
        """
        began = monotonic()
        until, state, patience_s = began + deadline_s, NOTHING, min(ASK_DEADLINE_S, deadline_s)
        while monotonic() < until:
            self.expect_alive(message("before it listened"))
            state = lacking(own, self.address, min(ASK_DEADLINE_S, deadline_s))
            if not state:
                return
            if state.code != DEAF:
                self.expect_own_port()  # now, because whoever has it may end before the deadline
            if state.code not in (DEAF, SLOW):  # it says something else than HTTP, or closes
                until, patience_s = min(until, monotonic() + patience_s), deadline_s
            try:
                self.process.wait(TURN_S)
            except subprocess.TimeoutExpired:
                continue
        raise CommandFailed(
            "The command did not {state} at {address} in {waited_s:.0f} s: {report}",
            state=state,
            address=self.address,
            waited_s=monotonic() - began,
            report=self._report(),
        )

    def expect_alive(self, when: Message) -> None:
        """Raises CommandFailed if it has ended."""
        status = self.process.poll()
        if status is not None:
            how, report = describe_exit(status), self._report()
            raise CommandFailed("The command {ending} {when}: {report}", ending=how, when=when, report=report)

    def notices(self) -> str:
        """What its output says of its threads or its GIL (lab.gil.notice), each line once, of what is kept of it."""
        return "\n".join(notices(self._output.content().decode(errors="replace")))

    def says_foreign_loop(self) -> str:
        """The line of its output that says that what belongs to one event loop was used in another; "" without one."""
        lines = self._output.content().decode(errors="replace").splitlines()
        return next((line.strip() for line in lines if _FOREIGN_LOOP.search(line)), "")

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        """Ask it to end (SIGTERM), and end it with all its descendants (SIGKILL) if it has not after *deadline_s*."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(deadline_s)
        end_descendants()
        self._reader.close()

    def expect_own_port(self) -> None:
        """Raise PortLost if another process listens at its address, too: then not all answers were its own."""
        if self.has_lost_its_port():
            raise PortLost(
                "Another process listens at {address}, too: not all answers were this service's.", address=self.address
            )

    def expect_one_address(self) -> None:
        """Raises CommandFailed if it listens at all addresses of its machine, for everybody."""
        places = holders.listening_everywhere(descendants(os.getpid()))
        if places:
            raise CommandFailed(
                "The command listens at {places}, for everybody; across hosts it must listen at {host} alone, which it "
                "is told as {place}.",
                places=listed(places),
                host=self._endpoint.host,
                place="{host}",
            )

    def has_lost_its_port(self) -> bool:
        """Whether somebody else listens at the port that was chosen for it: it could not bind, or did not alone."""
        ours = descendants(os.getpid())
        if not self._endpoint.port or holders.is_alone(self.address, ours):
            return False
        return bool({*holders.serving(self.address)} - {*ours})  # of those that cannot be seen nothing is known

    def give_back(self) -> None:
        """End it before it has served, with all its descendants, so that another one can be started in its place."""
        self.stop(0.0)
        if self._endpoint.lease is not None:
            self._endpoint.lease.give_back()

    def _report(self) -> Message:
        """The command and the end of what it wrote."""
        output = last_text(self._output.content(), TAIL_BYTES)
        if not output:
            return message("{line}. It wrote nothing.", line=self._line)
        return message("{line}. It wrote: {output}", line=self._line, output=output)


def started(own: Mapping[str, Any], cell: Mapping[str, Any]) -> ServiceCommand:
    """Return the command, once it answers. Raises CommandFailed.

    cell: what the child is told, with its service_id, its folder, params, and what runs inside
    Where somebody else took the port that was chosen for it, it is started afresh with another one, STARTS times.
    """
    until, address = monotonic() + own["start_deadline_s"], ""
    for _ in range(STARTS):
        command = ServiceCommand(own, cell)
        address, failure = command.address, None
        try:
            command.wait_until_it_answers(own, max(1.0, until - monotonic()))
        except CommandFailed as failed:
            failure = failed
        is_lost = isinstance(failure, PortLost) or command.has_lost_its_port()
        if own["first_port"] or not is_lost:
            if failure:
                raise failure
            return command
        command.give_back()
    raise CommandFailed(
        "Another program took the port that was held for the command, {starts} times; the last was {address}.",
        starts=STARTS,
        address=address,
    )


def check_requests(own: Mapping[str, Any]) -> None:
    """Raises CommandFailed for a request that cannot be sent: its file cannot be read, or it does not fit a frame."""
    _, message_of = PROTOCOLS[own["protocol"]]
    for request in RequestPlan.from_json(own["requests"]).requests:
        try:
            message_of(request, "", own["prefix"])
        except BadInput as error:
            raise CommandFailed(error.message) from None
        except OSError as error:
            reason = message("{file}: {error}", file=str(request.body_file), error=error.strerror)
            raise CommandFailed("The body of {request}, {reason}.", request=str(request), reason=reason) from None


def lacking(own: Mapping[str, Any], address: str, deadline_s: float) -> Message:
    """What the service does not do yet; NOTHING once it answers the first request."""
    connect, message_of = PROTOCOLS[own["protocol"]]
    request = RequestPlan.from_json(own["requests"]).requests[0]
    try:
        connection = connect(address, deadline_s)
    except CallFailed:
        return message("accept a connection", code=DEAF)
    try:
        connection.ask(message_of(request, address, own["prefix"]), request.method)
    except CallFailed as failed:
        code, in_protocol = SLOW if "timeout" in failed.code else "", f"{own['protocol']} ({failed.code})"
        return message("answer {request} in {protocol}", code=code, request=str(request), protocol=in_protocol)
    finally:
        connection.close()
    return NOTHING


def end_descendants() -> None:
    """End every descendant of this process, also one that left its parent or its group."""
    while others := descendants(os.getpid()):
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
