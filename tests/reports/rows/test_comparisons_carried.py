"""What a comparison carries besides its sentence, so that nobody has to read the sentence: settings, shares, blocks."""

import json

import pytest

from reports.rows.comparisons import Comparison, compare
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import MS, cell_of, measured, run_of


def another_compiler() -> Comparison:
    run = run_of(steady("3.11", 2000) + steady("3.14", 1000), runtimes=["3.11", "3.14"])
    run.runtimes["3.14"]["compiler"] = "Clang 18"
    (one,) = compare(run)
    return one


def test_a_comparison_is_kept_with_its_messages_and_reads_the_same_afterwards() -> None:
    one = another_compiler()
    assert [*map(str, one.confounds)] == ["compiler GCC 13.2.0 against Clang 18"]
    kept = one.to_json()
    json.dumps(kept, allow_nan=False)
    assert (kept["ratio"], kept["why"]["text"]) == (one.ratio, str(one.why))
    read = Comparison.from_json({**kept, "of_a_later_version": 1})
    assert (str(read.why), [*map(str, read.limits)]) == (str(one.why), [*map(str, one.limits)])


def test_a_comparison_that_an_earlier_version_kept_as_text_is_read() -> None:
    read = Comparison.from_json({**another_compiler().to_json(), "why": "the reason", "notes": ["a note"]})
    assert (str(read.why), str(read.notes[0])) == ("the reason", "a note")


def test_the_clients_share_of_their_cores_is_carried_whether_it_is_noted_or_not() -> None:
    """One client that spent 2 x 250 ms of 2.001 s, and 2 x 500 ms of 1.001 s: the median of 0.25 and 1.00."""
    cells = [
        measured(cell_of("2", arm), block, [ms * MS], cpu_ns=cpu_ms * MS)
        for arm, ms, cpu_ms in (("3.11", 2000, 250), ("3.14", 1000, 500))
        for block in range(1, 9)
    ]
    (one,) = compare(run_of(cells, runtimes=["3.11", "3.14"]))
    assert one.saturation == pytest.approx((0.25 + 1.0) / 2, abs=0.002)
