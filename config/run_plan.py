"""Declare the type Plan: the cells of a run and their order. config.load reads plans from files.

config/flags.py makes the plan of flags and files, commands/ adapt it to this machine, and lab/run
measures its blocks. A plan is frozen: each change makes a new one, which __post_init__ checks. A
cell is a system under a runtime with parameter values. An arm is what is compared: a runtime, or a
service that already runs. A/A measures one arm twice. SavedPlan (record/saved_plan.py) is the form
in result.json; a new field belongs in PlanFields there, which saved() and from_saved() copy.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from config.orders import block_order
from config.user_service import service
from core.cell import PARAMETERS, Cell, Value, parameter
from core.messages import OR, BadInput, Message, listed
from core.runtime import NATIVE, RuntimeName
from core.sweeps import swept_names
from core.system import System
from core.user_service import UserService
from record.comparison import VALUE
from record.saved_plan import Absent, OutsideSystem, PlanFields, SavedPlan, SavedRow
from record.saved_run import CellResult
from systems import built_in, find, load_system, readers

# the largest number of cells in a block
MOST_CELLS = 100_000
Values = Mapping[str, tuple[Value, ...]]  # of parameters, by name
# THREADS are those of a client; in config/user_service/service.py, they are those of a service
THREADS, SERVICES = "NUM_THREADS_PER_CLIENT", "NUM_API_SERVICES"


def find_system(name: str, folder: Path = Path()) -> System:
    """Return the system *name*: a number, a name, or a .py file in *folder* that declares the
    system.

    Raises BadInput.
    """
    if not name.endswith(".py"):
        return find(name)
    path = (folder / name).absolute()
    system = load_system(path)
    if system.command:
        service.check_command(system.command, has_environment=True)
    for other in built_in():
        for taken in sorted({other.key, other.name} & {system.key, system.name}):
            raise BadInput(
                "{path} declares the system {name!r}, but gilscope has a system of that name: "
                "{title!r}. Change the number or the name of SYSTEM in that file.",
                path=path,
                name=taken,
                title=other.title,
            )
    return system


def find_systems(names: str) -> list[System]:
    """Return the systems of a comma-separated list. "all" means the systems with a number. Raises
    BadInput.
    """
    systems: dict[str, System] = {}
    for name in names.split(","):
        numbered = [system for system in built_in() if system.group == "systems"]
        for system in numbered if name.strip() == "all" else [find_system(name.strip())]:
            systems.setdefault(system.key, system)
    return list(systems.values())


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """A system and the values of its parameters. Several values of one parameter are a sweep.

    title: the title of the row in reports
    fixed: names of the parameters that a topology has set together; flags cannot change these
        parameters
    runtimes: the runtimes that the row is measured under; None for all runtimes of the plan
    """

    system: System
    values: Values
    title: str = ""
    fixed: tuple[str, ...] = ()
    runtimes: tuple[RuntimeName, ...] | None = None

    def includes(self, runtime: RuntimeName) -> bool:
        """Return whether the row is to be measured under *runtime*, if it is installed."""
        is_chosen = self.runtimes is None or runtime in self.runtimes
        return is_chosen and self.system.runs_under(runtime)

    def combinations(self, scale: float) -> Iterable[dict[str, Value]]:
        """Yield every combination of parameter values, as {name: value}. *scale* (0..1) multiplies
        NUM_REQUESTS_PER_CLIENT.
        """
        for values in itertools.product(*self.values.values()):
            chosen = dict(zip(self.values, values, strict=True))
            if scale != 1:
                name = "NUM_REQUESTS_PER_CLIENT"
                full = chosen.get(name, PARAMETERS[name].default)
                chosen[name] = max(1, round(int(full or 1) * scale))
            yield chosen


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell of a block, with its system and the name of its arm (runtime or service)."""

    arm: str
    cell: Cell
    system: System


