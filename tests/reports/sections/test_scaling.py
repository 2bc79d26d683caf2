"""What is said of laws whose parameters are known, and what is not said."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp

import numpy as np
import pytest

from config.load import load_experiment
from core.result import Run
from reports.document.model import Section
from reports.rows.scaling import scalings
from reports.sections.scaling import section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of
from tests.reports.sweeps import TWO_S, served

WORKERS = "NUM_WORKERS_PER_API_SERVICE"
VALUES = (1, 2, 4, 8, 16, 25)
MS = 1_000_000


def usl(n: int, sigma: float = 0.05, kappa: float = 0.01) -> float:
    return 1000 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def swept(
    rate: Callable[[int], float] = usl,
    values: Sequence[int] = VALUES,
    name: str = WORKERS,
    *,
    wall_ns: int = TWO_S,
    services: int = 1,
    blocks: int = 12,
    cores: int = 32,
) -> Run:
    fixed = {"NUM_API_SERVICES": services, "NUM_CLIENTS": 25}
    cells = [
        served("3.14t", block, rate(n), {**fixed, name: n}, system="4", wall_ns=wall_ns)
        for n in values
        for block in range(1, blocks + 1)
    ]
    run = run_of(cells, name="scaling", runtimes=["3.14t"])
    run.machine["cores_usable"] = cores
    return run


def made(run: Run) -> Section:
    return section(View(run))


def sentences(run: Run) -> list[str]:
    return [str(sentence) for sentence in made(run).sentences]


def test_a_law_without_noise_gives_its_parameters_and_peak_by_hand() -> None:
    """sqrt((1 - 0.05) / 0.01) = 9.7; rates are whole requests in two seconds, hence not exactly the law's."""
    (one,) = scalings(swept())
    assert one.usl is not None
    assert one.peak is not None
    assert one.usl.sigma.value == pytest.approx(0.05, abs=1e-3)
    assert one.usl.kappa.value == pytest.approx(0.01, abs=1e-4)
    (sentence,) = sentences(swept())
    assert sentence.startswith("NUM_WORKERS_PER_API_SERVICE, 3.14t: 1 worker serves 1,000 [1,000, 1,000] requests/s;")
    assert (
        "; throughput at 25 is 0.73 [0.73, 0.73] of that at 8, and by the law it peaks at 9.7 [9.7, 9.7]; " in sentence
    )


@pytest.mark.parametrize(
    ("sigma", "kappa"),
    [(0.05, 0), (0.01, -0.0002), (0.05, 0.001)],
    ids=["grows", "beyond proportion", "a peak beyond the sweep"],
)
def test_no_peak_is_claimed_where_throughput_is_not_seen_to_fall(sigma: float, kappa: float) -> None:
    (one,) = scalings(swept(lambda n: usl(n, sigma, kappa)))
    (sentence,) = sentences(swept(lambda n: usl(n, sigma, kappa)))
    assert one.peak is None
    assert "no peak is claimed: throughput at 25 is not shown to be below that at fewer" in sentence


def test_a_fall_takes_enough_blocks_for_the_family() -> None:
    assert scalings(swept(blocks=6))[0].best is None
    assert scalings(swept(blocks=8))[0].best is not None


def test_throughput_that_only_falls_has_its_most_at_1() -> None:
    (one,) = scalings(swept(lambda n: usl(n, sigma=0.99, kappa=0.05)))
    assert one.best is not None
    assert (one.best[0], one.peak) == (1, None)


def noisy(rate: Callable[[int], float]) -> Run:
    """Cells that scatter by 3 %."""
    rng, run = np.random.default_rng(1), swept(rate)
    run.cells = [replace(cell, wall_ns=round(cell.wall_ns * exp(0.03 * rng.standard_normal()))) for cell in run.cells]
    return run


def test_a_law_whose_curve_misses_the_values_is_not_used() -> None:
    """Throughput that rises to 4 and stays there is neither law's; a law's own is."""
    (sentence,) = sentences(noisy(lambda n: 1000.0 * min(n, 4)))
    assert "Universal Scalability Law does not fit: its curve misses the values by more than they scatter" in sentence
    (one,) = scalings(noisy(usl))
    assert one.usl is not None


