"""Which measurements of a block are made at the same time: the arms of a setting, and the values of
a sweep.

lab/run/experiment.py asks for the groups of each block. An entry is a cell with its system and the
name of its arm (config/run_plan.py). The entries of a group differ in nothing but their arm and in
swept parameters. lab/run/measure.py reads RATE and KEEP_AWAKE of the first entry alone.
"""

from collections.abc import Mapping, Sequence

from config.run_plan import Entry, Plan
from core.cell import MACHINE_PARAMETERS
from core.method import Method

# of services and clients that exist at the same time; more take too long to start
MOST_PROCESSES = 400


def together(plan: Plan, method: Method, block: int, seed: int) -> list[list[Entry]]:
    """Return the entries of a block in random order, in groups that are measured at the same time.

    The values of swept parameters are in one group, unless they have more than MOST_PROCESSES
    processes.
    """
    groups: list[list[Entry]] = []
    for entries in _grouped(plan.block(block, seed), method, plan.swept):
        is_small = _processes(entries) <= MOST_PROCESSES
        groups += [entries] if is_small else _grouped(entries, method, {})
    return groups


def _processes(entries: Sequence[Entry]) -> int:
    return sum(entry.cell.num_api_services + entry.cell.num_clients for entry in entries)


def _grouped(
    entries: Sequence[Entry], method: Method, swept: Mapping[str, set[str]]
) -> list[list[Entry]]:
    """Group entries that have the same system and parameters, except for those that are *swept*, by
    system. An entry that cannot be measured in slices is alone.
    """
    groups: dict[object, list[Entry]] = {}
    for entry in entries:
        # "" is the key of the arm, because no parameter has this name
        cell, key = entry.cell, {**entry.cell.params, "": entry.arm}
        if method.slices and cell.num_clients:
            # A parameter of the machine stays in the key: it has one value at a time.
            for name in {"", *swept.get(cell.system, ())} - {*MACHINE_PARAMETERS}:
                key.pop(name, None)
        groups.setdefault((cell.system, *key.items()), []).append(entry)
    return [*groups.values()]
