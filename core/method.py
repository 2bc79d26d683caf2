"""Declare how a run measures: warm-up, duration, the clients' runtime, and CPU pinning.

docs/machine.md says when to pin.

config/ makes a Method of a plan, lab/run measures by it, and result.json saves it. Clients in any
language get its to_json() in the first line of stdin, so a new or renamed field concerns
docs/child-contract.md, too.
"""

import os
import re
import sys
from dataclasses import asdict, dataclass

from core.messages import BadInput, Json, Message, message

SAME = "same"  # Method.client_runtime: that of the services
ARRIVALS = EVEN, POISSON = "uniform", "poisson"  # Method.arrivals
ORCHESTRATOR = "the orchestrator's Python"  # the name of a client runtime
LONGEST_S = 86_400  # longest duration or warm-up in s: a day
# largest first, because size_text() takes the first that divides a size
SIZES_BYTES = {"GiB": 2**30, "GB": 10**9, "MiB": 2**20, "MB": 10**6}


@dataclass(frozen=True, kw_only=True)
class Warmup:
    """The warm-up of a client: a share (0..1) of its requests, or a time in seconds. At most one of
    them is set.
    """

    share: float = 0.0
    seconds: float = 0.0

    @classmethod
    def parse(cls, text: str, name: str = "warmup") -> "Warmup":
        """Parse a warm-up: '10%' of the requests, a time such as '0.5s', or '0' for none. Raises
        BadInput.

        name: of the flag or key, for the error
        """
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%|s)?", text.strip())
        # a number without a unit can only be 0
        if match is None or float(match[1]) > {"s": LONGEST_S, "%": 100, None: 0}[match[2]]:
            raise BadInput(
                "{name} is {value}. It must be a share of the requests such as 10%, a time such as "
                "0.5s, or 0.",
                name=name,
                value=text,
            )
        number = float(match[1])
        return cls(share=number / 100) if match[2] == "%" else cls(seconds=number)

    def __bool__(self) -> bool:
        return bool(self.share or self.seconds)


@dataclass(frozen=True, kw_only=True)
class Method:
    """The way in which a run measures: warm-up, duration, the clients' runtime, CPU pinning and
    limits.

    warmup: of each client: `share` (of its requests or of the duration) or `seconds`
    duration_s: timed seconds; 0 if NUM_REQUESTS_PER_CLIENT decided
    client_runtime: `same` if it is the services' runtime
    pin_services, pin_clients: CPU numbers; empty if the kernel chose
    neighbours: names of processes that belong to the service
    slices: whether arms alternated in slices of time
    arrivals: at a RATE: `uniform` or `poisson`
    limit_cpus, limit_memory_bytes: limits of all services of a cell together; 0 without a limit
    """

    warmup: Warmup = Warmup()
    duration_s: float = 0.0
    client_runtime: str = SAME
    pin_services: tuple[int, ...] = ()
    pin_clients: tuple[int, ...] = ()
    neighbours: tuple[str, ...] = ()
    slices: bool = False
    arrivals: str = EVEN
    limit_cpus: float = 0.0
    limit_memory_bytes: int = 0

    def expect_cpus(self) -> None:
        """Raise BadInput if this machine does not have the CPUs to which services or clients must
        be pinned.
        """
        for side, cpus in (("services", self.pin_services), ("clients", self.pin_clients)):
            if cpus and not hasattr(os, "sched_setaffinity"):
                raise BadInput(
                    "pin {side} is {value}, but {platform} does not support CPU affinity. Remove "
                    "pin.",
                    side=side,
                    value=cpus,
                    platform=sys.platform,
                )
            if cpus and not (usable := os.sched_getaffinity(0)).issuperset(cpus):
                raise BadInput(
                    "pin {side} is {value}. Use CPU numbers out of {cpus}.",
                    side=side,
                    value=cpus,
                    cpus=sorted(usable),
                )

    @property
    def poisson(self) -> bool:
        """Return whether requests at a fixed rate are due at random times, as in a
        Poisson process.
        """
        return self.arrivals == POISSON

    @property
    def is_pinned(self) -> bool:
        """Return whether services or clients are pinned to CPUs."""
        return bool(self.pin_services or self.pin_clients)

    @property
    def is_limited(self) -> bool:
        """Return whether control groups limit the CPU time or memory of the services."""
        return bool(self.limit_cpus or self.limit_memory_bytes)

    def warmup_of(self, requests: int) -> tuple[int | None, float]:
        """Return the warm-up before *requests* timed requests: (number of requests, 0.0) or (None,
        seconds).

        The number is at least 1. Without a warm-up, no client is asked to send these requests.
        """
        share, seconds = self.warmup.share, self.warmup.seconds
        if self.duration_s:
            seconds = seconds or share * self.duration_s
        return (None, seconds) if seconds else (max(1, round(share * requests)), 0.0)

    def to_json(self) -> Json:
        """Return the measuring method of a run as JSON, for result.json and for the first line of a
        child's stdin.
        """
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Json) -> "Method":
        """Decode the measuring method of a run, which to_json() encoded."""
        tuples = {
            name: tuple(stored[name]) for name in ("pin_services", "pin_clients", "neighbours")
        }
        return cls(**{**stored, **tuples, "warmup": Warmup(**stored["warmup"])})


def size_text(size_bytes: int) -> str:
    """Return a size as text in the largest unit that gives a whole number, such as '512 MB'; else
    rounded, in GB.
    """
    whole = (
        f"{size_bytes // size} {unit}"
        for unit, size in SIZES_BYTES.items()
        if not size_bytes % size
    )
    return next(whole, f"{size_bytes / 1e9:.3g} GB")


def parse_duration(text: str, name: str = "duration") -> float:
    """Parse a duration in seconds from '2', '2s' or '0.5'; 0 means no duration. Raises BadInput.

    name: of the flag or key, for the error
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)s?", text.strip())
    if match is None or float(match[1]) > LONGEST_S:
        raise BadInput(
            "{name} is {value}. It must be a number of seconds from 0 to {limit_s}, such as 2 or "
            "0.5.",
            name=name,
            value=text,
            limit_s=LONGEST_S,
        )
    return float(match[1])


def cores_usable() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_cpus(text: str) -> tuple[int, ...]:
    """Parse CPU numbers from '0', '0-3' or '0+2'. Return () for any other text."""
    cpus: list[int] = []
    for part in re.split(r"[+,]", text):
        match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part.strip())
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        if not numbers:
            return ()
        cpus += numbers
    return tuple(dict.fromkeys(cpus))


FEWEST_TO_PIN = 4  # cores
CLIENTS_SHARE = 4  # one of four cores is for the native client


def placement(cores: int) -> Message:
    """Return advice on --pin for a machine with *cores* cores: at least FEWEST_TO_PIN, because a
    service that is pinned to one core cannot run threads in parallel.
    """
    first = cores - cores // CLIENTS_SHARE
    pins = (
        f"--pin services=0-{first - 1} clients={f'{first}-{cores - 1}'.removesuffix(f'-{first}')}"
    )
    return message(
        "give clients and services separate cores: {pins} --client-runtime native", pins=pins
    )
