"""How long the measurements (probes) of a search for the capacity take, each and together.

Only arithmetic. Probes have a purpose: CLOSED finds what a closed loop reaches, SCAN encloses the
capacity, SEARCH narrows it down, and PICK chooses among several settings.
lab/run/experiment.py sizes each probe by length(). commands/estimate.py shows search_s() before a
run. docs/decisions/031-capacity-search.md explains the constants.
"""

from collections.abc import Sequence

from config.run_plan import Plan
from core.child import Slice
from core.objective import (
    CLOSED,
    LONGEST_S,
    PICK,
    RELAXATIONS,
    SCAN,
    SEARCH,
    Objective,
    relaxation_s,
)

# a probe starts with at least this time, in which queues build up as under a steady load
LEAD_S = 0.5
LATENCIES = 10  # a probe lasts for this many times the latency of an objective
# By purpose: the misses that a probe at the limit should have, and its shortest time in s. Fewer
# misses say little.
LENGTHS = {CLOSED: (0, 20.0), PICK: (8, 1.5), SCAN: (8, 1.5), SEARCH: (25, 7.0)}
TYPICAL = {CLOSED: 1, SCAN: 3, SEARCH: 7}  # measurements of a search, by purpose
TYPICAL_PICKS = 6  # for each setting
TYPICAL_LOAD = 0.9  # rate of a probe, as a share of what the closed loop reaches
START_S = 2.0  # to start and stop what is measured


def search_s(plan: Plan, closed_rate: float) -> float:
    """Return about how long a search takes, in s, if closed loops reach *closed_rate*
    requests/s.
    """
    entries = plan.entries()
    searches = len({entry.arm for entry in entries}) if plan.picks else len(entries)
    counts = {name: count * searches for name, count in TYPICAL.items()}
    if plan.picks:
        counts[PICK] = TYPICAL_PICKS * len(entries)
    total_s = 0.0
    for purpose, count in counts.items():
        rate = 0.0 if purpose == CLOSED else TYPICAL_LOAD * closed_rate
        part = length(rate, closed_rate, purpose, plan.objectives)
        total_s += count * (START_S + (part.lead_ns + part.length_ns) / 1e9)
    return total_s


def length(rate: float, closed_rate: float, purpose: str, objectives: Sequence[Objective]) -> Slice:
    """Return a time slice that is long enough to judge whether a service meets the objectives at a
    request rate.

    If a service only just meets an objective, a fixed number of requests (LENGTHS) misses the
    objective in this time. Queues that build up slowly do so before the time that counts.
    rate: requests/s of all clients, or 0 for a closed loop. closed_rate: what the closed loop
        reached, in requests/s; 0 if it is not known yet
    purpose: a key of LENGTHS
    """
    misses, shortest_s = LENGTHS[purpose]
    if not rate:
        return Slice(lead_ns=round(LEAD_S * 1e9), length_ns=round(shortest_s * 1e9))
    wanted_s = max(misses / (rate * objective.share) for objective in objectives)
    limit_s = max(objective.latency_ns for objective in objectives) / 1e9
    relaxed_s = relaxation_s(rate, closed_rate)
    # LONGEST_S limits only the time for enough misses. Latency and queues may need a longer probe.
    length_s = max(
        shortest_s, min(LONGEST_S, wanted_s), LATENCIES * limit_s, RELAXATIONS * relaxed_s
    )
    return Slice(
        lead_ns=round(max(LEAD_S, limit_s, relaxed_s) * 1e9), length_ns=round(length_s * 1e9)
    )
