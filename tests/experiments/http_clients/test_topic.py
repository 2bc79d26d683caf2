"""The experiment http-clients: the answer, what each setting says, its table, and its two figures."""

from dataclasses import replace
from typing import Any

from experiments.http_clients.topic import SEED_HELD, SEED_RELEASED, answer
from tests.experiments.http_clients.sample import (
    HELD,
    HELD_FREE,
    RELEASED,
    clients_in,
    worked,
)
from tests.reports.contestants import contest_run, figures_of

TIMELINE: Any = [[[0, 100_000], [200_000, 300_000]], [[100_000, 200_000], [300_000, 400_000]]]


def test_an_undeclared_module_that_is_not_serial_is_not_there_again() -> None:
    parallel = worked("http-beast-undeclared", "3.14t", [4] * 10, 5)
    assert str(answer(clients_in(HELD, HELD_FREE, parallel))).endswith(
        "enables the GIL, and the time until all workers ended is 1.2 times the mean time of one worker."
    )


def test_without_a_held_build_under_a_gil_there_is_no_answer() -> None:
    assert not answer(clients_in(HELD_FREE, RELEASED))


def test_the_timeline_has_a_bar_for_each_request_on_one_axis() -> None:
    """Two workers of two requests each, of 0.1 ms."""
    cells = [replace(cell, clients=[{**cell.clients[0], "timeline": TIMELINE}]) for cell in HELD]
    (panel,) = figures_of(contest_run(cells, view="http-clients"))["timeline"].panels
    assert str(panel.title).startswith("http-beast-held, 3.11:")
    spans = [span for curve in panel.curves for span in curve.spans]
    assert [(span.y, span.start, span.end) for span in spans] == [
        *[(1, 0, 0.1), (1, 0.2, 0.3)],
        *[(2, 0.1, 0.2), (2, 0.3, 0.4)],
    ]
    assert panel.across.high == 0.4


def test_the_seeds_own_finding_can_be_read_from_its_tables() -> None:
    """Bench / LMean of Python over Beast is 39.68 / 5.64 = 7.04 with the GIL held, 16.36 / 15.54 = 1.05 without."""
    ratios = []
    for text in (SEED_HELD, SEED_RELEASED):
        heads, *lines = (line.split() for line in text.strip().splitlines())
        (beast,) = (dict(zip(heads, line, strict=True)) for line in lines if line[:2] == ["Python", "beast"])
        ratios.append(round(float(beast["Bench(ms)"]) / float(beast["LMean(ms)"]), 2))
    assert ratios == [7.04, 1.05]
