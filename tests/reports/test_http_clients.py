"""The record of the HTTP clients: what workers did at once, by figures that one can check by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.histogram import Histogram
from core.result import CellResult, Run
from reports.http_clients import Line, figures, http_clients_page, lines_of, sentences, serialisation_text, shorts
from reports.stats import Estimate
from reports.summary import rows
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.sample import MS

TITLES = {
    "http-beast-native": "C++ Beast",
    "http-beast-held": "Python over Beast (GIL held)",
    "http-beast-released": "Python over Beast (GIL released)",
    "http-beast-undeclared": "Python over Beast (GIL held, undeclared)",
    "http-aiohttp": "Python aiohttp",
}
MEAN, P99, P999, MAX, LMEAN, BENCH, SERIALISATION, IN_FLIGHT, CONNECT = range(3, 12)


def worked(
    system: str, runtime: str, workers_ms: Sequence[float], bench_ms: float, request_ns: int = 100_000, **params: Any
) -> list[CellResult]:
    """Three blocks in which the workers' loops took so long, with 100 requests of *request_ns* from all of them."""
    client = {"workers_ns": [round(one * MS) for one in workers_ms], "bench_ns": round(bench_ms * MS)}
    return blocks_of(system, 50, runtime=runtime, latencies_ns=[request_ns] * 100, client=client, **params)


HELD = worked("http-beast-held", "3.11", [1] * 10, 10)
HELD_FREE = worked("http-beast-held", "3.14t", [4] * 10, 4, 400_000)
RELEASED = worked("http-beast-released", "3.11", [5] * 10, 5, 500_000)
RELEASED_FREE = worked("http-beast-released", "3.14t", [6] * 10, 6, 600_000)
UNDECLARED = worked("http-beast-undeclared", "3.14t", [1.25] * 8, 10)
NATIVE = worked("http-beast-native", "native", [4] * 10, 4, 400_000)
AIOHTTP = worked("http-aiohttp", "3.11", [20] * 10, 20, 1_000_000)


def only_line(*cells: Sequence[CellResult]) -> Line:
    """The one line of a run of these cells."""
    (line,) = lines_of(rows(contest_run(*cells, view="http-clients")), TITLES)
    return line


def telling(blocks: Sequence[tuple[Sequence[int], int]]) -> list[CellResult]:
    """A cell of held under 3.11 in each block: its workers' loops and its Bench, ms."""
    cells = blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=[MS], blocks=range(1, len(blocks) + 1))
    return [
        replace(cell, clients=[{**cell.clients[0], "workers_ns": [one * MS for one in loops], "bench_ns": bench * MS}])
        for cell, (loops, bench) in zip(cells, blocks, strict=True)
    ]


@pytest.fixture
def run() -> Run:
    """Held, released and undeclared under 3.11 and 3.14t, and the native program."""
    return contest_run(NATIVE, HELD, HELD_FREE, RELEASED, RELEASED_FREE, UNDECLARED, view="http-clients")


def test_lmean_and_bench_are_medians_over_the_blocks_and_serialisation_is_the_median_of_their_ratios() -> None:
    """Means of the loops are 2, 4 and 9 ms, Bench is 8, 8 and 18 ms, the ratios are 4, 2 and 2."""
    line = only_line(telling([([1, 2, 3], 8), ([3, 4, 5], 8), ([9, 9, 9], 18)]))
    assert (line.lmean_ns, line.bench_ns) == (4 * MS, 8 * MS)
    assert line.serialisation.value == pytest.approx(2)
    assert line.serialisation.count == 3


def test_blocks_that_agree_have_an_interval_of_no_width() -> None:
    assert figures(only_line(HELD))[SERIALISATION] == "10.00 [10.00, 10.00]"


def test_two_blocks_have_no_interval() -> None:
    assert figures(only_line(telling([([1, 1], 2), ([1, 1], 2)])))[SERIALISATION] == "2.00"


def test_no_interval_goes_below_what_serialisation_can_be() -> None:
    line = only_line(telling([([10], 10), ([10], 11), ([10], 15)]))
    assert line.serialisation.low == 1
    assert line.serialisation.high > 1.5


def test_an_end_far_beyond_the_number_of_workers_is_not_spelt_out() -> None:
    far = Estimate(value=1.04, low=1.0, high=69040.56, count=3)
    assert serialisation_text(far) == "1.04 [1.00, > 99]"


