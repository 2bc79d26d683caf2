"""What a comparison carries besides its sentence, so that nobody has to read the sentence: settings, shares, blocks."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.cell import Value
from core.messages import message
from core.result import CellResult
from reports.rows.comparisons import Comparison, compare
from reports.rows.pairs import OVER_ALL
from tests.reports.sample import MS, cell_of, faulty, measured, run_of

BLOCKS = range(1, 9)


def steady(arm: str, ms: int, size: int = 0, cpu_ms: int = 10) -> list[CellResult]:
    values: dict[str, Value] = {"PAYLOAD_BYTES": size}
    return [measured(cell_of("2", arm, values), block, [ms * MS], cpu_ns=cpu_ms * MS) for block in BLOCKS]


def both(size: int = 0, ms: int = 2000) -> list[CellResult]:
    return [*steady("3.11", ms, size), *steady("3.14", 1000, size)]


def sizes_over(cells: Sequence[CellResult]) -> list[int]:
    last = compare(run_of(cells, runtimes=["3.11", "3.14"]))[-1]
    assert last.system == OVER_ALL
    return [one["params"]["PAYLOAD_BYTES"] for one in last.settings]


def test_one_over_all_settings_names_those_that_it_is_over() -> None:
    assert sizes_over([*both(0), *both(1)]) == [0, 1]


def test_a_setting_that_did_not_pass_its_gates_is_not_named() -> None:
    bad = [faulty(cell_of("2", "3.14", {"PAYLOAD_BYTES": 0}), block, "failed", "why") for block in BLOCKS]
    assert sizes_over([*steady("3.11", 2000), *bad, *both(1)]) == [1]


def test_idle_services_are_in_no_mean_and_not_named() -> None:
    nobody: dict[str, Value] = {"PAYLOAD_BYTES": 5, "NUM_CLIENTS": 0}
    idle = [
        replace(measured(cell_of("2", arm, nobody), block, [MS]), clients=[], wall_ns=0)
        for arm in ("3.11", "3.14")
        for block in BLOCKS
    ]
    assert sizes_over([*idle, *both(0), *both(1)]) == [0, 1]


def test_where_no_setting_passed_all_are_named_for_none_of_them_is_the_reason() -> None:
    short = [cell for size in (0, 1) for arm in ("3.11", "3.14") for cell in steady(arm, 10, size)]
    assert sizes_over(short) == [0, 1]


def test_a_comparison_of_one_setting_names_no_other() -> None:
    (one,) = compare(run_of(both(), runtimes=["3.11", "3.14"]))
    assert one.settings == []


def test_a_comparison_is_kept_with_its_messages_and_reads_the_same_afterwards() -> None:
    run = run_of(both(), runtimes=["3.11", "3.14"])
    run.runtimes["3.14"]["compiler"] = "Clang 18"
    (one,) = compare(run)
    kept = one.to_json()
    json.dumps(kept, allow_nan=False)
    assert (kept["ratio"], kept["why"]["text"]) == (one.ratio, str(one.why))
    read = Comparison.from_json({**kept, "of_a_later_version": 1})
    assert (str(read.why), [*map(str, read.limits)]) == (str(one.why), [*map(str, one.limits)])


def test_a_comparison_that_an_earlier_version_kept_as_text_is_read() -> None:
    (one,) = compare(run_of(both(), runtimes=["3.11", "3.14"]))
    read = Comparison.from_json({**one.to_json(), "why": "the reason", "notes": ["a note"]})
    assert (str(read.why), [*map(str, read.limits)]) == ("the reason", ["a note"])


def test_the_clients_share_of_their_cores_is_carried_whether_it_is_noted_or_not() -> None:
    """One client that spent 2 x 250 ms of 2.001 s, and 2 x 500 ms of 1.001 s: the median of 0.25 and 1.00."""
    cells = [*steady("3.11", 2000, cpu_ms=250), *steady("3.14", 1000, cpu_ms=500)]
    (one,) = compare(run_of(cells, runtimes=["3.11", "3.14"]))
    assert one.saturation == pytest.approx((0.25 + 1.0) / 2, abs=0.002)


def test_the_share_of_cells_on_a_machine_that_was_not_quiet_is_carried() -> None:
    cells = both()
    cells[0] = replace(cells[0], disturbances=[message("load: 3.0", code="load")])
    (one,) = compare(run_of(cells, runtimes=["3.11", "3.14"]))
    assert (one.disturbed, one.notes) == (1 / 16, [])
