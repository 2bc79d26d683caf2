"""All comparisons: the plot's lines and scale, the reasons, and the compact table of a terminal."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.cell import Value
from core.languages import ENGLISH
from core.result import CellResult, Run
from reports.document.model import Line, Table
from reports.render.console import terminal
from reports.render.terminal import print_section
from reports.rows.comparisons import compare, widest
from reports.sections.comparisons import ratio_scale, section
from reports.view import View
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import MS, RUNTIMES, cell_of, faulty, run_of, seed_run


def two_arms(ms: float = 2000, other_ms: float = 1000, blocks: int = 8) -> Run:
    cells = steady("3.14t+gil", ms, blocks=blocks) + steady("3.14t", other_ms, blocks=blocks)
    return run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=blocks)


def texts(line: Line) -> list[str]:
    return [datum.text(ENGLISH) for datum in line if datum.strip is None]


def tables(run: Run) -> tuple[Table, Table]:
    forest, reasons = section(View(run)).tables
    return forest, reasons


def on_paper(run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is printed to what is no terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
    out = io.StringIO()
    print_section(section(View(run)), terminal(out), ENGLISH)
    return out.getvalue()


def in_one_line(text: str) -> str:
    return " ".join(text.split())


# ---- the plot and the reasons --------------------------------------------------------------------------------------


def test_a_line_has_its_interval_drawn_and_written_and_leads_to_its_cells() -> None:
    run = two_arms()
    run.cells += steady("3.14t again", 1010)
    forest, _ = tables(run)
    lock = forest.lines[1] if "lock" in str(forest.lines[1][0].words) else forest.lines[0]
    assert texts(lock) == ["lock: 3.14t+gil → 3.14t", "2.00 [2.00, 2.00]", "▲ faster"]
    strip = lock[1].strip
    assert strip is not None
    assert strip.dot is not None
    assert strip.dot[1] == "faster"
    assert strip.tip == "2.00 [2.00, 2.00]"
    assert (lock[0].leads, lock[2].figure, lock[3].state) == (True, "ratio", "word faster")
    assert lock[0].cells == lock[2].cells != ""


def test_those_over_all_settings_come_first() -> None:
    forest, _ = tables(seed_run(blocks=1))
    assert str(forest.groups[0].head) == "All settings (geometric mean)"
    assert len(forest.groups) == 12


def test_the_scale_holds_every_ratio_and_is_not_stretched_by_one_wide_interval() -> None:
    (one,) = compare(two_arms())
    scale = ratio_scale([one, replace(one, ratio=1.5, low=0.01, high=90.0)])
    assert scale.low == pytest.approx(1 / 2.5)
    assert scale.high == pytest.approx(2.0 * 2.5, rel=1e-6)


def test_confounds_and_notes_stand_beside_the_reason_of_their_verdict() -> None:
    run = two_arms()
    run.runtimes["3.14t"]["compiler"] = "Clang 18"
    _, reasons = tables(run)
    assert [texts(line) for line in reasons.lines] == [
        [
            "System 2",
            "lock: 3.14t+gil → 3.14t",
            "0.008",
            *("-", "-", "-"),
            "the interval 2 to 2 excludes 1, and p is 0.0078; confound: compiler GCC 13.2.0 against Clang 18",
        ]
    ]


# ---- on a terminal -------------------------------------------------------------------------------------------------


def seed_with_aa(blocks: int) -> Run:
    run = seed_run(blocks=blocks)
    run.cells += [replace(cell, arm="3.14t again") for cell in run.cells if cell.runtime == "3.14t"]
    return run


@pytest.mark.parametrize("blocks", [1, 3])
def test_paper_is_80_columns_wide_and_has_no_control_codes(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = seed_with_aa(blocks)
    run.runtimes["3.14t"]["compiler"] = "Clang 18.1.8 (a name that goes on and on, so that it must be broken somewhere)"
    text = on_paper(run, monkeypatch)
    assert max(map(len, text.splitlines())) <= 80
    assert all(mark.isprintable() or mark == "\n" for mark in text)
    assert "more comparisons are in findings.md." in text


def test_the_table_is_printed_with_ratio_and_interval_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    last = on_paper(two_arms(), monkeypatch).splitlines()[-1]
    assert in_one_line(last) == "System 2 lock: 3.14t+gil → 3.14t 2.00 [2.00, 2.00] faster"
    assert in_one_line(on_paper(two_arms(blocks=2), monkeypatch)).endswith("2.00 inconclusive")


def test_limits_are_footnotes_each_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [cell for arm in RUNTIMES for cell in steady(arm, 2000)]
    run = run_of(cells, runtimes=RUNTIMES)
    compiler = "Clang 16.0.0 (clang-1600.0.26.6)"
    for name in RUNTIMES[1:]:
        run.runtimes[name]["compiler"] = compiler
    text = on_paper(run, monkeypatch)
    assert text.splitlines().count(f"[1] confound: compiler GCC 13.2.0 against {compiler}") == 1
    assert text.count("equivalent [1]") == 2
    assert "[2]" not in text


def test_each_limit_of_a_comparison_has_its_own_number(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [
        replace(cell, services=[{**cell.services[0], "cpu_user_ns": cell.wall_ns}])
        for arm in RUNTIMES
        for cell in steady(arm, 2000)
    ]
    run = run_of(cells, runtimes=RUNTIMES)
    run.machine["cores_usable"] = 1
    run.runtimes[RUNTIMES[-1]]["compiler"] = "Clang 18.1.8"
    text = in_one_line(on_paper(run, monkeypatch))
    assert "equivalent [1]" in text
    assert "equivalent [1, 2]" in text
    assert text.count("services and clients together used 90% of the cores or more") == 1


def test_what_a_failed_cell_said_is_printed_as_it_is_but_for_control_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_arms()
    run.cells[0] = faulty(cell_of("2", "3.14t+gil"), 1, "failed", "ended: \x1b[31mboom\x1b[0m [red]at[/red] line 5")
    text = on_paper(run, monkeypatch)
    assert "\x1b" not in text
    assert "boom" in text
    assert "[red]at[/red] line 5" in in_one_line(text)


def test_an_experiment_with_a_view_of_its_own_shows_no_such_table(monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_arms()
    run.plan["view"] = "echo"
    assert on_paper(run, monkeypatch) == ""
    assert on_paper(run_of(steady("3.14t", 1000), runtimes=["3.14t"]), monkeypatch) == ""


# ---- how wide the widest interval is -------------------------------------------------------------------------------


def wobbling(arm: str, ratios: Sequence[float], values: Mapping[str, Value] | None = None) -> list[CellResult]:
    return [
        replace(cell, wall_ns=round(2000 * MS * ratio))
        for cell, ratio in zip(steady(arm, 2000, values or {}, blocks=len(ratios)), ratios, strict=True)
    ]


def test_the_widest_interval_is_a_share_of_its_ratio() -> None:
    cells = steady("3.14t+gil", 4000) + wobbling("3.14t", (1, 1.1, 0.9, 1, 1, 1.05, 0.95, 1))
    run = run_of(cells, runtimes=["3.14t+gil", "3.14t"])
    (one,) = compare(run)
    assert one.ratio is not None
    assert one.low is not None
    assert one.high is not None
    assert widest(run) == pytest.approx((one.high - one.low) / one.ratio)
    assert 0.01 < widest(run) < 0.3


def test_as_long_as_there_is_no_interval_or_too_few_blocks_for_a_verdict_it_is_infinite() -> None:
    assert widest(two_arms(blocks=2)) == float("inf")
    assert widest(two_arms(blocks=7)) == float("inf")
    assert widest(two_arms(blocks=8)) == pytest.approx(0, abs=1e-9)


def test_neither_a_a_nor_the_mean_nor_what_is_invalid_nor_idle_cells_count() -> None:
    run = two_arms()
    run.cells += wobbling("3.14t again", (0.5, 1, 2, 0.5, 1, 2, 1, 1))
    run.cells += [
        replace(cell, clients=[], wall_ns=0, params={**cell.params, "NUM_CLIENTS": 0}) for cell in run.cells[:16]
    ]
    assert widest(run) == pytest.approx(0, abs=1e-9)
    assert widest(two_arms(ms=20, other_ms=10, blocks=2)) == 0
