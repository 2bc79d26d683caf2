"""What result.json keeps of a run's plan and machine, checked and parsed once. Only the orchestrator imports this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.beside import Beside
from core.cell import Value
from core.decode import decoded
from core.hosts import Layout
from core.messages import NOTHING, Message
from core.method import Method
from core.record import Count, Link, Number, RuntimeFacts, Share
from core.user_service import UserService


@dataclass(frozen=True, kw_only=True)
class SavedRow:
    """One combination of parameter values. runtimes: under which it has cells; None in plans that do not say.

    framed: whether its clients speak our frames (System.framed)
    """

    system: str
    params: Mapping[str, Value]
    title: str = ""
    framed: bool = False
    runtimes: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A system that could not be measured under a runtime, and why."""

    system: str
    runtime: str
    reason: Message


@dataclass(frozen=True, kw_only=True)
class OutsideSystem:
    """A system that is not one of gilscope's. file: the path that declares it; "" for a user's service."""

    title: str
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Until:
    """When a run has enough blocks: by its intervals, by its verdicts, or by the clock, whichever comes first.

    width: every interval is at most so wide, as a share of the ratio, 0.03 for 3 %; 0 where that does not count
    verdict: every comparison has a verdict. seconds: so many have passed; 0 where they do not count
    """

    width: Number = 0.0
    seconds: Number = 0.0
    verdict: bool = False

    @property
    def looks(self) -> bool:
        """Whether what was measured decides, and not the clock alone."""
        return bool(self.width or self.verdict)

    def __bool__(self) -> bool:
        return bool(self.looks or self.seconds)


@dataclass(frozen=True, kw_only=True)
class SavedPlan:
    """The plan of a saved run.

    name: the plan's file name without `.yaml`
    description: its one line
    blocks: how often every cell was to be measured, at most
    scale: what NUM_REQUESTS_PER_CLIENT was multiplied by; the rows have the product
    runtimes: in the order of display; ratios in tables refer to the first that is present
    aa: whether the last runtime took part twice
    until: when fewer blocks were enough: `width` (of the widest interval, as a share of its ratio), `seconds`, 0 for
        one that was not set, and `verdict`: whether all had to be decided
    margin: what counts as no difference, as a share
    judged_steps: the steps that get a verdict; empty for all
    fail_if_slower: how much more time, as a share, the last runtime must take for the run to exit with 3; 0 for never
    extended: whether blocks were added when some had been seen
    method: how every cell was measured
    arm_order, arm_order_reason: `slices` or `sequential` where one was asked for; why the arms of a setting were not
        measured in slices
    view: how the report tells it; empty for runtimes side by side
    absent: what could not be measured here, such as a native program that is not built: `system`, `runtime` and
        `reason`, a message
    rows: each setting: `system`, `params`, the `runtimes` that it has cells under, its `title` if it has one, and
        `framed` where its clients speak our frames, so that one such service may take another's place. A sweep is many
        rows here
    own: of a service of one's own ([own-service.md](own-service.md)): its command, its requests and how they are
        checked; in place of a secret stand what is shown of it (`hidden`) and the flag that gave it (`name`)
    layout: of a run across hosts: its `hosts` by name, and which of them served (`services_on`) and called
        (`clients_on`)
    beside: programs that were started beside the services for the run, such as their database, with places as {port}
    prepare: commands that filled them with data
    outside: of each system that is no file of this repository its `title` and its `file`, which is empty for a service
        of one's own
    """

    name: str
    description: str = ""
    blocks: Count
    scale: Number = 1.0
    runtimes: tuple[str, ...]
    aa: bool = False
    until: Until = Until()
    margin: Share = 0.03
    judged_steps: tuple[str, ...] = ()
    fail_if_slower: Number = 0.0
    extended: bool = False
    method: Method = Method()  # noqa: RUF009 - frozen
    arm_order: str = ""
    arm_order_reason: Message = NOTHING
    view: str = ""
    absent: tuple[Absent, ...] = ()
    rows: tuple[SavedRow, ...]
    own: Mapping[str, Any] | None = None
    layout: Layout | None = None
    beside: tuple[Beside, ...] = ()
    prepare: tuple[str, ...] = ()
    outside: Mapping[str, OutsideSystem] = field(default_factory=dict)

    @property
    def framed(self) -> set[str]:
        """The systems whose clients speak our frames."""
        return {row.system for row in self.rows if row.framed}

    @property
    def user_service(self) -> UserService | None:
        """The service of the user's own that it measures. Raises KeyError or TypeError where that is not one."""
        return UserService.from_json(self.own) if self.own else None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SavedPlan":
        """Return the plan that Run.plan holds. Raises Misfit."""
        return decoded(stored, cls)


@dataclass(frozen=True, kw_only=True)
class MachineFacts:
    """Facts of a machine. A value is None if the machine does not report it.

    cpu, architecture: the processor's name; `x86_64`, `aarch64`, ...
    cores: logical processors
    cores_usable: those that the run may use
    cores_quota: processors' worth of time that the control groups grant, ours and those above it, if one limits it
    governor: frequency governor
    memory_bytes: memory
    os, kernel: names and versions
    load: load averages over 1, 5 and 15 minutes when the run began
    limits: soft and hard limits on open files, processes and locked memory; a number or `unlimited`
    python: the orchestrator's own Python
    commit: the commit of gilscope's working tree, 12 digits, and `+changes` where tracked files differ from it
    quiet: how quiet it was when the run began
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
    quiet: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class HostFacts(MachineFacts):
    """A host of a run."""

    runtimes: Mapping[str, str] = field(default_factory=dict)
    builds: Mapping[str, RuntimeFacts] = field(default_factory=dict)
    link: Link | None = None
    with_runner: bool = False
    uv: bool = False
    clock_error_ns: Count = 0


@dataclass(frozen=True, kw_only=True)
class Machine(MachineFacts):
    """The machine that measured.

    hosts: of a run across hosts: these facts of each host, with its `runtimes` (versions), their `builds` (as in
        `runtimes` below, with packages by environment), its `link` to the services' host, whether it has `uv`, how
        wrong its clock can be (`clock_error_ns`), and whether it is the runner's machine (`with_runner`)
    """

    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def available_cores(self) -> int:
        """Processors that the run could use; 0 where that is not known."""
        return self.cores_usable or self.cores or 0

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Machine":
        """Return the machine that Run.machine holds. Raises Misfit."""
        return decoded(stored, cls)
