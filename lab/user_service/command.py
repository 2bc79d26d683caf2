"""The command of a user's own service: fills in its placeholders, starts it, and ends its process
tree. Linux only.

service_child.py beside this file makes one ServiceCommand, in a process of its own, and ends it
with stop(). Two JSON objects go through this module:
cell: the child's first line (lab/run/cell_processes.py, CellProcesses.serve), with service_id,
    folder, params
own:  its key `own`, the fields of core.user_service.Command; `python`, `expected_python` and
    `variables` of the measured runtime (lab/run/measured_runtimes.py); across hosts also `host`
"""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import NamedTuple

from core.messages import NOTHING, Json, Message, message
from core.parent import adopt_orphans, die_with_parent
from core.processtree import descendants
from core.user_service import filled
from lab.process_output import OutputReader, ProcessOutput, last_text
from lab.processes import describe_exit
from lab.user_service import holders, ports
from lab.user_service.readiness import DEAF, SLOW, CommandFailed, probe

LOOPBACK = "127.0.0.1"
ASK_DEADLINE_S = 5.0  # for the answer to one request, while the service starts
STOP_DEADLINE_S = 5.0  # from SIGTERM to SIGKILL
TURN_S = 0.02  # between two requests, while the service starts
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
# groups: file and line of the last frame, and the exception
_TRACEBACK = re.compile(
    r"""^Traceback \(most recent call last\):\n(?:[ \t].*\n)*"""
    r"""[ \t]+File "(.+)", line ([0-9]+).*\n(?:[ \t].*\n)*(\S.*)""",
    re.MULTILINE,
)
# in errors of asyncio
_FOREIGN_LOOP = re.compile("attached to a different loop|is bound to a different event loop")


class Endpoint(NamedTuple):
    """The address at which a service shall listen: a port of *host*, or the path of a Unix socket
    (port is then 0).

    lease: keeps other services off the port for as long as this process holds it
    """

    host: str
    port: int
    socket: str
    lease: ports.PortLease | None = None


def choose_endpoint(own: Json, service_id: int, folder: str) -> Endpoint:
    """Return a free endpoint, whose port is leased. Raises CommandFailed if the port that the user
    chose is taken.

    folder: has the Unix socket; short enough for its path (lab/folders.py, Sandbox)
    """
    path, host = os.path.join(folder, f"{service_id}.0"), own.get("host", LOOPBACK)
    if "{port}" not in own["command"]:
        return Endpoint(host, 0, path)
    # 0 lets ports.lease() choose
    port = own["first_port"] and own["first_port"] + service_id
    if port > ports.LAST_PORT:
        raise CommandFailed(
            "{port} is not a port (1-65535). Set a lower --service-port.", port=port
        )
    try:
        lease = ports.lease(host, port)
    except OSError as error:
        raise CommandFailed(
            "Port {port} of {host} is not available: {error}. End the program that uses the port, "
            "or leave --service-port out.",
            port=port,
            host=host,
            error=error.strerror,
        ) from None
    return Endpoint(host, lease.port, path, lease)


def fill_placeholders(own: Json, endpoint: Endpoint, params: Json) -> list[str]:
    """Return the command's words with all placeholders filled in. Raises CommandFailed if a quote
    is not closed.
    """
    values = {
        "python": own["python"],
        "host": endpoint.host,
        "port": str(endpoint.port),
        "socket": endpoint.socket,
        "workers": str(params.get("NUM_API_SERVICES", 1)),
        "threads": str(params.get("NUM_WORKERS_PER_API_SERVICE", 1)),
        **settings(own, params),
    }
    try:
        words = shlex.split(own["command"])
    except ValueError as error:
        raise CommandFailed(
            "The command {line} cannot be parsed: {error}. Check its quotes.",
            line=own["command"],
            error=error,
        ) from None
    return [filled(word, values) for word in words]


def settings(own: Json, params: Json) -> dict[str, str]:
    """Return the values of the settings that the plan varies, by name."""
    return {name: str(params[name]) for name in own.get("knobs", ()) if name in params}


def knows(variable: str, minor: int, free_threaded: bool) -> bool:
    """Return whether a build of Python 3.*minor* accepts an environment variable."""
    oldest, only_free = BUILD_VARIABLES.get(variable, (0, False))
    return minor >= oldest and (free_threaded or not only_free)


