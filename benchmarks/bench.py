"""What the benchmarks share: measure one cell now, under one runtime."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

from config.plan import Plan, Row
from core.cell import Cell, Value
from core.errors import BadInput, ChildFailed
from core.result import CellResult
from lab.python import interpreters
from lab.run.feasible import preflight
from lab.run.measure import Bench, measure
from lab.run.runtimes import Runtime, present
from lab.run.sandbox import Sandbox
from systems import find


def runtime_called(name: str) -> Runtime:
    """The runtime *name*. Raises BadInput if it is not there."""
    runtimes = present((name,), interpreters.find((name,)))
    if name not in runtimes:
        raise BadInput(interpreters.missing(name))
    return runtimes[name]


def cell_of(system: str, runtime: str, values: Mapping[str, Value]) -> Cell:
    """One cell; its open files are made room for."""
    row = Row(system=find(system), values={name: (value,) for name, value in values.items()})
    plan = Plan(name="bench", rows=(row,), runtimes=(runtime,))
    preflight(plan)
    return plan.cells()[0]


@contextmanager
def opened(*runtimes: Runtime) -> Iterator[Bench]:
    """What cells are measured with, for as long as the block lasts."""
    with Sandbox() as sandbox:
        yield Bench(sandbox=sandbox, runtimes={str(one.name): one for one in runtimes})


def measured(cell: Cell, bench: Bench) -> CellResult:
    """The cell's result. Raises ChildFailed if it is not ok: a benchmark has no use for it."""
    result = measure(cell, find(cell.system), 1, bench)
    if result.status != "ok":
        raise ChildFailed(f"{cell.cell_id} {result.status}: {result.reason}")
    return result


def cpu_us(result: CellResult, side: str, *keys: str) -> float:
    """CPU time per request of the services or clients, in us; keys: cpu_user_ns, cpu_system_ns or both."""
    children: Sequence[Any] = result.services if side == "services" else result.clients
    total_ns: int = sum(child[key] for child in children for key in keys)
    return total_ns / result.requests / 1e3


def middle(values: list[float]) -> float:
    """The median."""
    return median(values)
