"""What a report shows of a run, worked out once: its rows and its comparisons, which take the time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.result import Run
from reports.rows.comparisons import Comparison, compare
from reports.rows.summary import Row, rows


@dataclass(frozen=True, kw_only=True)
class View:
    """A run as it was when the view was made. Cells that come later are not in its rows and comparisons.

    titles: of the systems, by number or name
    rows: one per system, parameters and arm; comparisons: all that the arms allow, those over all settings last
    """

    run: Run
    titles: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]


def view_of(run: Run | View, titles: Mapping[str, str] | None = None) -> View:
    """The view of *run*; a view is its own. titles: of the systems, by number or name."""
    if isinstance(run, View):
        return run
    return View(run=run, titles=dict(titles or {}), rows=tuple(rows(run)), comparisons=tuple(compare(run)))
