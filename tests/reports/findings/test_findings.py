"""What a run says in words: every verdict in either direction, what it rests on, and how it stands on a terminal."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.cell import Value
from core.method import Method
from core.result import CellResult, Run
from reports.findings.findings import comparisons, label, markdown, print_findings, validity, widest
from reports.rows.comparisons import OVER_ALL, compare
from reports.terminal.console import terminal
from tests.reports.sample import MS, RUNTIMES, cell_of, faulty, measured, run_of, seed_run

BLOCKS = 8
NO_VALUES: Mapping[str, Value] = {}


def steady(arm: str, ms: float, values: Mapping[str, Value] = NO_VALUES, blocks: int = BLOCKS) -> list[CellResult]:
    runtime = arm.removesuffix(" again")
    cells = [measured(cell_of("2", runtime, values), block, [round(ms * MS)]) for block in range(1, blocks + 1)]
    return [replace(cell, arm=arm) for cell in cells]


def two_arms(ms: float = 2000, other_ms: float = 1000, blocks: int = BLOCKS) -> Run:
    cells = steady("3.14t+gil", ms, blocks=blocks) + steady("3.14t", other_ms, blocks=blocks)
    return run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=blocks)


def on_paper(run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """What print_findings prints to what is no terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
    out = io.StringIO()
    print_findings(run, terminal(out))
    return out.getvalue()


def in_one_line(text: str) -> str:
    return " ".join(text.split())


# ---- what the verdicts rest on -------------------------------------------------------------------------------------


def rests_on(run: Run) -> list[str]:
    return validity(run, compare(run))


def test_without_a_a_the_noise_floor_is_not_known() -> None:
    assert rests_on(two_arms()) == [
        "8 blocks, cells in random order (seed 1).",
        "No A/A arm was measured, so the noise floor is not known: add --aa.",
        "Clients run under the service's runtime, so both sides change: --client-runtime holds them.",
    ]


def test_one_block_is_one_block() -> None:
    assert rests_on(two_arms(blocks=1))[0] == "1 block, cells in random order (seed 1)."


def test_with_a_a_the_noise_floor_is_told() -> None:
    run = two_arms()
    run.cells += steady("3.14t again", 1000)
    assert rests_on(run)[1] == "Noise floor (the same runtime twice): 0.0%."


def test_a_client_that_is_held_constant_is_named() -> None:
    run = two_arms()
    run.plan["method"] = Method(client_runtime="3.14").to_json()
    assert "Clients run under 3.14 in every cell: only the service changes." in rests_on(run)


def test_what_cannot_be_separated_is_told_with_the_runtimes_to_add() -> None:
    run = run_of(steady("3.11", 2000) + steady("3.14t", 1000))
    assert rests_on(run)[-1].endswith("To separate them, add --runtime 3.11,3.14,3.14t+gil,3.14t.")


def test_a_label_says_what_tells_a_setting_from_the_others_of_its_system() -> None:
    cells = [cell for size in (0, 10) for cell in steady("3.14t", 1000, {"PAYLOAD_BYTES": size})]
    run = run_of([*cells, measured(cell_of("4", "3.14t", {"NUM_MULTI_SOCKET": 5}), 1, [MS])], runtimes=["3.14t"])
    labels = [label(row["system"], row["params"], run) for row in run.plan["rows"]]
    assert labels == ["2 PAYLOAD_BYTES=0", "2 PAYLOAD_BYTES=10", "4"]
    assert label(OVER_ALL, {}, run) == "all"


# ---- on paper ------------------------------------------------------------------------------------------------------


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


def test_the_table_and_what_it_rests_on_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_paper(two_arms(), monkeypatch)
    table, rest = text.strip().split("\n\n")
    assert in_one_line(table.splitlines()[-1]) == "2 lock: 3.14t+gil -> 3.14t 2.00 [2.00, 2.00] faster"
    assert in_one_line(rest).startswith("8 blocks, cells in random order (seed 1). No A/A arm")


def test_the_table_says_where_there_is_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    table = on_paper(two_arms(blocks=2), monkeypatch).strip().split("\n\n")[0]
    assert "2.00 [no interval]" in table


def test_limits_are_footnotes_each_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [cell for arm in RUNTIMES for cell in steady(arm, 2000)]
    run = run_of(cells, runtimes=RUNTIMES)
    compiler = "Clang 16.0.0 (clang-1600.0.26.6)"
    for name in RUNTIMES[1:]:
        run.runtimes[name]["compiler"] = compiler
    text = on_paper(run, monkeypatch)
    footnote = f"[1] confound: compiler GCC 13.2.0 against {compiler}"
    assert text.splitlines().count(footnote) == 1
    assert text.count("equivalent [1]") == 2
    assert "[2]" not in text


def test_what_a_failed_cell_said_is_printed_as_it_is_but_for_control_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_arms()
    run.cells[0] = faulty(cell_of("2", "3.14t+gil"), 1, "failed", "ended: \x1b[31mboom\x1b[0m [red]at[/red] line 5")
    text = on_paper(run, monkeypatch)
    assert "\x1b" not in text
    assert "boom" in text
    assert "[red]at[/red] line 5" in in_one_line(text)