def command_environment(own: Json, params: Json, inside: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the command. The measured interpreter's folder is first
    on PATH.

    own: has the variables that the user added (`environment`), and those of the runtime
        (`variables`); of the former, one that the measured Python does not know is left out
    params: the cell's parameters; settings that the command does not contain are variables
    inside: variables that make Python processes start the parts of core/inside
    """
    variables = {**os.environ, "PYTHONNOUSERSITE": "1", **own["variables"]}
    folder = os.path.dirname(own["python"])
    variables["PATH"] = os.pathsep.join([folder, variables.get("PATH", os.defpath)])
    chosen = settings(own, params)
    unplaced = {name: chosen[name] for name in chosen if f"{{{name}}}" not in own["command"]}
    added = {**own["environment"], **unplaced}
    variables |= added
    if label := own.get("expected_python"):
        for name in added:
            if not knows(name, int(label.split(".")[1]), label.endswith("t")):
                del variables[name]
    if inside:
        # the user's own modules come after those of gilscope
        paths = filter(None, (inside["PYTHONPATH"], variables.get("PYTHONPATH")))
        variables |= {**inside, "PYTHONPATH": os.pathsep.join(paths)}
    return variables


class ServiceCommand:
    """A running command. It ends, with all its descendants, when this process ends.

    output: what the command has written so far
    address: for the clients: host:port, or the path of a Unix socket

    Creating an instance leases a port, starts the command, and waits until it answers. Raises
    CommandFailed. All descendants of this process count as the command's, so a process has only one
    instance.
    own, cell: see the beginning of this file
    """

    def __init__(self, own: Json, cell: Json) -> None:
        self._endpoint = place = choose_endpoint(own, cell["service_id"], cell["folder"])
        words = fill_placeholders(own, place, cell["params"])
        self._is_across_hosts = "host" in own
        self.address = f"{place.host}:{place.port}" if place.port else place.socket
        self.output, self._reader = ProcessOutput(), OutputReader()
        self._line = shlex.join(words)
        adopt_orphans()
        try:
            self.process = subprocess.Popen(
                [*cell.get("join", ()), *words],
                cwd=own["directory"] or None,
                env=command_environment(own, cell["params"], cell.get("inside", {})),
                stdin=subprocess.DEVNULL,
                stdout=self.output.write_end,
                stderr=subprocess.STDOUT,
                # allowed, because no thread runs yet
                preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGKILL),  # noqa: PLW1509
            )
        except OSError as error:
            raise CommandFailed(
                "The command {line} cannot be started: {error}.",
                line=self._line,
                error=error.strerror,
            ) from None
        self._reader.watch(self.output)
        self._wait_until_it_answers(own, own["start_deadline_s"])

    def _wait_until_it_answers(self, own: Json, deadline_s: float) -> None:
        """Wait until the service accepts a connection and answers the plan's first request. Any
        answer counts.

        Raises CommandFailed if the command ends, if it does not answer within *deadline_s*, or if
        its address is not its own.
        """
        began, ask_s, state = monotonic(), min(ASK_DEADLINE_S, deadline_s), NOTHING
        until, patience_s = began + deadline_s, ask_s
        while monotonic() < until:
            self.expect_alive(message("before the service accepted connections"))
            state = probe(own, self.address, ask_s)
            if state.code != DEAF:
                # check now, because another process may end before the deadline
                self.expect_own_address()
            if not state:
                return
            if state.code not in (DEAF, SLOW):
                # the service speaks another protocol, or closes the connection: it gets ask_s more
                # from the first such answer, and no extension for later ones
                until, patience_s = min(until, monotonic() + patience_s), deadline_s
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(TURN_S)
        raise CommandFailed(
            "The command did not {state} at {address} in {waited_s:.0f} s: {report}",
            state=state,
            address=self.address,
            waited_s=monotonic() - began,
            report=self._report(),
        )

    def expect_alive(self, when: Message) -> None:
        """Raise CommandFailed if the command has ended."""
        if (status := self.process.poll()) is not None:
            raise CommandFailed(
                "The command {ending} {when}: {report}",
                ending=describe_exit(status),
                when=when,
                report=self._report(),
            )

    def stop(self) -> None:
        """Send the command SIGTERM, wait up to STOP_DEADLINE_S, then kill the command and all
        descendants of this process (SIGKILL).
        """
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_DEADLINE_S)
        end_descendants()
        self._reader.close()

    def expect_own_address(self) -> None:
        """Raise CommandFailed if another process listens at the same port, and may have answered
        some of the requests. In a run across hosts, also raise it if the service listens at all
        addresses of its machine, open to every host.
        """
        ours = descendants(os.getpid())
        if self._endpoint.port and holders.is_shared(self.address, ours):
            raise CommandFailed(
                "Another process also listens at {address}, so it may have given some of the "
                "answers. End that process.",
                address=self.address,
            )
        if self._is_across_hosts and (places := holders.listening_everywhere(ours)):
            raise CommandFailed(
                "The command listens on {places}, which every host can reach. In a run across "
                "hosts, the command must listen only on {host}. Write {place} for this address in "
                "the command.",
                places=places,
                host=self._endpoint.host,
                place="{host}",
            )

    def _report(self) -> Message:
        """Return a message with the command and the end of its output."""
        output = last_text(self.output.content())
        if not output:
            return message("{line}. The command wrote nothing.", line=self._line)
        return message("{line}. The command wrote: {output}", line=self._line, output=output)


def foreign_loop(output: str) -> str:
    """Return the output line that says that an object belongs to another event loop; "" if there is
    none.
    """
    return next((line.strip() for line in output.splitlines() if _FOREIGN_LOOP.search(line)), "")


def last_exception(output: str) -> str:
    """Return the last exception whose traceback *output* has, with its file and line; "" if there
    is none.
    """
    for file, line, error in _TRACEBACK.findall(output)[-1:]:
        return last_text(f"{error} ({file}, line {line})".encode())
    return ""


def end_descendants() -> None:
    """Kill every descendant of this process, including those that left their parent or process
    group, and reap them. Popen objects of this process may lose their exit status by this.
    """
    while others := descendants(os.getpid()):
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
