"""The view of a saved run that reports use: it derives facts from the run and caches them."""

from collections.abc import Mapping
from functools import cached_property

from core.messages import Message
from core.result import CellResult, Run
from core.saved import Machine, SavedPlan
from reports.document.model import Section
from reports.facts.best import Best, bests
from reports.facts.capacity import Capacity, candidates, capacities
from reports.facts.cells import Cells, Row, alike, groups
from reports.facts.comparisons import Comparison, compare, compare_bests
from reports.facts.measures import Measure, measure
from reports.facts.others import Others, beside, others
from reports.facts.settings import Settings
from reports.facts.traces import Traces


class View:
    """A run with cached derived facts. Changes of the run after the view was made are not seen.

    titles:   the titles of systems, by number or name
    sections: the sections of the report that were already made (reports/topics)
    """

    def __init__(self, run: Run, titles: Mapping[str, str] | None = None) -> None:
        self.run = run
        self.titles = dict(titles or {})
        self.sections: dict[str, Section] = {}

    @cached_property
    def cells(self) -> Cells:
        """The index of the run's cells by setting, arm and block."""
        return Cells(self.run)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, one per system, parameters and arm, in the plan's order."""
        return self.cells.rows

    @cached_property
    def groups(self) -> list[list[Row]]:
        """The rows in groups that differ only in the arm."""
        return groups(self.rows)

    @property
    def named_groups(self) -> list[tuple[Message, list[Row]]]:
        """The groups of rows, each with the name of its setting."""
        return [(self.settings.name(rows[0].system, rows[0].params), rows) for rows in self.groups]

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons that the arms allow. Comparisons for all settings together come last."""
        return () if self.plan.objectives else tuple(compare(self.run))

    @cached_property
    def bests(self) -> list[Best]:
        """The best service under each runtime, for each kind of work."""
        return [] if self.plan.objectives else bests(self.run, self.rows)

    @cached_property
    def capacities(self) -> list[Capacity]:
        """The capacity of each arm that a search found; empty for other runs."""
        return capacities(self.run) if self.plan.objectives else []

    @cached_property
    def candidates(self) -> list[Capacity]:
        """The topologies from which a search picked the best; empty if it picked none."""
        return candidates(self.run) if self.plan.picks else []

    @cached_property
    def between_bests(self) -> tuple[Comparison, ...]:
        """The comparisons between the best services."""
        return tuple(compare_bests(self.run, self.bests))

    @cached_property
    def compared(self) -> list[Comparison]:
        """The comparisons that were made from cells of this run."""
        return [comparison for comparison in self.comparisons if self.traces.of(comparison)]

    @cached_property
    def settings(self) -> Settings:
        """The names of the run's settings."""
        return Settings(self.rows, self.titles)

    @cached_property
    def traces(self) -> Traces:
        """The index of the cells from which comparisons were made."""
        return Traces(self.run, self.rows)

    @cached_property
    def looks(self) -> dict[str, int]:
        """{arm: index of its style}, the same in every plot and table."""
        return {arm: place for place, arm in enumerate(self.cells.arms)}

    @cached_property
    def plan(self) -> SavedPlan:
        """The plan of the run."""
        return SavedPlan.from_json(self.run.plan)

    @cached_property
    def machine(self) -> Machine:
        """The recorded facts of the machine."""
        return Machine.from_json(self.run.machine)

    @cached_property
    def is_timed(self) -> bool:
        """Whether cells ran for a duration, not for a number of requests."""
        return bool(self.plan.method.duration_s)

    @cached_property
    def measure(self) -> Measure:
        """The measure that the rows show: throughput or completion time."""
        return measure(is_timed=self.is_timed)

    @cached_property
    def scales(self) -> dict[int, float]:
        """The end of the scale of each row, by id(row): the largest value of all rows with comparable work."""
        parts = [self.rows] if self.is_timed else alike(self.rows)
        return {id(row): most for rows in parts for most in [self.measure.most(rows)] for row in rows}

    @cached_property
    def beside(self) -> Message:
        """Return how much CPU time the programs beside the services used, or NOTHING if there are none."""
        return beside(self.run.cells, self.machine.available_cores)

    @cached_property
    def others(self) -> Others | None:
        """The CPU use of other processes while clients were timed; None if unknown."""
        return others(self.run.cells)

    @cached_property
    def ok_cells(self) -> list[CellResult]:
        """The cells of the run that are ok."""
        return [cell for cell in self.run.cells if cell.status == "ok"]
