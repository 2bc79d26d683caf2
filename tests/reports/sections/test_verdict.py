"""The verdict in a sentence or two, with figures worked out by hand; what is said of settings, and of what is open."""

from dataclasses import replace
from typing import Any

import pytest

from core.languages import ENGLISH
from core.messages import message
from core.result import Run
from reports.rows.comparisons import Comparison
from reports.rows.pairs import OVER_ALL
from reports.sections.verdict import answered, clause, section
from reports.view import View
from tests.reports.rows.timed_cells import steady
from tests.reports.sample import run_of

RATIOS = {
    "lock": ("3.14t+gil", "3.14t", 1.31, 1.26, 1.37, "faster"),
    "build": ("3.14", "3.14t+gil", 0.94, 0.92, 0.96, "slower"),
    "version": ("3.11", "3.14", 1.09, 1.05, 1.12, "faster"),
    "whole": ("3.11", "3.14t", 1.34, 1.3, 1.4, "faster"),
}
NO_FIGURES: dict[str, Any] = {"ratio": None, "low": None, "high": None, "p": None}


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


def test_the_verdict_is_on_lock_build_and_version_and_then_on_the_whole_way() -> None:
    """The build takes 1/0.94 = 1.06 x the time, from 1/0.96 = 1.04 to 1/0.92 = 1.09."""
    assert sentences(*(comparison(step) for step in RATIOS)) == [
        [
            "Removing the GIL makes system 4 1.31 x faster [1.26, 1.37].",
            "The free-threaded build costs 6% [4%, 9%].",
            "3.11 to 3.14 alone gives 9% [5%, 12%].",
        ],
        ["The whole way, 3.11 to 3.14t, is 1.34 x faster [1.30, 1.40]."],
    ]


def test_several_settings_are_taken_together() -> None:
    single = [comparison("lock", system) for system in ("1", "2", "3")]
    over_all = comparison("lock", OVER_ALL)
    assert sentences(*single, over_all) == [
        ["Removing the GIL makes the 3 systems together 1.31 x faster [1.26, 1.37]."]
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"verdict": "equivalent", "ratio": 1.0, "low": 0.99, "high": 1.01},
            "changes nothing that matters: 1.00 [0.99, 1.01]",
        ),
        ({"verdict": "inconclusive", "low": None, "high": None}, "has no verdict yet: 1.31"),
        ({"verdict": "invalid", **NO_FIGURES}, "has no verdict (the reason)"),
        ({"verdict": "slower", "ratio": 0.5, "low": 0.4, "high": 0.8}, "makes system 4 2.00 x slower [1.25, 2.50]"),
        (
            {"verdict": "faster", "ratio": 12.345, "low": 10.0, "high": 14.04},
            "makes system 4 12.35 x faster [10.00, 14.04]",
        ),
    ],
)
def test_every_verdict_has_its_sentence(given: dict[str, Any], says: str) -> None:
    assert sentences(comparison("lock", **given)) == [[f"Removing the GIL {says}."]]


def test_services_are_compared_by_their_names_whatever_they_begin_with() -> None:
    services: dict[str, Any] = {"step": "other", "denominator": "1st", "numerator": "2nd", "between_services": True}
    one = replace(comparison("lock", "shop"), **services)
    assert sentences(one) == [["Service 2nd is 1.31 x faster than 1st [1.26, 1.37]."]]
    assert sentences(replace(one, between_services=False))[0][0].startswith("1st to 2nd (several causes at once)")


def test_where_nothing_is_compared_there_is_no_verdict() -> None:
    assert answered([]) == []


def test_a_sentence_counts_the_settings_that_its_own_step_has_a_ratio_of() -> None:
    gone = {"verdict": "invalid", **NO_FIGURES}
    lock = [comparison("lock", "1"), comparison("lock", "2"), comparison("lock", "3", **gone)]
    over_all = comparison("lock", OVER_ALL)
    assert "makes the 2 systems together 1.31 x" in sentences(*lock, over_all)[0][0]
    assert "makes system 1 1.31 x" in sentences(lock[0], lock[2], over_all)[0][0]