@dataclass(frozen=True, kw_only=True)
class Plan(PlanFields):
    """A plan: the systems, parameter values and runtimes that a run measures, and how it measures
    and judges them.

    blocks: number of times that every cell runs; fewer if `until` ends the run earlier
    user_service: the user's service; its systems are the systems of the rows
    absent: the reason why a system has no cells under a runtime, by (system, runtime)
    SavedPlan describes the other fields.
    """

    rows: tuple[PlanRow, ...]
    blocks: int = 3
    user_service: UserService | None = None
    absent: Mapping[tuple[str, str], Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_count(self.rows, self.runtimes)
        _check_names(row.system for row in self.rows)
        for row in self.rows:
            _check_rate(row)
        own = self.user_service
        if own and own.targets:
            if self.beside:
                raise BadInput(
                    "--with does not apply to a service that already runs; start its database "
                    "yourself."
                )
            if {*self.runtimes} != {NATIVE}:
                raise BadInput(
                    "runtimes is {runtimes}, but a service that already runs has its own runtime. "
                    "Leave out runtimes.",
                    runtimes=self.runtimes,
                )
        if own:
            for row in self.rows:
                service.check_values(own, row.values)

    @property
    def systems(self) -> dict[str, System]:
        """Return the systems of the plan, as {system.key: system}."""
        return {row.system.key: row.system for row in self.rows}

    def system_of(self, cell: Cell | CellResult) -> System:
        """Return the system of a cell. The variants of a user's service have one name, but each has
        a system.
        """
        varied = self.user_service.varied if self.user_service else ""
        variant = cell.params.get(varied)
        # without variants, *variant* is None, and every row of the system has it
        return next(
            row.system
            for row in self.rows
            if row.system.key == cell.system and variant in row.values.get(varied, (None,))
        )

    def with_service(self, changed: UserService) -> "Plan":
        """Return the plan with a changed service that gilscope starts, and with its systems."""
        systems = service.systems(changed)
        of_variants = dict(zip(changed.variants, systems, strict=False))
        rows = []
        for row in self.rows:
            (variant,) = row.values.get(changed.varied, ("",))  # a row has at most one
            rows.append(replace(row, system=of_variants.get(str(variant), systems[0])))
        return replace(self, user_service=changed, rows=tuple(rows))

    def cells(self) -> list[Cell]:
        """Return all measurements of the plan without duplicates, in the order of the plan's
        systems.
        """
        cells = (
            _cell(row.system, runtime, values)
            for row in self.rows
            for values in row.combinations(self.scale)
            for runtime in self.runtimes
            if row.includes(runtime) and (row.system.key, runtime) not in self.absent
        )
        return list(dict.fromkeys(cells))

    @property
    def swept(self) -> dict[str, set[str]]:
        """Return the names of the swept parameters by system, if the values are to be compared with
        each other.
        """
        leaves_out = self.judged_steps and VALUE not in self.judged_steps
        if self.view or leaves_out or self.objectives:
            return {}
        fixed = {name for row in self.rows for name in row.fixed}
        settings: dict[str, list[Mapping[str, Value]]] = {}
        for row in self._combinations():
            if row.runtimes:
                settings.setdefault(row.system, []).append(row.params)
        return {system: swept_names(some, fixed) for system, some in settings.items()}

    def pairs(self) -> list[tuple[System, RuntimeName]]:
        """Return all (system, runtime) pairs that a row includes, even if they cannot be measured
        here. Variants of a service are systems with one key.
        """
        pairs = ((row, runtime) for row in self.rows for runtime in self.runtimes)
        named = [(row.system, runtime) for row, runtime in pairs if row.includes(runtime)]
        return [*dict.fromkeys(named)]

    @property
    def compared(self) -> list[str]:
        """Return the names of what the plan compares: services that already run or, if none, Python
        runtimes.
        """
        targets = self.user_service.targets if self.user_service else ()
        return [target.name for target in targets] or [
            name for name in self.runtimes if name != NATIVE
        ]

    def entries(self) -> list[Entry]:
        """Return every cell (measurement of a block) of the plan, with the name of its runtime or
        its service.

        With A/A, the cells of the last runtime, or of the first service that already runs, come a
        second time.
        """
        arms: list[tuple[str, Cell]] = [(cell.runtime, cell) for cell in self.cells()]
        if self.aa and self.compared:
            is_target = bool(self.user_service and self.user_service.targets)
            again = self.compared[0 if is_target else -1]
            measured = [cell for _, cell in arms if again in (cell.runtime, cell.system)]
            arms += [(f"{again} again", cell) for cell in measured]
        return [Entry(arm=arm, cell=cell, system=self.system_of(cell)) for arm, cell in arms]

    def block(self, number: int, seed: int) -> list[Entry]:
        """Return all measurements of the plan in their order in one round. The order depends on the
        seed and the round.

        number: the number of the round (block), from 1
        """
        entries = self.entries()
        return [entries[place] for place in block_order(len(entries), number, seed)]

    def with_values(self, given: Values) -> "Plan":
        """Return the plan with the parameter values *given*. Each is set for all systems that use
        the parameter.

        Raises BadInput if no system of the plan uses a parameter, or a topology has set it.
        """
        for name in given:
            flag = parameter(name).flag
            if any(
                name in row.fixed for row in self.rows
            ):  # other values would contradict the topology
                raise BadInput(
                    "{flag} cannot be used with a topology, because the topology sets {name}. "
                    "Leave out {flag}.",
                    flag=flag,
                    name=name,
                )
            if not any(row.system.takes(name) for row in self.rows):
                raise BadInput(
                    "{flag} sets {name}, but system {systems} does not use {name}. Systems that "
                    "use it: {readers}. Leave out {flag}, or choose another system.",
                    flag=flag,
                    name=name,
                    systems=listed(sorted(self.systems), OR),
                    readers=readers(name),
                )
        return replace(
            self,
            rows=tuple(
                replace(row, values={**row.values, **values_used_by(row.system, given)})
                for row in self.rows
            ),
        )

    def saved(self) -> SavedPlan:
        """Return the plan as result.json stores it. `rows` has one entry per combination of
        parameter values.
        """
        outside = {  # systems outside systems/, which reports and resumed runs need
            key: OutsideSystem(title=str(system.title), file=system.file)
            for key, system in self.systems.items()
            if system.child_config
        }
        return SavedPlan(
            **{one.name: getattr(self, one.name) for one in fields(PlanFields)},
            blocks=self.blocks,
            absent=tuple(
                Absent(system=system, runtime=RuntimeName(runtime), reason=why)
                for (system, runtime), why in self.absent.items()
            ),
            rows=self._combinations(),
            own=self.user_service.to_json() if self.user_service else None,
            outside=outside,
        )

    def _combinations(self) -> tuple[SavedRow, ...]:
        """Return each combination of a system and parameter values once, with its runtimes and its
        title, if any.
        """
        combinations: dict[str, SavedRow] = {}
        named: dict[str, set[RuntimeName]] = {}  # the runtimes of all rows with the combination
        for row in self.rows:
            for values in row.combinations(self.scale):
                # any runtime will do, because the id only tells settings apart
                cell = _cell(row.system, self.runtimes[0], values)
                saved = SavedRow(
                    system=cell.system,
                    params=cell.params,
                    title=row.title,
                    framed=row.system.framed,
                    fixed=row.fixed,
                )
                combinations.setdefault(cell.cell_id, saved)
                named.setdefault(cell.cell_id, set()).update(filter(row.includes, self.runtimes))
        for cell_id, saved in combinations.items():
            names = [name for name in self.runtimes if name in named[cell_id]]
            absent = tuple(name for name in names if (saved.system, name) in self.absent)
            here = tuple(name for name in names if name not in absent)
            combinations[cell_id] = replace(saved, runtimes=here, absent=absent)
        return tuple(combinations.values())

    @classmethod
    def from_saved(cls, saved: SavedPlan) -> "Plan":
        """Return the plan that saved() returned.

        The scale is 1 because saved() applied it. absent is empty because a resumed run checks it
        again.
        """
        systems = _restore_systems(saved)
        rows = []
        for row in saved.rows:
            restored = PlanRow(
                system=systems[row.system],
                title=row.title,
                fixed=row.fixed,
                values={name: (value,) for name, value in row.params.items()},
                # with the absent ones, because a resumed run looks for them again
                runtimes=None if row.runtimes is None else (*row.runtimes, *row.absent),
            )
            rows.append(restored)
        kept = {one.name: getattr(saved, one.name) for one in fields(cls)}
        plan = cls(**{**kept, "rows": tuple(rows), "scale": 1.0, "absent": {}})
        own = plan.user_service
        return plan.with_service(own) if own and own.variants else plan


def _restore_systems(saved: SavedPlan) -> dict[str, System]:
    """Return the systems of a saved plan. Raises BadInput if a file no longer declares the system
    that was saved.
    """
    systems = (
        {system.key: system for system in service.systems(saved.user_service)}
        if saved.user_service
        else {}
    )
    for name, outside in saved.outside.items():
        if outside.file:
            systems[name] = system = find_system(outside.file)
            if system.key != name:
                raise BadInput(
                    "The run measured system {name}, but {file} now declares system {key}. "
                    "Restore the file, or start a new run.",
                    name=name,
                    file=outside.file,
                    key=system.key,
                )
    return {row.system: systems.get(row.system) or find_system(row.system) for row in saved.rows}


def _check_count(rows: Iterable[PlanRow], runtimes: Sequence[str]) -> None:
    """Raise BadInput if a block has too many cells (measurements). Count the cells without building
    them.
    """
    count = sum(math.prod(map(len, row.values.values())) for row in rows) * len(runtimes)
    if count > MOST_CELLS:
        raise BadInput(
            "The plan has {count} measurements per block; it must have at most {most}. Give fewer "
            "values of a parameter.",
            count=count,
            most=MOST_CELLS,
        )


def _check_rate(row: PlanRow) -> None:
    """Raise BadInput if a client has too few threads to send to every service at the fixed rate."""
    rate = max(_numbers(row, "RATE"))
    if THREADS not in row.system.parameters or not rate:
        return
    threads, services = min(_numbers(row, THREADS)), max(_numbers(row, SERVICES))
    if threads < services:
        raise BadInput(
            "RATE is {rate}, {threads_name} is {threads} and {services_name} is {services}. With a "
            "rate, each client needs one thread per service. Set {threads_name} to at least "
            "{services}.",
            rate=rate,
            threads_name=THREADS,
            threads=threads,
            services_name=SERVICES,
            services=services,
        )


def _numbers(row: PlanRow, name: str) -> list[int]:
    return [int(value or 0) for value in row.values.get(name, (parameter(name).default,))]


def _check_names(systems: Iterable[System]) -> None:
    """Raise BadInput if two files declare systems of the same name, because their results could not
    be told apart.
    """
    files: dict[str, str] = {}
    for system in systems:
        if files.setdefault(system.key, system.file) != system.file:
            key, file, other = system.key, files[system.key], system.file
            raise BadInput(
                "{file} and {other} both declare the system {key!r}. Rename one of the two "
                "systems.",
                file=file,
                other=other,
                key=key,
            )


def _cell(system: System, runtime: RuntimeName, values: Mapping[str, Value]) -> Cell:
    return Cell.build(system=system.key, runtime=runtime, reads=system.parameters, values=values)


def values_used_by(system: System, values: Values) -> Values:
    """Return the values of the parameters that *system* uses."""
    return {name: several for name, several in values.items() if system.takes(name)}


def parse_values(name: str, given: Any) -> tuple[Value, ...]:
    """Parse the values of parameter *name* from one value, a list, or a text with commas. Raises
    BadInput.
    """
    declared = parameter(name)
    items = given.split(",") if isinstance(given, str) else given
    if items == []:
        raise BadInput(
            "{name} is an empty list; it must be {accepted}.", name=name, accepted=declared.accepted
        )
    return tuple(dict.fromkeys(map(declared.parse, items if isinstance(items, list) else [items])))
