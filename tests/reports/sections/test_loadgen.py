"""The experiment loadgen: ours over each other one, keep-alive said in every row."""

from dataclasses import replace
from typing import Any

import pytest

from core.result import Run
from tests.reports.contestants import blocks_of, contest_run, figures_of, lines_of, record_of, sentences, table_of
from tests.reports.sample import MS

SAID = {"said": {"seconds": 2.0, "percentiles_ms": {"p50": 0.077, "p99": 4.5}}}
KEPT: dict[str, Any] = {"KEEP_ALIVE": True, "NUM_CONNECTIONS_PER_CLIENT": 21}
FRESH: dict[str, Any] = {"KEEP_ALIVE": False, "NUM_CONNECTIONS_PER_CLIENT": 21, "NUM_REQUESTS_PER_CLIENT": 200}
OWN = blocks_of("load-own", 120_000, latencies_ns=[100_000, 200_000], **KEPT)
WRK = blocks_of("load-wrk", 100_000, client=SAID, **KEPT)
AB = blocks_of("load-ab", 60_000, client=SAID, **KEPT)
OWN_FRESH = blocks_of("load-own", 20_000, latencies_ns=[MS], **FRESH)
AB_FRESH = blocks_of("load-ab", 10_000, client=SAID, **FRESH)


@pytest.fixture
def run() -> Run:
    """Ours, wrk and ab; and ours and ab without keep-alive."""
    return contest_run(OWN, WRK, AB, OWN_FRESH, AB_FRESH, view="loadgen")


def lines(*cells: Any, **more: Any) -> list[list[str]]:
    return lines_of(table_of(contest_run(*cells, view="loadgen", **more)))


def test_ours_is_compared_with_each_other_one_at_the_same_keep_alive(run: Run) -> None:
    assert sentences(run) == [
        (
            "Connections are kept: gilscope's own generator sends 120,000 requests/s: 1.20 (1.20 - 1.20) x wrk; "
            "2.00 (2.00 - 2.00) x ab (ApacheBench)."
        ),
        (
            "A connection for each request: gilscope's own generator sends 20,000 requests/s: "
            "2.00 (2.00 - 2.00) x ab (ApacheBench)."
        ),
        "As the seed compared, ours with keep-alive against ab without: 12.00 (12.00 - 12.00) x.",
    ]


def test_every_row_says_whether_connections_were_kept(run: Run) -> None:
    assert [(line[0], line[2]) for line in lines_of(table_of(run))] == [
        *[("gilscope's own generator", "yes"), ("wrk", "yes"), ("ab (ApacheBench)", "yes")],
        *[("gilscope's own generator", "no"), ("ab (ApacheBench)", "no")],
    ]
    assert "gurl against ab without `-k`" in str(record_of(run).parts[1].sentences[0])
    titles = [str(panel.title) for panel in figures_of(run)["throughput"].panels]
    assert titles == ["Connections are kept", "A connection for each request"]


def test_a_row_has_ours_over_its_throughput_and_cpu_and_its_own_percentiles(run: Run) -> None:
    """20 ms of CPU for 240,000 requests are 0.0833 us, for 200,000 0.1 us: ours over wrk's is 0.83."""
    own, wrk, *_ = lines_of(table_of(run))
    assert (own[3:5], own[8:]) == (["240,000", "120,000"], ["100", "200"])
    assert own[6:8] == ["1.00 (1.00 - 1.00)", "1.00 (1.00 - 1.00)"]
    assert (wrk[3:5], wrk[8:]) == (["200,000", "100,000"], ["77.0", "4,500"])
    assert wrk[6:8] == ["1.20 (1.20 - 1.20)", "0.83 (0.83 - 0.83)"]


def test_sentence_and_table_say_the_same_figure_of_blocks_that_differ() -> None:
    """Ratios within the blocks are 2, 2 and 0.5; the ratio of the medians would be 1.67."""
    rates = ((200, 100), (240, 120), (100, 200))
    own, wrk = (
        [cell for number, pair in enumerate(rates, 1) for cell in blocks_of(name, pair[side], blocks=(number,), **KEPT)]
        for side, name in enumerate(("load-own", "load-wrk"))
    )
    line = next(line for line in lines(own, wrk) if line[0] == "wrk")
    assert line[6].startswith("2.00 (")
    assert f"200 requests/s: {line[6]} x wrk." in sentences(contest_run(own, wrk, view="loadgen"))[0]


def test_percentiles_of_the_others_are_the_median_over_the_blocks() -> None:
    said = [{"said": {"percentiles_ms": {"p50": p50, "p99": p99}}} for p50, p99 in ((0.1, 9.0), (0.3, 2.0), (0.2, 4.0))]
    wrk = [cell for block, one in enumerate(said, 1) for cell in blocks_of("load-wrk", 10, blocks=(block,), client=one)]
    (line,) = lines([replace(cell, params={**cell.params, **KEPT}) for cell in wrk])
    assert line[8:] == ["200", "4,000"]


def test_a_latency_that_a_generator_rounds_to_nothing_is_below_that_and_one_that_it_does_not_say_is_none() -> None:
    nothing = {"said": {"percentiles_ms": {"p50": 0.0, "p99": 2.0}}}
    assert lines(blocks_of("load-ab", 10, client=nothing, **KEPT))[0][8:] == ["<500", "2,000"]
    silent: dict[str, Any] = {"said": {"percentiles_ms": {}}}
    assert lines(blocks_of("load-ab", 10, client=silent, **KEPT))[0][8:] == ["-", "-"]


def test_the_version_of_each_generator_is_the_one_that_the_run_met() -> None:
    wrk = {"program": {"program": "wrk", "version": "4.1.0", "compiler": "", "packages": {}}}
    made = lines(blocks_of("load-wrk", 20, client=wrk, **KEPT), blocks_of("load-ab", 10, **KEPT))
    assert [line[:2] for line in made] == [["wrk", "4.1.0"], ["ab (ApacheBench)", "-"]]


def test_without_ours_nothing_is_said_to_be_over_its() -> None:
    why = {("load-own", "native"): "not built: needs cargo"}
    assert [line[6:8] for line in lines(WRK, AB, AB_FRESH, absent=why)] == [["-", "-"]] * 3
    assert sentences(contest_run(WRK, AB, AB_FRESH, absent=why, view="loadgen")) == [
        "Connections are kept: wrk sends 100,000 requests/s: 1.67 (1.67 - 1.67) x ab (ApacheBench).",
        "Not measured: gilscope's own generator - not built: needs cargo",
    ]


def test_connections_that_are_swept_are_said() -> None:
    more = {**KEPT, "NUM_CONNECTIONS_PER_CLIENT": 1}
    cells = OWN, WRK, blocks_of("load-own", 30_000, **more), blocks_of("load-wrk", 20_000, **more)
    said = sentences(contest_run(*cells, view="loadgen"))
    assert [line.partition(":")[0] for line in said] == [
        "Connections are kept, NUM_CONNECTIONS_PER_CLIENT 21",
        "Connections are kept, NUM_CONNECTIONS_PER_CLIENT 1",
    ]
    assert said[1].endswith("1.50 (1.50 - 1.50) x wrk.")