def test_a_step_of_which_nothing_was_measured_is_left_out_unless_nothing_was() -> None:
    gone = comparison("build", verdict="inconclusive", why=message("no block has both arms"), **NO_FIGURES)
    assert [len(some) for some in answered([comparison("lock"), gone])] == [1]
    assert sentences(gone) == [["The free-threaded build was not measured (no block has both arms)."]]


# ---- the section ---------------------------------------------------------------------------------------------------


def texts(run: Run) -> list[str]:
    made = section(View(run))
    return [str(line) for line in (*made.answer, *made.sentences)]


def two_arms(*speedups: float, blocks: int = 8) -> Run:
    """One setting for each speed-up."""
    cells = [
        cell
        for size, speedup in enumerate(speedups)
        for arm, ms in (("3.14t+gil", 4000), ("3.14t", 4000 / speedup))
        for cell in steady(arm, ms, {"PAYLOAD_BYTES": size}, blocks=blocks)
    ]
    return run_of(cells, runtimes=["3.14t+gil", "3.14t"], blocks=blocks)


def test_the_range_names_the_settings_at_its_ends() -> None:
    assert texts(two_arms(2.0, 1.25, 1.5)) == [
        (
            "Removing the GIL makes all 3 settings together 1.55 x faster [1.55, 1.55]. That is 1.55 x: the same "
            "CPU per request, 1.55 x more cores."
        ),
        (
            "Depending on the setting, removing the GIL gives from 1.25 x (System 2, PAYLOAD_BYTES 1) to 2.00 x "
            "(System 2, PAYLOAD_BYTES 0)."
        ),
    ]


def test_what_is_open_comes_with_its_obstacle_and_the_command_that_measures_more_blocks() -> None:
    run = two_arms(2.0, blocks=3)
    run.command = ["runner.py", "--blocks", "3", "--system", "2", "--out", "somewhere"]
    assert texts(run)[1:] == [
        "Why no verdict yet: 3 blocks cannot give an interval.",
        "It takes a few more blocks: python runner.py --resume somewhere --blocks +3",
    ]


@pytest.mark.parametrize(
    ("needed", "says"),
    [
        ((9, 19), "a few more blocks:"),
        ((20,), "dozens more blocks:"),
        ((108, 700), "hundreds more blocks:"),
        ((9, 700), "hundreds more blocks for all verdicts, a few for the first:"),
    ],
)
def test_blocks_still_needed_are_a_few_dozens_or_hundreds(needed: tuple[int, ...], says: str) -> None:
    view = View(two_arms(*(2.0 for _ in needed)))
    some = [replace(one, verdict="inconclusive", blocks=8, blocks_needed=count, obstacle=message("why"))
            for one, count in zip(view.comparisons, needed, strict=False)]  # fmt: skip
    view.__dict__["compared"] = some
    *_, last = section(view).sentences
    assert (
        str(last)
        == f"It takes {says} python runner.py --resume reports/out/20260102T030405-sample --blocks +{max(needed) - 8}"
    )


def test_each_sentence_leads_to_its_cells() -> None:
    (answer,) = section(View(two_arms(2.0))).answer
    assert vars(answer)["figure"] == "verdict"
    assert {group.split("-")[0] for group in vars(answer)["cells"].split()} == {"3.14t+gil", "3.14t"}
    assert ENGLISH.text(answer).startswith("Removing the GIL makes system 2 2.00 x")


def test_one_runtime_alone_has_nothing_to_compare() -> None:
    run = run_of(steady("3.14t", 1000), runtimes=["3.14t"])
    assert texts(run) == ["Only one runtime was measured, so there is nothing to compare."]
    run.plan["view"] = "echo"
    assert not section(View(run))
