"""The answer of runs with several systems, of which the golden outputs keep the last screen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.result import CellResult, Run
from reports.topics.verdict import section
from reports.view import View
from tests.reports.sample import MS, RUNTIMES, cell_of, measured, run_of

ONE, ALIKE = (0.97, 1.0, 1.03), (0.995, 1.0, 1.005)  # what the blocks of an arm differ by, in turn
WIDE = (0.7, 1.0, 1.4)
# ms under 3.11, 3.14, 3.14t+gil, 3.14t, and how much the blocks of the last differ
SYSTEMS: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "1": ((600, 600, 700, 500), ONE),
    "2": ((600, 580, 640, 300), ONE),
    "3": ((600, 590, 650, 660), WIDE),
    "4": ((600, 590, 650, 280), ONE),
}


def cells_of(system: str, times: Mapping[str, float], spread: Sequence[float], services: int = 1) -> list[CellResult]:
    """Cells of each arm; all blocks of an arm but the last are alike."""
    last = [*times][-1]
    return [
        replace(measured(cell_of(system, arm, {"NUM_API_SERVICES": services}), block, [round(ms * factor * MS)]),
                wall_ns=round(ms * factor * MS))
        for arm, ms in times.items()
        for block in range(1, 10)
        for factor in [spread[block % 3] if arm == last else 1.0]
    ]  # fmt: skip


def several(runtimes: Sequence[str] = RUNTIMES) -> Run:
    cells = [
        cell
        for system, (times, spread) in SYSTEMS.items()
        for cell in cells_of(
            system, {arm: ms for arm, ms in zip(RUNTIMES, times, strict=True) if arm in runtimes}, spread
        )
    ]
    if "3.14t+gil" in runtimes:
        cells += cells_of("2", {"3.14t+gil": 500, "3.14t": 500}, ALIKE, services=2)
    run = run_of(cells, runtimes=runtimes, blocks=9)
    titles = {1: "one process", 2: "one process per core"}
    rows = {(cell.system, cell.params["NUM_API_SERVICES"]): cell.params for cell in cells}
    run.plan["rows"] = [
        {"system": system, "params": params, "title": titles[int(services or 1)]}
        for (system, services), params in rows.items()
    ]
    run.plan["judged_steps"] = ["lock", "whole"]
    run.machine["cores_usable"] = 2
    return run


def test_page_and_terminal_have_the_same_headline_if_no_step_leads_from_the_first_runtime_to_the_last() -> None:
    arms = {"3.14": 600, "3.14+jit": 560, "3.14t": 300}
    shown = section(View(run_of(cells_of("2", arms, ONE), runtimes=tuple(arms), blocks=9)))
    assert str(shown.answer[0]) == str(shown.terminal[0])
