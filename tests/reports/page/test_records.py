"""The record of systems on the page: its headline, its standings, and the cells of each line and setting."""

from typing import Any

from core.result import Run
from reports.page.build import page
from reports.page.records import Chapter, record_chapter
from reports.page.texts import TEXTS
from reports.page.traces import of_cells
from reports.rows.view import view_of
from tests.reports.contestants import TITLES, blocks_of, contest_run
from tests.reports.page.reading import elements, record_view, with_attribute

LIBUV, UVLOOP, NETTY = "libuv (C)", "uvloop (Python over libuv), 3.14t", "Netty (Java)"


def chapter(run: Run, lang: str = "en") -> Chapter:
    found = record_chapter(view_of(run, TITLES), TEXTS[lang], lang)
    assert found is not None
    return found


def three(**params: Any) -> Run:
    return contest_run(
        blocks_of("echo-libuv", 20_000, **params),
        blocks_of("echo-netty", 15_000, **params),
        blocks_of("echo-uvloop", 10_000, runtime="3.14t", **params),
    )


def test_the_headline_is_the_first_the_second_and_the_last_with_the_cells_of_each() -> None:
    run = three()
    (sentence,) = chapter(run).headline
    assert sentence.text == (
        f"{LIBUV} is first with 20,000 requests/s, then {NETTY} with 15,000; {UVLOOP} is last with 10,000."
    )
    told = {one.text: one.cells for one in sentence.pieces if one.cells}
    cells = {"20,000": run.cells[:3], "15,000": run.cells[3:6], "10,000": run.cells[6:]}
    assert told == {text: of_cells(some) for text, some in cells.items()}


def test_two_are_first_and_second_and_one_is_first() -> None:
    two = contest_run(blocks_of("echo-libuv", 20_000), blocks_of("echo-uvloop", 10_000, runtime="3.14t"))
    assert chapter(two).headline[0].text == f"{LIBUV} is first with 20,000 requests/s, then {UVLOOP} with 10,000."
    assert chapter(contest_run(blocks_of("echo-libuv", 20_000))).headline[0].text == (
        f"{LIBUV} is first with 20,000 requests/s."
    )


def test_the_page_begins_with_it_and_keeps_the_list_for_the_chapter() -> None:
    found = elements(page(view_of(three(), TITLES)))
    answer = next(one.text for one in found if one.attributes.get("class") == "answer")
    assert answer.startswith(f"{LIBUV} is first with 20,000 requests/s")
    assert "record" in [one.attributes["id"] for one in found if one.name == "section"]


def test_a_setting_names_its_own_cells_and_none_of_another_setting() -> None:
    sizes = [three(MESSAGE_BYTES=size) for size in (1000, 10_000)]
    run = contest_run(sizes[0].cells, sizes[1].cells)
    for table, one in zip(chapter(run).tables, sizes, strict=True):
        named = [line[0].cells for line in table.groups[0].lines]
        assert named == [of_cells(one.cells[start : start + 3]) for start in (0, 3, 6)]
        assert all(datum.cells == line[0].cells for line in table.groups[0].lines for datum in line)


def test_several_settings_are_a_table_of_standings() -> None:
    run = contest_run(three(MESSAGE_BYTES=1000).cells, three(MESSAGE_BYTES=10_000).cells)
    made = chapter(run)
    assert made.headline == ()
    assert made.standings is not None
    assert [group.head for group in made.standings.groups] == ["MESSAGE_BYTES 1000", "MESSAGE_BYTES 10000"]
    expected = [["First", LIBUV, "20,000"], ["Second", NETTY, "15,000"], ["Last", UVLOOP, "10,000"]]
    for group in made.standings.groups:
        assert [[one.text for one in line] for line in group.lines] == expected


def test_contestants_lead_to_their_cells() -> None:
    run = three()
    found = elements(page(view_of(run, TITLES)))
    leads = {one.text: one.attributes["data-show"] for one in with_attribute(found, "data-show")}
    assert leads[LIBUV] == of_cells(run.cells[:3])
    assert leads[UVLOOP] == of_cells(run.cells[6:])


def test_what_is_absent_leads_nowhere_and_what_was_measured_does() -> None:
    run = contest_run(blocks_of("echo-libuv", 20_000), absent={("echo-netty", "native"): "not built: needs mvn"})
    leads = {one.text.startswith("Not measured"): one.pieces[0].cells for one in chapter(run).sentences}
    assert leads == {True: "", False: of_cells(run.cells)}


def test_runtimes_side_by_side_have_no_record() -> None:
    assert record_chapter(record_view(), TEXTS["en"], "en") is None
