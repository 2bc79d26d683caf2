"""Every figure of a report names cells of result.json, and is what these say."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import exp, log
from statistics import fmean, median

import pytest

from core.histogram import Histogram
from record.saved_run import CellResult
from reports.document import Datum, Section, Traced
from reports.write import report
from tests.reports.reading import (
    elements,
    named_cells,
    page_of,
    record_view,
    record_with_aa,
)

Cells = Sequence[CellResult]


@cache
def sections() -> Sequence[Section]:
    return report(record_view()).sections


def data_of(sections: Sequence[Section]) -> Iterator[Datum]:
    for section in sections:
        drawn = [figure.table for figure in section.figures if figure.table]
        for table in (*section.tables, *drawn):
            for line in table.lines:
                yield from line
        yield from data_of(section.parts)


def shown(figure: str) -> list[Datum]:
    """The numbers of the report's tables that name the cells of this figure."""
    return [one for one in data_of(sections()) if one.figure == figure and one.cells and one.value is not None]


def test_the_page_of_a_record_needs_nothing_else_is_small_and_its_plots_have_a_text_alternative() -> None:
    html = page_of(record_view())
    found = elements(html)
    ids = [one.attributes["id"] for one in found if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    targets = {one.attributes["href"] for one in found if "href" in one.attributes}
    assert targets - {"data:,"} <= {f"#{one}" for one in ids}
    assert re.findall(r"url\((?!#)|@import|https?://| src=", html) == []
    assert len(html.encode()) < 3_000_000
    drawings = [one for one in found if one.name == "svg" and one.attributes.get("role") == "img"]
    assert len(drawings) > 100
    assert all(one.attributes.get("aria-label") for one in drawings)


def rate(cell: CellResult) -> float:
    return float(cell.answered * 1e9 / cell.wall_ns)


def each_us(side: str, key: str) -> Callable[[Cells], float]:
    def mean_us(cell: CellResult) -> float:
        total_ns: int = sum(getattr(process, key) for process in getattr(cell, side))
        return total_ns / cell.requests / 1e3

    return lambda some: median(map(mean_us, some))


def percentile_ns(share: float) -> Callable[[Cells], float]:
    """Of all requests of the cells."""

    def quantile(some: Cells) -> float:
        every = Histogram()
        for cell in some:
            every.merge(cell.latency)
        return every.quantile(share)

    return quantile


OF_ONE_GROUP: Mapping[str, Callable[[Cells], float]] = {
    "completion_max_ns": lambda some: median(max(one.completion_ns for one in cell.clients) for cell in some),
    "requests_per_s": lambda some: median(map(rate, some)),
    "service_cpu_user_ns": each_us("services", "cpu_user_ns"),
    "client_cpu_system_ns": each_us("clients", "cpu_system_ns"),
    "memory services": lambda some: median(sum(one.max_rss_bytes or 0 for one in cell.services) for cell in some),
    "calc_ns": lambda some: median(cell.calc_ns / cell.answered / 1e3 for cell in some),
    "waiting_mean_ns": lambda some: median(cell.waiting.mean_ns / 1e3 for cell in some),
    "latency count": lambda some: sum(cell.latency.count for cell in some),
    **{f"latency p{share}": percentile_ns(share / 100) for share in (50, 90, 99)},
}


@pytest.mark.parametrize("figure", OF_ONE_GROUP)
def test_a_figure_is_the_median_over_the_cells_it_names(figure: str) -> None:
    assert len(shown(figure)) >= 44
    for one in shown(figure):
        (some,) = named_cells(one.cells, record_with_aa().cells)
        assert len(some) == 3
        assert one.value == pytest.approx(OF_ONE_GROUP[figure](some))


def mean_ratio(groups: Sequence[Cells]) -> float:
    """Of groups, the denominators before the numerators: the median over the blocks of the mean over the settings."""
    half = len(groups) // 2
    by_block: dict[int, list[float]] = {}
    for below, above in zip(groups[:half], groups[half:], strict=True):
        other = {cell.block: rate(cell) for cell in above}
        for cell in below:
            by_block.setdefault(cell.block, []).append(log(other[cell.block] / rate(cell)))
    return exp(median(fmean(logs) for logs in by_block.values()))


def ratio_of_ratios(groups: Sequence[Cells]) -> float:
    """Of both runtimes at the first value, then of both at the last."""
    rates = [{cell.block: rate(cell) for cell in group} for group in groups]
    first_before, last_before, first_after, last_after = rates
    changes = [
        last_after[block] * first_before[block] / first_after[block] / last_before[block] for block in first_before
    ]
    return median(changes)


def test_a_ratio_is_the_median_over_blocks_of_the_mean_over_the_settings_it_names() -> None:
    counts = set()
    for one in shown("ratio"):
        groups = named_cells(one.cells, record_with_aa().cells)
        counts.add(len(groups))
        ratio = ratio_of_ratios(groups) if len(groups) == 4 else mean_ratio(groups)
        assert one.value == pytest.approx(ratio)
    assert counts == {22, 2, 4}  # over all eleven settings, at one setting, and of a ratio at two values
    assert len(shown("ratio_to_first_runtime")) == 55
    for one in shown("ratio_to_first_runtime"):
        groups = named_cells(one.cells, record_with_aa().cells)
        assert one.value == pytest.approx(mean_ratio([groups[0], groups[-1]]))


def test_the_ratio_of_the_verdict_is_that_of_the_cells_that_it_names() -> None:
    (said,) = sections()[0].answer
    assert isinstance(said, Traced)
    ratio = mean_ratio(named_cells(said.cells, record_with_aa().cells))
    assert f"{ratio:.2f}x" in str(said)
