"""What a report says of other processes, on cells whose figures are worked out by hand."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from analysis.comparison_words import Comparison
from analysis.others import beside, others
from record.saved_run import CellResult
from reports.parts.headline import headline
from reports.sections.validity import section
from reports.view import View
from tests.analysis.timed_cells import in_blocks, only, timed
from tests.reports.contestants import lines_of
from tests.reports.sample import run_of, with_load
from tests.tables import each_row


def cells(*shares: float) -> list[CellResult]:
    """A block for each share of two cores that `make` used beside one runtime; a tenth more was a database's.

    It is half as long under the other runtime, which has nothing beside it.
    """
    made = []
    for block, share in enumerate(shares, 1):
        for runtime, used, seconds in (("3.11", share, 1.0), ("3.14t", 0.0, 3.0)):
            cell = with_load(timed(runtime, block, 2000 if runtime == "3.11" else 1000), used)
            there: Any = {"window_ns": round(seconds * 1e9), "neighbours": {"postgres": 0.1}}
            cell.others[""].update(there)
            made.append(cell)
    return made


def test_shares_are_of_the_time_that_was_timed() -> None:
    """A block with 0.4 for 1 of 4 s has 0.1."""
    seen = others(cells(0.4, 0.08, 0.0))
    assert seen
    assert seen.by_block == pytest.approx({1: 0.1, 2: 0.02, 3: 0.0})
    assert seen.share == pytest.approx(0.04)
    assert (seen.marked, seen.is_busy) == ([1], False)
    assert seen.busiest == pytest.approx({"make": 0.04})
    assert seen.neighbours == pytest.approx({"postgres": 0.1})
    assert others([timed("3.11", 1, 1000)]) is None


def test_what_the_host_of_a_virtual_machine_took_counts_as_used_by_others() -> None:
    """In the first second of four 0.4 by make and 0.2 stolen."""
    first, second = cells(0.4)
    seen = others([replace(first, machine={"steal": 0.2}), second])
    assert seen
    assert seen.share == pytest.approx(0.15)
    assert seen.busiest == pytest.approx({"make": 0.1, "steal": 0.05})
    hardly = others([replace(first, machine={"steal": 0.0004}), second])
    assert hardly
    assert str(hardly.used).endswith(
        " (make 10%); processes named with --neighbour are counted separately (postgres 10%)"
    )


def test_the_blocks_of_a_search_are_called_rounds_of_probes() -> None:
    seen = others(replace(cell, probe="search") for cell in cells(0.4))
    assert seen
    assert re.search("in [0-9]+ of [0-9]+ rounds of probes$", str(seen.marks))


def test_of_several_hosts_the_busiest_counts() -> None:
    """Host b: 0.4 in 1 s and 0 in 3 s."""
    seen = others(
        replace(cell, others={"a": {**cell.others[""], "share": 0.0, "busiest": {}}, "b": cell.others[""]})
        for cell in cells(0.4)
    )
    assert seen
    assert seen.busiest == pytest.approx({"b: make": 0.1})


def test_more_than_a_third_of_the_blocks_are_in_the_verdict() -> None:
    view = View(run_of(cells(*[0.24] * 3, *[0.0] * 6)))
    assert not any(one.is_beside_others for one in view.comparisons)
    busy = View(run_of(cells(*[0.24] * 4, *[0.0] * 5)))
    (one,) = busy.comparisons
    assert ", while other processes used the CPU: " in str(headline(one, {}))
    assert str(one.why).endswith("used more than 5% of the cores in 4 of 9 blocks")
    assert not any("blocks" in str(note) for note in one.limits)  # the page shows them beside the reason
    for one_view, state in ((view, "passed"), (busy, "warning")):
        (line,) = [line for line in lines_of(section(one_view).tables[0]) if "quiet" in line[0]]
        assert state in line[1]


def loaded(of_first: Sequence[float], ratio: float, of_second: Sequence[float] = ()) -> Comparison:
    """Compare arms in blocks of 2 s beside these shares of other processes. *ratio* is that of their throughputs.

    of_second: by default those of the first arm
    """
    times_ms = [2000 + block / 10 for block in range(len(of_first))]
    cells = in_blocks("3.14", times_ms) + in_blocks("3.14t", [ms / ratio for ms in times_ms])
    shares = (*of_first, *(of_second or of_first))
    return only([with_load(cell, share) for cell, share in zip(cells, shares, strict=True)])


@each_row
def test_a_verdict_beside_processes_that_used_half_of_the_cores_in_every_block_is_withheld(ratio: float) -> None:
    one = loaded([0.52] * 10, ratio)
    assert (one.verdict, one.blocks_needed, one.tails) == ("inconclusive", None, {})
    assert one.ratio == pytest.approx(ratio, rel=0.01)
    used, without, *_ = str(one.why).split(". ")
    assert used == "other processes used 52% of the cores while clients were timed (make 52%)"
    assert without.startswith("Without the blocks in which other processes used more than 25%")
    assert not one.limits
    assert str(one.obstacle) == "other processes decide the verdict"


def test_a_verdict_that_the_quiet_blocks_alone_give_too_is_kept_with_the_words_on_a_busy_machine() -> None:
    one = loaded([0.02] * 8 + [0.6] * 8, 0.71)
    assert (one.verdict, str(one.word)) == ("slower", "slower on a busy machine")
    assert str(loaded([0.02] * 8, 0.71).word) == "slower"


def test_a_verdict_that_the_load_beside_one_arm_explains_is_withheld() -> None:
    """The second arm has 12 % less throughput, and in all of its measurements others used 13 % of the cores."""
    one = loaded([0.01] * 10, 0.88, [0.13] * 10)
    assert one.verdict == "inconclusive"
    assert "the verdict would be: equivalent instead of slower" in str(one.why)
    assert str(headline(one, {})).endswith(" the requests of 3.14 (other processes decide the verdict).")
    assert loaded([0.13] * 10, 0.88).verdict == "slower"


def test_a_mean_over_settings_is_withheld_beside_other_processes_like_the_settings_that_it_covers() -> None:
    cells = [
        with_load(cell, 0.52)
        for system in ("1", "2")
        for arm, ratio in (("3.14", 1.0), ("3.14t", 1.5))
        for cell in in_blocks(arm, [(2000 + block / 10) / ratio for block in range(10)], system=system)
    ]
    (mean,) = [one for one in View(run_of(cells)).comparisons if one.is_over_all]
    assert (mean.verdict, mean.is_beside_others) == ("inconclusive", True)
    assert mean.others == pytest.approx(0.52)


def test_programs_beside_services_are_told_by_the_cells_that_have_them() -> None:
    first, second = timed("3.14", 1, 1000), timed("3.14", 2, 1000)
    cells = [replace(first, beside={"postgres": 10**9}), replace(second, beside={"valkey": 5 * 10**8})]
    said = str(beside(cells, 2))
    assert "postgres used 50%" in said
    assert "valkey used 25%" in said
    assert not beside(cells, 0)  # the number of cores is not known
