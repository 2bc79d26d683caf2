"""A plan: which cells a run is made of, in which order. Pure: files are read by config.load."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

from config.find_system import find_system
from config.orders import block_order
from config.plan_options import MAX_BLOCKS
from config.user_service import service
from core.beside import Beside
from core.cell import PARAMETERS, Cell, Value, parameter
from core.errors import BadInput
from core.hosts import Layout
from core.messages import NOTHING, OR, Message, listed
from core.method import Method
from core.runtime import NATIVE, RuntimeName
from core.saved import SavedPlan, SavedRow, Until
from core.system import System
from core.system_file import file_of
from core.user_service import UserService
from systems import readers

MOST_CELLS = 100_000
THREADS, SERVICES = "NUM_THREADS_PER_CLIENT", "NUM_API_SERVICES"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system and the values of its parameters: several values of one are a sweep. title is for reports.

    fixed: names of the parameters that a topology has set together, which nothing else may change
    runtimes: those of the plan's runtimes that the row is measured under; None for all of them
    """

    system: System
    values: Mapping[str, tuple[Value, ...]]
    title: str = ""
    fixed: tuple[str, ...] = ()
    runtimes: tuple[str, ...] | None = None

    def combinations(self, scale: float) -> Iterable[dict[str, Value]]:
        """Every combination of values, as {name: value}; scale makes NUM_REQUESTS_PER_CLIENT smaller."""
        for values in itertools.product(*self.values.values()):
            chosen = dict(zip(self.values, values, strict=True))
            if scale != 1:
                name = "NUM_REQUESTS_PER_CLIENT"
                full = chosen.get(name, PARAMETERS[name].default)
                chosen[name] = max(1, round(int(full or 1) * scale))
            yield chosen


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell taking part in a block, under the name of an arm, and its system."""

    arm: str
    cell: Cell
    system: System


@dataclass(frozen=True, kw_only=True)
class Plan:
    """blocks: how often every cell runs, at most where `until` ends it earlier.

    runtimes: names in the order of display, the first is what ratios refer to.
    aa: the last runtime, or the first service that already runs, takes part twice, under two names: what differs
        between these is noise.
    margin: what counts as no difference, as a share. judged_steps: those that get a verdict; empty for all.
    fail_if_slower: how much more time, as a share, the last runtime must take for the run to fail; 0 to never fail.
    extended: whether blocks were added when some had been seen.
    description: what it answers, in one line. view: the report of its own that it has; "" for runtimes side by side.
    user_service: a service of the user's, whose systems are those of the rows.
    layout: hosts, and who serves and who calls there; None where all is on this machine.
    beside: programs that are started beside the services. prepare: commands that fill them with data.
    absent: why a system cannot be measured under a runtime; it has no cells there.
    arm_order: which of ORDERS is asked for; "" for slices where they are possible
    arm_order_reason: why the arms of a setting are measured one after the other
    """

    name: str
    rows: tuple[Row, ...]
    runtimes: tuple[str, ...]
    blocks: int = 3
    scale: float = 1.0
    description: str = ""
    method: Method = Method()  # noqa: RUF009 - frozen
    aa: bool = False
    until: Until = Until()  # noqa: RUF009 - frozen
    margin: float = SavedPlan.margin
    judged_steps: tuple[str, ...] = ()
    fail_if_slower: float = 0.0
    extended: bool = False
    view: str = ""
    user_service: UserService | None = None
    absent: Mapping[tuple[str, str], Message] = field(default_factory=dict)
    layout: Layout | None = None
    beside: tuple[Beside, ...] = ()
    prepare: tuple[str, ...] = ()
    arm_order: str = ""
    arm_order_reason: Message = NOTHING

    def __post_init__(self) -> None:
        if not 1 <= self.blocks <= MAX_BLOCKS:
            raise BadInput(
                "blocks is {value}; it must be a whole number from 1 to {most}.", value=self.blocks, most=MAX_BLOCKS
            )
        if not 0 < self.scale <= 1:
            raise BadInput("scale is {value}; it must be above 0 and at most 1.", value=self.scale)
        for runtime in self.runtimes:
            RuntimeName.parse(runtime)
        _check_count(self.rows, self.runtimes)
        _check_names(row.system for row in self.rows)
        for row in self.rows:
            _check_rate(row)
        if self.beside and self.user_service and self.user_service.targets:
            raise BadInput("--with does not apply to a service that already runs; start its database yourself.")
        if self.user_service:
            service.check_runtimes(self.user_service, self.runtimes)
            for row in self.rows:
                service.check_values(self.user_service, row.values)

    @property
    def systems(self) -> dict[str, System]:
        """What the plan measures, by the key that its cells have."""
        return {row.system.key: row.system for row in self.rows}

    def cells(self) -> list[Cell]:
        """Every cell once, row by row, runtime by runtime; the same work is never there twice."""
        cells: dict[str, Cell] = {}
        for row in self.rows:
            for values in row.combinations(self.scale):
                for runtime in self.runtimes:
                    if self._has(row, runtime):
                        cell = _cell(row.system, runtime, values)
                        cells.setdefault(cell.cell_id, cell)
        return list(cells.values())

    def pairs(self) -> list[tuple[str, str]]:
        """(system, runtime) of all that the plan asks for and that can be, whether it is there or not."""
        return [
            (key, runtime)
            for key, system in self.systems.items()
            for runtime in self.runtimes
            if system.runs_under(runtime)
        ]

    @property
    def sides(self) -> int:
        """How many runtimes, or services that already run, may be compared with each other."""
        if self.user_service and self.user_service.targets:
            return len(self.user_service.targets)
        return len([name for name in self.runtimes if name != NATIVE])

    def entries(self) -> list[Entry]:
        """Every cell under its runtime's name; where aa is on, those of the last runtime once more.

        Of services that already run it is the first that takes part twice.
        """
        cells, systems = self.cells(), self.systems
        arms = [(cell.runtime, cell) for cell in cells] + (self._again(cells) if self.aa else [])
        return [Entry(arm=arm, cell=cell, system=systems[cell.system]) for arm, cell in arms]

    def _again(self, cells: Iterable[Cell]) -> list[tuple[str, Cell]]:
        """The second arms of A/A."""
        if self.user_service and self.user_service.targets:
            first = self.user_service.targets[0].name
            return [(aa_arm(first), cell) for cell in cells if cell.system == first]
        last = [name for name in self.runtimes if name != NATIVE][-1:]
        return [(aa_arm(cell.runtime), cell) for cell in cells if cell.runtime in last]

    def block(self, number: int, seed: int) -> list[Entry]:
        """The entries in the order of block *number* (from 1): the same for the same seed."""
        entries = self.entries()
        return [entries[place] for place in block_order(len(entries), number, seed)]

    def with_values(self, given: Mapping[str, tuple[Value, ...]]) -> "Plan":
        """The plan with *given* in place of its rows' own values, where a row's system reads them.

        Raises BadInput for a parameter that no system of the plan reads, or that a topology has set.
        """
        for name in given:
            flag = parameter(name).flag
            if any(name in row.fixed for row in self.rows):  # the shapes of a topology would not be what they say
                raise BadInput(
                    "{flag} cannot be given beside a topology, which sets {name}; leave it out.", flag=flag, name=name
                )
            if not any(row.system.takes(name) for row in self.rows):
                raise BadInput(
                    "{flag} ({name}) is not read by system {systems}; it is read by system {readers}. "
                    "Leave it out or choose another system.",
                    flag=flag,
                    name=name,
                    systems=listed(sorted(self.systems), OR),
                    readers=listed(readers(name)),
                )
        return replace(
            self, rows=tuple(replace(row, values={**row.values, **read_by(row.system, given)}) for row in self.rows)
        )

    def to_json(self) -> dict[str, Any]:
        """The plan as result.json keeps it: every combination a row of its own."""
        values = vars(self)
        shared = {one.name: _plain(values[one.name]) for one in fields(SavedPlan) if values.get(one.name) is not None}
        return {
            **shared,
            "absent": [
                {"system": system, "runtime": runtime, "reason": why.to_json()}
                for (system, runtime), why in self.absent.items()
            ],
            "rows": self._combinations(),
            "arm_order_reason": self.arm_order_reason.to_json(),
            **({"own": self.user_service.to_json()} if self.user_service else {}),
            **self._outside(),
        }

    def _outside(self) -> dict[str, Any]:
        """Title and file of each system that is no file of systems/: reports and resumed runs need them."""
        outside = {
            key: {"title": str(system.title), "file": file_of(system)}
            for key, system in self.systems.items()
            if system.told
        }
        return {"outside": outside} if outside else {}

    def _combinations(self) -> list[dict[str, Any]]:
        """Every combination of values once, whatever the runtime, with the title of its row if that has one."""
        combinations: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            title = {"title": row.title} if row.title else {}
            names = [name for name in self.runtimes if self._has(row, name)]
            for values in row.combinations(self.scale):
                cell = _cell(row.system, "", values)
                framed = {"framed": True} if row.system.framed else {}
                stored = {**title, **framed, "system": cell.system, "params": cell.params, "runtimes": names}
                combinations.setdefault(cell.cell_id, stored)
        return list(combinations.values())

    def _has(self, row: Row, runtime: str) -> bool:
        """Return whether *row* has cells under *runtime*."""
        is_chosen = row.runtimes is None or runtime in row.runtimes
        return is_chosen and row.system.runs_under(runtime) and (row.system.key, runtime) not in self.absent

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Plan":
        """Return the plan that to_json wrote. Its scale has been applied already; what was absent is looked at anew."""
        saved = SavedPlan.from_json(stored)
        systems = _systems_again(saved)
        values = [{name: (value,) for name, value in row.params.items()} for row in saved.rows]
        rows = tuple(
            Row(system=systems[row.system], title=row.title, values=own, runtimes=_runtimes_again(row, saved))
            for row, own in zip(saved.rows, values, strict=True)
        )
        kept = {one.name: getattr(saved, one.name) for one in fields(cls)}
        return cls(**{**kept, "rows": rows, "scale": 1.0, "absent": {}})


def _plain(value: Any) -> Any:
    """Return *value* as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _runtimes_again(row: SavedRow, saved: SavedPlan) -> tuple[str, ...] | None:
    """Return the runtimes of a saved row, with those that were absent then."""
    absent = (one.runtime for one in saved.absent if one.system == row.system)
    return None if row.runtimes is None else (*row.runtimes, *absent)


