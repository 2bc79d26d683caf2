"""Functions for all benchmarks: parse options, measure a cell, alternate runs, print ratios and Markdown tables."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from math import exp, log
from typing import Any, TypeVar

from config.plan import Plan, Row
from core.cell import Cell, Value
from core.errors import ChildFailed
from core.result import CellResult
from core.runtime import RuntimeName
from lab.folders import Sandbox
from lab.python import interpreters
from lab.run.cell_run import Bench
from lab.run.feasible import preflight
from lab.run.measure import measure
from lab.run.runtimes import Runtime, present
from reports.document.model import Form, interval
from reports.statistics.stats import effect
from systems import find

RUNTIMES = "3.11,3.14,3.14t+gil,3.14t"
Key = TypeVar("Key")


def options(
    doc: str | None, *places: str, words: Sequence[str] | None = None, **defaults: str | float | bool
) -> argparse.Namespace:
    """Parse the command line, or *words*.

    places: names of the positional arguments
    defaults: the options with their defaults, which also give the types
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in places:
        parser.add_argument(name)
    for name, default in defaults.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(flag, type=type(default), default=default, help="default: %(default)s")
    return parser.parse_args(words)


def runtimes(names: str) -> Iterator[Runtime]:
    """Yield the installed runtimes of *names*, separated by commas. Print how to install the others."""
    wanted = [*map(RuntimeName, names.split(","))]
    found = present(wanted, interpreters.find(wanted))
    for name in wanted:
        if name in found:
            yield found[name]
        else:
            print(interpreters.missing(name), file=sys.stderr)


def cell_of(system: str, runtime: Runtime, values: Mapping[str, Value]) -> Cell:
    """Return a cell of *system*. Raise the limit on open files if the cell needs more."""
    row = Row(system=find(system), values={name: (value,) for name, value in values.items()})
    plan = Plan(name="bench", rows=(row,), runtimes=(runtime.name,))
    preflight(plan)
    return plan.cells()[0]


@contextmanager
def opened(runtime: Runtime, **settings: Any) -> Iterator[Bench]:
    """Yield a Bench, with which cells are measured. settings: other fields of the Bench"""
    with Sandbox() as sandbox:
        yield Bench(sandbox=sandbox, runtimes={str(runtime.name): runtime}, **settings)


def measured(cell: Cell, bench: Bench) -> CellResult:
    """Measure the cell, and return its result. Raises ChildFailed if the result is not ok."""
    result = measure(cell, find(cell.system), 1, bench)
    if result.status != "ok":
        raise ChildFailed(f"{cell.cell_id} {result.status}: {result.reason}")
    return result


def in_turns(repeats: int, measures: Mapping[Key, Callable[[], CellResult]]) -> dict[Key, list[CellResult]]:
    """Call each of *measures* once per repeat, in reverse order in every other repeat. Return the results by key."""
    results: dict[Key, list[CellResult]] = {key: [] for key in measures}
    for repeat in range(repeats):
        for key in list(measures)[:: -1 if repeat % 2 else 1]:
            results[key].append(measures[key]())
    return results


def ratio(above: Sequence[float], below: Sequence[float], form: Form) -> str:
    """Return the ratio of paired values with its 95 % interval, as text."""
    found = effect([log(one / other) for one, other in zip(above, below, strict=True)])
    return interval(exp(found.value), exp(found.low), exp(found.high), form, is_range=found.is_range)


def print_table(head: str, rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, and each row as soon as it is measured. head: titles, separated by |"""
    titles = [title.strip() for title in head.split("|")]
    for row in chain((titles, ["---"] * len(titles)), rows):
        print(f"| {' | '.join(row)} |", flush=True)
    print()
