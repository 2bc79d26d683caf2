"""What a comparison carries besides its sentence, so that nobody has to read the sentence: settings, shares, blocks."""

import json

from reports.facts.comparisons import Comparison, compare
from tests.reports.facts.timed_cells import steady
from tests.reports.sample import run_of


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
