"""What --fail-if-slower says of each cell: slower, passed, or that nothing could be said."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from core.errors import BadInput
from core.languages import ENGLISH
from core.messages import verbatim
from core.result import CellResult, Run
from reports.compare.checks import Check, checks
from reports.compare.github import SUMMARY_VARIABLE, add_summary, annotations
from reports.compare.junit import junit, write_junit
from reports.compare.runs import Compared, compare_runs
from reports.compare.section import document
from reports.render.markdown import markdown
from tests.reports.sample import MS, TITLES, cell_of, faulty, measured, run_of

ONE = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}
NAMES = ("before", "after")
BEFORE_MS = (2000, 2010, 1995, 2005, 1990, 2002, 2008, 1998, 2004, 1996)
CELL = cell_of("1", "3.14t", ONE)


def cells(factor: float = 1.0, blocks: int = 10, runtime: str = "3.14t", spread: float = 1.0) -> list[CellResult]:
    """One cell whose client took *factor* times as long as before; *spread* widens the differences."""
    cell = cell_of("1", runtime, ONE)
    times_ms = [factor * (2000 + spread * (time_ms - 2000)) for time_ms in BEFORE_MS[:blocks]]
    return [measured(cell, block, [round(time_ms * MS)]) for block, time_ms in enumerate(times_ms, start=1)]


def run(*some: list[CellResult]) -> Run:
    return run_of([cell for one in some for cell in one], runtimes=("3.14", "3.14t"), blocks=10)


def checked(a: Run, b: Run, share: float | None = 0.05) -> list[Check]:
    return checks(compare_runs(a, b, NAMES, share=share).comparisons, share)


def only(a: Run, b: Run, share: float | None = 0.05) -> Check:
    (one,) = checked(a, b, share)
    return one


def test_a_cell_that_is_slower_beyond_the_threshold_fails() -> None:
    check = only(run(cells()), run(cells(1.2)))
    assert (str(check.name), check.outcome) == ("system 1 (3.14t)", "slower")
    assert str(check.sentence).startswith("slower: 2.002 ms -> 2.402 ms, ratio 0.833 [")


def test_a_cell_that_is_alike_passes() -> None:
    assert only(run(cells()), run(cells(1.001))).outcome == "passed"


def test_a_block_of_b_that_failed_does_not_pass_however_fast_the_others_are() -> None:
    check = only(run(cells()), run([*cells(0.5), faulty(CELL, 11, "failed", "1 answers were wrong")]))
    assert check.outcome == "open"
    assert str(check.sentence).endswith("in B 1 of 11 blocks failed: 1 answers were wrong.")


def test_a_cell_of_b_without_a_good_block_does_not_pass() -> None:
    check = only(run(cells()), run([faulty(CELL, 1, "invalid", "the GIL was on")]))
    assert check.outcome == "open"
    assert "(2.002 ms -> -): in B 1 of 1 block invalid: the GIL was on." in str(check.sentence)


def test_a_block_of_a_that_failed_leaves_the_others_to_judge_by() -> None:
    assert only(run([*cells(), faulty(CELL, 11, "failed", "no")]), run(cells())).outcome == "passed"


def test_too_few_blocks_for_slower_do_not_pass_and_say_how_many_it_takes() -> None:
    check = only(run(cells(blocks=3, spread=30)), run(cells(1.2, blocks=3, spread=30)))
    assert check.outcome == "open"
    assert str(check.sentence).endswith("A has 3 and B 3 blocks; `slower` takes 6 in each for so many cells.")


def test_six_blocks_that_are_equivalent_pass() -> None:
    assert only(run(cells(blocks=6, spread=0.1)), run(cells(blocks=6, spread=0.1))).outcome == "passed"


def test_blocks_enough_that_are_inconclusive_pass() -> None:
    check = only(run(cells(spread=30)), run(cells(1.01, spread=30)))
    assert (check.comparison.verdict.verdict, check.outcome) == ("inconclusive", "passed")


def test_a_window_that_is_too_short_does_not_pass() -> None:
    assert "it was timed for" in str(only(run(cells(0.09)), run(cells(0.09))).sentence)


def test_without_a_threshold_nothing_fails() -> None:
    assert only(run(cells()), run(cells(1.5)), None).outcome == "passed"
    assert only(run(cells(blocks=3)), run(cells(1.5, blocks=3)), None).outcome == "passed"


@pytest.fixture
def example() -> tuple[Compared, list[Check]]:
    """A cell that is slower, one that passes and one whose block failed, its reason full of signs."""
    a = run(cells(), cells(runtime="3.14"), [replace(one, arm="odd") for one in cells()])
    odd = [replace(one, arm="odd") for one in cells()]
    odd[3] = replace(odd[3], status="failed", reason=verbatim("<50 % & \x1b, why:"))
    b = run(cells(1.2), cells(runtime="3.14"), odd)
    compared = compare_runs(a, b, NAMES, share=0.05)
    return compared, checks(compared.comparisons, 0.05)


def test_junit_has_a_case_for_each_cell_with_failures_and_errors(example: tuple[Compared, list[Check]]) -> None:
    suites = ET.fromstring(junit(*example, ENGLISH).encode())
    (suite,) = suites
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    found = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert found == {
        "system 1 (3.14)": ["system-out"],
        "system 1 (3.14t)": ["failure"],
        "system 1 (odd)": ["error"],
    }
    failure = next(suite.iter("failure"))
    assert failure.get("message", "").startswith("slower: 2.002 ms -> 2.402 ms")
    assert [case.get("time") for case in suite.iter("testcase")][1] == "0.002402"
    assert "A, B: medians of" in (suite.findtext("system-out") or "")


def test_signs_that_xml_cannot_hold_are_replaced(example: tuple[Compared, list[Check]]) -> None:
    error = next(ET.fromstring(junit(*example, ENGLISH).encode()).iter("error"))
    assert "<50 % &" in error.get("message", "")
    assert "\x1b" not in error.get("message", "")


def test_junit_is_written_where_it_is_told(example: tuple[Compared, list[Check]], tmp_path: Path) -> None:
    write_junit(*example, tmp_path / "deep" / "junit.xml", ENGLISH)
    assert ET.parse(tmp_path / "deep" / "junit.xml").getroot().tag == "testsuites"
    with pytest.raises(BadInput, match="--junit"):
        write_junit(*example, tmp_path, ENGLISH)


def test_annotations_are_workflow_commands_with_their_signs_escaped(example: tuple[Compared, list[Check]]) -> None:
    lines = annotations(example[1], ENGLISH)
    assert [line.partition("::")[2].partition("::")[0] for line in lines] == [
        "notice title=Compared%3A system 1 (3.14)",
        "error title=Slower%3A system 1 (3.14t)",
        "error title=No verdict%3A system 1 (odd)",
    ]
    assert "<50 %25 &" in lines[2]
    assert all("\n" not in line for line in lines)


@pytest.mark.parametrize("environment", [{}, {SUMMARY_VARIABLE: ""}])
def test_without_a_summary_there_is_nothing_to_add_to(environment: Mapping[str, str]) -> None:
    add_summary("# Comparison", environment)


def test_the_table_is_added_to_the_summary_of_the_job(example: tuple[Compared, list[Check]], tmp_path: Path) -> None:
    file, page = tmp_path / "summary.md", markdown(document(example[0], TITLES), ENGLISH)
    file.write_text("before\n")
    add_summary(page, {SUMMARY_VARIABLE: str(file)})
    assert file.read_text().startswith("before\n# Comparison\n")
    assert "| slower " in file.read_text()
    with pytest.raises(BadInput, match="GITHUB_STEP_SUMMARY is"):
        add_summary(page, {SUMMARY_VARIABLE: str(tmp_path)})
