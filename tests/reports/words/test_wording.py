"""The verdict in one or two sentences, in both languages, with figures worked out by hand."""

from typing import Any

import pytest

from reports.rows.comparisons import OVER_ALL, Comparison
from reports.words.wording import figures, verdict, verdict_lines

RATIOS = {
    "lock": ("3.14t+gil", "3.14t", 1.31, 1.26, 1.37, "faster"),
    "build": ("3.14", "3.14t+gil", 0.94, 0.92, 0.96, "slower"),
    "version": ("3.11", "3.14", 1.09, 1.05, 1.12, "faster"),
    "whole": ("3.11", "3.14t", 1.34, 1.3, 1.4, "faster"),
}


def comparison(step: str, system: str = "4", **given: Any) -> Comparison:
    below, above, ratio, low, high, word = RATIOS[step]
    figures = {"ratio": ratio, "low": low, "high": high, "p": 0.01, "verdict": word, "why": "the reason"}
    return Comparison(
        **{"system": system, "params": {}, "numerator": above, "denominator": below, "step": step, **figures, **given}
    )


def told(*some: Comparison, lang: str = "en") -> list[str]:
    sentences = ["".join(clause.text + clause.end for clause in one) for one in verdict(some, lang)]
    return [sentence.replace("\N{NO-BREAK SPACE}", " ") for sentence in sentences]


def test_the_verdict_is_lock_build_and_version_in_one_sentence_and_the_whole_in_another() -> None:
    """The build takes 1/0.94 = 1.06 x the time, from 1/0.96 = 1.04 to 1/0.92 = 1.09."""
    lock = "Removing the GIL makes system 4 1.31 x faster [1.26, 1.37]"
    build = "the free-threaded build costs 6 % [4 %, 9 %]"
    version = "3.11 to 3.14 alone gives 9 % [5 %, 12 %]"
    assert told(*(comparison(step) for step in RATIOS)) == [
        f"{lock}; {build}; {version}.",
        "The whole way, 3.11 to 3.14t, is 1.34 x faster [1.30, 1.40].",
    ]


def test_the_same_in_chinese() -> None:
    lock = "去掉全局解释锁（GIL）后，系统 4 的速度是原来的 1.31 倍 [1.26, 1.37]"
    build = "自由线程构建本身多耗时 6 % [4 %, 9 %]"
    version = "仅从 3.11 换到 3.14 就提速 9 % [5 %, 12 %]"
    assert told(*(comparison(step) for step in RATIOS), lang="zh") == [
        f"{lock}；{build}；{version}。",
        "从 3.11 到 3.14t 的全程，速度是原来的 1.34 倍 [1.30, 1.40]。",
    ]


def test_several_settings_are_told_together() -> None:
    single = [comparison("lock", system) for system in ("1", "2", "3")]
    over_all = comparison("lock", OVER_ALL)
    assert told(*single, over_all) == ["Removing the GIL makes the 3 systems together 1.31 x faster [1.26, 1.37]."]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"verdict": "equivalent", "ratio": 1.0, "low": 0.99, "high": 1.01},
            "changes nothing that matters: 1.00 [0.99, 1.01]",
        ),
        ({"verdict": "inconclusive", "low": None, "high": None}, "has no verdict yet: 1.31"),
        ({"verdict": "invalid", "ratio": None, "low": None, "high": None}, "has no verdict, because the reason"),
        ({"verdict": "slower", "ratio": 0.5, "low": 0.4, "high": 0.8}, "makes system 4 2.00 x slower [1.25, 2.50]"),
    ],
)
def test_every_verdict_has_its_clause(given: dict[str, Any], says: str) -> None:
    assert told(comparison("lock", **given)) == [f"Removing the GIL {says}."]


def test_where_nothing_is_compared_there_is_no_sentence() -> None:
    assert verdict([]) == []


NO_FIGURES: dict[str, Any] = {"ratio": None, "low": None, "high": None, "p": None}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "1.31 [1.26, 1.37]"),
        ({"ratio": 12.345, "low": 10.0, "high": 14.04}, "12.35 [10.00, 14.04]"),
        ({"ratio": 0.012, "low": 0.011, "high": 0.2}, "0.012 [0.011, 0.20]"),
        ({"low": None, "high": None}, "1.31 [no interval]"),
        (NO_FIGURES, "-"),
    ],
)
def test_figures_are_ratio_and_interval_as_far_as_there_are(given: dict[str, Any], text: str) -> None:
    assert figures(comparison("lock", **given)) == text


def test_a_sentence_counts_the_settings_that_its_own_step_has_a_ratio_of() -> None:
    gone = {"verdict": "invalid", "why": "the gate", **NO_FIGURES}
    lock = [comparison("lock", "1"), comparison("lock", "2"), comparison("lock", "3", **gone)]
    assert told(*lock, comparison("lock", OVER_ALL)) == [
        "Removing the GIL makes the 2 systems together 1.31 x faster [1.26, 1.37]."
    ]
    assert told(lock[0], lock[2], comparison("lock", OVER_ALL)) == [
        "Removing the GIL makes system 1 1.31 x faster [1.26, 1.37]."
    ]


def test_a_step_of_which_nothing_was_measured_is_left_out_unless_nothing_was() -> None:
    gone = comparison("build", verdict="inconclusive", why="no block has both arms", **NO_FIGURES)
    assert told(comparison("lock"), gone) == ["Removing the GIL makes system 4 1.31 x faster [1.26, 1.37]."]
    assert told(gone) == ["The free-threaded build was not measured; no block has both arms."]


def test_lines_are_the_sentences_as_text() -> None:
    lines = verdict_lines([comparison("lock"), comparison("whole")])
    assert [line.partition(" 1.3")[0] for line in lines] == [
        "Removing the GIL makes system 4",
        "The whole way, 3.11 to 3.14t, is",
    ]
