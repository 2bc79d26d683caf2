"""Find the Python versions of a service's processes, and whether the GIL of the measured Python is on."""

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
    """Raise BadInput if there is no /proc, without which a command's processes cannot be counted or ended."""
    if not PROC_STAT.exists():
        raise BadInput(
            "To start a service by its command, gilscope needs /proc, which {platform} does not have. "
            "Measure on Linux, or start the service yourself and name its URL with --target.",
            platform=sys.platform,
        )


@dataclass(frozen=True, kw_only=True)
class Pythons:
    """The Python versions that some processes run, such as 3.14.7t, and whether their GIL is on.

    labels: the versions, as lab.gil.probe names them
    gil_enabled: None if it is unknown
    """

    labels: tuple[str, ...] = ()
    gil_enabled: bool | None = None


def pythons_in(pids: Iterable[int], expected: str = "", *, may_ask: bool = True) -> Pythons:
    """Return the Python versions that the processes *pids* run, and whether the GIL is on.

    expected: label of the measured Python; if some processes run this Python, only their GIL counts
    may_ask: whether a line of Python may be run in a process (lab.gil.probe)
    The GIL counts as on if it is on in any process, and as off if it is off in all. It is unknown if some process does
    not report it, or was not reached in time.
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