def test_a_run_with_nothing_to_compare_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_paper(run_of(steady("3.14t", 1000), runtimes=["3.14t"]), monkeypatch) == ""


# ---- findings.md and result.json -----------------------------------------------------------------------------------


def cells_of(text: str, head: str) -> list[list[str]]:
    """The rows of the table below a line that begins with *head*."""
    lines = text.split(head, 1)[1].strip().splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[one.strip() for one in line.strip("|").split(" | ")] for line in table]


def test_markdown_has_every_verdict_with_its_reason_and_what_moved() -> None:
    run = two_arms()
    run.cells = [replace(cell, requests=1000) for cell in run.cells]
    run.cells = [
        replace(cell, services=[{**cell.services[0], "cpu_user_ns": (30 if cell.runtime == "3.14t" else 10) * MS}])
        for cell in run.cells
    ]
    before, after = markdown(run).split("## Where the time goes")
    assert "\nRemoving the GIL makes system 2 2.00 x faster [2.00, 2.00].\n" in before
    (verdict,) = cells_of(before, "## Verdicts")
    assert verdict == [
        *["2", "lock", "3.14t+gil", "3.14t", "2.00 [2.00, 2.00]", "0.008", "-", "faster"],
        "the interval 2 to 2 leaves out 1 and p is 0.0078",
        "What moved most, per request: the service's user time 10.0 -> 30.0 us.",
    ]
    assert [line[:2] for line in cells_of(after, "\n")] == [["2", "3.14t+gil"], ["2", "3.14t"]]


def test_confounds_and_notes_stand_beside_the_reason_of_their_verdict() -> None:
    run = two_arms()
    run.runtimes["3.14t"]["compiler"] = "Clang 18"
    line = cells_of(markdown(run), "## Verdicts")[0]
    assert line[8].endswith("and p is 0.0078 (confound: compiler GCC 13.2.0 against Clang 18)")


@pytest.mark.parametrize("reason", ["a | b", "first line\nlast line", "```\n# head"])
def test_a_reason_stays_within_its_cell_of_the_table(reason: str) -> None:
    run = two_arms()
    run.cells[0] = faulty(cell_of("2", "3.14t+gil"), 1, "failed", reason)
    table = markdown(run).split("## Verdicts")[1].split("## What they rest on")[0]
    lines = [line for line in table.strip().splitlines() if line]
    assert len(lines) == 3
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


def test_a_run_with_nothing_to_compare_has_findings_all_the_same() -> None:
    assert "## Where the time goes" in markdown(run_of(steady("3.14t", 1000), runtimes=["3.14t"]))


def test_result_json_has_every_comparison() -> None:
    (one,) = comparisons(two_arms())
    assert (one["step"], one["verdict"], one["ratio"]) == ("lock", "faster", pytest.approx(2))


# ---- how wide the widest interval is -------------------------------------------------------------------------------


def wobbling(arm: str, ratios: Sequence[float]) -> list[CellResult]:
    return [
        replace(cell, clients=[{**cell.clients[0], "completion_ns": round(2000 * MS * one)}])
        for cell, one in zip(steady(arm, 2000, blocks=len(ratios)), ratios, strict=True)
    ]


def test_the_widest_interval_is_told_as_a_share_of_its_ratio() -> None:
    run = run_of(steady("3.14t+gil", 4000) + wobbling("3.14t", (1, 1.1, 0.9, 1, 1, 1.05, 0.95, 1)))
    run.runtimes = two_arms().runtimes
    run.plan["runtimes"] = ["3.14t+gil", "3.14t"]
    (one,) = compare(run)
    assert one.ratio is not None
    assert one.low is not None
    assert one.high is not None
    assert widest(run) == pytest.approx((one.high - one.low) / one.ratio)
    assert 0.01 < widest(run) < 0.3


def test_blocks_that_are_all_alike_have_no_width() -> None:
    assert widest(two_arms()) == pytest.approx(0, abs=1e-9)


def test_as_long_as_there_is_no_interval_it_is_infinite() -> None:
    assert widest(two_arms(blocks=2)) == float("inf")


def test_neither_a_a_nor_the_mean_nor_what_is_invalid_counts() -> None:
    run = two_arms()
    run.cells += wobbling("3.14t again", (0.5, 1, 2, 0.5, 1, 2, 1, 1))
    assert widest(run) == pytest.approx(0, abs=1e-9)
    assert widest(two_arms(ms=20, other_ms=10, blocks=2)) == 0


def test_idle_cells_do_not_keep_a_run_going() -> None:
    """More blocks would not give cells without clients an interval."""
    run = two_arms()
    idle = [replace(cell, clients=[], wall_ns=0, params={**cell.params, "NUM_CLIENTS": 0}) for cell in run.cells]
    run.cells += idle
    assert widest(run) == pytest.approx(0, abs=1e-9)


def test_the_widest_interval_is_infinite_while_too_few_blocks_can_bring_a_verdict() -> None:
    assert widest(two_arms(blocks=5)) == float("inf")
    assert widest(two_arms(blocks=6)) == pytest.approx(0, abs=1e-9)
