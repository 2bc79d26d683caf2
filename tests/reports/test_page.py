"""The page as a whole: its order, that it needs nothing else, and that it stands whatever a run holds."""

import re
from dataclasses import replace

import pytest

from core.messages import verbatim
from core.result import CellResult, Run
from tests.reports.contestants import TITLES as CONTESTANTS
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import elements, page_of, record_with_aa, with_attribute
from tests.reports.sample import MS, cell_of, faulty, measured, run_of


def small() -> Run:
    """Two runtimes, a few blocks; a new one each time."""
    arms = {"3.11": 2000, "3.14t": 1500}
    cells = [
        measured(cell_of("2", arm), block, [ms * MS + block * MS], latencies_ns=[MS, 2 * MS])
        for arm, ms in arms.items()
        for block in (1, 2)
    ]
    return run_of(cells)


@pytest.fixture(scope="module")
def record() -> str:
    """The page of a record."""
    return page_of(record_with_aa())


def test_a_setting_that_has_neither_arm_of_a_step_has_no_line_in_the_forest() -> None:
    python = [cell for arm in ("3.14", "3.14t") for cell in blocks_of("echo-uvloop", 10_000, runtime=arm)]
    html = page_of(contest_run(blocks_of("echo-libuv", 20_000), python), titles=CONTESTANTS)
    forest = html.partition('id="forest"')[2].partition("</figure>")[0]
    assert "uvloop" in forest
    assert "libuv (C)" not in forest


def test_the_page_needs_nothing_else_and_its_links_lead_somewhere(record: str) -> None:
    found = elements(record)
    assert [one.name for one in found if "src" in one.attributes] == []
    assert re.findall(r"url\((?!#)|@import|https?://", record) == []
    ids = [one.attributes["id"] for one in with_attribute(found, "id")]
    assert len(ids) == len(set(ids))
    targets = {one.attributes["href"] for one in with_attribute(found, "href")}
    assert targets - {"data:,"} <= {f"#{one}" for one in ids}


def test_the_page_of_a_record_is_small(record: str) -> None:
    assert len(record.encode()) < 3_000_000


def test_every_plot_has_a_text_alternative(record: str) -> None:
    found = elements(record)
    ids = {one.attributes["id"] for one in with_attribute(found, "id")}
    drawings = [one for one in found if one.name == "svg" and one.attributes.get("role") == "img"]
    assert len(drawings) > 100
    for one in drawings:
        named = one.attributes.get("aria-labelledby", "").split()
        assert one.attributes.get("aria-label") or set(named) <= ids
        assert one.attributes.get("aria-label") or named


def test_what_a_failed_cell_said_is_text_and_no_mark_up() -> None:
    run = small()
    run.cells[0] = replace(
        run.cells[0], status="failed", reason=verbatim("<script>alert(1)</script> & more"), clients=[], services=[]
    )
    html = page_of(run)
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in html


def all_failed() -> Run:
    cells = [faulty(cell_of("2", runtime), 1, "failed", "ended early") for runtime in ("3.11", "3.14t")]
    return run_of(cells)


def idle() -> Run:
    cells: list[CellResult] = [
        replace(
            measured(cell_of("2", runtime, {"NUM_CLIENTS": 0}), block, [2000 * MS]), clients=[], wall_ns=0, latency={}
        )
        for runtime in ("3.11", "3.14t")
        for block in (1, 2, 3)
    ]
    return run_of(cells)


@pytest.mark.parametrize("run", [all_failed(), idle()], ids=["all failed", "no clients"])
def test_whatever_a_run_holds_there_is_a_page(run: Run) -> None:
    chapters = {one.attributes["id"] for one in elements(page_of(run)) if one.name == "section"}
    assert {"verdict", "validity", "cells", "machine"} <= chapters
