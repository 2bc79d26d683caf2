"""Every figure of the page leads to cells of result.json, and is what these say."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from statistics import median
from typing import Any

import pytest

from reports.page.build import page
from reports.page.traces import line_id, slug
from tests.reports.page.reading import (
    Element,
    elements,
    named_cells,
    record_view,
    record_with_aa,
    stored_cells,
    with_attribute,
)

Cells = Sequence[Mapping[str, Any]]


@pytest.fixture(scope="module")
def found() -> list[Element]:
    return elements(page(record_view()))


@pytest.fixture(scope="module")
def cells() -> list[dict[str, Any]]:
    return stored_cells(record_with_aa())


def completion_s(cell: Mapping[str, Any]) -> float:
    return float(median(one["completion_ns"] for one in cell["clients"]) / 1e9)


def each_us(side: str, key: str) -> Callable[[Cells], float]:
    return lambda some: median(sum(one[key] for one in cell[side]) / cell["requests"] / 1e3 for cell in some)


OF_ONE_GROUP: Mapping[str, Callable[[Cells], float]] = {
    "completion_s": lambda some: median(map(completion_s, some)),
    "completion_max_s": lambda some: median(
        max(one["completion_ns"] for one in cell["clients"]) / 1e9 for cell in some
    ),
    "requests_per_s": lambda some: median(cell["requests"] * 1e9 / cell["wall_ns"] for cell in some),
    "service_user": each_us("services", "cpu_user_ns"),
    "service_system": each_us("services", "cpu_system_ns"),
    "client_user": each_us("clients", "cpu_user_ns"),
    "client_system": each_us("clients", "cpu_system_ns"),
    "memory services": lambda some: median(
        sum(one["max_rss_bytes"] for one in cell["services"]) / 2**20 for cell in some
    ),
    "latency count": lambda some: sum(cell["latency"]["count"] for cell in some),
}


def first_number(text: str) -> float:
    return float(text.split(maxsplit=1)[0].replace(",", ""))


def steps_of(text: str) -> float:
    """Half of the last digit that *text* gives."""
    number = text.split(maxsplit=1)[0]
    return 0.51 * 10.0 ** -len(number.partition(".")[2])


@pytest.mark.parametrize("figure", OF_ONE_GROUP)
def test_a_figure_is_the_median_over_the_cells_it_names(figure: str, found: Sequence[Element], cells: Cells) -> None:
    shown = [one for one in with_attribute(found, "data-figure", figure) if "data-cells" in one.attributes]
    assert len(shown) >= 44
    for one in shown:
        (some,) = named_cells(one.attributes["data-cells"], cells)
        assert len(some) == 3
        assert first_number(one.text) == pytest.approx(OF_ONE_GROUP[figure](some), abs=steps_of(one.text))


def test_a_ratio_is_the_median_of_the_ratios_of_the_blocks_it_names(found: Sequence[Element], cells: Cells) -> None:
    shown = [one for one in with_attribute(found, "data-figure", "ratio") if "*" not in one.attributes["data-cells"]]
    assert len(shown) == 11 * 5
    for one in shown:
        below, above = named_cells(one.attributes["data-cells"], cells)
        by_block = {cell["block"]: completion_s(cell) for cell in above}
        ratios = [log(completion_s(cell) / by_block[cell["block"]]) for cell in below]
        assert first_number(one.text) == pytest.approx(exp(median(ratios)), abs=steps_of(one.text))


def test_a_mean_over_all_settings_names_all_cells_of_both_arms(found: Sequence[Element], cells: Cells) -> None:
    shown = [one for one in with_attribute(found, "data-figure", "ratio") if "*" in one.attributes["data-cells"]]
    assert [one.attributes["data-cells"].split() for one in shown][:2] == [
        ["3.14t-*", "3.14t_again-*"],
        ["3.11-*", "3.14-*"],
    ]
    assert [len(some) for some in named_cells("3.14t-* 3.14t_again-* 3.14t+gil-*", cells)] == [33, 33, 33]


def test_all_that_names_cells_names_cells_that_are_on_the_page(found: Sequence[Element], cells: Cells) -> None:
    ids = {one.attributes["id"] for one in with_attribute(found, "id")}
    assert {line_id(cell) for cell in record_with_aa().cells} <= ids
    for name in ("data-cells", "data-show"):
        for one in with_attribute(found, name):
            groups = named_cells(one.attributes[name], cells)
            assert groups
            assert all(groups), one.attributes[name]


def test_every_verdict_clause_names_its_cells(found: Sequence[Element]) -> None:
    clauses = with_attribute(found, "data-figure", "verdict")
    assert clauses[0].attributes["data-cells"] == "3.14t+gil-* 3.14t-*"
    assert len(clauses) == 4


def test_the_line_of_a_cell_has_its_own_figures(found: Sequence[Element]) -> None:
    cell = record_with_aa().cells[7]
    start = found.index(with_attribute(found, "id", line_id(cell))[0])
    wall = next(one for one in found[start:] if one.attributes.get("data-figure") == "wall_s")
    assert wall.attributes["data-raw"] == str(cell.wall_ns)
    assert float(wall.text) == pytest.approx(cell.wall_ns / 1e9, abs=6e-4)


def test_ids_have_no_blanks() -> None:
    assert slug("3.14t again") == "3.14t_again"
