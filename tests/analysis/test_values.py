"""Comparisons of the values of a swept parameter, whose ratios are known by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.comparing import compare
from analysis.decisions import is_decided
from analysis.steps import OF_VALUES
from record.comparison import OVER_ALL
from record.saved_run import CellResult, Run
from reports.parts import swept_values as values
from reports.parts.swept_values import run_headline
from reports.view import View
from tests.analysis.timed_cells import steady
from tests.reports.sample import run_of, set_plan

BLOCKS = 12
VALUES = (1, 5, 10)
# Time of a request in ms by value. 3.11 takes as long at 5 and twice as long at 10; 3.14 does not depend on the value.
SLOWER: Mapping[str, Sequence[float]] = {"3.11": (1000, 1000, 2000), "3.14": (500, 500, 500)}


def swept() -> list[CellResult]:
    return [
        cell
        for runtime, by_value in SLOWER.items()
        for value, ms in zip(VALUES, by_value, strict=True)
        for cell in steady(runtime, ms, {"PAYLOAD_BYTES": value}, BLOCKS)
    ]


def a_run(cells: Sequence[CellResult]) -> Run:
    return run_of(cells, blocks=BLOCKS)


def of_values(cells: Sequence[CellResult]) -> list[str]:
    """Return the label, ratio and verdict of each comparison of values."""
    found = compare(a_run(cells))
    assert all(one.system != OVER_ALL for one in found), "a mean over the values of a sweep answers nothing"
    return [f"{one.label} {one.ratio or 0:.6f} {one.verdict}" for one in found if one.step in OF_VALUES]


RATIOS = """\
PAYLOAD_BYTES 1 → 5: 3.11 1.000000 equivalent
PAYLOAD_BYTES 1 → 10: 3.11 0.500000 slower
PAYLOAD_BYTES 1 → 5: 3.14 1.000000 equivalent
PAYLOAD_BYTES 1 → 10: 3.14 1.000000 equivalent
PAYLOAD_BYTES 1 → 10: 3.11 → 3.14 2.000000 faster"""


def test_each_value_is_compared_with_the_first_under_each_runtime() -> None:
    assert of_values(swept()) == RATIOS.splitlines()


def test_all_comparisons_of_a_sweep_are_one_family_with_those_of_the_runtimes() -> None:
    run = a_run(swept())
    assert len(compare(run)) == 3 + 5  # a step at each value, two values under each runtime, and their interaction
    assert all("8 comparisons" in str(one.why) for one in compare(run) if one.verdict in ("faster", "slower"))
    assert is_decided(run)


def test_a_failed_value_has_no_verdict_and_leaves_the_others_theirs() -> None:
    cells = swept()
    of_3_11_with_5 = slice(BLOCKS, 2 * BLOCKS)
    cells[of_3_11_with_5] = [replace(cell, status="failed") for cell in cells[of_3_11_with_5]]
    failed, *others = of_values(cells)
    assert failed == "PAYLOAD_BYTES 1 → 5: 3.11 0.000000 invalid"
    assert others == RATIOS.splitlines()[1:]


def test_a_plan_that_names_its_steps_or_has_a_view_compares_no_values() -> None:
    run = a_run(swept())
    for more in ({"judged_steps": ["version"]}, {"view": "league"}):
        asked = set_plan(run, **{"judged_steps": [], "view": "", **more})
        assert not {one.step for one in compare(asked)} & {*OF_VALUES}


def test_a_run_of_one_runtime_is_listed_with_what_its_values_do() -> None:
    one = a_run([cell for cell in swept() if cell.runtime == "3.11"])
    assert str(run_headline(View(one))) == "System 2: PAYLOAD_BYTES 1 → 10: 3.11 0.50x [0.50, 0.50] slower."
    assert str(run_headline(View(a_run(swept())))).startswith("System 2: 3.14 serves")


def test_a_sentence_says_that_the_step_depends_on_the_value() -> None:
    *_, said = values.section(View(a_run(swept()))).sentences
    assert str(said) == (
        "3.14 compared with 3.11: the throughput ratio depends on PAYLOAD_BYTES. At 10, it is 2.00x [2.00, 2.00] the "
        "ratio at 1."
    )
