"""What goes on inside a service: which Pythons its processes run, and whether the GIL of the measured one is on."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from core.errors import BadInput
from lab.gil.probe import seen

PROC_STAT = Path("/proc/self/stat")
LOOK_DEADLINE_S = 2.0
ANSWER_DEADLINE_S = 1.0


def expect_proc() -> None:
    """Raises BadInput where the processes of a command cannot be seen, so that none would be ended or counted."""
    if not PROC_STAT.exists():
        raise BadInput(
            f"A service by command needs /proc, by which it is counted and ended, and {sys.platform} has none. "
            "Measure on Linux, or start the service yourself and name it with --target."
        )


@dataclass(frozen=True, kw_only=True)
class Inside:
    """pythons: label of each Python that was seen (lab.gil.probe), once. gil_enabled: None where that is not known."""

    pythons: tuple[str, ...] = ()
    gil_enabled: bool | None = None


def inside(pids: Iterable[int], expected: str = "", *, may_ask: bool = True) -> Inside:
    """Look at these processes.

    expected: label of the Python that is measured; where some of them run it, only their GIL counts
    may_ask: whether a process may be made to run a line (lab.gil.probe)
    A GIL that is on in one of them is on. It is off where all of them say so: one that does not tell, or that was
    not reached in time, leaves it unknown.
    """
    until, states = monotonic() + LOOK_DEADLINE_S, dict[str, list[bool | None]]()
    reached_all = True
    for pid in pids:
        if monotonic() >= until:
            reached_all = False
            break
        found = seen(pid, ANSWER_DEADLINE_S, may_ask=may_ask)
        if found:
            states.setdefault(found.label, []).append(found.gil_enabled)
    counted = states.get(expected) or [one for some in states.values() for one in some]
    return Inside(pythons=tuple(states), gil_enabled=_together(counted, reached_all=reached_all))


def _together(states: list[bool | None], *, reached_all: bool) -> bool | None:
    if True in states:
        return True
    return False if states and reached_all and None not in states else None
