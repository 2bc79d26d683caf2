"""Slopes of memory: known lines, shared pages, and how often the interval holds the truth."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from analysis.formats import KIB, MIB
from record.saved_run import Run
from reports.sections.memory import growths, section
from reports.view import View
from tests.reports.sample import run_of
from tests.reports.sweeps import served

COUNTS = (0, 25, 50, 75, 100, 125, 150, 175, 200)


def shared_pages(clients: int) -> float:
    """Proportional set size of one service beside so many clients of the same interpreter: 4 KiB more for each."""
    return 10 * MIB + 4 * KIB * clients + 8 * MIB / (clients + 1)


def memory_run(
    counts: Sequence[int] = COUNTS, size: Callable[[int], float] = shared_pages, key: str = "pss_bytes"
) -> Run:
    cells = []
    for count in counts:
        values = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": count, "PAYLOAD_BYTES": 0}
        rate = 1000 if count else 0
        cells += [served("3.14", block, rate, values, services=[{key: round(size(count))}]) for block in (1, 2)]
    return run_of(cells, name="memory", blocks=2)


def test_pages_shared_with_the_clients_are_no_part_of_the_slope() -> None:
    """The service grows by 4 KiB for each client, yet a plain line through its proportional sizes falls."""
    (services,) = growths(View(memory_run()))
    assert services.slope.value == pytest.approx(4 * KIB, rel=1e-3)
    assert services.at(0) == pytest.approx(18 * MIB, rel=1e-3)
    counts, sizes = np.array(services.points).T
    assert np.polyfit(counts, sizes, 1)[0] < 0


def test_without_proportional_sizes_it_is_the_plain_line() -> None:
    """Through (0, 10), (1, 13), (2, 13) MiB, twice each: slope 1.5, intercept 10.5."""
    sizes = {0: 10 * MIB, 1: 13 * MIB, 2: 13 * MIB}
    (services,) = growths(View(memory_run([0, 1, 2], lambda count: sizes[count], "max_rss_bytes")))
    assert services.slope.value == pytest.approx(1.5 * MIB)
    assert services.at(0) == pytest.approx(10.5 * MIB)
    assert len(services.fit) == 2


def test_no_growth_is_claimed_where_the_interval_includes_0() -> None:
    rng = np.random.default_rng(2)
    run = memory_run(size=lambda count: 10 * MIB + MIB * rng.standard_normal())
    (sentence,) = section(View(run)).sentences
    assert "the memory does not grow significantly (" in str(sentence)