def test_in_flight_is_the_median_latency_times_requests_over_bench() -> None:
    """100 requests of 0.1 ms in 10 ms are one at a time; 100 of 0.4 ms in 4 ms are ten."""
    assert [figures(only_line(cells))[IN_FLIGHT] for cells in (HELD, HELD_FREE)] == ["1.0", "10.0"]


def test_turns_of_long_loops_look_parallel_to_serialisation_and_do_not_to_in_flight() -> None:
    """Ten loops as long as Bench, 10 ms; 90 requests take 0.1 ms and ten wait 9.1 ms: 100 ms in all, as if at once."""
    client = {"workers_ns": [10 * MS] * 10, "bench_ns": 10 * MS}
    latencies = [100_000] * 90 + [9_100_000] * 10
    line = only_line(blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=latencies, client=client))
    assert figures(line)[SERIALISATION].startswith("1.00 ")
    assert figures(line)[IN_FLIGHT] == "1.0"


def test_workers_of_several_clients_count_together_and_bench_is_the_longest() -> None:
    (cell,) = blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=[MS], blocks=[1])
    told = [{"workers_ns": [2 * MS], "bench_ns": 3 * MS}, {"workers_ns": [4 * MS], "bench_ns": 6 * MS}]
    line = only_line([replace(cell, clients=[{**cell.clients[0], **one} for one in told])])
    assert (line.lmean_ns, line.bench_ns) == (3 * MS, 6 * MS)
    assert line.serialisation.value == pytest.approx(2)


def test_requests_are_given_in_milliseconds() -> None:
    """Of 100 requests in each block 98 take 0.1 ms and two 2 ms: the mean is 0.138 ms, P99 is 2 ms."""
    client = {"workers_ns": [MS], "bench_ns": MS}
    latencies = [100_000] * 98 + [2 * MS] * 2
    line = only_line(blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=latencies, client=client))
    assert figures(line)[MEAN : BENCH + 1] == ["0.14", "2.00", "-", "2.00", "1.00", "1.00"]


@pytest.mark.parametrize(("samples_a_block", "expected"), [(3_333, "-"), (3_334, "0.05")])
def test_p999_needs_ten_thousand_samples(samples_a_block: int, expected: str) -> None:
    client = {"workers_ns": [MS], "bench_ns": MS}
    latencies = [50_000] * samples_a_block
    line = only_line(blocks_of("http-beast-held", 50, runtime="3.11", latencies_ns=latencies, client=client))
    assert figures(line)[P999] == expected


def test_the_connect_is_the_median_over_the_blocks_and_apart_from_the_requests() -> None:
    connects = []
    for value_ms in (1, 2, 30):
        connects.append(Histogram())
        connects[-1].record(value_ms * MS)
    cells = [replace(cell, connect=one.to_json()) for cell, one in zip(HELD, connects, strict=True)]
    assert (figures(only_line(HELD))[CONNECT], figures(only_line(cells))[CONNECT]) == ("-", "2.00")
    assert figures(only_line(cells))[MAX] == figures(only_line(HELD))[MAX] == "0.10"


@pytest.mark.parametrize(
    ("system", "runtime", "kind"),
    [
        *(("http-beast-native", "native", "sync"), ("http-reqwest-native", "native", "async")),
        *(("http-requests", "3.11", "sync"), ("http-httpx", "3.11", "sync"), ("http-stdlib", "3.11", "sync")),
        *(("http-httpx-async", "3.11", "async"), ("http-aiohttp", "3.11", "async")),
        *(("http-pyreqwest", "3.11", "sync"), ("http-pyreqwest-async", "3.11", "async")),
    ],
)
def test_each_row_says_whether_its_workers_are_threads_or_tasks(system: str, runtime: str, kind: str) -> None:
    assert figures(only_line(worked(system, runtime, [1], 1)))[2] == kind


def test_a_row_whose_clients_tell_no_workers_times_has_no_line() -> None:
    silent = blocks_of("http-aiohttp", 50, runtime="3.11", latencies_ns=[MS])
    assert [line.client for line in lines_of(rows(contest_run(HELD, silent)), TITLES)] == [
        "Python over Beast (GIL held)"
    ]


def test_the_story_is_told_by_the_runs_own_figures(run: Run) -> None:
    assert sentences(run, rows(run), TITLES) == [
        (
            "Beast, GIL held through I/O - 3.11: serialisation 10.00 [10.00, 10.00], 1.0 in flight; "
            "3.14t: serialisation 1.00 [1.00, 1.00], 10.0 in flight."
        ),
        (
            "Beast, GIL released through I/O - 3.11: serialisation 1.00 [1.00, 1.00], 10.0 in flight; "
            "3.14t: serialisation 1.00 [1.00, 1.00], 10.0 in flight."
        ),
        (
            "Beast, GIL held, module not declared for free-threading - 3.14t: "
            "serialisation 8.00 [8.00, 8.00], 1.0 in flight."
        ),
        "Bench of Beast released over that of native Beast: 1.25 under 3.11, 1.50 under 3.14t.",
    ]


