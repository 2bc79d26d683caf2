"""A saved run as reports look at it: everything that is derived from it, worked out once."""

from collections.abc import Mapping
from functools import cached_property

from core.messages import Message
from core.result import CellResult, Run
from core.saved import Machine, SavedPlan
from reports.document.model import Section
from reports.facts.best import Best, bests
from reports.facts.cells import Cells, Row, alike, groups
from reports.facts.comparisons import Comparison, compare, compare_bests
from reports.facts.measures import Measure, measure
from reports.facts.others import Others, beside, others
from reports.facts.settings import Settings
from reports.facts.traces import Traces


class View:
    """A run as it was when the view was made: what comes later is not in it.

    titles: of systems, by number or name; sections: those of its report that have been made (reports/topics)
    """

    def __init__(self, run: Run, titles: Mapping[str, str] | None = None) -> None:
        self.run = run
        self.titles = dict(titles or {})
        self.sections: dict[str, Section] = {}

    @cached_property
    def cells(self) -> Cells:
        """Its cells by setting, arm and block."""
        return Cells(self.run)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One per system, parameters and arm, in the plan's order."""
        return self.cells.rows

    @cached_property
    def groups(self) -> list[list[Row]]:
        """Rows that differ in the arm alone, together."""
        return groups(self.rows)

    @property
    def named_groups(self) -> list[tuple[Message, list[Row]]]:
        """The same, each with the name of its setting."""
        return [(self.settings.name(rows[0].system, rows[0].params), rows) for rows in self.groups]

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All that the arms allow, those over all settings last."""
        return tuple(compare(self.run))

    @cached_property
    def bests(self) -> list[Best]:
        """The best service under each runtime, of each work."""
        return bests(self.run, self.rows)

    @cached_property
    def between_bests(self) -> tuple[Comparison, ...]:
        """The steps between these."""
        return tuple(compare_bests(self.run, self.bests))

    @cached_property
    def compared(self) -> list[Comparison]:
        """Those that rest on cells."""
        return [comparison for comparison in self.comparisons if self.traces.of(comparison)]

    @cached_property
    def settings(self) -> Settings:
        """The names of its settings."""
        return Settings(self.rows, self.titles)

    @cached_property
    def traces(self) -> Traces:
        """The cells that its comparisons rest on."""
        return Traces(self.run, self.rows)

    @cached_property
    def looks(self) -> dict[str, int]:
        """{arm: its place among the looks}; the same in every plot and table."""
        return {arm: place for place, arm in enumerate(self.cells.arms)}

    @cached_property
    def plan(self) -> SavedPlan:
        """What was to be measured."""
        return SavedPlan.from_json(self.run.plan)

    @cached_property
    def machine(self) -> Machine:
        """What the run knows of the machine."""
        return Machine.from_json(self.run.machine)

    @cached_property
    def is_timed(self) -> bool:
        """Whether cells were timed for a duration, not for a number of requests."""
        return bool(self.plan.method.duration_s)

    @cached_property
    def measure(self) -> Measure:
        """What its rows are shown by."""
        return measure(is_timed=self.is_timed)

    @cached_property
    def scales(self) -> dict[int, float]:
        """Of each row, by its id, the most that a block shows of all rows that have one scale with it."""
        parts = [self.rows] if self.is_timed else alike(self.rows)
        return {id(row): most for rows in parts for most in [self.measure.most(rows)] for row in rows}

    @cached_property
    def beside(self) -> Message:
        """What the programs beside the services used of the CPU; NOTHING without any."""
        return beside(self.run.cells, self.machine.available_cores)

    @cached_property
    def others(self) -> Others | None:
        """What other processes used while clients were timed; None if that is not known."""
        return others(self.run.cells)

    @cached_property
    def ok_cells(self) -> list[CellResult]:
        """Those that no gate stopped."""
        return [cell for cell in self.run.cells if cell.status == "ok"]
