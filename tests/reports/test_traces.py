"""Every figure of the page leads to cells of result.json, and is what these say."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp, log
from statistics import fmean, median
from typing import Any

import pytest

from core.histogram import Histogram
from reports.facts.cells import line_id
from tests.reports.reading import (
    Element,
    elements,
    expect_whole,
    named_cells,
    page_of,
    record_view,
    record_with_aa,
    stored_cells,
    with_attribute,
)

Cells = Sequence[Mapping[str, Any]]


@cache
def record_page() -> str:
    return page_of(record_view())


@cache
def found() -> list[Element]:
    return elements(record_page())


@cache
def cells() -> list[dict[str, Any]]:
    return stored_cells(record_with_aa())


def test_the_page_of_a_record_needs_nothing_else_and_is_small() -> None:
    expect_whole(record_page())
    assert len(record_page().encode()) < 3_000_000


def test_every_plot_has_a_text_alternative() -> None:
    ids = {one.attributes["id"] for one in with_attribute(found(), "id")}
    drawings = [one for one in found() if one.name == "svg" and one.attributes.get("role") == "img"]
    assert len(drawings) > 100
    for one in drawings:
        named = one.attributes.get("aria-labelledby", "").split()
        assert one.attributes.get("aria-label") or (named and set(named) <= ids)


def completion_s(cell: Mapping[str, Any]) -> float:
    return float(median(one["completion_ns"] for one in cell["clients"]) / 1e9)


def rate(cell: Mapping[str, Any]) -> float:
    return float(cell["answered"] * 1e9 / cell["wall_ns"])


def each_us(side: str, key: str) -> Callable[[Cells], float]:
    return lambda some: median(sum(one[key] for one in cell[side]) / cell["requests"] / 1e3 for cell in some)


def percentile_us(share: float) -> Callable[[Cells], float]:
    """Of all requests of the cells."""

    def quantile(some: Cells) -> float:
        every = Histogram()
        for cell in some:
            every.merge(Histogram.from_json(cell["latency"]))
        return every.quantile(share) / 1e3

    return quantile


OF_ONE_GROUP: Mapping[str, Callable[[Cells], float]] = {
    "completion_s": lambda some: median(map(completion_s, some)),
    "completion_max_s": lambda some: median(
        max(one["completion_ns"] for one in cell["clients"]) / 1e9 for cell in some
    ),
    "requests_per_s": lambda some: median(map(rate, some)),
    "service_user": each_us("services", "cpu_user_ns"),
    "service_system": each_us("services", "cpu_system_ns"),
    "client_user": each_us("clients", "cpu_user_ns"),
    "client_system": each_us("clients", "cpu_system_ns"),
    "memory services": lambda some: median(
        sum(one["max_rss_bytes"] for one in cell["services"]) / 2**20 for cell in some
    ),
    "calc": lambda some: median(cell["calc_ns"] / cell["answered"] / 1e3 for cell in some),
    "waiting": lambda some: median(cell["waiting"]["mean_ns"] / 1e3 for cell in some),
    "latency count": lambda some: sum(cell["latency"]["count"] for cell in some),
    **{f"latency p{share}": percentile_us(share / 100) for share in (50, 90, 99)},
}


def first_number(text: str) -> float:
    return float(text.split(maxsplit=1)[0].replace(",", ""))


def steps_of(text: str) -> float:
    """Half of the last digit that *text* gives."""
    number = text.split(maxsplit=1)[0]
    return 0.51 * 10.0 ** -len(number.partition(".")[2])


@pytest.mark.parametrize("figure", OF_ONE_GROUP)
def test_a_figure_is_the_median_over_the_cells_it_names(figure: str) -> None:
    shown = [one for one in with_attribute(found(), "data-figure", figure) if "data-cells" in one.attributes]
    assert len(shown) >= 44
    for one in shown:
        (some,) = named_cells(one.attributes["data-cells"], cells())
        assert len(some) == 3
        assert first_number(one.text) == pytest.approx(OF_ONE_GROUP[figure](some), abs=steps_of(one.text))


def in_table(figure: str) -> list[Element]:
    """The cells of tables that show this figure."""
    return [one for one in with_attribute(found(), "data-figure", figure) if one.name == "td"]


def mean_ratio(groups: Sequence[Cells]) -> float:
    """Of groups, the denominators before the numerators: the median over the blocks of the mean over the settings."""
    half = len(groups) // 2
    by_block: dict[int, list[float]] = {}
    for below, above in zip(groups[:half], groups[half:], strict=True):
        other = {cell["block"]: rate(cell) for cell in above}
        for cell in below:
            by_block.setdefault(cell["block"], []).append(log(other[cell["block"]] / rate(cell)))
    return exp(median(fmean(logs) for logs in by_block.values()))


def test_a_ratio_is_the_median_over_blocks_of_the_mean_over_the_settings_it_names() -> None:
    shown = in_table("ratio")
    counts = []
    for one in shown:
        groups = named_cells(one.attributes["data-cells"], cells())
        counts.append(len(groups))
        ratio = ratio_of_ratios(groups) if len(groups) == 4 else mean_ratio(groups)
        assert first_number(one.text) == pytest.approx(ratio, abs=steps_of(one.text))
    first_screen = [22] * 5 + [2] * 8  # over all eleven settings, then the bars of eight settings
    assert counts[:73] == first_screen + [22] * 5 + [2] * 11 * 5
    one_more = [2] * 4 + [4]  # a second value under each runtime, then how the step between first and last changes
    two_more = [2] * 8 + [4]
    of_the_seed = [2] * (4 * 4 + 3)  # four findings on values under each runtime, and three on runtimes
    assert sorted(counts[73:]) == sorted(one_more * 3 + two_more * 2 + of_the_seed)


def ratio_of_ratios(groups: Sequence[Cells]) -> float:
    """Of both runtimes at the first value, then of both at the last."""
    first_before, last_before, first_after, last_after = groups
    logs = []
    for cell in first_before:
        of_block = [
            next(rate(other) for other in some if other["block"] == cell["block"])
            for some in (last_before, first_after, last_after)
        ]
        logs.append(log(of_block[2] / of_block[0]) - log(of_block[1] / rate(cell)))
    return exp(median(logs))


def test_the_numbers_of_the_verdict_are_those_of_the_cells_that_its_clauses_name() -> None:
    clauses = with_attribute(found(), "data-figure", "verdict")
    assert len(clauses) == 1
    for one in clauses:
        ratio = mean_ratio(named_cells(one.attributes["data-cells"], cells()))
        told = re.findall(r"(?<![.\d])\d+\.\d\d(?!\d)(?=x [\[(])", one.text)
        assert [float(text) for text in told] == [pytest.approx(ratio, abs=0.0051)], one.text


def test_a_ratio_of_a_bar_is_that_of_its_cells() -> None:
    shown = [one for one in with_attribute(found(), "data-figure", "ratio_to_first") if one.name == "td"]
    assert len(shown) == 55
    for one in shown:
        groups = named_cells(one.attributes["data-cells"], cells())
        assert first_number(one.text) == pytest.approx(mean_ratio([groups[0], groups[-1]]), abs=0.0051)


def test_the_line_of_a_cell_has_its_own_figures() -> None:
    cell = record_with_aa().cells[7]
    start = found().index(with_attribute(found(), "id", line_id(cell))[0])
    wall = next(one for one in found()[start:] if one.attributes.get("data-figure") == "wall_s")
    assert wall.attributes["data-raw"] == str(cell.wall_ns)
    assert float(wall.text) == pytest.approx(cell.wall_ns / 1e9, abs=6e-4)
