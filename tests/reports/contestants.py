"""Synthetic runs of the experiments that compare systems: throughputs and latencies that one can check by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.cell import Value
from core.languages import ENGLISH
from core.messages import verbatim
from record.saved_run import CellResult, Run
from reports.document import Figure, Section, Table
from reports.sections import modules
from reports.view import View
from tests.reports.sample import histogram_of, run_of, set_plan
from tests.reports.sweeps import served

BLOCKS = (1, 2, 3)
TITLES = {
    "echo-libuv": "libuv (C)",
    "echo-netty": "Netty (Java)",
    "echo-uvloop": "uvloop (Python with libuv)",
    "echo-asyncio": "asyncio (Python)",
    "load-own": "gilscope's own generator",
    "load-ab": "ab (ApacheBench)",
    "load-wrk": "wrk",
}


def blocks_of(
    system: str,
    requests_per_s: float,
    *,
    runtime: str = "native",
    blocks: Sequence[int] = BLOCKS,
    latencies_ns: Sequence[int] = (),
    client: Mapping[str, Any] | None = None,
    **params: Value,
) -> list[CellResult]:
    """A cell of *system* in each block, one client and one service, two seconds each."""
    values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, **params}
    cells = [served(runtime, block, requests_per_s, values, system=system, clients=[client or {}]) for block in blocks]
    return [replace(cell, latency=histogram_of(latencies_ns)) for cell in cells]


def record_of(run: Run, titles: Mapping[str, str] = TITLES) -> Section:
    """What the section of the run's experiment says of it."""
    made: list[Section] = [
        module.section(View(run, titles)) for module in modules() if getattr(module, "VIEW", "") == run.plan.view
    ]
    (section,) = made
    return section


def sentences(run: Run, titles: Mapping[str, str] = TITLES) -> list[str]:
    """What it says of all contestants."""
    return [str(sentence) for sentence in record_of(run, titles).sentences]


def figures_of(run: Run) -> dict[str, Figure]:
    """The figures of its record."""
    record = record_of(run)
    return {figure.key: figure for part in (record, *record.parts) for figure in part.figures}


def lines_of(table: Table) -> list[list[str]]:
    """What the lines of a table show."""
    return [[datum.text(ENGLISH) for datum in line] for line in table.lines]


def contest_run(*cells: Sequence[CellResult], view: str = "echo", **more: Any) -> Run:
    """A run of these cells, of the experiment *view*. absent: {(system, runtime): reason}."""
    every = [cell for some in cells for cell in some]
    absent = more.pop("absent", {})
    runtimes = list(dict.fromkeys(str(cell.runtime) for cell in every)) or ["native"]
    run = run_of(every, name=view, runtimes=runtimes)
    stored = [{"system": key[0], "runtime": key[1], "reason": verbatim(why).to_json()} for key, why in absent.items()]
    return set_plan(run, view=view, absent=stored)
