"""Declare the results of `runner.py stress`, which calls a service at full load under each runtime,
in rounds.

lab/run/stress_rounds.py makes the rounds, commands/stress.py collects them in a Stress and writes
stress.json, and reports/stress_report.py prints it. The fields are the keys of the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.messages import NOTHING, Json, Message

SCHEMA = 1  # of stress.json; higher if a key goes or changes its meaning, not if one is added

# What an answer is compared with: the status and body that the request declares; the whole body of
# an answer to one client alone; the values that all answers to one client have; the status.
Check = Literal["declared", "body", "common", "status"]


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round of a stress test: a start of the service and a few seconds of calls.

    gil_enabled: as the runtime's name promises
    wrong: answers with another status or content than expected
    failures: requests without a usable answer, by code; "timeout" means no answer within the
        deadline
    first_wrong: the first wrong answer, as record.child_lines.FirstWrong has it; empty if none was
    ready: whether the service accepted calls
    valid: whether the round ran under the runtime as planned, such as without its GIL
    reason: why the round is incomplete
    crashes: faulthandler's trace of each process that crashed
    stacks: stacks of all threads, taken when answers were missing
    notices: lines of the service's output about threads (lab.process_output)
    """

    runtime: str
    system: str
    params: Json
    gil_enabled: bool
    answered: int = 0
    wrong: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    first_wrong: Json = field(default_factory=dict)
    ready: bool = True
    valid: bool = True
    reason: Message = NOTHING
    crashes: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def to_json(self) -> Json:
        """Return the round in the form in which stress.json stores it."""
        return {**vars(self), "reason": self.reason.to_json() if self.reason else ""}


@dataclass(kw_only=True)
class Stress:
    """A stress test, possibly unfinished.

    seconds: how long all rounds together may take; spent_s: how long they have taken
    runtimes: version of each runtime
    checks: for each request, what its answers are compared with; empty for a built-in system
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

    def to_json(self) -> Json:
        """Return the stress test in the form in which stress.json stores it."""
        return {"schema": SCHEMA, **vars(self), "rounds": [one.to_json() for one in self.rounds]}
