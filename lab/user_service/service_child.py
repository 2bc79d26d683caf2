"""The child process for a user's own service. It starts the service's command, reports on it, and
ends it.

The orchestrator runs it as `python -m lab.user_service.service_child` under its own Python.
Requests do not pass through it. CPU time, context switches and memory are those of the command and
all its descendants. For a target, a service that already runs, they are those of the processes that
serve its address on this machine. docs/own-service.md describes the options.

It follows docs/child-contract.md. On another host it runs with that host's Python, so it and all
that it imports need the standard library and 3.11 syntax alone.
cell: the first line on stdin (lab/run/cell_processes.py, CellProcesses.serve)
own:  its key `own`: for a command, see command.py beside this file; for a target, the fields of
    core.user_service.Target; for both, `protocol` and `requests`
"""

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable
from time import monotonic
from typing import Any, NamedTuple, NoReturn

from core.child import (
    exit_at_once,
    print_ready,
    print_result,
    read_cell,
    resets,
)
from core.messages import Json, message
from core.parent import adopt_orphans, die_with_parent
from core.processtree import descendants, usage_of, usage_since
from core.user_service import OF_SYSTEM
from lab.process_output import notices
from lab.user_service.command import (
    ServiceCommand,
    end_descendants,
    foreign_loop,
    last_exception,
)
from lab.user_service.holders import WorkerSampler, serving
from lab.user_service.process_memory import PythonProcess, python_process
from lab.user_service.readiness import DEAF, CommandFailed, one_request, probe

ANSWER_DEADLINE_S = 5.0  # for a target's answer to one request
INSPECTION_DEADLINE_S = 2.0  # of pythons_in() in all
FAILED, ASGI = "failed", "asgi"  # key of the last line of a child that fails; value of `interface`
FOREIGN_LOOP = message(
    "Several event loops run in one process here. State that was created in one loop, such as a "
    "connection pool in app.state, cannot be used in another loop. Create this state once per loop "
    "(docs/findings/loops.md), or run one loop per process."
)


class Pythons(NamedTuple):
    """The Python versions that some processes run, such as 3.14.7t, and whether their GIL is on.

    labels: the versions, as lab.user_service.process_memory names them
    gil_enabled: None if it is unknown
    """

    labels: tuple[str, ...]
    gil_enabled: bool | None


def pythons_in(pids: Iterable[int], expected: str = "") -> Pythons:
    """Return the Python versions that the processes *pids* run, and whether the GIL is on.

    expected: label of the measured Python; if some processes run this Python, only their GIL counts
    The GIL counts as on if it is on in any process, and as off if it is off in all. It is unknown
    if some process does not report it, or was not reached in time.
    """
    until, found, is_complete = monotonic() + INSPECTION_DEADLINE_S, list[PythonProcess](), True
    for pid in pids:
        if monotonic() >= until:
            is_complete = False
            break
        try:
            process = python_process(pid)
        except PermissionError:
            process, is_complete = None, False
        if process:
            found.append(process)
    counted = [process for process in found if process.label == expected] or found
    states = {process.gil_enabled for process in counted}
    gil_enabled: bool | None = True in states or None
    if is_complete and states == {False}:
        gil_enabled = False
    return Pythons(tuple(dict.fromkeys(process.label for process in found)), gil_enabled)


class RunningService:
    """A target: a service that already runs. Its processes are known if they run on this machine as
    this user.

    StartedService overrides pids(), result() and stop().
    """

    # of a target these are unknown
    is_asgi = False
    expected_python = ""

    def __init__(self, own: Json) -> None:
        """Raise CommandFailed if the service does not answer."""
        self.address = own["address"]
        state = probe(own, self.address, ANSWER_DEADLINE_S)
        if state.code == DEAF:
            raise CommandFailed(
                "The service at {url} does not {state}. Start the service first.",
                url=own["url"],
                state=state,
            )
        if state:
            raise CommandFailed(
                "The service at {url} does not {state}.", url=own["url"], state=state
            )
        self._ready = self.pythons()
        self.count()

    def reset(self) -> None:
        """Set all counters of the service to zero."""
        self._workers.stop()
        self.count()

    def count(self) -> None:
        """Start to measure the service's CPU time, memory, workers and connections, from zero.
        Starts a thread, which result() or stop() of the workers ends.
        """
        self._pids = self.pids()
        self._workers = WorkerSampler(self._pids, self.address, is_asgi=self.is_asgi)
        self._since = usage_of(self._pids)

    def result(self) -> dict[str, Any]:
        """Return what was measured of the service: CPU time, memory, workers, GIL states. Raises
        CommandFailed.

        Only the clients count the answers. CPU time and memory are included if the processes are
        known, and at least one of them has run since the start.
        """
        workers, pids = self._workers.result(), self.pids()
        known = usage_since(self._since, usage_of(pids)) if {*pids} & {*self._pids} else {}
        ready, end = self._ready, self.pythons()
        return {
            **known,
            "requests": 0,
            "counted": False,
            "workers": workers,
            "gil_enabled_ready": ready.gil_enabled,
            "gil_enabled_end": end.gil_enabled,
            "pythons": list(dict.fromkeys([*ready.labels, *end.labels])),
        }

    def stop(self) -> None:
        """Leave the service running, because gilscope did not start it."""

    def pids(self) -> list[int]:
        """Return the pids of the service's processes that run now."""
        return serving(self.address)

    def pythons(self) -> Pythons:
        """Return the Python versions that the service's processes run."""
        return pythons_in(self.pids(), self.expected_python)


