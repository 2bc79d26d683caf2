"""Sentences of a report in Chinese: all of them or none, and every phrase by itself."""

import re
from dataclasses import replace

import pytest

from core.cell import PARAMETERS
from core.method import Method
from reports.compare import comparable
from reports.findings import fairness, memory, topology
from reports.findings import scaling as scaling_report
from reports.findings.findings import validity
from reports.record import seed
from reports.rows.columns import COLUMNS
from reports.rows.comparisons import compare
from reports.statistics.evidence import Evidence, why_for, word_for
from reports.statistics.stats import Estimate
from reports.words.notes import readings
from reports.words.phrases import PHRASES
from reports.words.translation import said, said_together
from systems import find
from tests.reports.page.reading import every_chapter, record_view

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


def test_what_verdicts_rest_on_has_its_chinese() -> None:
    view, other = record_view(), every_chapter()
    lines = [*validity(view.run, view.comparisons), *validity(other, compare(other))]
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
        *(str(PARAMETERS[name].help) for name in read),
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
    assert [one for one in lines if foreign(re.sub("CPU|PGO|LTO", "", said(one, "zh")))] == []


def test_a_sentence_of_many_parts_is_told_with_all_of_them() -> None:
    english = (
        "NUM_CLIENTS, system 2, 3.14t: 1 client serves 1,000 (990 to 1,010) requests/s; contention sigma 0.05, "
        "coherency kappa 0.2 (0.1 to 0.3): most throughput at 2.2; no fit of Amdahl's law: the throughput of one is "
        "not to be told from these values under this law; sweep from 1, or from near it (and where throughput falls at "
        "the high end, only the Universal Scalability Law can fit)."
    )
    assert said(english, "zh") == (
        "NUM_CLIENTS, 系统 2, 3.14t：1 个客户端每秒处理 1,000（990 到 1,010） 个请求；争用系数 sigma 0.05，一致性系数 "
        "kappa 0.2（0.1 到 0.3）：吞吐量在 2.2 处最大；无法拟合 Amdahl 定律："
        "按这条定律无法由这些取值得出 1 个的吞吐量；"
        "请从 1 或接近 1 处开始扫描（若吞吐量在高端下降，则只有 USL 能拟合）。"
    )


def test_a_comma_in_brackets_is_no_end_of_a_confound() -> None:
    assert said("confound: compiler GCC 13 against Clang 18 (a, b), pgo on against off", "zh") == (
        "混杂因素：编译器 GCC 13 对 Clang 18 (a, b)、pgo 开对关"
    )


PLACES = ("1 process of 2 threads on 3.14t", "3.14t 上 1 个 2 线程的进程")
PHRASED = {  # what stands for a {name} that is a phrase itself, and its Chinese
    "about": ("System 2, PAYLOAD_BYTES 10, 3.14t again", "系统 2, PAYLOAD_BYTES 10, 3.14t again"),
    "among": ("workers", "工作线程"),
    "blocks": ("7 blocks", "7 个区组"),
    "builds": ("yes (3.11), no (3.14, 3.14t)", "是 (3.11), 否 (3.14, 3.14t)"),
    "causes": ("version and lock", "版本和锁"),
    "chance": ("p is 2.1e-05", "p 为 2.1e-05"),
    "confounds": (
        "compiler GCC 13.2.0 against Clang 18.1, lto off against on",
        "编译器 GCC 13.2.0 对 Clang 18.1、lto 关对开",
    ),
    "disturbances": ("CPU steal, load", "CPU 被宿主机占用、负载"),
    "failures": ("2 failed (no request was sent)", "2 个失败（没有发出任何请求）"),
    "few": ("1 client", "1 个客户端"),
    "many": ("20 clients", "20 个客户端"),
    "places": (f"{PLACES[0]}, {PLACES[0]}", f"{PLACES[1]}、{PLACES[1]}"),
    "rest": ("clients run under the service's runtime", "客户端与服务端使用同一运行时"),
    "sentence": ("throughput falls from 1 on", "吞吐量从 1 起就下降"),
    "span": ("-1.2 KiB to 3 KiB", "-1.2 KiB 到 3 KiB"),
    "threaded": PLACES,
    "one": PLACES,
    "unit": ("socket", " socket "),
    "when": ("when ready", "就绪时"),
    "who": ("the 2 services together take", "2 个服务端共"),
    **dict.fromkeys(("memory", "over_one", "over_many"), ("0.95 x (0.90 to 0.99)", "0.95（0.90 到 0.99）")),
    **dict.fromkeys(("kappa", "peak", "rate", "serial", "sigma", "slope"), ("1.5 (1.2 to 2.0)", "1.5（1.2 到 2.0）")),
    "size": ("40,000 to 50,000", "40,000 到 50,000"),
    **dict.fromkeys(("reason", "other_reason", "remedy", "why"), ("ended: boom [x] (status 3)",) * 2),
}
SAME = {  # what is the same in every language
    "arm": "3.14t+gil", "other_arm": "3.14t again", "system": "4", "parameter": "NUM_CLIENTS", "flag": "pgo",
    "shape": "1 x 8", "other_shape": "8 x 1", "cpus": "0, 2", "ahead": "10, 100", "swept": "0, 10, 100",
    "interval": "0.31 [0.30, 0.32]", "margin": "±3 %", "share": "85 %", "floor": "2.4%", "times": "0.95",
    "runtimes": "3.11,3.14t", "arms": "3.11, 3.14", "command": "uv python install 3.13", "path": "reports/out/a b",
    "version": "3.14.2", "other_version": "3.14.0rc1", "compiler": "GCC 13.2.0", "other_compiler": "Clang 18 (x)",
    "machine": "i9-13900K", "gil": "Python 3.11.5", "nogil": "Python 3.14.0a0 free-threading", "plan": "quick",
    "run": "20260801T101500-quick-3f2a", "day": "2026-08-01T10:15:00+00:00", "other_day": "2026-08-01T10:16:00+00:00",
    "module": "'_csv'", "lock": "the GIL", "name": "Service 1 of 2 (3.14t, pid 812)",
    "setting": "CALC_TARGET 0, NUM_MULTI_SOCKET 5",
}  # fmt: skip


def filled(phrase: str, told: str) -> tuple[str, str]:
    """A sentence that *phrase* makes, and what it is in Chinese by *told*."""
    values = {name: PHRASED.get(name) or (SAME.get(name, "12"),) * 2 for name in re.findall(r"\{(\w+)\}", phrase)}
    return tuple(  # type: ignore[return-value]
        text.format(**{name: value[language] for name, value in values.items()})
        for language, text in enumerate((phrase, told))
    )


@pytest.mark.parametrize(("phrase", "told"), PHRASES["zh"].items(), ids=[*PHRASES["zh"]])
def test_a_sentence_of_every_phrase_is_told_by_that_phrase(phrase: str, told: str) -> None:
    english, chinese = filled(phrase, told)
    assert said(english, "zh") == chinese
    if not english.endswith("."):
        assert said(f"{english}.", "zh") == f"{chinese}。"


@pytest.mark.parametrize(
    "sentence",
    [
        "3.14t serves more, so there is nothing to compare.",
        "the interval low to high leaves out 1 and p is 0.01",
        "the interval 0.9 to 1.2 leaves out 1 and nobody knows",
        "confound: pgo on against off, the moon full against new",
        "System 2: something else entirely.",
        "7 blocks cannot have an interval; something else entirely",
    ],
)
def test_a_sentence_of_which_a_part_is_not_known_stays_english_as_a_whole(sentence: str) -> None:
    assert said(sentence, "zh") == sentence
