"""How all cells of a run are measured: warm-up, a duration in place of a count, the clients' runtime, CPUs.

docs/machine.md says what each pinning costs.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import BadInput
from core.messages import Message, listed, message

SAME = "same"
ARRIVALS = EVEN, POISSON = "uniform", "poisson"
ORCHESTRATOR = "the orchestrator's Python"
LONGEST_S = 86_400


@dataclass(frozen=True, kw_only=True)
class Warmup:
    """What a client sends before it counts: a share (0..1) of its requests, or so many seconds; never both."""

    share: float = 0.0
    seconds: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Warmup":
        """From '10%', '0.5s' or '0'. Raises BadInput."""
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%|s)?", text.strip())
        if match is None or float(match[1]) > {"s": LONGEST_S, "%": 100, None: 0}[match[2]]:
            raise BadInput(
                "warmup is {value}; it must be a share of the requests such as 10%, seconds such as 0.5s, or 0.",
                value=text,
            )
        number = float(match[1])
        return cls(share=number / 100) if match[2] == "%" else cls(seconds=number)

    def __bool__(self) -> bool:
        return bool(self.share or self.seconds)


@dataclass(frozen=True, kw_only=True)
class Method:
    """How every cell of a run is measured.

    warmup: what clients asked before they counted: `share` (of their requests, 0 to 1; with a duration, of it) or
        `seconds`; both 0 for none
    duration_s: how long each cell was timed, in seconds; 0 where NUM_REQUESTS_PER_CLIENT said how much
    client_runtime: the clients' runtime, or `same` as the services'
    pin_services, pin_clients: numbers of the CPUs that these were held to; empty where the kernel chose
    neighbours: names of processes that belong to the measured service, such as its database
    slices: whether the arms of a setting took turns in slices of time, or each cell was timed by itself
    arrivals: at a RATE, whether requests were due at even distances (`uniform`) or as in a Poisson process (`poisson`)
    """

    warmup: Warmup = Warmup()
    duration_s: float = 0.0
    client_runtime: str = SAME
    pin_services: tuple[int, ...] = ()
    pin_clients: tuple[int, ...] = ()
    neighbours: tuple[str, ...] = ()
    slices: bool = False
    arrivals: str = EVEN

    def expect_cpus(self) -> None:
        """Raises BadInput where this machine has no such CPUs."""
        for side, cpus in (("services", self.pin_services), ("clients", self.pin_clients)):
            if cpus and not hasattr(os, "sched_setaffinity"):
                raise BadInput(
                    "pin {side} is {value}, but {platform} has no CPU affinity; leave pin out.",
                    side=side,
                    value=listed(cpus),
                    platform=sys.platform,
                )
            if cpus and not (usable := os.sched_getaffinity(0)).issuperset(cpus):
                raise BadInput(
                    "pin {side} is {value}; it must be CPU numbers out of {cpus}.",
                    side=side,
                    value=listed(cpus),
                    cpus=listed(sorted(usable)),
                )

    @property
    def poisson(self) -> bool:
        """Whether requests at a rate are due as in a Poisson process."""
        return self.arrivals == POISSON

    @property
    def is_pinned(self) -> bool:
        """Whether services or clients are held to CPUs."""
        return bool(self.pin_services or self.pin_clients)

    def warmup_of(self, requests: int) -> tuple[int | None, float]:
        """The warm-up where *requests* are timed: so many requests and 0 s, or None and so many seconds."""
        share, seconds = self.warmup.share, self.warmup.seconds
        if self.duration_s:
            seconds = seconds or share * self.duration_s
        return (None, seconds) if seconds else (max(1, round(share * requests)), 0.0)

    def to_json(self) -> dict[str, Any]:
        """As result.json and the first line of children have it."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Method":
        """Return the method that to_json wrote."""
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
        }
        return cls(**{**known, "warmup": Warmup(**known["warmup"])})


def parse_duration(text: str) -> float:
    """Seconds from '2', '2s' or '0.5'; 0 is no duration. Raises BadInput."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)s?", text.strip())
    if match is None or float(match[1]) > LONGEST_S:
        raise BadInput(
            "duration is {value}; it must be a number of seconds from 0 to {limit_s}, such as 2 or 0.5.",
            value=text,
            limit_s=LONGEST_S,
        )
    return float(match[1])


def cores_usable() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_cpus(text: str) -> tuple[int, ...]:
    """CPU numbers from '0', '0-3' or '0+2'; none where it is no such text."""
    cpus: list[int] = []
    for part in re.split(r"[+,]", text):
        match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part.strip())
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        if not numbers:
            return ()
        cpus += numbers
    return tuple(dict.fromkeys(cpus))


FEWEST_TO_PIN = 4
CLIENTS_SHARE = 4  # one core in so many, for the native client


def placement(cores: int) -> Message:
    """What to do with --pin on so many *cores*, so that the service may still use several."""
    if cores < FEWEST_TO_PIN:
        return message(
            "with fewer than {fewest} cores leave it to the kernel: on one core a service shows nothing of threads",
            fewest=FEWEST_TO_PIN,
        )
    first = cores - cores // CLIENTS_SHARE
    pins = f"--pin services=0-{first - 1} clients={f'{first}-{cores - 1}'.removesuffix(f'-{first}')}"
    return message("keep clients off the services' cores: {pins} --client-runtime native", pins=pins)
