"""The page as a whole: it stands whatever a run holds."""

from dataclasses import replace

from record.run import Run
from tests.reports.contestants import TITLES as CONTESTANTS
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import elements, page_of
from tests.reports.sample import MS, cell_of, measured, run_of


def test_a_setting_that_has_neither_arm_of_a_step_has_no_line_in_the_forest() -> None:
    python = [cell for arm in ("3.14", "3.14t") for cell in blocks_of("echo-uvloop", 10_000, runtime=arm)]
    html = page_of(contest_run(blocks_of("echo-libuv", 20_000), python), titles=CONTESTANTS)
    forest = html.partition('id="forest"')[2].partition("</figure>")[0]
    assert "uvloop" in forest
    assert "libuv (C)" not in forest


def idle() -> Run:
    cells = [
        replace(
            measured(cell_of("2", runtime, {"NUM_CLIENTS": 0}), block, [2000 * MS]), clients=[], wall_ns=0, latency={}
        )
        for runtime in ("3.11", "3.14t")
        for block in (1, 2, 3)
    ]
    return run_of(cells)


def test_a_run_without_clients_has_a_page() -> None:
    chapters = {one.attributes["id"] for one in elements(page_of(idle())) if one.name == "section"}
    assert {"verdict", "validity", "cells", "machine"} <= chapters
