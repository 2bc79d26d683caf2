"""report.html in a real browser: nothing overflows, the table answers to keys, both schemes, print, accessibility."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Address
from tests.tables import each_row

Scheme = Literal["light", "dark"]
Opened = Callable[..., Page]

WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((one) => !one.closest(".scroll") && !one.closest(".skip") && !one.closest(".definitions"))
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1)
  .map((one) => one.tagName + " " + one.textContent.slice(0, 40))"""
COLUMN = """(column) => [...document.querySelectorAll("#cell-table tbody tr:not([hidden])")]
  .map((line) => line.cells[column].textContent.trim())"""
WIDTHS = (360, 800, 1600)
COMPLETION = 8  # runtime, system, block, four parameters that vary, status; then the figures


@pytest.fixture
def opened(browser: Browser, address: Address) -> Iterator[Opened]:
    """Opens a page at a width and in a scheme; fails if a script fails or the console tells of an error."""
    problems: list[str] = []
    contexts = []

    def open_(width: int = 1200, scheme: Scheme = "light", name: str = "record", is_folded: bool = False) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("requestfailed", lambda request: problems.append(request.url))
        page.goto(address(name))
        if not is_folded:
            page.evaluate("document.querySelectorAll('.folded > details').forEach((one) => { one.open = true; })")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


@each_row
def test_nothing_is_wider_than_the_window(name: str, opened: Opened) -> None:
    page = opened(name=name)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(WIDE) == []


def column(page: Page, number: int) -> list[str]:
    texts: list[str] = page.evaluate(COLUMN, number)
    return texts


def test_a_column_is_sorted_by_keyboard_both_ways_with_what_has_no_figure_last(opened: Opened) -> None:
    page = opened()
    head = page.locator("#cell-table thead th").nth(COMPLETION)
    head.locator("button").focus()
    sorted_by = []
    for key, order in (("Enter", "ascending"), ("Space", "descending")):
        page.keyboard.press(key)
        *texts, last = column(page, COMPLETION)
        assert (head.get_attribute("aria-sort"), last) == (order, "")
        sorted_by.append([float(text) for text in texts])
    up, down = sorted_by
    assert up == sorted(up) == down[::-1]
    assert page.locator("#cell-table [aria-sort]").count() == 1


def test_cells_are_filtered_by_keyboard_with_a_live_count(opened: Opened) -> None:
    page = opened()
    count = page.locator("#filter-count")
    assert count.text_content() == "165 of 165 cells"
    assert count.get_attribute("aria-live") == "polite"
    page.locator("#filter-text").focus()
    page.keyboard.type("failed")
    assert count.text_content() == "1 of 165 cells"
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "filter-system"
    page.keyboard.press("3")
    assert set(column(page, 1)) == {"3"}
    assert count.text_content() == "15 of 165 cells"
    page.locator("#filter-arm").select_option("3.14t+gil")
    assert (set(column(page, 0)), count.text_content()) == ({"3.14t+gil"}, "3 of 165 cells")
    page.locator("#filter-clear").press("Enter")
    page.wait_for_function("document.getElementById('filter-count').textContent === '165 of 165 cells'")


def test_a_link_unfolds_the_section_that_it_leads_to_and_a_figure_the_table_of_cells(opened: Opened) -> None:
    page = opened(is_folded=True)
    assert not page.locator("#machine table").first.is_visible()
    page.locator("nav a[href='#machine']").click()
    page.wait_for_function("document.querySelector('#machine > details').open")
    page.locator("h1 a").click()
    assert page.locator("#cell-table").is_visible()


LINKS = [
    ("#rows th a", 3, {"3.14t"}, 3),
    ("h1 a[data-figure=verdict]", 0, {"3.11", "3.14t"}, 2 * 3 * 10),  # a setting has a cell that failed
    ("#validity .checks a", 0, {"3.11"}, 3),  # the cells that did not pass
]


def test_a_figure_a_clause_of_the_verdict_and_a_check_lead_to_their_cells_by_keyboard(opened: Opened) -> None:
    page = opened()
    for link, number, arms, count in LINKS:
        page.locator(link).nth(number).press("Enter")
        assert (set(column(page, 0)), len(column(page, 0))) == (arms, count)
        assert page.evaluate("document.activeElement.id") == "filter-clear"
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelectorAll('#cell-table tbody tr:not([hidden])').length === 165")


def colour(page: Page, name: str) -> str:
    told: str = page.evaluate("(name) => getComputedStyle(document.body).getPropertyValue(name)", name)
    return told


def test_the_scheme_of_the_system_is_taken_but_print_is_light_without_controls_and_becomes_a_pdf(
    opened: Opened,
) -> None:
    page = opened(scheme="dark", name="small-zh")
    assert colour(page, "background-color") == "rgb(20, 23, 26)"
    page.emulate_media(media="print")
    assert colour(page, "background-color") == "rgb(255, 255, 255)"
    assert not page.locator("#filters").is_visible()
    assert not page.locator("nav").is_visible()
    made = page.pdf(format="A4")
    assert made.startswith(b"%PDF")
    assert len(made) < 3_000_000
    assert made.count(b"/Type /Page\n") > 2


def findings(page: Page, *rules: str) -> list[tuple[str, str, str]]:
    """What axe-core objects to, by all its rules or these: rule, impact and the first place. All tables are open."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
    found: list[dict[str, Any]] = Axe().run(page, options=options).response["violations"]
    return [(one["id"], one["impact"], one["nodes"][0]["html"][:120]) for one in found]


@each_row
def test_axe_finds_nothing(name: str, width: int, scheme: Scheme, rules: list[str], opened: Opened) -> None:
    assert findings(opened(width, scheme, name), *rules) == []