def _systems_again(saved: SavedPlan) -> dict[str, System]:
    """The systems of a saved plan. Raises BadInput where a file declares another one now."""
    systems = {system.key: system for system in service.systems(saved.user_service)} if saved.user_service else {}
    for name, outside in saved.outside.items():
        if outside.file:
            systems[name] = system = find_system(outside.file)
            if system.key != name:
                raise BadInput(
                    "The run measured system {name}; {file} declares {key} now.",
                    name=name,
                    file=outside.file,
                    key=system.key,
                )
    return {row.system: systems.get(row.system) or find_system(row.system) for row in saved.rows}


def _check_count(rows: Iterable[Row], runtimes: Sequence[str]) -> None:
    """Raises BadInput for more cells than a run could have; they are counted and not made."""
    count = sum(math.prod(len(values) for values in row.values.values()) for row in rows) * len(runtimes)
    if count > MOST_CELLS:
        raise BadInput(
            "The plan has {count} cells; it must have at most {most}. Give fewer values to a parameter.",
            count=count,
            most=MOST_CELLS,
        )


def _check_rate(row: Row) -> None:
    """Raises BadInput where a service would have to wait for a client's thread, so that requests come when they can."""
    if THREADS not in row.system.parameters or not max(_numbers(row, "RATE")):
        return
    threads, services = min(_numbers(row, THREADS)), max(_numbers(row, SERVICES))
    if threads < services:
        raise BadInput(
            "RATE is {rate}, {threads_name} is {threads} and {services_name} is {services}: at a rate, each service "
            "must have a thread of each client. Give {threads_name} at least {services}.",
            rate=max(_numbers(row, "RATE")),
            threads_name=THREADS,
            threads=threads,
            services_name=SERVICES,
            services=services,
        )


