"""What `runner.py stress` saves: rounds of one service under each arm, as hard as it goes. Plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from core.messages import NOTHING, Message

SCHEMA = 1

Check = Literal["declared", "body", "common", "status"]  # what an answer is held against; see lab.run.expected


@dataclass(frozen=True, kw_only=True)
class Round:
    """One start of a service and a few seconds of calls.

    gil_enabled: as the runtime promises. wrong: answers that were not as expected, whether their status or content
    failures: requests without a usable answer, by code; "timeout" is no answer within the deadline
    ready: whether the service came so far as to be called. reason: why the round is not whole
    crashes: faulthandler's trace of each process that crashed; stacks: of all threads where answers did not come
    notices: lines of its output about threads (lab.gil.notice)
    """

    runtime: str
    system: str
    params: Mapping[str, Any]
    gil_enabled: bool
    answered: int = 0
    wrong: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    first_wrong: Mapping[str, Any] = field(default_factory=dict)
    ready: bool = True
    valid: bool = True
    reason: Message = NOTHING
    crashes: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As stress.json has it."""
        return {**vars(self), "reason": self.reason.to_json() if self.reason else ""}


@dataclass(kw_only=True)
class Stress:
    """A stress as far as it has come. checks: by what the answers to each request are judged; empty where it is fixed.

    runtimes: version of each
    """

    name: str
    started_at: str
    seconds: float
    switch_interval_s: float
    connections: int
    runtimes: Mapping[str, str]
    checks: Mapping[str, Check] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    spent_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As stress.json has it."""
        return {"schema": SCHEMA, **vars(self), "rounds": [one.to_json() for one in self.rounds]}
