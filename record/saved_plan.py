"""Declare the keys of a run's plan and machine in result.json. Only the orchestrator imports this
module.

config/run_plan.py makes a SavedPlan of its Plan, which shares PlanFields. lab/ finds the facts
about machines. analysis/ and reports/ read all of it from a saved run. The fields are the keys of
the file, and docs/result.md is made from the docstrings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from core.cell import Value
from core.layout import Layout
from core.messages import NOTHING, Json, Message
from core.method import Method
from core.objective import Objective
from core.runtime import RuntimeFacts, RuntimeName
from core.user_service import Beside, UserService
from record.child_lines import Count, Number, Share
from record.result_parts import Link, Quiet


@dataclass(frozen=True, kw_only=True)
class SavedRow:
    """A setting of a plan: a system and one combination of parameter values.

    runtimes: the runtimes under which the row has cells; None if the plan does not record them
    absent: the runtimes that the row names, but under which its system could not be measured
    framed: whether the system's clients use gilscope's frame protocol (System.framed)
    fixed: the names of parameters that a topology has set together, so that none of them is a sweep
    """

    system: str
    params: Mapping[str, Value]
    title: str = ""
    framed: bool = False
    fixed: tuple[str, ...] = ()
    runtimes: tuple[RuntimeName, ...] | None = None
    absent: tuple[RuntimeName, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A system that could not be measured under a runtime, with the reason."""

    system: str
    runtime: RuntimeName
    reason: Message


@dataclass(frozen=True, kw_only=True)
class OutsideSystem:
    """A system that does not come with gilscope.

    file: the path that declares it; "" for a user's service
    """

    title: str
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Until:
    """The condition at which a run stops adding blocks. The first limit that is reached counts.

    width: every interval is at most this wide, as a share of its ratio (0.03 for 3 %); 0 without
        this limit
    verdict: whether to stop when every comparison has a verdict
    seconds: the run has lasted this long; 0 without this limit
    """

    width: Number = 0.0
    seconds: Number = 0.0
    verdict: bool = False

    @property
    def looks(self) -> bool:
        """Return whether the measured results influence when the run stops."""
        return bool(self.width or self.verdict)

    def __bool__(self) -> bool:
        return bool(self.looks or self.seconds)


@dataclass(frozen=True, kw_only=True)
class PlanFields:
    """The fields that a plan and a saved plan have in common. SavedPlan says what they mean."""

    name: str
    description: str = ""
    scale: Number = 1.0
    runtimes: tuple[RuntimeName, ...]
    aa: bool = False
    until: Until = Until()
    margin: Share = 0.03
    judged_steps: tuple[str, ...] = ()
    fail_if_slower: Number = 0.0
    extended: bool = False
    first_look: Count = 0
    method: Method = Method()  # noqa: RUF009 - frozen
    arm_order: str = ""
    arm_order_reason: Message = NOTHING
    objectives: tuple[Objective, ...] = ()
    picks: bool = False
    view: str = ""
    layout: Layout | None = None
    beside: tuple[Beside, ...] = ()
    prepare: tuple[str, ...] = ()

    @property
    def halves_settings(self) -> bool:
        """Return whether the slower settings are dropped between blocks (--budget)."""
        return self.picks and not self.objectives


@dataclass(frozen=True, kw_only=True)
class SavedPlan(PlanFields):
    """The plan of a saved run.

    name: file name without `.yaml`
    description, runtimes, aa, margin, judged_steps, fail_if_slower, view, prepare: as in [a
        plan](plans.md); 0 or empty if not set
    blocks: the most blocks
    scale: factor of NUM_REQUESTS_PER_CLIENT, also in `rows`
    until: `width` (of the widest interval, as a share of its ratio), `seconds` and `verdict`; 0 or
        false if not set
    extended: whether blocks were added after results had been seen
    first_look: the last block of the first report, if blocks were added later and results did not
        decide how many the first were; else 0
    method: [the method](#the-method)
    arm_order, arm_order_reason: `slices` or `sequential` if the user chose one; why there were no
        slices
    objectives: for the capacity: `text`, `share` (of requests that may miss it) and `latency_ns` (0
        if only failures count)
    picks: whether the settings were halved until one was left for each arm
    absent: `system`, `runtime` and `reason` of systems that could not be measured
    rows: settings, one for each value of a sweep: `system`, `params`, `title`, `runtimes` of its
        cells, `absent` (runtimes under which it could not be measured), `framed` (its services use
        gilscope's frames, so they can replace each other) and `fixed` (parameters that a topology
        set)
    own: a user's service: command, requests and checks of answers; in place of a secret, the text
        shown for it (`hidden`) and the flag that gave it (`name`)
    layout: `hosts` by name, and those of the services (`services_on`) and clients (`clients_on`)
    beside: programs started beside the services, with placeholders such as {port}
    outside: `title` and `file` (empty for a user's service) of systems from outside this repository
    """

    blocks: Count
    absent: tuple[Absent, ...] = ()
    rows: tuple[SavedRow, ...]
    own: Json | None = None
    outside: Mapping[str, OutsideSystem] = field(default_factory=dict)

    @property
    def framed(self) -> set[str]:
        """Return the systems whose clients use gilscope's frame protocol."""
        return {row.system for row in self.rows if row.framed}

    @cached_property
    def user_service(self) -> UserService | None:
        """Return the user's service that the plan measures, or None. Raises KeyError or TypeError
        for invalid data.
        """
        return UserService.from_json(self.own) if self.own else None


@dataclass(frozen=True, kw_only=True)
class MachineFacts:
    """Facts about a machine. A value is None if the machine does not report it.

    cpu, architecture, os, kernel: names and versions
    cores, cores_usable: logical processors, and those that the run may use
    cores_quota: CPU quota of its control groups, in cores
    governor, memory_bytes: frequency governor; size of the memory
    load: averages over 1, 5 and 15 minutes when the run began
    limits: soft limits on open files and processes
    python: the orchestrator's Python
    commit: of gilscope's working tree, with `+changes` if tracked files differ
    quiet: [how quiet](#how-quiet-it-was) it was when the run began
    """

    cpu: str | None = None
    architecture: str | None = None
    cores: Count | None = None
    cores_usable: Count | None = None
    cores_quota: Number | None = None
    governor: str | None = None
    memory_bytes: Count | None = None
    os: str | None = None
    kernel: str | None = None
    load: tuple[Number, ...] | None = None
    limits: Mapping[str, int | str] = field(default_factory=dict)
    python: str | None = None
    commit: str | None = None
    quiet: Json | None = None

    @property
    def available_cores(self) -> int:
        """Return the number of processors that the run could use; 0 if it is not known."""
        return self.cores_usable or self.cores or 0


@dataclass(frozen=True, kw_only=True)
class HostFacts(MachineFacts):
    """Facts about a host of a run: its machine, runtimes and network link."""

    runtimes: Mapping[str, str] = field(default_factory=dict)
    builds: Mapping[str, RuntimeFacts] = field(default_factory=dict)
    link: Link | None = None
    quiet: Quiet | None = None


@dataclass(frozen=True, kw_only=True)
class Machine(MachineFacts):
    """Facts about the machine that ran the orchestrator.

    hosts: these facts by host, with its `runtimes` (versions), their `builds`
        ([runtimes](#a-runtime)) and its `link` to the services' host
    """

    hosts: Mapping[str, HostFacts] = field(default_factory=dict)
