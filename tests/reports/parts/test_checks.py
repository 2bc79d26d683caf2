"""What the checks of a run count."""

from dataclasses import replace

from record.saved_run import Run
from reports.parts.checks import FAILED, PASSED, UNKNOWN, WARNING, checked
from reports.view import View
from tests.analysis.timed_cells import in_blocks
from tests.reports.sample import MS, cell_of, measured, run_of


def test_requests_without_an_answer_count_when_they_failed_their_measurement() -> None:
    """The check passed, because it counted only the measurements that were ok."""
    good = measured(cell_of("2", "3.14t"), 1, [999 * MS])
    bad = replace(measured(cell_of("2", "3.14t"), 2, [999 * MS]), status="failed", answered=good.answered - 2)
    states = {str(name): check for name, check in checked(View(run_of([good, bad]))).items()}
    state, seen, _ = states["All requests were answered correctly"]
    assert state == FAILED
    assert str(seen).startswith(f"{2 * good.requests - 2:,} of {2 * good.requests:,} requests were answered")


def test_an_answer_with_an_unexpected_status_is_wrong() -> None:
    """A run whose answers all had the status 404 passed, because its client counts them as errors."""
    cell = replace(measured(cell_of("2", "3.14t"), 1, [999 * MS]), requests=500, answered=500)
    bad = replace(cell, status="failed", wrong=1, errors={"404": 498, "garbled": 1})
    found = states_of(run_of([cell, bad]))["All requests were answered correctly"]
    assert found == (FAILED, "1,000 of 1,000 requests were answered, and 499 answers were wrong")
    garbled = replace(cell, status="failed", errors={"garbled": 1})
    assert states_of(run_of([cell, garbled]))["All requests were answered correctly"][0] == FAILED


def states_of(run: Run) -> dict[str, tuple[str, str]]:
    return {str(name): (state, str(seen)) for name, (state, seen, _) in checked(View(run)).items()}


def test_a_noise_floor_of_too_few_blocks_is_not_called_unmeasured() -> None:
    cells = in_blocks("3.14t", [2000, 2001, 2002])
    again = [replace(cell, arm="3.14t again") for cell in cells]
    state, seen = states_of(run_of([*cells, *again], runtimes=["3.14t"]))[
        "The noise floor is low (A/A: the same runtime twice)"
    ]
    assert (state, seen) == (UNKNOWN, "measured in 3 blocks, but an interval needs 6")


def test_variants_with_packages_of_their_own_used_the_same_code() -> None:
    cells = in_blocks("3.14t", [2000, 2001])
    own = [
        replace(cell, code="a", environment=name, params={**cell.params, "variant": name})
        for cell in cells
        for name in ("old", "new")
    ]
    run = run_of(own, runtimes=["3.14t"])
    state, seen = states_of(run)["All measurements used the same code and packages"]
    assert (state, seen) == (PASSED, "all measurements used version a of the code of gilscope and of the services")
    run.cells[-1] = replace(run.cells[-1], environment="other")
    assert states_of(run)["All measurements used the same code and packages"][0] == WARNING
