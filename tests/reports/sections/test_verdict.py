"""The verdict in a sentence or two, with figures worked out by hand; what is said of settings, and of what is open."""

from dataclasses import replace
from typing import Any

from core.messages import message
from reports.rows.comparisons import Comparison
from reports.sections.verdict import answered, clause

RATIOS = {
    "lock": ("3.14t+gil", "3.14t", 1.31, 1.26, 1.37, "faster"),
    "build": ("3.14", "3.14t+gil", 0.94, 0.92, 0.96, "slower"),
    "version": ("3.11", "3.14", 1.09, 1.05, 1.12, "faster"),
    "whole": ("3.11", "3.14t", 1.34, 1.3, 1.4, "faster"),
}


def comparison(step: str, system: str = "4", **given: Any) -> Comparison:
    below, above, ratio, low, high, word = RATIOS[step]
    figures: dict[str, Any] = {"ratio": ratio, "low": low, "high": high, "p": 0.01, "verdict": word, "blocks": 8}
    figures["why"] = message("the reason")
    return Comparison(
        **{
            "system": system,
            "params": {},
            "numerator": above,
            "denominator": below,
            "step": step,
            "blocks": 8,
            **figures,
            **given,
        }
    )


def sentences(*compared: Comparison) -> list[list[str]]:
    return [[str(clause(one, compared)) for one in some] for some in answered(compared)]


def test_causes_of_several_versions_are_told_apart_by_their_arms() -> None:
    jit = replace(comparison("lock"), step="jit", denominator="3.15", numerator="3.15+jit", verdict="equivalent")
    other = comparison("lock", denominator="3.15t+gil", numerator="3.15t")
    assert sentences(comparison("lock"), other, jit) == [
        [
            "Removing the GIL (3.14t+gil → 3.14t) makes system 4 1.31 x faster [1.26, 1.37].",
            "Removing the GIL (3.15t+gil → 3.15t) makes system 4 1.31 x faster [1.26, 1.37].",
            "The JIT changes nothing that matters: 1.31 [1.26, 1.37].",
        ]
    ]


# ---- the section ---------------------------------------------------------------------------------------------------
