"""One drawing of a panel for the page and for the files of plots/."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.languages import ENGLISH, language
from reports.document import Figure
from reports.render.figures import page_panels, sheet
from reports.render.panels import spread
from tests.reports.render.test_hostile import document
from tests.tables import each_row


def figure(panels: int) -> Figure:
    (one,) = document("A title | <&> so long that it takes more than a single line of its panel").sections[0].figures
    return replace(one, key="sample", panels=[*one.panels] * panels)


def test_a_page_has_its_own_colours_its_own_letters_and_no_second_element_of_an_id() -> None:
    svg = "".join(page_panels(figure(2), ENGLISH))
    assert "var(--r0)" in svg
    assert not re.search(r"#[0-9a-f]{6}[^0-9a-f]", re.sub(r'(?:id|href)="[^"]*"|url\([^)]*\)', "", svg))
    assert "font-family" not in svg
    ids = re.findall(r' id="([^"]*)"', svg)
    assert len(ids) == len(set(ids))


def test_files_are_whole_and_the_same_each_time() -> None:
    """In Chinese; test_hostile.py has English ones."""
    made, chinese = figure(4), language("zh")
    svg = sheet(made, page_panels(made, chinese), chinese)
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall("{*}svg")) == 4
    assert "var(--" not in svg
    assert sheet(made, page_panels(made, chinese), chinese) == svg


@each_row
def test_names_are_moved_apart_stay_in_order_and_within_the_plot(places: Sequence[float], moved: list[float]) -> None:
    assert spread(places, 0.1) == pytest.approx(moved)
