"""The best service of each runtime, known by hand; that being picked among many is not rewarded; that a step mixes no
dispatches."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.cell import Value, parameter
from core.result import Run
from reports.facts.bests import bests, compare_bests
from reports.facts.cells import Cells
from reports.facts.comparisons import compare
from reports.facts.steps import OF_VALUES
from reports.statistics.significance import SHARES
from reports.topics.best import section
from reports.view import View
from tests.reports.sample import run_of
from tests.reports.sweeps import served

DISPATCHES = parameter("DISPATCH").choices
RATES = {  # requests/s of system 4; those of system 2 are half of them
    "3.14": {"any": 1000.0, "leader": 2000.0, "owned": 1200.0, "auto": 1900.0},
    "3.14t": {"any": 2600.0, "leader": 1500.0, "owned": 3000.0, "auto": 2900.0},
}
Rate = Callable[[str, str, str, int], float]  # of runtime, system, dispatch and block


def by_hand(runtime: str, system: str, dispatch: str, block: int) -> float:
    return RATES[runtime][dispatch] / (2 if system == "2" else 1)


def a_run(rate: Rate = by_hand, *, blocks: int = 11, **values: Value) -> Run:
    cells = [
        served(runtime, block, rate(runtime, system, dispatch, block), {"DISPATCH": dispatch, **values}, system=system)
        for runtime in RATES
        for system in ("2", "4")
        for dispatch in DISPATCHES
        for block in range(1, blocks + 1)
    ]
    run = run_of(cells, blocks=blocks, runtimes=tuple(RATES))
    rows = [{**row, "framed": True} for row in run.plan["rows"]]
    return replace(run, plan={**run.plan, "rows": rows})


def test_the_best_of_each_runtime_are_compared_whatever_their_design() -> None:
    run = a_run(blocks=23)
    chosen = bests(run, Cells(run).rows)
    (same,) = chosen.values()
    assert [(best.row.runtime, best.row.system, best.row.params["DISPATCH"], best.of) for best in same.values()] == [
        ("3.14", "4", "leader", 8),
        ("3.14t", "4", "owned", 8),
    ]
    (step,) = compare_bests(run, chosen)
    assert (step.step, step.denominator, step.numerator, step.blocks) == ("best", "3.14", "3.14t", 12)
    assert [step.ratio, step.p] == pytest.approx([1.5, 2 / 2**12 / SHARES["best"]])
    assert step.verdict == "faster"
    assert [(side["system"], side["params"]["DISPATCH"]) for side in step.settings] == [("4", "leader"), ("4", "owned")]


def test_even_blocks_pick_and_odd_blocks_judge() -> None:
    def rate(runtime: str, system: str, dispatch: str, block: int) -> float:
        lucky = dispatch == "any" and block % 2 == 0
        return 9000.0 if lucky else by_hand(runtime, system, dispatch, block)

    run = a_run(rate)
    chosen = bests(run, Cells(run).rows)
    (same,) = chosen.values()
    assert {best.row.params["DISPATCH"] for best in same.values()} == {"any"}
    assert all(set(best.judged) == {1, 3, 5, 7, 9, 11} for best in same.values())
    (step,) = compare_bests(run, chosen)
    assert step.ratio == pytest.approx(2.6)


def test_no_step_between_runtimes_mixes_dispatches() -> None:
    run = a_run()
    steps = [step for step in compare(run) if step.step not in OF_VALUES]
    assert {step.step for step in steps} == {"other"}  # 3.14 to 3.14t, of each setting and over all
    single = [step for step in steps if step.params]
    assert sorted(step.params["DISPATCH"] for step in single) == sorted(DISPATCHES * 2)
    for step in single:
        rates = RATES["3.14"], RATES["3.14t"]
        assert step.ratio == pytest.approx(rates[1][step.params["DISPATCH"]] / rates[0][step.params["DISPATCH"]])


def test_a_step_names_both_services_and_the_ratio_between_them() -> None:
    (sentence,) = section(View(a_run(blocks=23))).sentences
    assert str(sentence) == (
        "The best service on 3.14t (System 4, DISPATCH owned) has 1.50 [1.50, 1.50] times the throughput of the best "
        "service on 3.14 (System 4, DISPATCH leader): faster."
    )
