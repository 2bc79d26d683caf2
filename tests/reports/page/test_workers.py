"""The figures of the HTTP clients' workers on the page: a line for each row, a bar for each request."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.result import CellResult
from reports.page.workers import TEXTS, WorkersFigure, worker_figures
from reports.rows.view import view_of
from tests.reports.contestants import contest_run
from tests.reports.http_sample import HELD, HELD_FREE, NATIVE, TITLES

TIMELINE = [[[0, 100_000], [200_000, 300_000]], [[100_000, 200_000], [300_000, 400_000]]]


def with_timeline(cells: Sequence[CellResult]) -> list[CellResult]:
    """Two workers of two requests each, of 0.1 ms."""
    return [replace(cell, clients=[{**cell.clients[0], "timeline": TIMELINE}]) for cell in cells]


def drawn(*cells: Sequence[CellResult], view: str = "http-clients", lang: str = "en") -> dict[str, WorkersFigure]:
    run = contest_run(*cells, view=view)
    return {one.key: one for one in worker_figures(view_of(run, TITLES), lang)}


def test_serialisation_has_a_line_for_each_client_and_runtime_with_its_interval() -> None:
    (group,) = drawn(NATIVE, HELD, HELD_FREE)["serialisation"].table.groups
    assert [[one.text for one in line if not one.drawing] for line in group.lines] == [
        ["C++ Beast", "native", "1.00 [1.00, 1.00]", "10.0"],
        ["Python over Beast (GIL held)", "3.11", "10.00 [10.00, 10.00]", "1.0"],
        ["Python over Beast (GIL held)", "3.14t", "1.00 [1.00, 1.00]", "10.0"],
    ]
    assert all(datum.cells for line in group.lines for datum in line)


def test_the_timeline_has_a_bar_for_each_request_on_one_axis() -> None:
    (group,) = drawn(with_timeline(HELD), with_timeline(HELD_FREE))["timeline"].table.groups
    assert [line[0].text for line in group.lines] == [
        "Python over Beast (GIL held), 3.11",
        "Python over Beast (GIL held), 3.14t",
    ]
    for line in group.lines:
        picture = str(line[1].drawing)
        assert picture.count("<path") == 4
        assert 'd="M0.0 6H250.0"' in picture
        assert 'd="M750.0 18H1000.0"' in picture


def test_without_timelines_there_is_serialisation_alone() -> None:
    assert list(drawn(HELD)) == ["serialisation"]


def test_other_experiments_have_no_such_figures() -> None:
    assert drawn(HELD, view="echo") == {}
    assert drawn([]) == {}


@pytest.mark.parametrize("lang", TEXTS)
def test_captions_are_in_the_pages_language(lang: str) -> None:
    assert drawn(HELD, lang=lang)["serialisation"].caption == TEXTS[lang]["serialisation_caption"]


def test_all_languages_have_the_same_texts() -> None:
    assert len({frozenset(texts) for texts in TEXTS.values()}) == 1
