"""A plan: which cells a run is made of, in which order. Pure: files are read by config.load."""

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from config.own import Own
from core.cell import PARAMETERS, Cell, Value, parameter
from core.errors import BadInput
from core.messages import Message
from core.method import Method
from core.runtime import NATIVE, RuntimeName
from core.system import System
from core.system_file import file_of
from systems import find, readers

MAX_BLOCKS = 10_000
DEFAULT_RUNTIMES = ("3.11", "3.14", "3.14t+gil", "3.14t")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system and the values of its parameters: several values of one are a sweep. title is for reports.

    fixed: names of the parameters that a topology has set together, which nothing else may change
    """

    system: str
    values: Mapping[str, tuple[Value, ...]]
    title: str = ""
    fixed: tuple[str, ...] = ()

    def combinations(self, scale: float) -> Iterable[dict[str, Value]]:
        """Every combination of values, as {name: value}; scale makes NUM_REQUESTS_PER_CLIENT smaller."""
        for values in itertools.product(*self.values.values()):
            chosen = dict(zip(self.values, values, strict=True))
            if scale != 1:
                name = "NUM_REQUESTS_PER_CLIENT"
                full = chosen.get(name, PARAMETERS[name].default)
                assert isinstance(full, int)
                chosen[name] = max(1, round(full * scale))
            yield chosen


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell taking part in a block, under the name of an arm."""

    arm: str
    cell: Cell


