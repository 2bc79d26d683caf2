"""Which measurements of a block are made at the same time: the arms of a setting, and the values of
a sweep.
"""

import json
from collections.abc import Collection, Sequence

from config.run_plan import Entry, Plan
from core.cell import MACHINE_PARAMETERS
from core.messages import NOTHING, Message, message
from core.method import Method

# of services and clients that exist at the same time; more take too long to start
MOST_PROCESSES = 400


def together(plan: Plan, method: Method, block: int, seed: int) -> list[list[Entry]]:
    """Return the entries of a block in random order, in groups that are measured at the same time.

    The values of swept parameters are in one group, unless they have more than MOST_PROCESSES
    processes.
    """
    swept = plan.swept if method.slices else {}
    made: list[list[Entry]] = []
    for entries in _grouped(plan.block(block, seed), method, swept):
        made += (
            [entries] if _processes(entries) <= MOST_PROCESSES else _grouped(entries, method, {})
        )
    return made


def values_apart(plan: Plan) -> Message:
    """Return that the values of a sweep are measured one after the other in each
    block, or NOTHING.
    """
    if not plan.method.slices:
        return NOTHING
    groups = _grouped(plan.entries(), plan.method, plan.swept)
    most = max(groups, key=_processes)
    if _processes(most) <= MOST_PROCESSES or len(_grouped(most, plan.method, {})) < 2:
        return NOTHING
    return message(
        "Within a block, the values of {names} are measured one after the other, because all "
        "together would be {count} processes, and at most {most} are started at once.",
        names=sorted(plan.swept[most[0].cell.system]),
        count=_processes(most),
        most=MOST_PROCESSES,
    )


def _processes(entries: Sequence[Entry]) -> int:
    return sum(entry.cell.num_api_services + entry.cell.num_clients for entry in entries)


def _grouped(
    entries: Sequence[Entry], method: Method, swept: dict[str, set[str]]
) -> list[list[Entry]]:
    """Group entries that have the same system and parameters, except for those that are *swept*, by
    system.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_group(entry, method, swept.get(entry.cell.system, ())), []).append(entry)
    return [*groups.values()]


def _group(entry: Entry, method: Method, swept: Collection[str]) -> str:
    """Return what the entries of a group have in common: the system, and all parameters but those
    that are swept.
    """
    cell = entry.cell
    is_alone = not (method.slices and cell.num_clients)
    left_out = () if is_alone else {*swept} - {*MACHINE_PARAMETERS}
    params = {name: value for name, value in cell.params.items() if name not in left_out}
    return f"{cell.system} {json.dumps(params)} {entry.arm * is_alone}"
