"""Scales, ticks and elements, with answers by hand."""

import pytest

from reports.page.panels import LABEL_GAP, spread
from reports.page.svg import Html, Scale, path, percent, tag, text


def test_a_logarithmic_scale_has_equal_ratios_at_equal_distances() -> None:
    scale = Scale(low=0.25, high=4, is_log=True)
    assert [scale.at(value) for value in (0.25, 0.5, 1, 2, 4)] == pytest.approx([0, 25, 50, 75, 100])


def test_down_is_less_and_what_is_beyond_stands_at_the_end() -> None:
    scale = Scale(low=0, high=10, start=200, end=0)
    assert [scale.at(value) for value in (0, 5, 10, 11, -1)] == [200, 100, 0, 0, 200]


def test_a_scale_without_extent_puts_all_in_its_middle() -> None:
    assert Scale(low=3, high=3).at(3) == 50


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(low=0, high=1.37), [0, 0.25, 0.5, 0.75, 1, 1.25]),
        (Scale(low=0, high=9.4), [0, 2, 4, 6, 8]),
        (Scale(low=0.5, high=3, is_log=True), [0.5, 1, 2]),
        (Scale(low=40, high=90_000, is_log=True), [100, 300, 1000, 3000, 10_000, 30_000]),
        (Scale(low=0.9, high=1.1, is_log=True), [0.9, 0.95, 1, 1.05, 1.1]),
    ],
)
def test_ticks_are_round_and_few(scale: Scale, ticks: list[float]) -> None:
    assert scale.ticks() == pytest.approx(ticks)


def test_an_element_escapes_attributes_and_leaves_out_none() -> None:
    made = tag("a", text("<&>"), class_="x", data_cells='"', title=None, x=1.5)
    assert made == '<a class="x" data-cells="&quot;" x="1.5">&lt;&amp;&gt;</a>'
    assert isinstance(made, Html)


def test_lengths_are_short() -> None:
    assert [percent(value) for value in (50.0, 33.3333, 0.0, 100)] == ["50%", "33.33%", "0%", "100%"]


def test_a_path_is_in_thousandths_across() -> None:
    assert path([(0, 10), (50, 20.04)]) == "M0 10.0L500 20.0"


def test_names_are_moved_apart_and_stay_in_order() -> None:
    assert spread([10, 12, 100]) == [10, 10 + LABEL_GAP, 100]


def test_names_at_the_foot_are_moved_up() -> None:
    assert spread([205, 208, 209]) == [210 - 2 * LABEL_GAP, 210 - LABEL_GAP, 210]
