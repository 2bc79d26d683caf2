"""The service role of a user's own service: starts its command, speaks the child contract for it, and ends it.

Run as `python -m lab.user_service.child` under the orchestrator's Python. It is not in the request path. CPU, switches
and memory are those of the command and all its descendants, or of whoever serves a target's address on this machine;
what it is told is in docs/own-service.md.
"""

import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, NoReturn

from core.child import exit_at_once, next_word, read_cell, say_done, say_ready, say_result, stay_on
from core.processtree import TreeUsage, descendants, usage_of
from lab.user_service import holders
from lab.user_service.command import (
    Command,
    CommandFailed,
    adopt_orphans,
    check_requests,
    die_with_parent,
    end_descendants,
    lacking,
)
from lab.user_service.inside import Inside, inside

ANSWER_DEADLINE_S = 5.0
UNCOUNTED = {"requests": 0, "counted": False}


class Watch:
    """Says how the command ended, and ends this process, when that happens before it is told to stop."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._stopping = False
        self._thread = threading.Thread(target=self._watch, name="command watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """From now on it may end."""
        self._stopping = True

    def wait(self) -> None:
        """The command has ended: wait until that is said, which ends this process."""
        self._thread.join()

    def _watch(self) -> None:
        self._command.process.wait()
        if not self._stopping:
            try:
                self._command.expect_alive("while it was serving")
            except CommandFailed as failed:
                give_up(failed)


class Hosted:
    """The user's command as a service."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        """Raises CommandFailed if it does not start."""
        self._own = told["own"]
        check_requests(self._own)
        self._command = Command(self._own, told["service_id"], told["folder"], told["params"])
        self._command.wait_until_it_answers(self._own, self._own["start_deadline_s"])
        self.address = self._command.address
        self._ready = self._look()
        self._watch = Watch(self._command)
        self._since = self._usage()

    def reset(self) -> None:
        """Count from nought."""
        self._since = self._usage()

    def result(self) -> dict[str, Any]:
        """Its last line. What it answered is not known here: the clients count."""
        used = self._usage().since(self._since).to_json()
        said = self._command.culprits()
        if said:
            print(said, file=sys.stderr)
        return {**used, **UNCOUNTED, **_states(self._ready, self._look(), self._own["gil_enabled"])}

    def stop(self) -> None:
        """End it, and whatever it has started."""
        self._watch.stop()
        self._command.stop()

    def _usage(self) -> TreeUsage:
        """Of all that has come of the command: what leaves its parent becomes a child of this process."""
        if self._command.process.poll() is not None:
            self._watch.wait()
        return usage_of(descendants(os.getpid()))

    def _look(self) -> Inside:
        return inside(descendants(os.getpid()), self._own["expected_python"])


class Target:
    """A service that already runs: nothing is started. Its processes are known where they are this user's, here."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        """Raises CommandFailed if it does not answer."""
        self.address = told["own"]["address"]
        check_requests(told["own"])
        why_not = lacking(told["own"], self.address, ANSWER_DEADLINE_S)
        if why_not:
            raise CommandFailed(f"Nothing works at {told['own']['url']}: it does not {why_not}. Start it first.")
        self._ready = self._look()
        self.reset()

    def reset(self) -> None:
        """Count from nought."""
        self._pids = holders.serving(self.address)
        self._since = usage_of(self._pids)

    def result(self) -> dict[str, Any]:
        """Its last line: the usage is there where the processes are known, and some are the same as at the start."""
        pids = holders.serving(self.address)
        used = usage_of(pids).since(self._since).to_json() if {*pids} & {*self._pids} else {}
        return {**used, **UNCOUNTED, **_states(self._ready, self._look(), promised=False)}

    def stop(self) -> None:
        """It is not ours to end."""

    def _look(self) -> Inside:
        return inside(holders.serving(self.address), may_ask=False)


def _states(ready: Inside, end: Inside, promised: bool) -> dict[str, Any]:
    """What the last line says of the GIL, the promise where it is not known, and of the Pythons that were seen."""
    return {
        "gil_enabled_ready": promised if ready.gil_enabled is None else ready.gil_enabled,
        "gil_enabled_end": promised if end.gil_enabled is None else end.gil_enabled,
        "gil_known": ready.gil_enabled is not None and end.gil_enabled is not None,
        "pythons": list(dict.fromkeys([*ready.pythons, *end.pythons])),
    }


def main() -> None:
    """Serve until end of file on stdin, like any service (systems/__main__.py).

    The orchestrator, or the janitor after it, may kill this process at any time. So a second one, in a group of its
    own, does the work: it outlives this one just so long as it takes to end the command and all that it has started.
    """
    adopt_orphans()
    worker = os.fork()
    if worker:
        _, status = os.waitpid(worker, 0)
        end_descendants()
        exit_at_once(os.waitstatus_to_exitcode(status) & 0x7F)
    signal.signal(signal.SIGTERM, _killed)
    os.setpgid(0, 0)
    die_with_parent(signal.SIGTERM)
    told = read_cell()
    stay_on(told.get("cpus", ()))
    try:
        _serve(Hosted(told) if "command" in told["own"] else Target(told))
    except CommandFailed as failed:
        give_up(failed)


def _serve(service: Hosted | Target) -> None:
    say_ready([service.address])
    while word := next_word():
        if word == "reset":
            service.reset()
            say_done(word)
    result = service.result()
    service.stop()  # before the last word: then nothing of it disturbs the next cell
    say_result(result)
    exit_at_once()


def give_up(failed: CommandFailed) -> NoReturn:
    """End all, and say why: the orchestrator shows the end of stderr."""
    end_descendants()
    print(failed, file=sys.stderr)
    exit_at_once(1)


def _killed(number: int, frame: object) -> NoReturn:
    end_descendants()
    exit_at_once(128 + number)


if __name__ == "__main__":
    main()