class StartedService(RunningService):
    """A service that the user's command starts. If the command ends too early, a thread ends this
    process.

    Threads: count() asks pids(), which needs _watch; the thread _watch needs _workers from count().
    """

    def __init__(self, cell: Json) -> None:
        """Start the service. Raises CommandFailed if it does not start."""
        own = {**cell["own"]}
        if "address" in cell:  # across hosts, the one address at which the service shall listen
            own["host"] = cell["address"]
        self._is_of_system = OF_SYSTEM in own
        if self._is_of_system:
            own[OF_SYSTEM] = one_request(cell)
        self.is_asgi, self.expected_python = own.get("interface") == ASGI, own["expected_python"]
        self.command = ServiceCommand(own, cell)
        self.address = self.command.address
        self._is_stopping = False
        self._watch = threading.Thread(target=self._await_end, name="command watch", daemon=True)
        self._ready = self.pythons()
        self.count()
        self._watch.start()

    def result(self) -> dict[str, Any]:
        """Return what was measured of the service. Raises CommandFailed if another process answered
        for it.
        """
        self._let_end_be_reported()
        try:
            if line := foreign_loop(self.command.output.text()):
                raise CommandFailed(
                    "The service wrote: {line}. {cause}", line=line, cause=FOREIGN_LOOP
                )
            self.command.expect_own_address()
        except CommandFailed:
            # the command will be ended for this failure, so its end is no second failure
            self._is_stopping = True
            raise
        result = super().result()
        if self._is_of_system:  # its number of threads is known
            result["workers"] = []
        output = self.command.output.text()
        if raised := last_exception(output):
            result["raised"] = raised
        for notice in notices(output):
            print(notice, file=sys.stderr)
        return result

    def stop(self) -> None:
        """End the command and all its descendants."""
        self._is_stopping = True
        self.command.stop()

    def pids(self) -> list[int]:
        """Return the pids of the command and all its descendants, including orphans, which this
        process adopts.
        """
        self._let_end_be_reported()
        return descendants(os.getpid())

    def _let_end_be_reported(self) -> None:
        """If the command has ended, wait for the thread that reports how, and that ends this
        process. Return only if the command runs, or if gilscope ended it.
        """
        if self.command.process.poll() is not None and self._watch.is_alive():
            self._watch.join()

    def _await_end(self) -> None:
        """Wait until the command ends. If gilscope did not end it, report how it ended, and end
        this process.
        """
        self.command.process.wait()
        if self._is_stopping:
            return
        try:
            self.command.expect_alive(message("while it was serving requests"))
        except CommandFailed as failed:
            # a signal ended it while several loops ran: name the likely cause, too
            if self.command.process.returncode < 0 and self._workers.has_several_loops:
                failed = CommandFailed(
                    "{failure} {cause}", failure=failed.message, cause=FOREIGN_LOOP
                )
            give_up(failed)


def main() -> None:
    """Serve until stdin is closed, like any service (systems/__main__.py).

    The orchestrator or the reaper may kill this process at any time. So a second process, in its
    own process group, does the work. It lives a little longer than this one, to end the command and
    all its descendants.
    """
    die_with_parent(os.getppid(), signal.SIGKILL)
    adopt_orphans()
    parent_pid = os.getpid()
    worker = os.fork()
    if worker:
        _, status = os.waitpid(worker, 0)
        end_descendants()
        exit_at_once(os.waitstatus_to_exitcode(status) & 0x7F)
    signal.signal(signal.SIGTERM, _killed)
    os.setpgid(0, 0)
    die_with_parent(parent_pid, signal.SIGTERM)
    cell = read_cell()
    tempfile.tempdir = cell["folder"]  # the sandbox removes leftover temporary files
    try:
        _serve(StartedService(cell) if "command" in cell["own"] else RunningService(cell["own"]))
    except CommandFailed as failed:
        give_up(failed)


def _serve(service: RunningService) -> None:
    print_ready([service.address])
    for _ in resets():
        service.reset()
    result = service.result()
    service.stop()  # before the last line, so that the service does not disturb the next cell
    print_result(result)
    exit_at_once()


def give_up(failed: CommandFailed) -> NoReturn:
    """End all descendants of this process, write the reason of the failure to stdout, and exit."""
    end_descendants()
    print(json.dumps({FAILED: failed.message.to_json()}), flush=True)
    exit_at_once(1)


def _killed(number: int, frame: object) -> NoReturn:
    end_descendants()
    exit_at_once(128 + number)


if __name__ == "__main__":
    main()
