"""Service level objectives (--slo): the share of requests that may exceed a latency, or fail.

The capacity of a service is the highest rate at which it meets all objectives. A search for it
measures probes: cells at a RATE, each for some seconds. analysis/capacity_search.py asks for each
probe as a Wanted, and lab/run/measure.py says how long it lasts. Rates are the requests/s of all
clients together.
"""

import re
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from core.cell import Cell
from core.messages import NOTHING, BadInput, message

# Purposes of a probe: find what a closed loop reaches, choose among settings, enclose the capacity,
# narrow it down.
CLOSED, PICK, SCAN, SEARCH = "closed", "pick", "scan", "search"
LONGEST_S = 40.0  # longest probe, unless an objective demands more
RELAXATIONS = 3  # a probe lasts for this many relaxation times, so that queues have built up
TOP = 0.95  # highest rate of a probe, as a share of what the closed loop reached
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,4})?"
_OBJECTIVE = re.compile(
    rf"p(?P<percentile>{_NUMBER})<(?P<limit>{_NUMBER})(?P<unit>us|ms|s)|errors<(?P<percent>{_NUMBER})%"
)
_UNIT_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True, kw_only=True)
class Objective:
    """A service level objective: at most *share* (0 to 1) of the requests may take longer than
    *latency_ns*, or fail.

    latency_ns: 0 if only failures count. text: the objective as the user wrote it
    """

    text: str
    share: float
    latency_ns: int = 0

    @classmethod
    def parse(cls, text: str, name: str = "slo") -> "Objective":
        """Parse an objective such as 'p99<50ms' or 'errors<0.1%'. Raises BadInput.

        name: of the flag or key, for the error
        """
        short = text.replace(" ", "")
        match = _OBJECTIVE.fullmatch(short)
        if match and 0 < float(match["percentile"] or match["percent"]) < 100:
            if match["percent"]:
                return cls(text=short, share=float(match["percent"]) / 100)
            latency_ns = round(float(match["limit"]) * _UNIT_NS[match["unit"]])
            share = round(1 - float(match["percentile"]) / 100, 9)
            if latency_ns:
                return cls(text=short, share=share, latency_ns=latency_ns)
        is_latency = _OBJECTIVE.fullmatch(f"{short}s")
        lacks_unit = is_latency or _OBJECTIVE.fullmatch(f"{short}%")
        units = ", ".join(_UNIT_NS) if is_latency else "%"
        raise BadInput(
            "{name} is {value!r}{unit}; it must be a latency percentile such as p99<50ms, or a "
            "share of errors such as errors<0.1%. Separate several objectives with commas.",
            name=name,
            value=text,
            unit=message(" without a unit ({units})", units=units) if lacks_unit else NOTHING,
        )


class Wanted(NamedTuple):
    """A measurement (probe) that a search for a service's capacity needs next.

    cell: the measurement, whose RATE is *rate* divided among the clients
    block: the number of the probe among those of its arm and setting, from 1
    rate: requests/s, or 0 for a closed loop. closed_rate: what the closed loop reached, or 0
    purpose: CLOSED, PICK or SCAN for a short probe; SEARCH for a long one
    """

    arm: str
    cell: Cell
    block: int
    rate: float
    purpose: str
    closed_rate: float = 0.0


def relaxation_s(rate: float, closed_rate: float) -> float:
    """Return the time in s in which a queue at *rate* forgets its past, if it is saturated at
    *closed_rate*.

    Source: the largest eigenvalue of M/M/1 near saturation; J. W. Cohen, The Single Server Queue,
        II.2.1.
    """
    return 4 * closed_rate / (closed_rate - rate) ** 2


def top_rate(closed_rate: float) -> float:
    """Return the highest rate to probe: above it, a probe of LONGEST_S cannot show whether queues
    keep growing.

    It solves LONGEST_S == RELAXATIONS * relaxation_s(rate, closed_rate), between 0.5 and TOP.
    """
    return closed_rate * min(TOP, max(0.5, 1 - sqrt(4 * RELAXATIONS / (closed_rate * LONGEST_S))))
