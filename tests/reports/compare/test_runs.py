"""Two saved runs: what may be compared, what comes of it, and how it is shown."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from core.cell import Value
from core.errors import BadInput
from core.languages import ENGLISH
from core.messages import Message
from core.method import Method, Warmup
from core.result import CellResult, Run
from reports.compare.runs import CellComparison, Compared, compare_runs, slower_cells
from reports.compare.section import document, time_text
from reports.render.terminal import print_section
from tests.reports.sample import MS, TITLES, cell_of, measured, run_of

ONE = {"NUM_API_SERVICES": 1, "NUM_CLIENTS": 1, "NUM_REQUESTS_PER_CLIENT": 1000}
NAMES = ("before", "after")
BEFORE_MS = (2000, 2010, 1995, 2005, 1990, 2002, 2008, 1998, 2004, 1996)
SLOWER_MS = tuple(round(time_ms * 1.2) for time_ms in BEFORE_MS[::-1])
ALIKE_MS = tuple(time_ms + 1 for time_ms in BEFORE_MS[::-1])


def cells(times_ms: Sequence[int], runtime: str = "3.14t", system: str = "1", **values: Value) -> list[CellResult]:
    """One cell over as many blocks as there are times; its one client took these."""
    cell = cell_of(system, runtime, {**ONE, **values})
    return [measured(cell, block, [time_ms * MS]) for block, time_ms in enumerate(times_ms, start=1)]


def run(*some: Sequence[CellResult], method: Method | None = None, **machine: Any) -> Run:
    """A run of these cells."""
    made = run_of([cell for one in some for cell in one], runtimes=("3.14", "3.14t"), blocks=10)
    made.plan["method"] = (method or Method()).to_json()
    made.machine |= machine
    return made


def texts(messages: Sequence[Message]) -> list[str]:
    return [str(line) for line in messages]


def only(compared: Compared) -> CellComparison:
    (one,) = compared.comparisons
    return one


@pytest.mark.parametrize(
    ("a_ms", "b_ms", "word", "ratio"),
    [(BEFORE_MS, SLOWER_MS, "slower", 1 / 1.2), (SLOWER_MS, BEFORE_MS, "faster", 1.2)],
)
def test_a_run_that_takes_a_fifth_longer_is_slower_and_the_other_way_round_faster(
    a_ms: Sequence[int], b_ms: Sequence[int], word: str, ratio: float
) -> None:
    one = only(compare_runs(run(cells(a_ms)), run(cells(b_ms)), NAMES))
    assert one.verdict.verdict == word
    assert one.verdict.ratio == pytest.approx(ratio, rel=1e-3)
    assert sorted(time_fs or 0 for time_fs in one.medians_fs) == [2.0020e12, 2.4020e12]


def test_a_threshold_below_the_margin_makes_the_margin_smaller() -> None:
    a, b = run(cells(BEFORE_MS)), run(cells([round(time_ms * 1.02) for time_ms in BEFORE_MS]))
    assert only(compare_runs(a, b, NAMES)).verdict.verdict == "equivalent"
    assert slower_cells(compare_runs(a, b, NAMES).comparisons, 0.01) == []
    assert len(slower_cells(compare_runs(a, b, NAMES, share=0.01).comparisons, 0.01)) == 1


@pytest.mark.parametrize(
    ("machine", "method", "told"),
    [
        ({"cpu": "Other CPU"}, Method(), "the CPU is Sample CPU in A and Other CPU in B"),
        ({}, Method(warmup=Warmup(share=0.1)), "the warm-up is none in A and 10 % in B"),
        ({}, Method(client_runtime="3.14"), "the clients' runtime is same in A and 3.14 in B"),
        ({}, Method(pin_services=(0, 1)), "the services' CPUs is none in A and 0, 1 in B"),
    ],
)
def test_another_machine_or_method_is_refused_unless_told_to(
    machine: Mapping[str, Any], method: Method, told: str
) -> None:
    a, b = run(cells(BEFORE_MS)), run(cells(BEFORE_MS), method=method, **machine)
    with pytest.raises(BadInput, match="must not be compared") as error:
        compare_runs(a, b, NAMES)
    assert told in str(error.value)
    troubles = compare_runs(a, b, NAMES, anyway=True).troubles
    assert texts(troubles) == [f"Compared only because of --anyway: {told}."]


def test_other_interpreters_are_compared_and_named() -> None:
    a, b = run(cells(BEFORE_MS)), run(cells(ALIKE_MS))
    b.runtimes["3.14t"]["version"] = "3.14.3"
    b.runtimes["3.14t"]["flags"]["lto"] = True
    compared = compare_runs(a, b, NAMES)
    assert only(compared).verdict.verdict == "equivalent"
    assert str(compared.notes[0]) == (
        "3.14t is not the same in both, which may be what is compared: "
        "version: 3.14.7 (A), 3.14.3 (B); LTO: no (A), yes (B)."
    )


def test_another_build_of_the_same_version_and_another_package_are_named() -> None:
    a, b = run(cells(BEFORE_MS)), run(cells(ALIKE_MS))
    a.runtimes["3.14t"] |= {"build": "one", "packages": {"x.txt": {"tornado": "6.5"}}}
    b.runtimes["3.14t"] |= {"build": "two", "packages": {"x.txt": {"tornado": "6.6"}}}
    b.machine["kernel"] = "Linux 6.2"
    notes = texts(compare_runs(a, b, NAMES).notes)
    assert notes[0].endswith("build is one in A and two in B; tornado is 6.5 in A and 6.6 in B.")
    assert notes[1] == "Also, the kernel is Linux 6.1 in A and Linux 6.2 in B."


def test_cells_that_only_one_run_has_are_named() -> None:
    sweep = [cells(BEFORE_MS, system="4", NUM_MULTI_SOCKET=sockets) for sockets in (1, 5)]
    compared = compare_runs(run(*sweep), run(sweep[0], cells(BEFORE_MS, "3.14")), NAMES)
    assert only(compared).sample.params["NUM_MULTI_SOCKET"] == 1
    assert texts(compared.troubles) == [
        "Only in A, so not compared: system 4, NUM_MULTI_SOCKET 5 (3.14t).",
        "Only in B, so not compared: system 1 (3.14).",
    ]


def test_other_parameters_are_refused_and_otherwise_compared_all_the_same() -> None:
    a = run(cells(BEFORE_MS))
    b = run(cells([2 * time_ms for time_ms in BEFORE_MS], NUM_REQUESTS_PER_CLIENT=2000))
    unlike = "NUM_REQUESTS_PER_CLIENT is 1000 in A and 2000 in B"
    with pytest.raises(BadInput, match="have no cell in common") as error:
        compare_runs(a, b, NAMES)
    assert f"{unlike} for system 1 (3.14t). Measure the same cells in both" in str(error.value)
    compared = compare_runs(a, b, NAMES, anyway=True)
    assert only(compared).verdict.ratio == pytest.approx(1, rel=1e-3)
    assert only(compared).to_json()["why"]["text"].endswith(f"; {unlike}")
    assert texts(compared.troubles) == [f"Compared only because of --anyway: {unlike} for system 1 (3.14t)."]
    assert any(line.startswith("Time per request: ") for line in texts(compared.notes))


def test_nothing_in_common_is_refused_even_then() -> None:
    with pytest.raises(BadInput, match=r"A has system 1 \(3.14\); B has system 1 \(3.14t\)\. Measure the same"):
        compare_runs(run(cells(BEFORE_MS, "3.14")), run(cells(BEFORE_MS)), NAMES, anyway=True)


def test_where_a_duration_was_set_the_time_per_request_counts() -> None:
    """Both clients ran for as long; in B they had 5 % fewer answers."""
    a, b = (run(cells(BEFORE_MS), method=Method(duration_s=2)) for _ in range(2))
    b.cells = [replace(cell, requests=950) for cell in b.cells]
    one = only(compare_runs(a, b, NAMES))
    assert one.verdict.verdict == "slower"
    assert one.verdict.ratio == pytest.approx(0.95)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: run.plan.pop("rows"),
        lambda run: run.plan.update(method={"duration_s": 1}),
        lambda run: run.cells.__setitem__(0, replace(run.cells[0], wall_ns=0)),
    ],
)
def test_a_run_that_is_not_whole_is_bad_input(spoil: Callable[[Run], object]) -> None:
    good, bad = run(cells(BEFORE_MS)), run(cells(BEFORE_MS))
    spoil(bad)
    with pytest.raises(BadInput, match="is incomplete"):
        compare_runs(good, bad, NAMES)


@pytest.mark.parametrize(
    ("time_fs", "text"),
    [(None, "-"), (1.6e15, "1.600 s"), (84_213e6, "84.21 us"), (662e6, "662.0 ns"), (4e4, "0.04000 ns")],
)
def test_times_have_four_digits_and_a_unit(time_fs: float | None, text: str) -> None:
    assert time_text(time_fs) == text


def test_the_widest_line_fits_into_80_columns() -> None:
    one = only(compare_runs(run(cells(BEFORE_MS)), run(cells(SLOWER_MS)), NAMES))
    wide = replace(
        one,
        sample=replace(one.sample, arm="3.14t+gil again"),
        verdict=replace(one.verdict, p=0.00012, verdict="inconclusive"),
    )
    (section,) = document(Compared(names=NAMES, comparisons=(wide,), troubles=(), notes=()), TITLES).sections
    stream = io.StringIO()
    print_section(section, Console(file=stream, width=80), ENGLISH)
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert any(
        line.endswith("3.14t+gil again 2.002 ms 2.402 ms 0.833 [0.831, 0.836] 0.00012 inconclusive") for line in lines
    )
