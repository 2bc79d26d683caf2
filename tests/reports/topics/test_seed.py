"""A run's times beside the seed's. The seed's figures are in the golden outputs."""

from reports.sections.seed import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of


def test_of_several_cells_that_fit_the_one_nearest_to_the_seed_is_shown() -> None:
    cells = [measured(cell_of("3", "3.11", {"CALC_TARGET": target}), 1, [target * MS]) for target in (10, 1000, 5000)]
    times, _ = section(View(run_of(cells, blocks=1, runtimes=["3.11"]), TITLES)).parts
    assert lines_of(times.tables[0])[0][:2] == ["Tornado", "1.000 (1.000)"]
