"""The best setting under each runtime, known by hand: luck is not rewarded; what failed, and how it ran."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from statistics import median

import numpy as np
import pytest

from analysis.cell_index import Cells
from analysis.choice import choices, compare_bests, dropped_settings, halved
from analysis.significance import SHARES
from analysis.stats import effect
from config.load import load_experiment
from core.cell import Value, parameter
from core.messages import verbatim
from record.child_lines import ServingProcess
from record.comparison import setting_key
from record.saved_run import Run
from reports.parts.best_settings import best_sentences, section
from reports.view import View
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of, with_service
from tests.reports.sweeps import served

DISPATCHES = parameter("DISPATCH").choices
RATES = {  # requests/s of system 4; those of system 2 are half of them
    "3.14": {"any": 1000.0, "leader": 2000.0, "owned": 1200.0, "auto": 1900.0},
    "3.14t": {"any": 2600.0, "leader": 1500.0, "owned": 3000.0, "auto": 2900.0},
}


def by_hand(runtime: str, dispatch: str, block: int) -> float:
    return RATES[runtime][dispatch]


def a_run(
    rate: Callable[[str, str, int], float] = by_hand,
    *,
    blocks: int = 11,
    systems: str = "4",
    loads: Sequence[int] = (1000,),
) -> Run:
    """Return a run that chooses the best setting at each of its loads."""
    cells = []
    for runtime, system, dispatch, load, block in product(RATES, systems, DISPATCHES, loads, range(1, blocks + 1)):
        values: dict[str, Value] = {"DISPATCH": dispatch, "CALC_TARGET": load}
        requests_per_s = rate(runtime, dispatch, block) / (2 if system == "2" else 1)
        cells.append(served(runtime, block, requests_per_s, values, system=system))
    run = run_of(cells, blocks=blocks)
    run.plan = replace(run.plan, rows=tuple(replace(row, framed=True) for row in run.plan.rows))
    return run


def test_the_best_of_each_runtime_are_compared_whatever_their_design() -> None:
    run = a_run(blocks=23, systems="24")
    chosen = choices(run, Cells(run).rows)
    (same,) = chosen.values()
    assert [len(choice.candidates) for choice in same.values()] == [8, 8]
    (step,) = compare_bests(run, chosen)
    assert (step.step, step.denominator, step.numerator, step.blocks) == ("best", "3.14", "3.14t", 12)
    assert [step.ratio, step.p] == pytest.approx([1.5, 2 / 2**12 / SHARES["best"]])
    assert step.verdict == "faster"
    assert [(side.system, side.params["DISPATCH"]) for side in step.settings] == [("4", "leader"), ("4", "owned")]


def test_even_blocks_pick_and_odd_blocks_judge() -> None:
    def rate(runtime: str, dispatch: str, block: int) -> float:
        lucky = dispatch == "any" and block % 2 == 0
        return 9000.0 if lucky else by_hand(runtime, dispatch, block)

    run = a_run(rate)
    (step,) = compare_bests(run, choices(run, Cells(run).rows))
    assert [side.params["DISPATCH"] for side in step.settings] == ["any", "any"]
    assert [step.ratio, step.blocks] == pytest.approx([2.6, 6])


def said(run: Run) -> list[str]:
    """Return the sentences on each choice, without those of best_sentences."""
    view = View(run)
    return [str(sentence) for sentence in section(view).sentences[len(best_sentences(view)) :]]


def test_settings_that_are_equal_may_be_chosen_by_chance() -> None:
    def rate(runtime: str, dispatch: str, block: int) -> float:
        return 1000.0 + 10 * ((7 * block + 3 * DISPATCHES.index(dispatch)) % 5)

    old, new, _ = said(a_run(rate, blocks=23))
    for sentence in (old, new):
        assert re.search(r"the second-best setting, \S+ \S+ \(the difference may be chance\)", sentence)


def with_failure(runtime: str, dispatch: str, block: int) -> Run:
    """Return a run in which one measurement failed."""
    run = a_run()
    for place, cell in enumerate(run.cells):
        if (cell.runtime, cell.params["DISPATCH"], cell.block) == (runtime, dispatch, block):
            run.cells[place] = replace(cell, status="failed", reason=verbatim("it hung up"))
    return run


def test_a_setting_that_failed_in_a_block_that_chooses_is_not_chosen_and_is_named() -> None:
    _, failed, new, step = said(with_failure("3.14t", "owned", 4))
    assert failed == (
        "3.14t: DISPATCH owned cannot be chosen as the best setting: 1 of 5 measurements failed: it hung up."
    )
    assert new.startswith("3.14t: DISPATCH auto was chosen from 4 settings")
    assert "DISPATCH auto) has 1.45" in step


def test_a_runtime_whose_settings_all_failed_has_no_best_one() -> None:
    run = a_run()
    cells = [replace(cell, status="failed") if cell.runtime == "3.14t" else cell for cell in run.cells]
    lines = said(replace(run, cells=cells))
    assert len(lines) == 1 + 4
    assert sum("cannot be chosen" in line for line in lines) == 4


def test_a_setting_that_failed_in_a_block_that_judges_withholds_its_ratios() -> None:
    old, _, step = said(with_failure("3.14", "leader", 5))
    assert "times the throughput" not in old
    assert "with the second-best setting, DISPATCH auto: 1 of 12 measurements failed: it hung up" in old
    assert "cannot be compared" in step


def test_settings_that_were_dropped_are_not_missing() -> None:
    run = of_pools(9, finished=True)
    assert {row.planned - len(row.cells) for row in Cells(run).rows} == {0}


def test_too_few_blocks_choose_nothing() -> None:
    run = a_run(blocks=4)
    assert choices(run, Cells(run).rows) == {}


COSTS = {"a": "411", "b": "133", "c": "222", "d": "311", "e": "500"}  # a digit for each round


def test_candidates_are_halved_in_each_round_until_one_is_left() -> None:
    choice = halved([*COSTS], lambda name, number: float(COSTS[name][number - 1]))
    assert (choice.left, choice.dropped, choice.rounds) == (["d"], ["c", "b", "a", "e"], 3)
    assert (choice.best, choice.second) == ("d", "c")


def test_a_round_that_has_not_ended_drops_none() -> None:
    choice = halved(["a", "b", "c"], lambda name, number: float(COSTS[name][0]) if number < 2 else None)
    assert (choice.left, choice.dropped, choice.rounds, choice.best) == (["b", "c"], ["a"], 1, None)


def test_settings_are_compared_at_the_same_load_only() -> None:
    lines = said(a_run(loads=(0, 1000)))
    assert [line.partition(":")[0] for line in lines] == [
        "CALC_TARGET 0, 3.14", "CALC_TARGET 0, 3.14t", "CALC_TARGET 0",
        "CALC_TARGET 1000, 3.14", "CALC_TARGET 1000, 3.14t", "CALC_TARGET 1000",
    ]  # fmt: skip


def test_ratios_are_withheld_if_two_measurements_of_the_same_runtime_differ() -> None:
    run = a_run()
    twins = [cell for cell in run.cells if cell.runtime == "3.14t"]
    run.cells += [replace(cell, arm="3.14t again", wall_ns=2 * cell.wall_ns) for cell in twins]
    old, new, step = said(run)
    for sentence in (old, new):
        assert "times the throughput" not in sentence
        assert "A/A: two measurements of 3.14t differ" in sentence
    assert "invalid" in step


def test_topologies_of_a_service_are_compared_under_one_runtime_and_another_shape_is_said() -> None:
    cells, workers = [], [ServingProcess(connections=8, threads=1, cpu_ns=[10])]
    for threads, rate in ((1, 1000), (2, 1300), (4, 1500)):
        values = {"NUM_API_SERVICES": 1, "NUM_WORKERS_PER_API_SERVICE": threads, "NUM_CLIENTS": 4}
        cells += [served("3.14t", block, rate, values, services=[{"workers": workers}]) for block in range(1, 24)]
    run = with_service(run_of(cells, runtimes=["3.14t"], blocks=23), name="2")
    chosen, *_, shape = said(run)
    assert "was chosen from 3 settings, and has 1.15 [1.15, 1.15] times the throughput o" in chosen
    assert shape == "3.14t: the service was configured as 1 x 4 (processes x threads) but ran as 1 x 1."
    assert [line[1] for line in lines_of(section(View(run)).tables[0])] == ["1,000", "1,300", "* 1,500"]


def test_the_experiment_lets_each_client_call_all_services_at_once() -> None:
    cells = load_experiment("topology").cells()
    assert all(cell.num_threads_per_client >= cell.num_api_services for cell in cells)


# ---- a run that halves its settings ----------------------------------------------------------------------------------

POOLS = (1, 2, 4, 8)
POOL_RATES = {"3.14": {1: 1000, 2: 800, 4: 600, 8: 400}, "3.14t": {1: 1000, 2: 1400, 4: 1500, 8: 1200}}


def of_pools(blocks: int, *, finished: bool = False) -> Run:
    """Return a run with --vary POOL=1,2,4,8 and --budget, of which so many blocks were measured, each as it must be."""
    run = with_service(run_of([], runtimes=["3.14", "3.14t"], blocks=1000), name="2")
    run.plan, run.finished_at = replace(run.plan, picks=True), ""
    for block in range(1, blocks + 1):
        dropped = dropped_settings(run)
        for runtime, pool in product(POOL_RATES, POOLS):
            cell = served(runtime, block, POOL_RATES[runtime][pool], {"NUM_CLIENTS": 1})
            cell = replace(cell, params={"NUM_CLIENTS": 1, "POOL": pool}, cell_id=f"2-{runtime}-{pool}")
            if setting_key(cell.system, cell.params) not in dropped:
                run.cells.append(cell)
    return replace(run, finished_at="2026-11-30T00:00:00+00:00" if finished else "")


def test_a_setting_is_measured_until_it_is_dropped_under_each_runtime() -> None:
    """After block 4, 1 and 2 are left under 3.14, 4 and 2 under 3.14t; after block 8, 1 and 4."""
    cells = of_pools(9).cells
    assert {cell.params["POOL"]: cell.block for cell in cells} == {1: 9, 2: 8, 4: 9, 8: 4}
    assert len(cells) == 2 * (9 + 8 + 9 + 4)


def test_the_best_setting_of_each_runtime_is_told_with_what_it_costs_under_the_other() -> None:
    sentences = [str(sentence) for sentence in best_sentences(View(of_pools(23, finished=True)))]
    assert sentences == [
        "Best setting: POOL 1 on 3.14; POOL 4 on 3.14t.",
        "The best setting on 3.14t (POOL 4) costs 40.0% of the throughput (40.0% to 40.0%) on 3.14.",
        "The best setting on 3.14 (POOL 1) costs 33.3% of the throughput (33.3% to 33.3%) on 3.14t.",
    ]


def test_a_run_that_ends_before_the_last_round_chooses_by_what_it_has() -> None:
    assert best_sentences(View(of_pools(5))) == []
    assert best_sentences(View(of_pools(4, finished=True))) == []
    (said, *_) = best_sentences(View(of_pools(5, finished=True)))
    assert str(said) == "Best setting: POOL 1 on 3.14; POOL 4 on 3.14t."


def test_the_winner_of_equal_settings_is_not_judged_by_its_luck() -> None:
    """Eight equal settings with a noise of 3 %: the interval of the best one's ratio covers 1 as often as it says."""
    chance, covered, choices_made = np.random.default_rng(1), 0, 2000
    for _ in range(choices_made):
        noise = chance.normal(0, 0.03, (8, 23))
        chosen = halved(range(8), lambda pool, _: median(noise[pool, 1::2]))  # noqa: B023
        ratio = effect(noise[chosen.left[0], ::2] - noise[chosen.dropped[0], ::2]).ratio
        covered += ratio.low <= 1 <= ratio.high
    assert covered >= 0.95 * choices_made
