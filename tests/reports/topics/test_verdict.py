"""The verdict in a sentence or two, with figures worked out by hand."""

from dataclasses import replace

from core.messages import message
from reports.facts.comparisons import Comparison
from reports.topics.answer import headline

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


def test_a_sentence_names_the_cause_and_both_arms() -> None:
    jit = replace(LOCK, step="jit", denominator="3.15", numerator="3.15+jit", verdict="equivalent")
    assert [str(headline(one)) for one in (LOCK, jit)] == [
        "System 4, removing the GIL: 3.14t serves 1.31x [1.26, 1.37] the requests of 3.14t+gil.",
        "System 4, enabling the JIT: 3.15+jit and 3.15 have equivalent throughput: 1.31x [1.26, 1.37].",
    ]
