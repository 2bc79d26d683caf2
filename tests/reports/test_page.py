"""The page as a whole: it stands whatever a run holds."""

from tests.analysis.timed_cells import steady
from tests.reports.contestants import TITLES as CONTESTANTS
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import elements, page_of
from tests.reports.sample import idle, run_of


def test_a_setting_that_has_neither_arm_of_a_step_has_no_line_in_the_forest() -> None:
    python = [cell for arm in ("3.14", "3.14t") for cell in blocks_of("echo-uvloop", 10_000, runtime=arm)]
    html = page_of(contest_run(blocks_of("echo-libuv", 20_000), python), titles=CONTESTANTS)
    forest = html.partition('id="forest"')[2].partition("</figure>")[0]
    assert "uvloop" in forest
    assert "libuv (C)" not in forest


def test_a_run_without_clients_has_a_page() -> None:
    page = page_of(run_of([*map(idle, steady("3.11", 2000) + steady("3.14t", 2000))]))
    chapters = {one.attributes["id"] for one in elements(page) if one.name == "section"}
    assert {"verdict", "validity", "cells", "machine"} <= chapters
