"""The command of a user's own service: fills in its placeholders, starts it, and ends its process tree. Linux only."""

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

from clients.channel import CallFailed
from clients.drive import CallerClient
from clients.user_service.client import PROTOCOLS, connector, prepare
from core.beside import filled
from core.cell import Cell
from core.errors import BadInput, GilscopeError
from core.messages import AND, NOTHING, Message, listed, message
from core.method import Method
from core.parent import adopt_orphans, die_with_parent
from core.processtree import descendants
from core.request_plan import Request, RequestPlan
from core.system import NATIVE_CLIENT
from core.user_service import HTTP2, OF_SYSTEM, only_native
from lab.gil.switching import notices
from lab.native import programs
from lab.output import OutputReader, ProcessOutput, last_text
from lab.processes import describe_exit
from lab.user_service import holders, ports
from systems import system_of

LOOPBACK = "127.0.0.1"
ASK_DEADLINE_S = 5.0
STOP_DEADLINE_S = 5.0
TURN_S = 0.02
TAIL_BYTES = 1500
STARTS = 3
DEAF, SLOW = "deaf", "slow"  # codes of messages: the service accepts no connection, or does not answer in time
# The oldest minor version that knows a variable, and whether only free-threaded builds know it.
# Source: docs.python.org/3.15/using/cmdline.html#environment-variables
BUILD_VARIABLES = {
    "PYTHON_GIL": (13, True),
    "PYTHON_TLBC": (14, True),
    "PYTHON_CPU_COUNT": (13, False),
    "PYTHON_JIT": (14, False),
    "PYTHON_THREAD_INHERIT_CONTEXT": (14, False),
    "PYTHON_CONTEXT_AWARE_WARNINGS": (14, False),
}
_TRACEBACK = re.compile(
    r"""^Traceback \(most recent call last\):\n(?:[ \t].*\n)*"""
    r"""[ \t]+File "(.+)", line ([0-9]+).*\n(?:[ \t].*\n)*(\S.*)""",
    re.MULTILINE,
)
_FOREIGN_LOOP = re.compile("attached to a different loop|is bound to a different event loop")


class CommandFailed(GilscopeError):
    """The error that a service did not start or ended too early. Its message has the status and the last output."""


class PortLost(CommandFailed):
    """The error that another process listens at the service's port."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """The address at which a service shall listen: a port of *host*, or the path of a Unix socket (port is then 0).

    lease: keeps other services off the port for as long as this process holds it
    """

    host: str
    port: int
    socket: str
    lease: ports.PortLease | None = None

    @property
    def address(self) -> str:
        """Return the address for the clients: host:port, or the socket's path."""
        return f"{self.host}:{self.port}" if self.port else self.socket


def choose_endpoint(own: Mapping[str, Any], service_id: int, folder: str) -> Endpoint:
    """Return a free endpoint. Raises CommandFailed if the port that the user chose is taken."""
    path, host = os.path.join(folder, f"{service_id}.0"), own.get("host", LOOPBACK)
    if "{port}" not in own["command"]:
        return Endpoint(host=host, port=0, socket=path)
    port = own["first_port"] + service_id if own["first_port"] else 0
    if port > ports.LAST_PORT:
        raise CommandFailed("{port} is not a port (1-65535). Set a lower --service-port.", port=port)
    try:
        lease = ports.lease(host, port)
    except OSError as error:
        raise CommandFailed(
            "Port {port} of {host} is not available: {error}. End the program that uses the port, or leave "
            "--service-port out.",
            port=port,
            host=host,
            error=error.strerror,
        ) from None
    return Endpoint(host=host, port=lease.port, socket=path, lease=lease)


def fill_placeholders(own: Mapping[str, Any], endpoint: Endpoint, params: Mapping[str, Any]) -> list[str]:
    """Return the command's words with all placeholders filled in. Raises CommandFailed if a quote is not closed."""
    values = {
        "python": own["python"],
        "host": endpoint.host,
        "port": str(endpoint.port),
        "socket": endpoint.socket,
        "workers": str(params.get("NUM_API_SERVICES", 1)),
        "threads": str(params.get("NUM_WORKERS_PER_API_SERVICE", 1)),
    }
    try:
        words = shlex.split(own["command"])
    except ValueError as error:
        raise CommandFailed(
            "The command {line} cannot be parsed: {error}. Check its quotes.", line=own["command"], error=str(error)
        ) from None
    return [filled(word, values) for word in words]


