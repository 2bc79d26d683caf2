"""Whether throughput falls at the end of sweeps whose throughput is known."""

from collections.abc import Callable

from core.result import Run
from reports.facts.falls import endings
from reports.topics.sweeps import section
from reports.view import View
from tests.reports.sample import run_of
from tests.reports.sweeps import served


def peaked(n: int, sigma: float = 0.05, kappa: float = 0.01) -> float:
    """Universal Scalability Law: has its most at sqrt((1 - sigma) / kappa), 9.7."""
    return 1000 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def swept(
    rate: Callable[[int], float] = peaked,
    *,
    blocks: int = 12,
) -> Run:
    fixed = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 25}
    cells = [
        served("3.14t", block, rate(n), {**fixed, "NUM_WORKERS_PER_API_SERVICE": n}, system="4")
        for n in (1, 2, 4, 8, 16, 25)
        for block in range(1, blocks + 1)
    ]
    return run_of(cells, name="scaling", runtimes=["3.14t"])


def test_a_fall_is_told_from_the_value_with_the_most() -> None:
    """Without noise 8 workers serve 8000 / 1.91 = 4,188/s, and 25 serve 25,000 / 8.2 = 3,049/s: 0.73 of it."""
    (sentence,) = map(str, section(View(swept())).sentences)
    assert sentence == (
        "NUM_WORKERS_PER_API_SERVICE, 3.14t: throughput falls again: at the largest value, 25, it is 0.73 [0.73, 0.73] "
        "of the throughput at 8."
    )


def test_a_fall_takes_enough_blocks_for_the_family() -> None:
    assert endings(swept(blocks=6))[0].fall is None
    assert endings(swept(blocks=8))[0].fall is not None


def test_throughput_that_only_falls_has_its_most_at_1() -> None:
    (one,) = endings(swept(lambda n: peaked(n, sigma=0.99, kappa=0.05)))
    assert one.fall
    assert one.fall[0] == 1
