"""What the page's own plots show: places by hand, no mark off its scale, nothing where nothing was measured."""

import re
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest

from reports.page.forest import forest, span
from reports.page.settings import Settings
from reports.page.stacks import stacks
from reports.page.texts import TEXTS
from reports.page.traces import Traces
from reports.page.waterfall import waterfall
from reports.rows.comparisons import OVER_ALL, Comparison
from reports.rows.view import View, view_of
from tests.reports.page.reading import record_view
from tests.reports.sample import MS, cell_of, measured, run_of

WORDS = TEXTS["en"]


def one(step: str, ratio: float | None, **given: Any) -> Comparison:
    ends = {
        "version": ("3.11", "3.14"),
        "build": ("3.14", "3.14t+gil"),
        "lock": ("3.14t+gil", "3.14t"),
        "whole": ("3.11", "3.14t"),
        "aa": ("3.14t", "3.14t again"),
    }
    return Comparison(
        **{
            "system": "2",
            "params": {},
            "denominator": ends[step][0],
            "numerator": ends[step][1],
            "step": step,
            "ratio": ratio,
            "low": ratio and ratio * 0.9,
            "high": ratio and ratio * 1.1,
            "p": 0.01,
            "verdict": "faster",
            "why": "the reason",
            **given,
        }
    )


STEPS = (one("version", 1.25), one("build", 0.8), one("lock", 2.0), one("whole", 2.1))


@pytest.fixture(scope="module")
def view() -> View:
    return view_of(run_of([measured(cell_of("2", "3.11"), 1, [2000 * MS])], runtimes=["3.11"]))


def settings(view: View) -> Settings:
    return Settings(view, WORDS, {})


def places(drawing: object, name: str) -> list[float]:
    return [float(value) for value in re.findall(rf' {name}="(-?[\d.]+)%"', str(drawing))]


def test_every_bar_of_a_waterfall_begins_where_the_one_before_ended(view: View) -> None:
    """1 x 1.25 x 0.8 x 2 = 2; the whole way as measured is 2.1."""
    (group,) = waterfall(STEPS, settings(view), Traces(view), WORDS).groups
    assert [line[3].text for line in group.lines] == ["1.00", "1.25", "1.00", "2.00", "2.10"]
    assert [line[2].text for line in group.lines] == ["", "× 1.25", "× 0.80", "× 2.00", "× 2.10"]
    bars = [re.search(r'<rect x="([\d.]+)%" width="([\d.]+)%"', str(line[1].drawing)) for line in group.lines]
    ends = [(float(bar[1]), float(bar[1]) + float(bar[2])) for bar in bars if bar]
    assert ends[0][0] == ends[4][0] == 0
    assert ends[0][1] == pytest.approx(ends[1][0], abs=0.02)
    assert ends[1] == pytest.approx((ends[2][0], ends[2][1]), abs=0.02)
    assert ends[3][0] == pytest.approx(ends[0][1], abs=0.02)


def test_a_system_of_several_settings_shows_their_geometric_mean(view: View) -> None:
    """The square root of 2 x 8 is 4."""
    some = [one("lock", 2.0, params={"X": 1}), one("lock", 8.0, params={"X": 2}), one("lock", 99.0, system=OVER_ALL)]
    (group,) = waterfall(some, settings(view), Traces(view), WORDS).groups
    assert group.lines[1][2].text == "× 4.00"


def test_a_system_without_ratios_has_no_waterfall(view: View) -> None:
    assert not waterfall([one("lock", None, verdict="invalid")], settings(view), Traces(view), WORDS)


def test_the_forest_has_what_is_over_all_settings_first_and_nothing_off_its_scale(view: View) -> None:
    wide = one("lock", 1.5, low=1e-6, high=1e6, verdict="inconclusive")
    made = forest([*STEPS, wide, one("lock", 1.2, system=OVER_ALL)], settings(view), Traces(view), WORDS, "en")
    assert [group.head for group in made.groups] == [WORDS["all_settings"], "System 2"]
    drawings = [line[1].drawing for group in made.groups for line in group.lines]
    every = [place for drawing in drawings for name in ("x1", "x2", "cx", "x") for place in places(drawing, name)]
    assert every
    assert 0 <= min(every) <= max(every) <= 100


def test_a_ratio_of_one_stands_on_the_line_of_no_change(view: View) -> None:
    made = forest([one("lock", 1.0, verdict="equivalent", noise_floor=0.05)], settings(view), Traces(view), WORDS, "en")
    drawing = str(made.groups[0].lines[0][1].drawing)
    unity = re.search(r'<line x1="([\d.]+)%"[^>]*class="unity"', drawing)
    assert unity is not None
    assert places(drawing, "cx") == [float(unity[1])]
    assert 'class="band"' in drawing


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "1.31 [1.18, 1.44]"),
        ({"low": None, "high": None}, "1.31"),
        ({"ratio": None, "low": None, "high": None}, "-"),
    ],
)
def test_a_ratio_is_told_with_its_interval_where_there_is_one(given: dict[str, Any], text: str) -> None:
    assert span(replace(one("lock", 1.31), **given)).replace("\N{NO-BREAK SPACE}", " ") == text


def test_the_pieces_of_a_request_follow_each_other() -> None:
    view = record_view()
    made = stacks(settings(view), WORDS)
    drawing = made.groups[0].lines[0][1].drawing
    starts, widths = places(drawing, "x"), places(drawing, "width")[1:]
    assert starts == pytest.approx([0.0, *accumulate(widths[:-1])], abs=0.05)
    assert starts[-1] + widths[-1] <= 100.05