@dataclass(frozen=True, kw_only=True)
class Until:
    """When a run has enough blocks: every comparison's interval is at most *width* wide, or *seconds* have passed.

    width: as a share of the ratio, 0.03 for 3 %; 0 where only time counts. seconds: 0 where only width counts.
    """

    width: float = 0.0
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.width or self.seconds)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """blocks: how often every cell runs, at most where `until` ends it earlier.

    runtimes: names in the order of display, the first is what ratios refer to.
    aa: the last runtime, or the first service that already runs, takes part twice, under two names: what differs
        between these is noise.
    description: one line on what it answers. view: how its report tells it; empty for runtimes side by side.
    own: a service of the user's, whose systems are the rows.
    absent: why a system cannot be measured under a runtime; it has no cells there.
    """

    name: str
    rows: tuple[Row, ...]
    runtimes: tuple[str, ...]
    blocks: int = 3
    scale: float = 1.0
    description: str = ""
    method: Method = Method()  # noqa: RUF009 - frozen
    aa: bool = False
    until: Until = Until()
    view: str = ""
    own: Own | None = None
    absent: Mapping[tuple[str, str], Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.blocks <= MAX_BLOCKS:
            raise BadInput(f"blocks is {self.blocks}; it must be a whole number from 1 to {MAX_BLOCKS}.")
        if not 0 < self.scale <= 1:
            raise BadInput(f"scale is {self.scale}; it must be above 0 and at most 1.")
        for runtime in self.runtimes:
            RuntimeName.parse(runtime)
        if self.own:
            _check_own(self.own, self.rows, self.runtimes)

    def cells(self) -> list[Cell]:
        """Every cell once, row by row, runtime by runtime; the same work is never there twice."""
        found: dict[str, Cell] = {}
        for row in self.rows:
            system = find(row.system)
            for values in row.combinations(self.scale):
                for runtime in self.runtimes:
                    if self._has(system, runtime):
                        cell = _cell(system, runtime, values)
                        found.setdefault(cell.cell_id, cell)
        return list(found.values())

    def pairs(self) -> list[tuple[str, str]]:
        """(system, runtime) of all that the plan asks for and that can be, whether it is there or not."""
        systems = dict.fromkeys(find(row.system) for row in self.rows)
        return [(one.key, runtime) for one in systems for runtime in self.runtimes if one.runs_under(runtime)]

    @property
    def sides(self) -> int:
        """How many runtimes, or services that already run, may be compared with each other."""
        if self.own and self.own.targets:
            return len(self.own.targets)
        return len([name for name in self.runtimes if name != NATIVE])

    def entries(self) -> list[Entry]:
        """Every cell under its runtime's name; where aa is on, those of the last runtime once more.

        Of services that already run it is the first that takes part twice.
        """
        cells = self.cells()
        return [Entry(arm=cell.runtime, cell=cell) for cell in cells] + (self._again(cells) if self.aa else [])

    def _again(self, cells: Iterable[Cell]) -> list[Entry]:
        """The second arms of A/A."""
        if self.own and self.own.targets:
            first = self.own.targets[0].name
            return [Entry(arm=aa_arm(first), cell=cell) for cell in cells if cell.system == first]
        last = [name for name in self.runtimes if name != NATIVE][-1:]
        return [Entry(arm=aa_arm(cell.runtime), cell=cell) for cell in cells if cell.runtime in last]

    def block(self, number: int, seed: int) -> list[Entry]:
        """The entries in the order of block *number* (from 1): random, and the same for the same seed."""
        entries = self.entries()
        random.Random(f"{seed} {number}").shuffle(entries)
        return entries

    def with_values(self, given: Mapping[str, tuple[Value, ...]]) -> "Plan":
        """The plan with *given* in place of its rows' own values, where a row's system reads them.

        Raises BadInput for a parameter that no system of the plan reads, or that a topology has set.
        """
        _check_free(given, self.rows)
        for name in given:
            if not any(name in find(row.system).parameters for row in self.rows):
                systems = sorted({find(row.system).key for row in self.rows})
                raise BadInput(
                    f"{parameter(name).flag} ({name}) is not read by system {' or '.join(systems)}; "
                    f"it is read by system {', '.join(readers(name))}. Leave it out or choose another system."
                )
        return replace(self, rows=tuple(replace(row, values={**row.values, **_read(row, given)}) for row in self.rows))

    def to_json(self) -> dict[str, Any]:
        """The plan as result.json keeps it: every combination a row of its own."""
        return {
            "name": self.name,
            "description": self.description,
            "blocks": self.blocks,
            "scale": self.scale,
            "runtimes": list(self.runtimes),
            "aa": self.aa,
            "until": asdict(self.until),
            "method": self.method.to_json(),
            "view": self.view,
            "absent": [
                {"system": key[0], "runtime": key[1], "reason": why.to_json()} for key, why in self.absent.items()
            ],
            "rows": self._combinations(),
            **({"own": self.own.to_json()} if self.own else {}),
            **self._outside(),
        }

    def _outside(self) -> dict[str, Any]:
        """Title and file of each system that is no file of systems/: reports and resumed runs need them."""
        found = [find(row.system) for row in self.rows]
        outside = {one.key: {"title": one.title, "file": file_of(one)} for one in found if one.told}
        return {"outside": outside} if outside else {}

    def _combinations(self) -> list[dict[str, Any]]:
        """Every combination of values once, whatever the runtime, with the title of its row if that has one."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            system, title = find(row.system), {"title": row.title} if row.title else {}
            names = [name for name in self.runtimes if self._has(system, name)]
            for values in row.combinations(self.scale):
                cell = _cell(system, "", values)
                stored = {**title, "system": cell.system, "params": cell.params, "runtimes": names}
                found.setdefault(cell.cell_id, stored)
        return list(found.values())

    def _has(self, system: System, runtime: str) -> bool:
        """Whether there are cells of *system* under *runtime*."""
        return system.runs_under(runtime) and (system.key, runtime) not in self.absent

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Plan":
        """The plan that to_json wrote. Its scale has been applied already. Its own service is made known again."""
        own = Own.from_json(stored["own"]) if "own" in stored else None
        if own:
            own.register()
        for key, one in stored.get("outside", {}).items():
            _find_again(key, one["file"])
        rows = tuple(
            Row(
                system=row["system"],
                title=row.get("title", ""),
                values={name: (value,) for name, value in row["params"].items()},
            )
            for row in stored["rows"]
        )
        return cls(
            name=stored["name"],
            description=stored["description"],
            rows=rows,
            runtimes=tuple(stored["runtimes"]),
            blocks=stored["blocks"],
            aa=stored["aa"],
            until=Until(**stored["until"]),
            method=Method.from_json(stored["method"]),
            view=stored.get("view", ""),
            own=own,
        )


def _check_own(own: Own, rows: Sequence[Row], runtimes: Sequence[str]) -> None:
    """Raises BadInput for what a service of the user's cannot be measured with."""
    if own.targets and set(runtimes) != {NATIVE}:
        raise BadInput(
            f"runtimes is {', '.join(runtimes)}, and a service that already runs has its own; leave runtimes out."
        )
    for row in rows:
        own.check(row.values)


def _check_free(given: Mapping[str, tuple[Value, ...]], rows: Sequence[Row]) -> None:
    """Raises BadInput for a parameter of *given* that a topology has set: its shapes would not be what they say."""
    for name in given:
        if any(name in row.fixed for row in rows):
            raise BadInput(
                f"{parameter(name).flag} is {', '.join(map(str, given[name]))} beside a topology, which sets {name} "
                "in each of its rows; leave one of them out."
            )


def _find_again(key: str, file: str) -> None:
    """Make the system of a file outside known once more. Raises BadInput if it is another one now."""
    if file and find(file).key != key:
        raise BadInput(f"The run measured system {key} of {file}, which declares system {find(file).key} now.")


def _cell(system: System, runtime: str, values: Mapping[str, Value]) -> Cell:
    return Cell.build(system=system.key, runtime=runtime, reads=system.parameters, values=values)


def aa_arm(runtime: str) -> str:
    """The name under which *runtime* takes part a second time."""
    return f"{runtime} again"


def _read(row: Row, given: Mapping[str, tuple[Value, ...]]) -> dict[str, tuple[Value, ...]]:
    return {name: values for name, values in given.items() if name in find(row.system).parameters}


def parse_values(name: str, given: Any) -> tuple[Value, ...]:
    """The values of parameter *name*: one, a list, or a text with commas. Raises BadInput."""
    one = parameter(name)
    items: Sequence[Any] = given.split(",") if isinstance(given, str) else given if isinstance(given, list) else [given]
    if not items:
        raise BadInput(f"{name} is an empty list; it must hold at least one value, each {one.accepted}.")
    return tuple(dict.fromkeys(one.parse(item.strip() if isinstance(item, str) else item) for item in items))
