"""What a verdict rests on: gates, notes on clients and machine, thresholds, and the width of intervals."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from analysis.comparing import UNCOUNTED, compare
from analysis.decisions import from_first_to_last, is_decided, regressions, widest
from analysis.gates import background, idle_cores
from core.messages import message
from record.child_lines import ServingProcess, Turns
from record.saved_run import CellResult, Status
from reports.sections.validity import section
from reports.view import View
from tests.analysis.timed_cells import compared, in_blocks, only, steady
from tests.reports.contestants import lines_of
from tests.reports.sample import MS, cell_of, faulty, idle, measured, run_of, set_plan, with_services
from tests.tables import each_row


@each_row
def test_one_cell_that_is_not_ok_makes_a_comparison_invalid_and_is_told(status: Status, why: str) -> None:
    bad = faulty(cell_of("2", "3.14"), 8, status, "the reason")
    one = only([*steady("3.11", 3000), *steady("3.14", 1500, blocks=7), bad])
    assert (one.verdict, one.ratio, one.low, one.p) == ("invalid", None, None, None)
    assert str(one.why) == why


@each_row
def test_an_arm_that_was_timed_for_less_than_2_s_in_all_has_a_ratio_and_no_verdict(ms: float, needed: int) -> None:
    """8 blocks of 250 ms are 2 s; of 249 ms it takes 9, of 100 ms 20."""
    one = only(steady("3.11", ms) + steady("3.14", 4 * ms))
    assert one.ratio == pytest.approx(1 / 4)
    assert (one.verdict, one.blocks_needed) == (("inconclusive", needed) if needed else ("slower", None))


def test_only_the_judged_steps_have_a_verdict_and_are_the_family() -> None:
    """A family of 2: p of 8 blocks that agree is 2 / 2**8, times 2 / 0.88; there is no mean over the two settings."""
    times_ms = {"3.11": 900, "3.14": 800, "3.14t+gil": 1000, "3.14t": 400}
    cells = []
    for arm, size in product(times_ms, (0, 1)):
        cells += steady(arm, times_ms[arm], {"PAYLOAD_BYTES": size})
    run = set_plan(run_of(cells), judged_steps=["lock"])
    found = {f"{one.system} {one.step}: {round(one.ratio or 0, 9)} {one.verdict} {one.p}" for one in compare(run)}
    p = 2 * 2 / 2**8 / 0.88
    assert found == {
        "2 version: 1.125 unjudged None",
        "2 build: 0.8 unjudged None",
        f"2 lock: 2.5 faster {p}",
        "2 whole: 2.25 unjudged None",
    }
    assert is_decided(run)


@each_row
def test_full_clients_and_a_full_machine_are_noted_and_the_verdict_stands(ms_each: int, cores: int, noted: str) -> None:
    """One client and one service in 2.001 s, each of which spent ms_each in user and as much in kernel mode."""
    both = product(("3.11", "3.14"), range(1, 9))
    run = run_of([measured(cell_of("2", arm), block, [2000 * MS], cpu_ns=ms_each * MS) for arm, block in both])
    run.machine = replace(run.machine, cores_usable=cores)
    (one,) = compare(run)
    assert "; ".join(str(note).partition(", so")[0] for note in one.notes) == noted
    assert one.cores_in_use == pytest.approx(4 * ms_each / 2001 / cores)
    assert one.verdict == "equivalent"


@each_row
def test_disturbances_in_more_than_a_quarter_of_the_cells_are_noted_by_kind(count: int, notes: str) -> None:
    messages = [message("4 % of the time", code="steal"), message("3.1", code="swapping")]
    cells = steady("3.11", 2000) + steady("3.14", 2000)
    noted = only([replace(cell, disturbances=messages) for cell in cells[:count]] + cells[count:])
    assert "; ".join(map(str, noted.notes)) == notes


ONE = only(steady("3.14", 1500) + steady("3.14t", 3000))


@each_row
def test_a_threshold_of_five_percent_more_time(line: str) -> None:
    given, _, outcome = line.partition(" -> ")
    verdict, low, high, blocks = given.split()
    more: Any = {"verdict": verdict, "low": float(low), "high": float(high), "blocks": int(blocks)}
    slower, unclear = regressions([replace(ONE, **more)], 0.05)
    assert (bool(slower), bool(unclear)) == (outcome == "slower", outcome == "unclear")


def test_an_invalid_comparison_is_unclear_at_any_threshold() -> None:
    assert regressions([replace(ONE, verdict="invalid", low=None, high=None)], 0.05)[1]


def test_of_three_runtimes_the_first_and_the_last_are_compared() -> None:
    chosen = from_first_to_last(compared(steady("3.11", 1000) + steady("3.14", 500) + steady("3.14t", 2000)))
    assert [(one.denominator, one.numerator) for one in chosen] == [("3.11", "3.14t")]
    assert [one.step for one in from_first_to_last([ONE])] == ["other"]


def test_the_widest_interval_is_a_share_of_its_ratio() -> None:
    cells = steady("3.14t+gil", 4000) + in_blocks("3.14t", (2000, 2200, 1800, 2000, 2000, 2100, 1900, 2000))
    run = run_of(cells)
    (one,) = compare(run)
    assert one.ratio
    assert widest(run) == pytest.approx(((one.high or 0) - (one.low or 0)) / one.ratio)
    assert 0.01 < widest(run) < 0.3


@each_row
def test_the_widest_interval_is_infinite_until_a_verdict_is_possible_and_is_not_of_a_a_or_idle_cells(
    ms: float, blocks: int, width: float, decided: bool
) -> None:
    cells = steady("3.14t+gil", ms, blocks=blocks) + steady("3.14t", ms / 2, blocks=blocks)
    run = run_of(cells, blocks=blocks)
    assert is_decided(run) is decided
    run.cells += in_blocks("3.14t again", (1000, 2000, 4000, 1000, 2000, 4000, 2000, 2000))
    run.cells += map(idle, run.cells[:16])
    assert widest(run) == pytest.approx(width, abs=1e-9)


def unread(arm: str, key: str = "gil_enabled_end") -> list[CellResult]:
    """Cells of an arm, of whose last block this state could not be read."""
    *cells, last = steady(arm, 1000)
    return [*cells, with_services(last, **{key: None})]


@each_row
def test_a_state_of_the_gil_that_nobody_read_gives_no_verdict_on_any_step_of_the_free_threaded_build(
    arm: str, steps: list[str]
) -> None:
    arms = ("3.14", "3.14t+gil", "3.14t")
    found = compared([cell for name in arms for cell in (unread(name) if name == arm else steady(name, 1000))])
    theirs = [one for one in found if arm in (one.denominator, one.numerator)]
    assert [one.step for one in theirs] == steps
    assert [one for one in found if one.verdict == "invalid"] == theirs
    assert all(f"the state of the GIL of {arm} could not be read in block 8" in str(one.why) for one in theirs)


def test_the_default_build_always_has_its_gil_and_a_a_claims_nothing_about_it() -> None:
    assert only(steady("3.11", 500) + unread("3.14")).verdict == "slower"
    twins = [replace(cell, arm="3.14t again") for cell in unread("3.14t")]
    (one,) = compare(run_of([*unread("3.14t"), *twins], runtimes=["3.14t"]))
    assert (one.step, one.verdict) == ("aa", "equivalent")


def test_a_jit_that_nobody_saw_gives_no_verdict() -> None:
    one = only(steady("3.14", 3000) + unread("3.14+jit", key="jit_enabled_ready"))
    assert (one.step, one.verdict) == ("jit", "invalid")
    assert "the state of the JIT of 3.14+jit could not be read" in str(one.why)


def test_validity_does_not_call_a_state_that_nobody_read_passed() -> None:
    cells = [with_services(cell, gil_enabled_ready=False, gil_enabled_end=False) for cell in steady("3.14t", 1000)]
    for enabled, state, count in ((False, "passed", 8), (None, "not known", 7)):
        cells[-1] = with_services(cells[-1], gil_enabled_end=enabled)
        lines = lines_of(section(View(run_of(cells, runtimes=["3.14t"]))).tables[0])
        (line,) = [line for line in lines if "state of the GIL" in line[0]]
        assert line[1].endswith(state)
        assert f"was read in {count} of 8 measurements" in line[2]


def sliced(arm: str, ms: Sequence[float], length_ms: Sequence[int], tail_ms: int) -> list[CellResult]:
    """Blocks of *arm* that took *ms*, in slices of *length_ms*. In the last one, requests took up to *tail_ms*."""
    cells = in_blocks(arm, ms)
    tails = [*[1] * (len(cells) - 1), tail_ms]
    return [
        replace(cell, turns=Turns(slices=1, length_ns=length * MS, lead_ns=MS, tail_ns=tail * MS))
        for cell, length, tail in zip(cells, length_ms, tails, strict=True)
    ]


def test_a_block_whose_slices_were_too_short_for_requests_that_turned_up_later_does_not_count_and_is_told() -> None:
    lengths = [100, 100, *[500] * 8]
    one = only(
        sliced("3.11", [5000] * 10, lengths, 200) + sliced("3.14", [500, 500, *[2500] * 8], lengths, 1)
    )  # ten times as fast in the first blocks, whose slices a request of 0.2 s does not fit into
    assert (one.verdict, one.blocks) == ("faster", 8)
    assert one.ratio == pytest.approx(2)
    (note,) = [note for note in one.notes if note.code == UNCOUNTED]
    assert str(note).startswith(
        "2 of 10 blocks do not count, because requests took up to 0.2 s, and each timed period in them was shorter than"
    )


def test_if_all_slices_are_too_short_for_the_longest_requests_there_is_no_verdict_but_a_longer_duration() -> None:
    one = only(sliced("3.11", [5000] * 8, [500] * 8, 3000) + sliced("3.14", [2500] * 8, [500] * 8, 1))
    assert one.verdict == "invalid"
    assert "use --duration 6" in str(one.why)


@each_row
def test_nothing_is_said_of_background_work_after_half_a_second_or_one_tick(line: str) -> None:
    """In a window of 4 ms, 201 % of a core were seen. Uvicorn looks at its date and limits ten times a second."""
    idle_ms, cpu_ms, *cores = map(float, line.split())
    turns = Turns(slices=2, idle_ns=round(idle_ms / 2 * MS), idle_cpu_ns=round(cpu_ms / 2 * MS))
    cells = in_blocks("3.14t", (1000, 1000), turns=turns)
    assert [*idle_cores(cells).values()] == pytest.approx(cores)
    assert bool(background(cells)) is any(used > 0.02 for used in cores)


def threaded(arm: str, threads: str) -> list[CellResult]:
    """A block for each number of threads per process."""
    counts = [*map(int, threads.split())]
    cells = steady(arm, 2000, blocks=len(counts))
    return [
        with_services(cell, workers=[ServingProcess(connections=4, threads=count, cpu_ns=[1] * count)])
        for cell, count in zip(cells, counts, strict=True)
    ]


@each_row
def test_numbers_of_threads_that_vary_within_a_runtime_are_no_confound(line: str) -> None:
    default, free, confound = line.split("|")
    one = only([*threaded("3.14", default), *threaded("3.14t", free)])
    shapes = [str(said) for said in one.confounds if "processes x threads" in str(said)]
    assert "; ".join(shapes) == confound.strip()


def test_blocks_that_were_added_after_a_first_report_are_judged_with_what_is_left_of_the_level() -> None:
    run = run_of(steady("3.14", 600) + steady("3.14t", 580))
    (before,) = compare(run)
    set_plan(run, extended=True, first_look=3)
    (after,) = compare(run)
    assert (after.p or 0) > 2 * (before.p or 1) > 0
