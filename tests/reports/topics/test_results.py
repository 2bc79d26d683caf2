"""The table of rows on a terminal, in a pipe and as Markdown; what must be said with it."""

from reports.topics.results import section
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

SMALL = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}


def test_a_run_that_ended_by_its_until_lacks_nothing_of_the_blocks_that_it_did_not_need() -> None:
    cells = [measured(cell_of("1", name, SMALL), 1, [MS]) for name in ("3.11", "3.14t")]
    run = run_of(cells, blocks=10_000, runtimes=["3.11", "3.14t"])
    run.plan["until"] = {"verdict": True, "width": 0.0, "seconds": 180.0}
    assert not section(View(run)).sentences
    run.cells.pop()
    assert [str(line) for line in section(View(run)).sentences] == [
        "1 cell of the plan has not been measured. Use --resume to measure it."
    ]
