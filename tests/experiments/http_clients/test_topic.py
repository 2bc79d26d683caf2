"""The timelines of the experiment http-clients. tests/golden has its sentences and tables."""

from dataclasses import replace
from typing import Any

from tests.experiments.http_clients.sample import HELD
from tests.reports.contestants import contest_run, figures_of

TIMELINE: Any = [[[0, 100_000], [200_000, 300_000]], [[100_000, 200_000], [300_000, 400_000]]]


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
