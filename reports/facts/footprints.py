"""What the memory of a service is made of, by a run's memory profiles, and what it takes beyond its twin. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core.result import Run

KINDS = ("objects", "c_heap", "stacks", "files")
LEAST_BYTES = 2**20  # and LEAST_SHARE of the twin's: less is worth no sentence
LEAST_SHARE = 0.05
LEAST_PART_BYTES = 2**17
FEWEST_CONNECTIONS = 10  # memory comes in pages


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """The first service of one cell.

    moments: `start` of the interpreter, `listening` before any client, and `before`, `after` and `idle` of the load; of
        each, bytes by kind, and what else is known then
    """

    system: str
    params: Mapping[str, Any]
    runtime: str
    moments: Mapping[str, Mapping[str, int]]

    def total(self, moment: str) -> int:
        """All its kinds together, in bytes."""
        return sum(self.moments[moment].get(kind, 0) for kind in KINDS)

    @property
    def connections(self) -> int:
        """How many were opened before the load, and kept; 0 where they are too few to divide memory by."""
        listening, before = (self.moments.get(moment, {}).get("sockets", 0) for moment in ("listening", "before"))
        return before - listening if listening and before - listening >= FEWEST_CONNECTIONS else 0

    def per_connection(self, moment: str) -> float:
        """What it takes beyond its size before any client, in bytes for each of *connections*."""
        return (self.total(moment) - self.total("listening")) / self.connections


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """What *other* takes beyond *one* after the load, in bytes: by kind, the largest first, small ones left out."""

    one: Footprint
    other: Footprint
    parts: Mapping[str, int]


def footprints(run: Run) -> list[list[Footprint]]:
    """Of each setting those of its runtimes, in the plan's order."""
    by_setting: dict[str, list[Footprint]] = {}
    for profile in run.profiles:
        if profile.get("kind") == "memory" and "after" in profile.get("moments", {}):
            footprint = Footprint(**{key: profile[key] for key in ("system", "params", "runtime", "moments")})
            by_setting.setdefault(f"{footprint.system} {footprint.params}", []).append(footprint)
    return list(by_setting.values())


def beyond(of_setting: Sequence[Footprint]) -> list[Beyond]:
    """Of each two successive runtimes that differ so much that it is worth a sentence."""
    return [_beyond(one, other) for one, other in pairwise(of_setting) if _is_worth_a_sentence(one, other)]


def _is_worth_a_sentence(one: Footprint, other: Footprint) -> bool:
    before, after = one.total("after"), other.total("after")
    return abs(after - before) >= max(LEAST_BYTES, LEAST_SHARE * before)


def _beyond(one: Footprint, other: Footprint) -> Beyond:
    parts = {kind: other.moments["after"].get(kind, 0) - one.moments["after"].get(kind, 0) for kind in KINDS}
    large = [part for part in parts.items() if abs(part[1]) >= LEAST_PART_BYTES]
    return Beyond(one=one, other=other, parts=dict(sorted(large, key=lambda part: -abs(part[1]))))
