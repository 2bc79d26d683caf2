"""Which Pythons the processes of a service run, and whether the GIL of the measured one is on."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from core.errors import BadInput
from lab.gil.probe import python_process

PROC_STAT = Path("/proc/self/stat")
INSPECTION_DEADLINE_S = 2.0
ANSWER_DEADLINE_S = 1.0


def expect_proc() -> None:
    """Raises BadInput where the processes of a command cannot be seen, so that none would be ended or counted."""
    if not PROC_STAT.exists():
        raise BadInput(
            "A service by command is counted and ended by /proc, which {platform} does not have. "
            "Measure on Linux, or start the service yourself and name it with --target.",
            platform=sys.platform,
        )


@dataclass(frozen=True, kw_only=True)
class Pythons:
    """labels: of each Python that was found (lab.gil.probe), once. gil_enabled: None if that is not known."""

    labels: tuple[str, ...] = ()
    gil_enabled: bool | None = None


def pythons_in(pids: Iterable[int], expected: str = "", *, may_ask: bool = True) -> Pythons:
    """The Pythons of these processes.

    expected: label of the Python that is measured; if some of them run it, only their GIL counts
    may_ask: whether a process may be made to run a line (lab.gil.probe)
    A GIL that is on in one of them is on. It is off if all of them say so: one that does not tell, or that was
    not reached in time, leaves it unknown.
    """
    until, states = monotonic() + INSPECTION_DEADLINE_S, dict[str, list[bool | None]]()
    reached_all = True
    for pid in pids:
        if monotonic() >= until:
            reached_all = False
            break
        process = python_process(pid, ANSWER_DEADLINE_S, may_ask=may_ask)
        if process:
            states.setdefault(process.label, []).append(process.gil_enabled)
    counted = states.get(expected) or [state for of_label in states.values() for state in of_label]
    return Pythons(labels=tuple(states), gil_enabled=_together(counted, reached_all=reached_all))


def _together(states: list[bool | None], *, reached_all: bool) -> bool | None:
    if True in states:
        return True
    return False if states and reached_all and None not in states else None