def test_nothing_is_said_of_rows_that_are_not_there() -> None:
    run = contest_run(RELEASED, view="http-clients")
    assert [line.partition(" - ")[0] for line in sentences(run, rows(run), TITLES)] == [
        "Beast, GIL released through I/O"
    ]


def test_each_setting_has_its_story() -> None:
    few, many = (worked("http-beast-held", "3.11", [1], 2, NUM_REQUESTS_PER_CLIENT=size) for size in (1000, 10_000))
    run = contest_run(few, many, view="http-clients")
    assert [line.partition(" - ")[0] for line in sentences(run, rows(run), TITLES)] == [
        "Beast, GIL held through I/O (NUM_REQUESTS_PER_CLIENT 1000)",
        "Beast, GIL held through I/O (NUM_REQUESTS_PER_CLIENT 10000)",
    ]


def test_what_is_not_there_is_said_with_its_reason() -> None:
    absent = {("http-aiohttp", "3.14t"): "not built: needs cargo", ("http-beast-held", "3.14t"): "not built: needs c++"}
    run = contest_run(HELD, view="http-clients", absent=absent)
    assert sentences(run, rows(run), TITLES)[1:] == [
        "Not measured: Python aiohttp under 3.14t: not built: needs cargo.",
        "Not measured: Python over Beast (GIL held) under 3.14t: not built: needs c++.",
    ]


def test_a_run_in_which_all_failed_says_that_nothing_was_measured() -> None:
    run = contest_run([], view="http-clients")
    assert sentences(run, [], TITLES) == ["Nothing was measured."]
    assert "## The seed's own figures: an Apple M2's" in http_clients_page(run, [], TITLES)


def test_the_page_has_the_runtimes_side_by_side_and_a_dash_where_there_is_none(run: Run) -> None:
    page = http_clients_page(run, rows(run), TITLES)
    after = page.partition("### Runtimes side by side: Bench (ms) / serialisation\n\n")[2]
    assert cells_of(after, 6) == [
        ["client", "native", "3.11", "3.14t"],
        ["C++ Beast", "4.00 / 1.00", "-", "-"],
        ["Python over Beast (GIL held)", "-", "10.00 / 10.00", "4.00 / 1.00"],
        ["Python over Beast (GIL released)", "-", "5.00 / 1.00", "6.00 / 1.00"],
        ["Python over Beast (GIL held, undeclared)", "-", "-", "10.00 / 8.00"],
    ]


def cells_of(text: str, count: int) -> list[list[str]]:
    """The first *count* lines of a Markdown table as cells, but for the rule below its head."""
    lines = [line for line in text.splitlines()[:count] if "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_has_a_section_for_each_setting_and_the_seeds_figures_at_its_end() -> None:
    few, many = (worked("http-beast-held", "3.11", [1], 2, NUM_REQUESTS_PER_CLIENT=size) for size in (1000, 10_000))
    run = contest_run(few, many, view="http-clients")
    page = http_clients_page(run, rows(run), TITLES)
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        *["## NUM_REQUESTS_PER_CLIENT 1000", "## NUM_REQUESTS_PER_CLIENT 10000"],
        "## The seed's own figures: an Apple M2's",
    ]
    assert page.startswith("# http-clients: 20260102T030405-sample\n\n- Beast, GIL held")


def test_a_terminal_of_80_columns_has_room_for_its_table() -> None:
    slow = worked("http-beast-undeclared", "3.14t+gil", [20_000], 28_049.35)
    (table,) = shorts(rows(contest_run(NATIVE, HELD, AIOHTTP, slow, view="http-clients")), TITLES)
    assert table.title == "All clients"
    assert [line[:2] for line in table.lines] == [
        *[("C++ Beast", "native"), ("Beast (GIL held)", "3.11"), ("aiohttp", "3.11")],
        ("Beast (GIL held, undeclared)", "3.14t+gil"),
    ]
    assert table.lines[1][2:] == ("0.10", "10.00", "10.00", "1.0")
    widths = [max(map(len, column)) + 2 for column in zip(table.heads, *table.lines, strict=True)]
    assert sum(widths) <= 80