def unknown_variables(names: Iterable[str], minor: int, free_threaded: bool) -> list[str]:
    """Return the environment variables of *names* that a build of Python 3.*minor* does not know."""
    known = {name: BUILD_VARIABLES.get(name, (0, False)) for name in names}
    return [name for name, (oldest, only_free) in known.items() if minor < oldest or (only_free and not free_threaded)]


def command_environment(own: Mapping[str, Any], inside: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the command. The measured interpreter's folder is first on PATH.

    own: has the variables that the user added; a variable that the measured Python does not know is left out
    inside: variables that make Python processes start the parts of core/inside
    """
    variables = {**os.environ, "PYTHONNOUSERSITE": "1", **own["variables"]}
    variables["PATH"] = os.pathsep.join([os.path.dirname(own["python"]), variables.get("PATH", os.defpath)])
    variables |= dict(own["environment"])
    if label := own.get("expected_python"):
        for name in unknown_variables(own["environment"], int(label.split(".")[1]), label.endswith("t")):
            del variables[name]
    paths = (inside.get("PYTHONPATH", ""), variables.get("PYTHONPATH", ""))
    return variables | dict(inside) | ({"PYTHONPATH": os.pathsep.join(filter(None, paths))} if any(paths) else {})


class ServiceCommand:
    """A running command. It ends, with all its descendants, when this process ends."""

    def __init__(self, own: Mapping[str, Any], cell: Mapping[str, Any]) -> None:
        self._endpoint = choose_endpoint(own, cell["service_id"], cell["folder"])
        words = fill_placeholders(own, self._endpoint, cell["params"])
        self.address = self._endpoint.address
        self._output, self._reader = ProcessOutput(), OutputReader()
        self._line = shlex.join(words)
        adopt_orphans()
        try:
            self.process = subprocess.Popen(
                [*cell.get("join", ()), *words],
                cwd=own["directory"] or None,
                env=command_environment(own, cell.get("inside", {})),
                stdin=subprocess.DEVNULL,
                stdout=self._output.write_end,
                stderr=subprocess.STDOUT,
                preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),  # noqa: PLW1509 - no thread runs yet
            )
        except OSError as error:
            raise CommandFailed(
                "The command {line} cannot be started: {error}.", line=self._line, error=error.strerror
            ) from None
        self._reader.watch(self._output)

    def wait_until_it_answers(self, own: Mapping[str, Any], deadline_s: float) -> None:
        """Wait until the service accepts a connection and answers the plan's first request. Any answer counts.

        Raises PortLost if another process listens at the same address. Raises CommandFailed if the command ends, or
        does not answer within *deadline_s*.
        """
        began = monotonic()
        until, state, patience_s = began + deadline_s, NOTHING, min(ASK_DEADLINE_S, deadline_s)
        while monotonic() < until:
            self.expect_alive(message("before the service accepted connections"))
            state = probe(own, self.address, min(ASK_DEADLINE_S, deadline_s))
            if not state:
                return
            if state.code != DEAF:
                self.expect_own_port()  # check now, because the other process may end before the deadline
            if state.code not in (DEAF, SLOW):  # the service speaks another protocol, or closes the connection
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
        """Raise CommandFailed if the command has ended."""
        status = self.process.poll()
        if status is not None:
            how, report = describe_exit(status), self._report()
            raise CommandFailed("The command {ending} {when}: {report}", ending=how, when=when, report=report)

    def notices(self) -> str:
        """Return the output's lines that report on threads or the GIL (lab.gil.switching), each once."""
        return "\n".join(notices(self._output.text()))

    def raised(self) -> str:
        """Return the last exception in the output, with its file and line; "" if there is none."""
        return last_exception(self._output.text())

    def says_foreign_loop(self) -> str:
        """Return the output line that says that an object belongs to another event loop; "" if there is none."""
        return next((line.strip() for line in self._output.text().splitlines() if _FOREIGN_LOOP.search(line)), "")

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        """Send the command SIGTERM, wait up to *deadline_s*, then kill the command and all descendants (SIGKILL)."""
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(deadline_s)
        end_descendants()
        self._reader.close()

    def expect_own_port(self) -> None:
        """Raise PortLost if another process listens at the same address and may have answered some of the requests."""
        if self.has_lost_its_port():
            raise PortLost(
                "Another process also listens at {address}, so it may have given some of the answers. "
                "End that process.",
                address=self.address,
            )

    def expect_one_address(self) -> None:
        """Raise CommandFailed if the service listens at all addresses of its machine, open to every host."""
        places = holders.listening_everywhere(descendants(os.getpid()))
        if places:
            raise CommandFailed(
                "The command listens on {places}, which every host can reach. In a run across hosts, the command "
                "must listen only on {host}. Write {place} for this address in the command.",
                places=listed(places),
                host=self._endpoint.host,
                place="{host}",
            )

    def has_lost_its_port(self) -> bool:
        """Return whether another process listens at the service's port, alone or together with the service."""
        ours = descendants(os.getpid())
        if not self._endpoint.port or holders.is_alone(self.address, ours):
            return False
        return bool({*holders.serving(self.address)} - {*ours})  # processes of other users cannot be seen

    def give_back(self) -> None:
        """End the command and all its descendants after a failed start, and free the port for another attempt."""
        self.stop(0.0)
        if self._endpoint.lease is not None:
            self._endpoint.lease.give_back()

    def _report(self) -> Message:
        """Return a message with the command and the end of its output."""
        output = last_text(self._output.content(), TAIL_BYTES)
        if not output:
            return message("{line}. The command wrote nothing.", line=self._line)
        return message("{line}. The command wrote: {output}", line=self._line, output=output)


def last_exception(output: str) -> str:
    """Return the last exception whose traceback *output* has, with its file and line; "" if there is none."""
    found = _TRACEBACK.findall(output)
    if not found:
        return ""
    file, line, error = found[-1]
    return last_text(f"{error} ({file}, line {line})".encode(), TAIL_BYTES)


def start_command(own: Mapping[str, Any], cell: Mapping[str, Any]) -> ServiceCommand:
    """Start the command, wait until it answers, and return it. Raises CommandFailed.

    If another process has taken the chosen port, the command is started again with another port, up to STARTS times.
    cell: the child's first line, with service_id, folder, params, and the variables of parts inside the service
    """
    until, address = monotonic() + own["start_deadline_s"], ""
    for _ in range(STARTS):
        command = ServiceCommand(own, cell)
        address = command.address
        try:
            command.wait_until_it_answers(own, max(1.0, until - monotonic()))
            if own["first_port"] or not command.has_lost_its_port():
                return command
        except CommandFailed as failed:
            if own["first_port"] or not (isinstance(failed, PortLost) or command.has_lost_its_port()):
                raise
        command.give_back()
    raise CommandFailed(
        "The service was started {starts} times, and each time another program took its port first. The last address "
        "was {address}.",
        starts=STARTS,
        address=address,
    )


def check_requests(own: Mapping[str, Any]) -> None:
    """Raise CommandFailed if a request cannot be sent: its body file is not readable, or too large for a frame."""
    _, message_of = PROTOCOLS[own["protocol"]]
    for request in RequestPlan.from_json(own["requests"]).requests:
        try:
            message_of(request, "", own["prefix"])
        except BadInput as error:
            raise CommandFailed(error.message) from None
        except OSError as error:
            reason = message("{file}: {error}", file=str(request.body_file), error=error.strerror)
            raise CommandFailed(
                "The body of {request} cannot be read: {reason}.", request=str(request), reason=reason
            ) from None


def probe(own: Mapping[str, Any], address: str, deadline_s: float) -> Message:
    """Send the plan's first request to the service. Return what the service fails to do, or NOTHING if it answers."""
    state = own[OF_SYSTEM](address, deadline_s) if OF_SYSTEM in own else _probed(own, address, deadline_s)
    if own["protocol"] != HTTP2 or state.code == DEAF or not state:
        return state
    return message(
        "{state}; if the service speaks only HTTP/1.1, leave out --protocol http2", code=state.code, state=state
    )


def one_request(first_line: Mapping[str, Any]) -> Callable[[str, float], Message]:
    """Return a function that sends one request to a system's service, as its clients do.

    The function returns what the service at an address fails to do in a number of seconds; NOTHING if it answers.
    first_line: the first line of the service's child
    """
    system = system_of(first_line)
    cell = replace(Cell.from_json(first_line), num_requests_per_client=1, rate=0)

    def ask(address: str, deadline_s: float) -> Message:
        try:
            client = CallerClient(system, cell, 0, [[address]], limit_s=deadline_s)
        except CallFailed:
            return message("accept a connection", code=DEAF)
        result = client.run(2 * deadline_s)
        client.close()
        if wrong := result.get("first_wrong"):
            return message("give {expected} to {request} (it gave {got})", **wrong)
        if faults := [*result["errors"], *(["wrong"] if result["wrong"] else [])]:
            code = SLOW if "timeout" in faults else ""
            return message("answer one request ({faults})", code=code, faults=listed(faults))
        return NOTHING

    return ask


def _probed(own: Mapping[str, Any], address: str, deadline_s: float) -> Message:
    plan = RequestPlan.from_json(own["requests"])
    request, *_ = plan.requests
    try:
        connection = connector(own)(address, deadline_s)
    except CallFailed as failed:
        if failed.reason:
            return message("complete a TLS handshake with gilscope's client (error: {reason})", reason=failed.reason)
        return message("accept a connection", code=DEAF)
    try:
        if only_native(own["protocol"], plan):
            connection.close()
            _ask_natively(own, request, address, deadline_s)
        else:
            first, *_ = prepare(own, plan, address)
            connection.ask(first.sent, request.method)
    except CallFailed as failed:
        if failed.code == "garbled" and failed.reason:
            return message(
                "answer {request} in {protocol} (it answered {answer}; gilscope's clients speak {protocols}, and "
                "docs/add-a-system.md says how to add another protocol)",
                request=str(request),
                protocol=own["protocol"],
                answer=failed.reason,
                protocols=listed(PROTOCOLS, last=AND),
            )
        code, in_protocol = SLOW if "timeout" in failed.code else "", f"{own['protocol']} ({failed.code})"
        return message("answer {request} in {protocol}", code=code, request=str(request), protocol=in_protocol)
    finally:
        connection.close()
    return NOTHING


def _ask_natively(own: Mapping[str, Any], request: Request, address: str, deadline_s: float) -> None:
    """Send *request* once with the native client. Raises CallFailed if the service does not answer."""
    plan = RequestPlan(requests=(replace(request, first=False, save={}),))
    cell = {
        "params": {"NUM_REQUESTS_PER_CLIENT": 1},
        "method": Method().to_json(),
        "client_id": 0,
        "addresses": [[address]],
        "own": {**own, "requests": plan.to_json(), "answer_deadline_s": deadline_s},
    }
    with subprocess.Popen(
        programs.command(NATIVE_CLIENT),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as client:
        assert client.stdin, "a pipe"
        assert client.stdout, "a pipe"
        client.stdin.write(f"{json.dumps(cell)}\ngo\n")
        client.stdin.flush()
        ready, answer = client.stdout.readline(), client.stdout.readline()
    if not answer:
        raise CommandFailed("The native client failed: {output}", output=ready.strip())
    result = json.loads(answer)["result"]
    for code in () if result["answered"] else result["errors"]:
        raise CallFailed(code, result.get("first_wrong", {}).get("got", ""))


def end_descendants() -> None:
    """Kill every descendant of this process, including those that left their parent or process group."""
    while others := descendants(os.getpid()):
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
