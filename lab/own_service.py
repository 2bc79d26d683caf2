"""The service role of a user's own service: starts its command, speaks the child contract for it, and ends it.

Run as `python -m lab.own_service` under the orchestrator's Python. It is not in the request path. CPU, switches and
memory are those of the command and all its descendants; what it is told is in docs/own-service.md.
"""

import os
import signal
import sys
import threading
from collections.abc import Mapping
from time import monotonic
from typing import Any, NoReturn

from core.child import exit_at_once, next_word, read_cell, say_done, say_ready, say_result, stay_on
from core.processtree import TreeUsage, tree, usage_of_tree
from lab.gilprobe import gil_state
from lab.own_command import Command, CommandFailed, adopt_orphans, die_with_parent, end_descendants, lacking

PROBE_DEADLINE_S = 2.0
ANSWER_DEADLINE_S = 5.0


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
        self._command = Command(self._own, told["service_id"], told["folder"], told["params"])
        self._command.wait_until_it_answers(self._own)
        self.address = self._command.address
        self.ready = self._gil()
        self._watch = Watch(self._command)
        self._since = self._usage()

    def reset(self) -> None:
        """Count from nought."""
        self._since = self._usage()

    def result(self) -> dict[str, Any]:
        """Its last line. What it answered is not known here: the clients count."""
        used = self._usage().since(self._since).to_json()
        end = self._gil()
        promised = self._own["gil_enabled"]
        said = self._command.culprits()
        if said:
            print(said, file=sys.stderr)
        return {
            **used,
            "requests": 0,
            "counted": False,
            "gil_enabled_ready": promised if self.ready is None else self.ready,
            "gil_enabled_end": promised if end is None else end,
            "gil_known": self.ready is not None and end is not None,
        }

    def stop(self) -> None:
        """End it, and whatever it has started."""
        self._watch.stop()
        self._command.stop()

    def _usage(self) -> TreeUsage:
        try:
            return usage_of_tree(self._command.process.pid)
        except ProcessLookupError:
            self._watch.wait()
            raise

    def _gil(self) -> bool | None:
        """Whether any Python process of the service has its GIL on; None where none of them tells."""
        until = monotonic() + PROBE_DEADLINE_S
        states = [gil_state(pid, 1.0) for pid in tree(self._command.process.pid) if monotonic() < until]
        return True if True in states else False if False in states else None


class Target:
    """A service that already runs: nothing is started, and nothing is known of its processes."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        """Raises CommandFailed if it does not answer."""
        self.address = told["own"]["address"]
        why_not = lacking(told["own"], self.address, ANSWER_DEADLINE_S)
        if why_not:
            raise CommandFailed(f"Nothing works at {told['own']['url']}: it does not {why_not}. Start it first.")

    def reset(self) -> None:
        """Nothing is counted."""

    def result(self) -> dict[str, Any]:
        """What the contract wants, and that it is not known."""
        gil = {"gil_enabled_ready": False, "gil_enabled_end": False, "gil_known": False}
        return {"requests": 0, "counted": False, **gil}

    def stop(self) -> None:
        """It is not ours to end."""


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
