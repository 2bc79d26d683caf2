"""Reads a page as a checker does: its elements with their attributes, and the cells that a figure names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import NamedTuple

from core.cell import Value
from core.languages import language
from record.saved_run import CellResult, Run
from reports.render.html import page
from reports.view import View
from reports.write import report
from tests.reports.sample import MS, TITLES, cell_of, histogram_of, measured, run_of, seed_run
from tests.reports.sweeps import served, sized

VOID = {"meta", "link", "br", "wbr", "input", "img", "hr"}


class Element(NamedTuple):
    """One element of a page."""

    name: str
    attributes: dict[str, str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Element] = []
        self.open: list[Element] = []
        self.unbalanced: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.found.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1].name == tag:
            self.open.pop()
        elif tag not in VOID:
            self.unbalanced.append(tag)


def elements(html: str) -> list[Element]:
    """Every element of the page. Fails if tags do not match."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.unbalanced == []
    assert reader.open == []
    return reader.found


def named_cells(groups: str, cells: Sequence[CellResult]) -> list[list[CellResult]]:
    """The cells of each group that data-cells names."""
    names = [f"{cell.arm.replace(' ', '_')}-{cell.cell_id}-{cell.block}" for cell in cells]
    named = [*zip(names, cells, strict=True)]
    return [[cell for name, cell in named if name.startswith(f"{group}-")] for group in groups.split()]


@cache
def record_with_aa(blocks: int = 3) -> Run:
    """The seed's rows under four runtimes and A/A, the second arm's figures a little off. Made once: do not change."""
    run = seed_run(blocks=blocks)
    run.cells = [_with_costs(cell) for cell in run.cells]
    again = [replace(cell, arm="3.14t again") for cell in run.cells if cell.runtime == "3.14t"]
    shifted = [replace(cell, wall_ns=cell.wall_ns * (97 + cell.block) // 99) for cell in again]
    run.cells += shifted
    return run


def _with_costs(cell: CellResult) -> CellResult:
    """The cell with a time for its counts and for the waits before them."""
    waiting = histogram_of(number * 1000 * (10 + cell.block) for number in range(1, 20))
    return replace(cell, calc_ns=cell.answered * (20_000 + 700 * cell.block), waiting=waiting)


@cache
def record_view() -> View:
    """What a page shows of it. Made once."""
    return View(record_with_aa(), TITLES)


def page_of(run: Run | View, lang: str = "en", titles: Mapping[str, str] = TITLES) -> str:
    """The page of a run."""
    return page(report(run if isinstance(run, View) else View(run, titles)), language(lang))


def every_chapter() -> Run:
    """A small run that has something for every chapter: topologies at two loads, clients swept, latencies."""
    arms = ("3.14", "3.14t")
    cells = [
        served(arm, block, 900.0 * processes + load, _topology(processes, load), services=sized(*[50] * processes))
        for arm in arms
        for processes in (1, 2)
        for load in (0, 1000)
        for block in (1, 2, 3)
    ]
    cells += [
        served(arm, block, 500, {"NUM_API_SERVICES": 1, "NUM_CLIENTS": count}, services=sized(20 + count / 10))
        for arm in arms
        for count in (1, 2, 8)
        for block in (1, 2)
    ]
    cells += [
        measured(cell_of("3", arm), block, [2000 * MS], [MS, 2 * MS] * 500) for arm in arms for block in (1, 2, 3)
    ]
    run = run_of(cells)
    run.machine = replace(run.machine, cores_usable=2)
    return run


def _topology(processes: int, load: int) -> dict[str, Value]:
    return {
        "NUM_API_SERVICES": processes,
        "NUM_WORKERS_PER_API_SERVICE": 3 - processes,
        "NUM_CLIENTS": 4,
        "CALC_TARGET": load,
    }
