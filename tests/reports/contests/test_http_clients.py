"""The record of the HTTP clients: its tables, and what it says where something is missing."""

from dataclasses import replace

import pytest

from core.histogram import Histogram
from reports.contests.http_clients import figures, http_clients_page, sentences, shorts
from reports.rows.summary import rows
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.http_sample import AIOHTTP, HELD, HELD_FREE, NATIVE, TITLES, UNDECLARED, only_line, worked
from tests.reports.sample import MS

MEAN, P99, P999, MAX, LMEAN, BENCH, SERIALISATION, IN_FLIGHT, CONNECT = range(3, 12)


def test_blocks_that_agree_have_an_interval_of_no_width() -> None:
    assert figures(only_line(HELD))[SERIALISATION] == "10.00 [10.00, 10.00]"


def test_two_blocks_have_no_interval() -> None:
    assert figures(only_line(HELD[:2]))[SERIALISATION] == "10.00"


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


@pytest.mark.parametrize(("worker", "kind"), [("thread", "sync"), ("task", "async"), (None, "-")])
def test_each_row_says_whether_its_workers_are_threads_or_tasks(worker: str | None, kind: str) -> None:
    told = {"workers_ns": [MS], "bench_ns": MS, **({"worker": worker} if worker else {})}
    line = only_line(blocks_of("http-aiohttp", 50, runtime="3.11", latencies_ns=[MS], client=told))
    assert figures(line)[2] == kind


def test_what_is_not_there_is_said_with_its_reason() -> None:
    absent = {("http-aiohttp", "3.14t"): "not built: needs cargo", ("http-beast-held", "3.14t"): "not built: needs c++"}
    run = contest_run(HELD, view="http-clients", absent=absent)
    assert sentences(run, rows(run), TITLES)[2:] == [
        "Not measured: Python aiohttp under 3.14t: not built: needs cargo.",
        "Not measured: Python over Beast (GIL held) under 3.14t: not built: needs c++.",
    ]


def test_a_run_in_which_all_failed_says_that_nothing_was_measured() -> None:
    run = contest_run([], view="http-clients")
    assert sentences(run, [], TITLES) == ["Nothing was measured."]
    assert "## The seed's own figures: an Apple M2's" in http_clients_page(run, [], TITLES)


def test_the_page_has_a_column_set_for_each_runtime_and_dashes_where_a_client_has_none() -> None:
    run = contest_run(NATIVE, HELD, HELD_FREE, UNDECLARED, view="http-clients")
    page = http_clients_page(run, rows(run), TITLES)
    head, *lines = cells_of(page.partition("### Runtimes side by side (ms)\n\n")[2], 4)
    columns = ["Mean", "P99", "P999", "Max", "LMean", "Bench", "serialisation"]
    assert head == ["client", *(f"{runtime} {one}" for runtime in ("3.11", "3.14t") for one in columns)]
    held = ["0.10", "0.10", "-", "0.10", "1.00", "10.00", "10.00", "0.40", "0.40", "-", "0.40", "4.00", "4.00", "1.00"]
    undeclared = ["-"] * 7 + ["0.10", "0.10", "-", "0.10", "1.25", "10.00", "8.00"]
    assert lines == [
        ["Python over Beast (GIL held)", *held],
        ["Python over Beast (GIL held, undeclared)", *undeclared],
    ]


def test_native_programs_alone_are_not_put_side_by_side() -> None:
    run = contest_run(NATIVE, view="http-clients")
    assert "side by side" not in http_clients_page(run, rows(run), TITLES)


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
    assert page.startswith("# http-clients: 20260102T030405-sample\n\n- Beast (GIL held): serialisation 2.0 under 3.11")


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
