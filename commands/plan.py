"""The command plan: show what a run would measure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from commands.chosen import choose_runtimes, planned
from commands.output import Output, output_for
from commands.project import complete_from_project
from config import flags
from config.options import Option
from config.plan import Plan
from config.plan_options import JSON, parse_margin
from core.cell import Cell
from core.errors import BadInput
from core.messages import message, plural
from core.method import placement
from core.printable import on_one_line
from core.result import load
from core.system import System
from lab.machine import host
from reports.document.values import duration

POWER = Option(
    "--power D",
    message(
        "Estimate from the noise of a saved run which duration and number of "
        "blocks can show a difference of D, such as 5%."
    ),
    parse_margin,
)
FROM = Option("--from RUN", message("The saved run whose noise --power uses."))
COUNT_US = 0.025  # time of one iteration of the calc loop on a current core
CELL_OVERHEAD_S = 0.4  # start and stop of a small cell's processes
PROCESS_OVERHEAD_S = 0.03
GAP = 2  # spaces between columns, including the RULE that rich draws
RULE = 1


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the table of cells.

    head: the heading; it may contain line breaks
    drop_order: columns with the lowest number above 0 are left out first if the table is too wide; 0 for never
    """

    head: str
    texts: Sequence[str]
    drop_order: int = 0

    @property
    def width(self) -> int:
        """Return the width of the widest text or line of the head, in columns of the terminal."""
        return max(map(cell_len, (*self.head.split("\n"), *self.texts)))


def main(arguments: Sequence[str]) -> int:
    """Run the command plan. Return its exit status: 0."""
    output = output_for(arguments)
    parser = output.parser("plan")
    flags.add_run_flags(parser)
    parser.add(message("what to print"), JSON)
    parser.add(message("estimate the number of blocks"), POWER, FROM)
    flagged = parser.parse(arguments)
    if flagged["power"] is not None or flagged["from"] is not None:
        return _power(flagged, output)
    given = complete_from_project(flagged, output.note)
    with planned(given) as (asked, spread):
        plan, _, _ = choose_runtimes(asked, given, output, spread)
    if given["json"]:
        print(json.dumps(plan.to_json(), indent=2))
    else:
        _print(plan, output)
    return 0


def _power(given: Mapping[str, Any], output: Output) -> int:
    """Print the cells and blocks that can show the difference, given the noise of a saved run."""
    from reports.facts.comparisons import compare
    from reports.facts.inside import design_of, design_words

    if given["power"] is None or given["from"] is None:
        raise BadInput("--power and --from must be given together: --power 5% --from reports/out/RUN.")
    size, run = flags.value_of(POWER, given), load(Path(given["from"]))
    design = design_of(run, compare(run), size)
    if design is None:
        raise BadInput(
            "The number of blocks cannot be estimated from {run}. No step has 6 blocks with "
            "cells of 0.5 s, or the noise would require hundreds of blocks. Measure its plan "
            "with --blocks 6 --duration 1, or on a quieter machine.",
            run=given["from"],
        )
    output.line(design_words(design, size, design.flags))
    return 0


def _print(plan: Plan, output: Output) -> None:
    from reports.render.console import terminal

    console, cores = terminal(), host.facts()["cores_usable"] or 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, GAP - RULE, 0, 0))
    shown = fit_columns(columns(plan, cores, output), console.width)
    for column in shown:
        table.add_column(column.head, justify="right" if column is not shown[0] else "left", no_wrap=True)
    for texts in zip(*(column.texts for column in shown), strict=True):
        table.add_row(*map(Text, map(on_one_line, texts)))
    console.print(table)
    cells, seconds = plan.cells(), plan_seconds(plan, cores)
    total = message(
        "{cells} x {blocks}, {requests:,} requests, about {time} (a rough estimate; nothing was run).",
        cells=plural("{count} cell", "{count} cells", count=len(cells)),
        blocks=plural("{count} block", "{count} blocks", count=plan.blocks),
        requests=plan.blocks * sum(cell.requests for cell in cells),
        time=duration(seconds),
    )
    console.print(f"\n{output.text(total)}", highlight=False)
    if plan.aa and not (plan.method.is_pinned or plan.layout or plan.user_service or plan.view):
        advice = message("Placement on {cores} cores: {advice}", cores=cores, advice=placement(cores))
        console.print(output.text(advice), highlight=False, soft_wrap=True)


def columns(plan: Plan, cores: int, output: Output) -> list[Column]:
    """Return the columns that describe the cells: the varying parameters, requests and estimated time."""
    cells, systems, duration_s = plan.cells(), plan.systems, plan.method.duration_s
    times = [cell_seconds(cell, systems[cell.system], cores, duration_s) for cell in cells]
    return [
        Column(head=output.text(message("cell")), texts=[cell.cell_id for cell in cells], drop_order=1),
        Column(head=output.text(message("system")), texts=[cell.system for cell in cells]),
        Column(head=output.text(message("runtime")), texts=[cell.runtime for cell in cells]),
        *(_parameter(name, cells) for name in _varying(cells)),
        Column(head=output.text(message("requests")), texts=[f"{cell.requests:,}" for cell in cells]),
        Column(head=output.text(message("time")), texts=[f"{time_s:.1f} s" for time_s in times], drop_order=2),
    ]


def _parameter(name: str, cells: Iterable[Cell]) -> Column:
    return Column(head=name, texts=[str(cell.params.get(name, "")).lower() for cell in cells], drop_order=3)


def fit_columns(table: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit into *width*. Heads are broken at _ first, then columns are left out."""
    shown = list(table)
    if _width(shown) > width:
        shown = [Column(head=one.head.replace("_", "_\n"), texts=one.texts, drop_order=one.drop_order) for one in shown]
    while _width(shown) > width and any(column.drop_order for column in shown):
        first = min(column.drop_order for column in shown if column.drop_order)
        shown.remove([column for column in shown if column.drop_order == first][-1])
    return shown


def _width(table: Sequence[Column]) -> int:
    return sum(column.width + GAP for column in table) - GAP


def _varying(cells: Sequence[Cell]) -> list[str]:
    names = dict.fromkeys(name for cell in cells for name in cell.params)
    return [name for name in names if len({str(cell.params[name]) for cell in cells if name in cell.params}) > 1]


def cell_seconds(cell: Cell, system: System, cores: int, duration_s: float = 0.0) -> float:
    """Return the estimated time of a cell of *system* on *cores* cores, in seconds.

    The time is the start and end of the processes, and *duration_s* or else the CPU time of services and clients.
    """
    if duration_s:
        return duration_s + _starting_s(cell, cores)
    request_us = system.request_cpu_us + cell.calc_target * COUNT_US
    processes = cell.num_api_services + cell.num_clients
    return max(cell.requests * request_us * 1e-6 / min(cores, processes), cell.paced_s) + _starting_s(cell, cores)


def _starting_s(cell: Cell, cores: int) -> float:
    return CELL_OVERHEAD_S + (cell.num_api_services + cell.num_clients) * PROCESS_OVERHEAD_S / cores


def plan_seconds(plan: Plan, cores: int) -> float:
    """Return the estimated time of all blocks, in seconds, without the report."""
    duration_s = plan.method.duration_s
    block_s = sum(cell_seconds(entry.cell, entry.system, cores, duration_s) for entry in plan.entries())
    return min(plan.blocks * block_s, plan.until.seconds or float("inf"))