def test_the_fit_ends_at_the_cores() -> None:
    (few,) = scalings(swept(cores=8))
    assert (few.usl, few.amdahl, dict(few.fitted)) == (None, None, {})
    assert "beyond the 8 cores the bend is the machine's, and up to there are 4 values" in sentences(swept(cores=8))[0]
    (enough,) = scalings(swept(values=(1, 2, 3, 4, 6, 8, 16), cores=8))
    assert [*enough.fitted] == [1, 2, 3, 4, 6, 8]


def test_amdahls_limit_is_one_over_the_serial_share() -> None:
    (one,) = scalings(swept(lambda n: usl(n, sigma=0.2, kappa=0)))
    assert one.amdahl is not None
    assert one.amdahl.serial.value == pytest.approx(0.2, abs=1e-3)
    assert (
        "so that no number serves more than 5.0 [5.0, 5.0] times as much as 1"
        in sentences(swept(lambda n: usl(n, sigma=0.2, kappa=0)))[0]
    )


def test_the_fit_goes_through_the_medians_over_the_blocks() -> None:
    run = swept()
    run.cells[0] = served("3.14t", 1, 1, {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 25, WORKERS: 1}, system="4")
    (one,) = scalings(run)
    assert one.throughput[1] == 1000
    assert sorted(one.blocks[1]) == [1, *[1000] * 11]


def test_too_few_values_are_one_line() -> None:
    run = swept(values=(1, 5, 10), name="NUM_MULTI_SOCKET")
    assert sentences(run) == ["NUM_MULTI_SOCKET has 3 values: a scaling fit takes at least 6."]
    assert made(run).figures == ()


def test_without_a_sweep_nothing_is_said() -> None:
    run = swept(values=(25,))
    assert not made(run)


def test_a_topology_is_no_sweep_of_workers() -> None:
    run = swept(values=(2, 25))
    run.cells += swept(values=(1,), services=2).cells
    assert sentences(run) == []


def test_cells_timed_for_less_than_a_second_have_no_fit() -> None:
    run = swept(wall_ns=500 * MS)
    (sentence,) = sentences(run)
    assert sentence.endswith("; not fitted, because some cells were timed for 0.50 s only; --duration 1 is enough.")
    assert made(run).figures == ()


def test_no_clients_are_no_point_of_a_law() -> None:
    run = swept(values=(0, *VALUES), name="NUM_CLIENTS", rate=lambda n: usl(n) if n else 0)
    (one,) = scalings(run)
    assert tuple(one.throughput) == VALUES


def test_laws_that_cannot_be_fitted_say_why() -> None:
    """A fall at the high end leaves no throughput of one above 0 by Amdahl's law, and noise leaves none by either."""
    (steep,) = sentences(swept(lambda n: usl(n, kappa=0.2)))
    (noisy,) = sentences(swept(lambda n: 1000.0 if n % 3 else 10.0, values=range(20, 27)))
    assert "; Amdahl's law does not fit: under this law these values do not determine" in steep
    assert "; neither law fits: under this law these values do not determine" in noisy


def test_the_table_has_the_coefficients_of_each_arm() -> None:
    (line,) = lines_of(made(swept()).tables[0])
    assert line[:5] == ["3.14t", WORKERS, "-", "6", "1,000 [1,000, 1,000]"]
    assert line[5].startswith("0.05 [0.05, 0.05")
    assert "shared 32 cores" in str(made(swept()).notes[1])


def test_the_figure_shows_every_block_and_the_law() -> None:
    (figure,) = made(swept()).figures
    assert figure.key == "scaling-num_workers_per_api_service"
    ((curve,),) = [panel.curves for panel in figure.panels]
    assert len(curve.marks) == 12 * 6
    assert [curve.line[0][1], curve.line[-1][1]] == pytest.approx([usl(1), usl(25)], rel=0.01)


def test_the_experiment_sweeps_workers_and_clients_far_enough_for_a_fit() -> None:
    cells = load_experiment("scaling").cells()
    assert len({cell.num_workers_per_api_service for cell in cells if cell.num_clients == 25}) >= 6
    assert len({cell.num_clients for cell in cells if cell.num_workers_per_api_service == 25}) >= 6
