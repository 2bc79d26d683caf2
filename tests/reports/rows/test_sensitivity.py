"""Ratios had both arms waited alike for cores: planted waits, with the answer known from elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.cell import Value
from core.languages import ENGLISH
from core.result import CellResult, Run
from reports.rows.comparisons import Comparison
from reports.sections.sensitivity import sensitivity
from reports.view import View
from tests.reports.sample import MS, cell_of, measured, run_of

BLOCKS = 12
SIZE: dict[str, Value] = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 100}
CHANCE = np.random.default_rng(1)
WAITS = CHANCE.normal(0.1, 0.5, BLOCKS)  # more threads that wait under the numerator
LOGS = 0.06 - 0.2 * WAITS + CHANCE.normal(0, 0.01, BLOCKS)


def cell(arm: str, block: int, wall_ns: int, waiting: float) -> CellResult:
    """Half of the waiting is the service's, half the client's."""
    made = measured(cell_of("1", arm, SIZE), block, [MS])
    for process in (*made.services, *made.clients):
        process["run_queue_ns"] = round(waiting / 2 * wall_ns)
    return replace(made, wall_ns=wall_ns)


def made(waits: np.ndarray[tuple[int], np.dtype[np.float64]] = WAITS) -> Run:
    """Ratios of which the waits explain nearly all that is not 6 %."""
    cells = [cell("3.11", block + 1, 2000 * MS, 3.0) for block in range(BLOCKS)]
    walls_ns = (2000 * MS / np.exp(LOGS)).round().astype(int).tolist()
    cells += [cell("3.14", block + 1, walls_ns[block], 3.0 + waits[block]) for block in range(BLOCKS)]
    return run_of(cells, blocks=BLOCKS, runtimes=["3.11", "3.14"])


def told(run: Run) -> tuple[Comparison, str]:
    """The only comparison, and what is said of it."""
    view = View(run)
    (line,) = sensitivity(view).tables[0].lines
    return view.comparisons[0], line[1].text(ENGLISH)


def test_the_ratio_is_the_intercept_of_a_line_through_ratios_and_waits() -> None:
    line, adjusted = stats.linregress(WAITS, LOGS), told(made())[0].adjusted
    reach = stats.t.ppf(0.975, BLOCKS - 2) * line.intercept_stderr
    ends = [line.intercept, line.intercept - reach, line.intercept + reach]
    assert [adjusted[name] for name in ("ratio", "low", "high")] == pytest.approx(np.exp(ends), rel=1e-6)
    assert (adjusted["denominator"], adjusted["numerator"]) == (pytest.approx(3), pytest.approx(3 + WAITS.mean()))


def test_what_waits_hid_would_be_found_and_the_verdict_stays_what_it_is() -> None:
    one, words = told(made())
    assert (one.verdict, one.adjusted["verdict"]) == ("inconclusive", "faster")
    assert words == "The verdict would not be the same: faster, not inconclusive."


def test_nothing_is_said_of_arms_of_which_one_always_waits_more() -> None:
    one, words = told(made(2 + 0.1 * np.abs(WAITS)))
    assert "ratio" not in one.adjusted
    assert words.startswith("One arm waited more in every block")
