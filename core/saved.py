"""What result.json keeps of a run's plan and machine, parsed once. What an older file lacks has its default."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from core.cell import Value
from core.hosts import Layout
from core.messages import Message
from core.method import Method
from core.user_service import UserService

FRAMED = ("1", "2", "4")  # in files that do not say


@dataclass(frozen=True, kw_only=True)
class SavedRow:
    """One combination of parameter values. runtimes: under which it has cells; None in files that do not say.

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

    name: str
    title: str
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Until:
    """When a run has enough blocks: by its intervals, by its verdicts, or by the clock, whichever comes first.

    width: every interval is at most so wide, as a share of the ratio, 0.03 for 3 %; 0 where that does not count
    verdict: every comparison has a verdict. seconds: so many have passed; 0 where they do not count
    """

    width: float = 0.0
    seconds: float = 0.0
    verdict: bool = False

    @property
    def looks(self) -> bool:
        """Whether what was measured decides, and not the clock alone."""
        return bool(self.width or self.verdict)

    def __bool__(self) -> bool:
        return bool(self.looks or self.seconds)


@dataclass(frozen=True, kw_only=True)
class SavedPlan:
    """The plan of a saved run. view: the experiment's own report ("echo", "league", ...), or "".

    aa: whether an arm took part twice, to show the noise
    margin: what counts as no difference, as a share. judged_steps: those that get a verdict; empty for all
    fail_if_slower: how much more time, as a share, the last runtime must take for the run to fail; 0 to never fail
    extended: whether blocks were added when some had been seen
    """

    name: str
    rows: tuple[SavedRow, ...]
    runtimes: tuple[str, ...]
    blocks: int
    scale: float = 1.0
    description: str = ""
    view: str = ""
    aa: bool = False
    until: Until = Until()
    margin: float = 0.03
    judged_steps: tuple[str, ...] = ()
    fail_if_slower: float = 0.0
    extended: bool = False
    method: Method = Method()  # noqa: RUF009 - frozen
    user_service: UserService | None = None
    absent: tuple[Absent, ...] = ()
    outside: tuple[OutsideSystem, ...] = ()
    layout: Layout | None = None

    @property
    def framed(self) -> set[str]:
        """The systems whose clients speak our frames."""
        return {row.system for row in self.rows if row.framed}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SavedPlan":
        """Of Run.plan. Raises KeyError, TypeError, ValueError or AttributeError where that is not a plan."""
        method, service = stored.get("method"), stored.get("own")
        return cls(
            name=stored["name"],
            rows=tuple(map(_row, stored["rows"])),
            runtimes=tuple(stored["runtimes"]),
            blocks=stored["blocks"],
            scale=stored.get("scale", 1.0),
            description=stored.get("description", ""),
            view=stored.get("view", ""),
            aa=stored.get("aa", False),
            until=Until(**stored.get("until", {})),
            margin=stored.get("margin", cls.margin),
            judged_steps=tuple(stored.get("judged_steps", ())),
            fail_if_slower=stored.get("fail_if_slower", 0.0),
            extended=stored.get("extended", False),
            method=Method.from_json(method) if method else Method(),
            user_service=UserService.from_json(service) if service else None,
            layout=Layout.from_json(stored["layout"]) if stored.get("layout") else None,
            absent=tuple(map(_absent, stored.get("absent", ()))),
            outside=tuple(OutsideSystem(name=key, **one) for key, one in stored.get("outside", {}).items()),
        )


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Facts of the machine that measured; None for what could not be had there, or was not kept yet.

    cores: logical processors. cores_usable: those that gilscope could run on
    cores_quota: processors' worth of time that the control group granted; None without a limit
    load: processes that ran or waited, mean over 1, 5 and 15 minutes
    limits: {"nofile_soft": 1024, ...}, numbers or "unlimited"
    commit: of the checkout that measured; python: the orchestrator's version
    quiet: lab.quiet.facts() before the first cell
    hosts: the same facts of each host by name, with its runtimes and its link to the services, where there are several
    """

    cpu: str | None = None
    architecture: str | None = None
    cores: int | None = None
    cores_usable: int | None = None
    cores_quota: float | None = None
    governor: str | None = None
    memory_bytes: int | None = None
    os: str | None = None
    kernel: str | None = None
    load: tuple[float, ...] | None = None
    limits: Mapping[str, int | str] = field(default_factory=dict)
    python: str | None = None
    commit: str | None = None
    quiet: Mapping[str, Any] | None = None
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def available_cores(self) -> int:
        """Processors that the run could use; 0 where that is not known."""
        return self.cores_usable or self.cores or 0

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Machine":
        """Of Run.machine; keys of a later version are left out."""
        known = {one.name: stored[one.name] for one in fields(cls) if stored.get(one.name) is not None}
        return cls(**{**known, **({"load": tuple(known["load"])} if "load" in known else {})})


def _row(stored: Mapping[str, Any]) -> SavedRow:
    runtimes = stored.get("runtimes")
    return SavedRow(
        system=stored["system"],
        params=stored["params"],
        title=stored.get("title", ""),
        framed=stored.get("framed", stored["system"] in FRAMED),
        runtimes=None if runtimes is None else tuple(runtimes),
    )


def _absent(stored: Mapping[str, Any]) -> Absent:
    return Absent(system=stored["system"], runtime=stored["runtime"], reason=Message.from_json(stored["reason"]))
