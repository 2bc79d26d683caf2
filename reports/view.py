"""Derive from a saved run the facts that reports show, and cache them.

A command makes one View of a run, and all sections and exports read it. They share the lists and
dicts that it returns, so nobody may change these. An arm is a compared runtime or service, or the
repetition of a runtime for A/A. A step is the compared difference (record/comparison.py). A
search for the capacity (plan.objectives) has no comparisons and choices, and other runs have no
capacities.
"""

from collections.abc import Callable, Mapping
from functools import cached_property

from analysis.capacity_probes import faulty_cells
from analysis.capacity_search import Capacity, capacities, choices_of_arms
from analysis.cell_index import Cells, Row, groups
from analysis.choice import Choice, Choices, choices, compare_bests
from analysis.comparing import compare
from analysis.comparison_words import Comparison
from analysis.others import Others, beside, others
from analysis.routes import Route, routes
from analysis.settings import Settings, service_names
from analysis.steps import OF_VALUES
from core.messages import Message
from record.saved_run import CellResult, Run


class View:
    """A saved run with facts that are derived from it when they are first read, and cached. Later
    changes of the run have no effect on a cached fact.

    titles: the titles of systems, by number or name (titles() in lab/run/runs.py)
    names:  the names that reports show for a user's service without a name
    """

    def __init__(self, run: Run, titles: Mapping[str, str] | None = None) -> None:
        self.run, self.plan, self.machine = run, run.plan, run.machine
        self.titles = dict(titles or {})
        self.names = service_names(run.plan.user_service)

    @cached_property
    def cells(self) -> Cells:
        """Return the run's cells, indexed by setting, runtime (or service) and block."""
        return Cells(self.run)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the result rows in the plan's order, one for each system, parameters and runtime
        (or service).
        """
        return self.cells.rows

    @cached_property
    def groups(self) -> list[list[Row]]:
        """Return the result rows in groups whose rows differ only in the compared runtime or
        service.
        """
        return groups(self.rows)

    @property
    def named_groups(self) -> list[tuple[Message, list[Row]]]:
        """Return the groups of result rows, each with the name of its setting."""
        return [(self.settings.name(rows[0]), rows) for rows in self.groups]

    def groups_with(self, value: Callable[[Row], object]) -> list[tuple[Message, list[Row]]]:
        """Return the named groups of the result rows for which *value* is neither empty nor 0."""
        return [(name, [*filter(value, rows)]) for name, rows in self.named_groups]

    @cached_property
    def all_comparisons(self) -> list[Comparison]:
        """Return all comparisons of the run: of runtimes or services, and of the values of swept
        parameters.
        """
        return [] if self.plan.objectives else compare(self.run)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Return all comparisons between the run's runtimes or services. Those for all settings
        together come last.
        """
        return tuple(one for one in self.all_comparisons if one.step not in OF_VALUES)

    @cached_property
    def of_values(self) -> tuple[Comparison, ...]:
        """Return the comparisons between the values of swept parameters that were made from cells
        of this run.
        """
        return tuple(one for one in self.all_comparisons if one.step in OF_VALUES)

    @cached_property
    def routes(self) -> list[Route]:
        """Return the figures of each route in each row of results; empty if there are no routes."""
        return routes(self.rows, self.run)

    @cached_property
    def choices(self) -> Choices:
        """Return the choice of the best setting under each runtime, for each kind of work."""
        return {} if self.plan.objectives else choices(self.run, self.rows)

    @cached_property
    def capacities(self) -> list[Capacity]:
        """Return the capacity that a search found for each arm; empty if the run is
        not a search.
        """
        return capacities(self.run) if self.plan.objectives else []

    @cached_property
    def choices_of_arms(self) -> Mapping[str, Choice[Capacity]]:
        """Return the choice of the best setting of each arm; empty if the run is no search that
        chooses one.
        """
        is_search = self.plan.picks and self.plan.objectives
        return choices_of_arms(self.run) if is_search else {}

    @cached_property
    def between_bests(self) -> tuple[Comparison, ...]:
        """Return the comparisons between the best settings of different runtimes."""
        return tuple(compare_bests(self.run, self.choices))

    @cached_property
    def compared(self) -> list[Comparison]:
        """Return the comparisons that were made from cells of this run."""
        return [comparison for comparison in self.comparisons if comparison.trace]

    @cached_property
    def compared_by_route(self) -> list[Comparison]:
        """Return the comparisons at one setting, of values, runtimes or services, that have
        routes.
        """
        return [
            one for one in (*self.of_values, *self.compared) if one.routes and not one.is_over_all
        ]

    @cached_property
    def settings(self) -> Settings:
        """Return the names of the run's settings."""
        return Settings(self.rows, self.titles, self.names)

    @property
    def headings(self) -> dict[str, str]:
        """Return the names of services, and the titles of gilscope's systems by number, for the
        head of a result.
        """
        systems = {system: title for system, title in self.titles.items() if system.isdigit()}
        return systems | self.names

    @property
    def name(self) -> str:
        """Return the name of what was measured: that of the plan or of a user's service."""
        return self.names.get(self.plan.name, self.plan.name)

    @cached_property
    def looks(self) -> dict[str, int]:
        """Return the index of each arm's style, from 0. It is the same in every plot and table."""
        return {arm: place for place, arm in enumerate(self.cells.arms)}

    @cached_property
    def is_timed(self) -> bool:
        """Return whether cells ran for a fixed duration instead of a fixed number of requests."""
        return bool(self.plan.method.duration_s)

    @cached_property
    def beside(self) -> Message:
        """Return a text on the CPU time of the programs beside the services, or NOTHING if there
        are no programs.
        """
        return beside(self.run.cells, self.machine.available_cores)

    @cached_property
    def others(self) -> Others | None:
        """Return the CPU use of other processes while clients were timed; None if unknown."""
        return others(self.run.cells)

    @cached_property
    def failed_cells(self) -> list[CellResult]:
        """Return the cells that failed or are invalid; of a search, without those whose load made
        requests fail.
        """
        cells, objectives = self.run.cells, self.plan.objectives
        return faulty_cells(cells, objectives) if objectives else self.run.failed_cells

    @cached_property
    def ok_cells(self) -> list[CellResult]:
        """Return the cells of the run that have the status ok."""
        return [cell for cell in self.run.cells if cell.status == "ok"]
