"""The verdict in one or two sentences, in both languages, with figures worked out by hand."""

import re
from dataclasses import replace
from typing import Any

import pytest

from core.cell import PARAMETERS
from core.method import Method
from reports import comparable, fairness, memory, scaling_report, seed, topology
from reports.columns import COLUMNS
from reports.comparisons import OVER_ALL, Comparison, compare
from reports.evidence import Evidence, why_for, word_for
from reports.findings import headline, validity
from reports.notes import readings
from reports.phrases import PHRASES
from reports.stats import Estimate
from reports.wording import said, said_together, verdict
from systems import find
from tests.reports.page.reading import every_chapter, record_view

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


NAMES = (
    r"--[a-z-]+|3\.\d+\w*(\+gil)?|again|CALC_TARGET|NUM_\w+|REUSE_CLIENT|SELECT_MODE|CLIENT_BINDING"
    r"|PAYLOAD_BYTES|A/A|Jain|[KM]iB|GIL|socket|aa|p\b"
)


def foreign(text: str) -> list[str]:
    """English words that are left in a Chinese sentence, but for names and flags."""
    return re.findall(r"[A-Za-z]{2,}", re.sub(NAMES, "", text))


def reasons() -> list[str]:
    """A reason of every kind that a verdict can have."""
    spans = [(0.0, -0.3, 0.3), (0.2, 0.1, 0.3), (0.01, 0.005, 0.02), (0.0, -0.01, 0.01), (0.5, -0.1, 1.1)]
    made = []
    for value, low, high in spans:
        for p in (0.001, 0.5):
            for count in (2, 5, 20):
                ends = (-float("inf"), float("inf")) if count < 3 else (low, high)
                seen = Estimate(value=value, low=ends[0], high=ends[1], count=count)
                for family in (1, 12):
                    evidence = Evidence(effect=seen, p=p, family=family)
                    made.append(why_for(word_for(evidence), evidence))
    return sorted(set(made))


def test_every_reason_of_a_verdict_has_its_chinese() -> None:
    assert len(reasons()) > 15
    assert [(one, said(one, "zh")) for one in reasons() if foreign(said(one, "zh"))] == []


def test_what_verdicts_rest_on_and_the_terminals_sentences_have_their_chinese() -> None:
    view, other = record_view(), every_chapter()
    lines = [*validity(view.run, view.comparisons), *headline(view.comparisons)]
    lines += [*validity(other, compare(other)), *headline(compare(other))]
    assert [one for one in lines if foreign(said(one, "zh"))] == []


def test_what_is_said_of_topology_memory_scaling_and_fairness_has_its_chinese() -> None:
    runs = [every_chapter(), record_view().run]
    lines = [
        line for run in runs for one in (topology, memory, scaling_report, fairness) for line in one.sentences(run)
    ]
    assert len(lines) >= 7
    assert [one for one in lines if foreign(said(one, "zh"))] == []


def test_a_sentence_on_topology_keeps_every_figure_in_its_place() -> None:
    english = (
        "CALC_TARGET 0: 1 process of 2 threads on 3.14t serves 1.90 x (1.80 to 2.00) what 1 process on 3.14 does and "
        "0.95 x (0.90 to 0.99) what 2 processes on 3.14 do, with 0.60 x (0.50 to 0.70) their memory."
    )
    assert said(english, "zh") == (
        "CALC_TARGET 0：3.14t 上 1 个 2 线程的进程的吞吐量是3.14 上的 1 个进程的 1.90（1.80 到 2.00） 倍、"
        "3.14 上的 2 个进程的 0.95（0.90 到 0.99） 倍，内存是后者的 0.60（0.50 到 0.70） 倍。"
    )


def test_english_and_what_is_not_known_stay_as_they_are() -> None:
    assert said("7 blocks cannot have an interval", "en") == "7 blocks cannot have an interval"
    assert said("something else entirely", "zh") == "something else entirely"
    assert said("", "zh") == ""


def test_several_sentences_are_each_said_whole() -> None:
    window = "the timed window is 0.46 s; a verdict wants at least 1 s: more requests, or --duration 1"
    assert said_together([window, "no setting passed its gates"], "zh") == (
        "计时窗口只有 0.46 秒；下结论至少需要 1 秒：请增加请求数，或使用 --duration 1；没有一组设置通过检查"
    )


def test_phrases_and_what_others_say_for_them_have_the_same_placeholders() -> None:
    def placeholders(text: str) -> list[str]:
        return sorted(re.findall(r"\{(\w+)\}", text))

    for phrases in PHRASES.values():
        assert [one for one, other in phrases.items() if placeholders(one) != placeholders(other)] == []


def test_a_phrase_that_is_a_whole_sentence_comes_before_one_that_it_happens_to_fit() -> None:
    """'{low} to {high}' fits it, too."""
    told = said("Time that each client takes to send all of its requests.", "zh")
    assert told == "每个客户端发送完所有请求的耗时"


def test_what_a_record_is_made_of_has_its_chinese() -> None:
    read = {name for system in "1234" for name in find(system).parameters}
    tables = [table for one in seed.SYSTEMS for table in one.tables]
    texts = [
        *(PARAMETERS[name].help for name in read),
        *(column.head for column in COLUMNS if column.head not in ("ratio",)),
        *(one.description for one in seed.SYSTEMS),
        *(one.remark for one in seed.SYSTEMS if one.remark),
        *(table.heading for table in tables),
        *(row.what for table in tables for row in table.rows if not row.what.startswith(("NUM_", "Tornado"))),
        *comparable.MACHINE.values(),
        *comparable.SURROUNDINGS.values(),
        *(label for label in comparable.conditions({}, Method()) if label not in comparable.MACHINE.values()),
    ]
    assert [one for one in texts if said(one, "zh") == one and one not in ("the CPU",)] == []


def test_notes_below_a_table_have_their_chinese() -> None:
    method = {"warmup": {"share": 0.1, "seconds": 0}, "duration_s": 2, "pin_services": [0], "pin_clients": [1, 2]}
    run = record_view().run
    runs = [replace(run, plan={**run.plan, "method": {**method, "client_runtime": one}}) for one in ("same", "3.14")]
    lines = [line for one in runs for line in readings(one, record_view().rows)]
    assert len(lines) >= 6
    assert [one for one in lines if foreign(re.sub("CPU|PGO|LTO|yes|no", "", said(one, "zh")))] == []
