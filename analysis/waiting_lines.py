"""Lines of code at which a service's threads wait for locks, from the profiles of `--profile
python`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from analysis.cell_index import grouped
from analysis.stats import Estimate, share
from record.saved_run import Run

LEAST_SHARE = 0.02
LOCK = "lock"
Profile = Mapping[str, Any]


class WaitingLine(NamedTuple):
    """A line of code at which threads wait for a lock, with the share of their working time that
    they wait there.

    caller: the line of the user's own code that called the function
    """

    runtime: str
    function: str
    place: str
    file: str
    caller: str
    share: Estimate


def settings(run: Run) -> list[list[Profile]]:
    """Return the profiles of `--profile python` that name lines of code, grouped by setting, in the
    plan's order.
    """
    found: list[Profile] = [
        one for one in run.profiles if one.get("kind") == "python" and "lines" in one
    ]
    return [*grouped(found, lambda profile: f"{profile['system']} {profile['params']}").values()]


def waits(profile: Profile, profiles: Iterable[Profile]) -> list[WaitingLine]:
    """Return the lines of code in *profile* that wait significantly for a lock, longest wait first.

    profiles: all profiles whose lines are tested together
    """
    tests = sum(len(_waiting(each)) for each in profiles)
    shown = (_waiting_line(profile, line, tests) for line in _waiting(profile))
    return sorted(
        (wait for wait in shown if wait.share.low > LEAST_SHARE), key=lambda wait: -wait.share.value
    )


def _waiting(profile: Profile) -> list[Profile]:
    return [line for line in profile["lines"] if line["file"] and LOCK in line.get("waits", ())]


def _waiting_line(profile: Profile, line: Profile, tests: int) -> WaitingLine:
    waiting = share(line["waits"][LOCK], profile["batches"], tests)
    caller = line.get("caller", "")
    return WaitingLine(
        profile["runtime"], line["function"], place_of(line), line["file"], caller, waiting
    )


def place_of(line: Profile) -> str:
    """Return a line of code as 'file:line', or the file alone if the line number is not known."""
    return f"{line['file']}:{line['line']}" if line["line"] else str(line["file"])
