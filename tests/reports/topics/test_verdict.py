"""The verdict in a sentence or two, with figures worked out by hand."""

from dataclasses import replace

from core.messages import message
from reports.facts.comparisons import Comparison
from reports.topics.verdict import answered, clause

LOCK = Comparison(
    system="4",
    params={},
    numerator="3.14t",
    denominator="3.14t+gil",
    step="lock",
    ratio=1.31,
    low=1.26,
    high=1.37,
    p=0.01,
    verdict="faster",
    blocks=8,
    why=message("the reason"),
)


def test_causes_of_several_versions_are_told_apart_by_their_arms() -> None:
    jit = replace(LOCK, step="jit", denominator="3.15", numerator="3.15+jit", verdict="equivalent")
    compared = [LOCK, replace(LOCK, denominator="3.15t+gil", numerator="3.15t"), jit]
    assert [[str(clause(one, compared)) for one in some] for some in answered(compared)] == [
        [
            "Removing the GIL (3.14t+gil → 3.14t) makes system 4 1.31 x faster [1.26, 1.37].",
            "Removing the GIL (3.15t+gil → 3.15t) makes system 4 1.31 x faster [1.26, 1.37].",
            "The JIT changes nothing that matters: 1.31 [1.26, 1.37].",
        ]
    ]
