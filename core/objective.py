"""Service level objectives (--slo): the share of requests that may exceed a latency, or fail; and prices (--price)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from core.cell import Cell
from core.errors import BadInput
from core.histogram import Histogram, bounds_ns

CLOSED, PICK, SCAN, SEARCH, CONFIRM = "closed", "pick", "scan", "search", "confirm"
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,4})?"
_LATENCY = re.compile(rf"p(?P<percentile>{_NUMBER})<(?P<limit>{_NUMBER})(?P<unit>us|ms|s)")
_ERRORS = re.compile(rf"errors<(?P<percent>{_NUMBER})%")
_UNIT_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}


@dataclass(frozen=True, kw_only=True)
class Objective:
    """A service level objective: at most *share* (0 to 1) of the requests may take longer than *latency_ns*, or fail.

    latency_ns: 0 if only failures count. text: the objective as the user wrote it
    """

    text: str
    share: float
    latency_ns: int = 0

    @classmethod
    def parse(cls, text: str) -> "Objective":
        """Parse an objective such as 'p99<50ms' or 'errors<0.1%'. Raises BadInput."""
        short = text.replace(" ", "")
        if (match := _LATENCY.fullmatch(short)) and 0 < float(match["percentile"]) < 100:
            latency_ns = round(float(match["limit"]) * _UNIT_NS[match["unit"]])
            if latency_ns:
                return cls(text=short, share=round(1 - float(match["percentile"]) / 100, 9), latency_ns=latency_ns)
        if (match := _ERRORS.fullmatch(short)) and 0 < float(match["percent"]) < 100:
            return cls(text=short, share=float(match["percent"]) / 100)
        raise BadInput(
            "slo is {value!r}; it must be a latency percentile such as p99<50ms, or a share of errors such as "
            "errors<0.1%. Separate several objectives with commas.",
            value=text,
        )


@dataclass(frozen=True, kw_only=True)
class Load:
    """The numbers of sent, failed and unsent requests in a measurement whose clients sent at a fixed rate.

    rate: requests/s. sent: requests that were sent. failures: those of them that failed or had a wrong answer
    unsent: requests that were due but were not sent before the cell ended. They are always the latest ones
    """

    rate: float
    sent: int
    failures: int
    unsent: int
    latency: Histogram

    def counted(self, objective: Objective) -> tuple[int, int]:
        """Return how many requests miss *objective*, and how many requests are known to miss or to meet it.

        An unsent request misses a latency objective if it was due longer ago than the limit. Otherwise it is not known.
        """
        if not objective.latency_ns:
            return self.failures + self.unsent, self.sent + self.unsent
        slow = sum(count for bucket, count in self.latency.filled() if bounds_ns(bucket)[0] >= objective.latency_ns)
        too_old = max(0, self.unsent - round(self.rate * objective.latency_ns / 1e9))
        known = self.sent + too_old
        return min(known, slow + self.failures + too_old), known

    def excess(self, objective: Objective) -> float:
        """Return the share of requests that miss *objective*, divided by the allowed share: 1 exactly at the limit."""
        misses, known = self.counted(objective)
        return misses / (objective.share * max(1, known))


def load_of(rate: float, clients: Sequence[Mapping[str, Any]], latency: Histogram) -> Load:
    """Add up the numbers of requests that each client reported in the last line of its output."""
    return Load(
        rate=rate,
        sent=sum(client["requests"] for client in clients),
        failures=sum(sum(client["errors"].values()) + client["wrong"] for client in clients),
        unsent=sum(client.get("overdue", 0) for client in clients),
        latency=latency,
    )


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A measurement (probe) that a search for a service's capacity needs next.

    rate: requests/s, or 0 for a closed loop. purpose: CLOSED, PICK or SCAN for a short probe; SEARCH or CONFIRM
    for a long one
    """

    arm: str
    cell: Cell
    rate: float
    purpose: str


_AMOUNT = r"([0-9]{1,9}(?:\.[0-9]{1,6})?)"
_PRICE = re.compile(rf"core={_AMOUNT}/([a-z]{{1,12}}), *(gi?b)={_AMOUNT}/\2", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Price:
    """The prices of a core and of a byte of memory for a *period* such as month, in the user's currency."""

    core: float
    byte: float
    period: str

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Parse prices such as 'core=25/month, gb=3/month'. Raises BadInput."""
        match = _PRICE.fullmatch(text.strip())
        if not match:
            raise BadInput(
                "price is {value!r}; it must be the price of a core and of a GB or GiB for the same period, such "
                "as 'core=25/month, gb=3/month'.",
                value=text,
            )
        size_bytes = 10**9 if match[3].lower() == "gb" else 2**30
        return cls(core=float(match[1]), byte=float(match[4]) / size_bytes, period=match[2])

    def cost(self, rate: float, capacity: float, cores: float, size_bytes: float) -> float:
        """Return the price for one period, such as a month, of enough equal instances to serve *rate* requests/s.

        capacity: requests/s of one instance. cores and size_bytes: the CPU cores and memory of one instance
        """
        return ceil(rate / capacity) * (cores * self.core + size_bytes * self.byte)