def _numbers(row: Row, name: str) -> list[int]:
    return [int(value or 0) for value in row.values.get(name, (parameter(name).default,))]


def _check_names(systems: Iterable[System]) -> None:
    """Raises BadInput for two files that declare a system of the same name: cells could not be told apart."""
    files: dict[str, str] = {}
    for system in systems:
        if files.setdefault(system.key, file_of(system)) != file_of(system):
            key, file, other = system.key, files[system.key], file_of(system)
            raise BadInput("{file} and {other} both declare the system {key!r}.", file=file, other=other, key=key)


def _cell(system: System, runtime: str, values: Mapping[str, Value]) -> Cell:
    return Cell.build(system=system.key, runtime=runtime, reads=system.parameters, values=values)


def aa_arm(runtime: str) -> str:
    """The name under which *runtime* takes part a second time."""
    return f"{runtime} again"


def read_by(system: System, values: Mapping[str, tuple[Value, ...]]) -> dict[str, tuple[Value, ...]]:
    """Return those of *values* that *system* reads."""
    return {name: several for name, several in values.items() if system.takes(name)}


def parse_values(name: str, given: Any) -> tuple[Value, ...]:
    """The values of parameter *name*: one, a list, or a text with commas. Raises BadInput."""
    declared = parameter(name)
    items: Sequence[Any] = given.split(",") if isinstance(given, str) else given if isinstance(given, list) else [given]
    if not items:
        raise BadInput("{name} is an empty list; it must be {accepted}.", name=name, accepted=declared.accepted)
    return tuple(dict.fromkeys(declared.parse(item.strip() if isinstance(item, str) else item) for item in items))
