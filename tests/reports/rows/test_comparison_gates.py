"""What a comparison rests on: gates that its cells must pass, and notes on clients, machine and builds."""

from dataclasses import replace

import pytest

from core.messages import message
from core.result import CellResult
from reports.rows.comparisons import Comparison, compare, is_decided
from tests.reports.rows.timed_cells import compared, only, steady
from tests.reports.sample import MS, cell_of, faulty, measured, run_of


def gated(bad: CellResult) -> Comparison:
    """The comparison of eight clear blocks, the second of which 3.14 did not pass."""
    cells = steady("3.11", 3000) + steady("3.14", 1500)
    return only([bad if (cell.arm, cell.block) == (bad.arm, bad.block) else cell for cell in cells])


def test_one_invalid_cell_makes_a_comparison_invalid_and_is_named() -> None:
    one = gated(faulty(cell_of("2", "3.14"), 2, "invalid", "the GIL was on at the end"))
    assert (one.verdict, one.ratio, one.low, one.p) == ("invalid", None, None, None)
    assert str(one.why) == "3.14 in block 2: the GIL was on at the end"


def test_one_failed_cell_makes_a_comparison_invalid_and_is_counted() -> None:
    one = gated(faulty(cell_of("2", "3.14"), 2, "failed", "3 answers were wrong"))
    assert (one.verdict, str(one.why)) == ("invalid", "1 of 16 cells failed: 3 answers were wrong")


@pytest.mark.parametrize(("ms", "needed"), [(249, 9), (100, 20), (250, 0), (3000, 0)])
def test_an_arm_that_was_timed_for_less_than_2_s_in_all_has_a_ratio_and_no_verdict(ms: float, needed: int) -> None:
    """8 blocks of 250 ms are 2 s; of 249 ms it takes 9, of 100 ms 20."""
    one = only(steady("3.11", ms) + steady("3.14", 4 * ms))
    assert one.ratio == pytest.approx(1 / 4)
    assert (one.verdict, one.blocks_needed) == (("inconclusive", needed) if needed else ("slower", None))


def test_only_the_judged_steps_have_a_verdict_and_are_the_family() -> None:
    """A family of 2: p of 8 blocks that agree is 2 / 2**8, times 2; there is no mean over the two settings."""
    arms = zip(("3.11", "3.14", "3.14t+gil", "3.14t"), (900, 800, 1000, 400), strict=True)
    cells = [cell for arm, ms in arms for size in (0, 1) for cell in steady(arm, ms, {"PAYLOAD_BYTES": size})]
    run = run_of(cells, runtimes=["3.11", "3.14", "3.14t+gil", "3.14t"])
    run.plan["judged_steps"] = ["lock"]
    found = compare(run)
    assert {one.step: (one.verdict, one.p) for one in found} == {
        **dict.fromkeys(("version", "build", "whole"), ("unjudged", None)), "lock": ("faster", 2 * 2 / 2**8),
    }  # fmt: skip
    assert {one.system for one in found} == {"2"}
    assert [one.ratio for one in found if one.step == "version"] == pytest.approx([900 / 800] * 2)
    assert is_decided(run)


def test_services_and_clients_that_fill_the_machine_are_a_note_of_their_own() -> None:
    """Service and client spent 0.95 s each of 2 s on one core: 95 %."""
    cells = [
        replace(cell, services=[spent()], clients=[{**cell.clients[0], **spent()}]) for cell in steady("3.14", 2000)
    ]
    run = run_of(steady("3.11", 2000) + cells, runtimes=["3.11", "3.14"])
    (one,) = compare(replace(run, machine={**run.machine, "cores_usable": 1}))
    assert one.cores_in_use == pytest.approx(0.95)
    assert any("services and clients together used 90% of the cores or more" in str(note) for note in one.notes)
    (roomy,) = compare(replace(run, machine={**run.machine, "cores_usable": 2}))
    assert not any("together used" in str(note) for note in roomy.notes)


def spent() -> dict[str, int]:
    return {"cpu_user_ns": 900 * MS, "cpu_system_ns": 50 * MS}


def test_a_window_of_a_second_is_long_enough() -> None:
    one = only(steady("3.11", 1000) + steady("3.14", 1000))
    assert one.verdict == "equivalent"


def test_a_gate_closes_the_comparisons_of_its_arms_alone() -> None:
    cells = steady("3.11", 3000) + steady("3.14", 3000) + steady("3.14t+gil", 3000)
    bad = faulty(cell_of("2", "3.14t+gil"), 1, "invalid", "why")
    found = compared([cell for cell in cells if cell.cell_id != bad.cell_id or cell.block != 1] + [bad], _THREE)
    assert {one.step: one.verdict for one in found} == {"version": "equivalent", "build": "invalid", "whole": "invalid"}


_THREE = ("3.11", "3.14", "3.14t+gil")


def with_cpu(ms_each: int, **machine: int) -> Comparison:
    """One client of 2.001 s that spent ms_each in user and as much in kernel mode."""
    cells = [
        measured(cell_of("2", arm), block, [2000 * MS], cpu_ns=ms_each * MS)
        for arm in ("3.11", "3.14")
        for block in range(1, 9)
    ]
    run = run_of(cells, runtimes=["3.11", "3.14"])
    run.machine.update(machine)
    (one,) = compare(run)
    return one


def test_clients_above_80_percent_of_their_cores_are_noted_and_the_verdict_stands() -> None:
    one = with_cpu(850)
    assert [*map(str, one.notes)] == [
        "the clients used 85% of the cores they could have had: the service's figures are a lower bound"
    ]
    assert one.verdict == "equivalent"


def test_clients_at_80_percent_of_their_cores_are_not_noted() -> None:
    assert with_cpu(800).notes == []


def disturbed(count: int) -> list[str]:
    """The notes of 16 cells, *count* of which were disturbed."""
    messages = [message("4 % of the time", code="steal"), message("3.1", code="load")]
    cells = steady("3.11", 2000) + steady("3.14", 2000)
    noted = only([replace(cell, disturbances=messages) for cell in cells[:count]] + cells[count:])
    return [*map(str, noted.notes)]


def test_disturbances_in_more_than_a_quarter_of_the_cells_are_noted_by_kind() -> None:
    assert disturbed(5) == ["the machine was not quiet in 5 of 16 cells: CPU steal, load"]


def test_disturbances_in_a_quarter_of_the_cells_are_not_noted() -> None:
    assert disturbed(4) == []


def test_another_compiler_is_named_as_a_confound() -> None:
    run = run_of(steady("3.11", 2000) + steady("3.14", 1000), runtimes=["3.11", "3.14"])
    run.runtimes["3.14"]["compiler"] = "Clang 18"
    (one,) = compare(run)
    assert [*map(str, one.confounds)] == ["compiler GCC 13.2.0 against Clang 18"]
