"""The page of several runs: its figures, what must not be compared, and how many runs it takes."""

import re
from dataclasses import replace

import pytest

from core.errors import BadInput
from core.languages import ENGLISH
from core.method import Method
from core.result import Run
from reports.render import html
from reports.several import side_by_side
from reports.view import View
from tests.reports.contestants import TITLES as CONTESTANTS
from tests.reports.contestants import blocks_of, contest_run
from tests.reports.reading import elements, expect_whole, named_cells, stored_cells, with_attribute
from tests.reports.sample import run_of
from tests.reports.several.trio import one_run, trio


def page_of(*views: View) -> str:
    return html.page(side_by_side(views), ENGLISH)


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(*trio())


def lines_of(made: str, key: str) -> list[list[str]]:
    """The texts of the cells of each line of a figure."""
    figure = made.partition(f'id="{key}"')[2].partition("</figure>")[0]
    lines = re.findall(r"<tr>(.*?)</tr>", figure.partition("</thead>")[2], re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", one).replace("\xa0", " ") for one in re.findall(r"<t[hd].*?</t[hd]>", line)]
        for line in lines
    ]


def test_the_same_step_of_all_runs_stands_together_with_ratios_one_can_work_out(page: str) -> None:
    """A: 4.004/2.004 s is 2.00; B: 4.004/3.004 s is 1.33; C: 8.004/4.004 s is 2.00."""
    lines = lines_of(page, "forest")
    assert [line[0] for line in lines] == ["A 2026-05-01", "B 2026-05-02", "C 2026-05-03"]
    assert [line[2].split()[0] for line in lines] == ["2.00", "1.33", "2.00"]


def test_figures_name_cells_that_are_in_result_json(page: str) -> None:
    stored = {letter: stored_cells(view.run) for letter, view in zip("ABC", trio(), strict=True)}
    named = {
        group for one in with_attribute(elements(page), "data-cells") for group in one.attributes["data-cells"].split()
    }
    counts = {group: len(named_cells(group[2:], stored[group[0]])[0]) for group in named}
    assert len(counts) == 8  # two arms of one setting, and of two in B
    assert set(counts.values()) == {7}


def test_the_page_needs_nothing_else_and_its_links_lead_somewhere(page: str) -> None:
    expect_whole(page)


def timed() -> Run:
    run = one_run(4, 1000, 1000)
    run.plan["method"] = Method(duration_s=1.0).to_json()
    return run


def old() -> Run:
    run = one_run(5, 1000, 1000)
    return replace(run, machine={}, runtimes={name: {"version": "3.14.0"} for name in run.runtimes})


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (run_of([], runtimes=["3.14"]), "No two of these runs measured a setting"),
        (timed(), "the duration in seconds: 1.0 (A); none (B)"),
        (old(), "the CPU model: unknown (A); Sample CPU (B)"),
        (contest_run(blocks_of("echo-libuv", 20_000), view="echo"), "No two of these runs compared the same runtimes"),
    ],
    ids=["nothing measured", "timed", "of an old version", "of another kind"],
)
def test_whatever_a_run_holds_there_is_a_page(run: Run, says: str) -> None:
    made = page_of(View(run, CONTESTANTS), trio()[0])
    texts = " ".join(one.text for one in elements(made) if one.name == "section")
    assert says in texts
    assert "run-of-day-1" in texts


def test_a_setting_that_one_run_alone_has_is_left_to_its_own_page(page: str) -> None:
    assert "System 2" not in page.partition('<section id="comparisons">')[2]
    assert page_of(trio()[1], trio()[1]).count("System 2") > 2


def apart(*places: int) -> tuple[str, list[str], list[str]]:
    """Of runs of the trio: what may be compared, what forbids it, what else differs."""
    sections = side_by_side([trio()[place] for place in places]).sections
    (section,) = [section for section in sections if section.key == "apart"]
    may, *obstacles = map(str, section.sentences)
    return may, obstacles, list(map(str, section.parts[0].sentences))


def test_which_runs_may_be_compared_is_said_first() -> None:
    assert apart(0, 1)[0].endswith("their completion times may be compared.")
    assert "only within these groups of runs: A, B." in apart(0, 1, 2)[0]
    assert apart(0, 2)[0].startswith("Completion times of different runs must not be compared")


def test_runs_that_agree_have_nothing_to_say() -> None:
    assert apart(0, 0)[1:] == ([], [])


@pytest.mark.parametrize("count", [0, 1, 27])
def test_a_page_takes_two_to_twenty_six_runs(count: int) -> None:
    with pytest.raises(BadInput, match=f"{count} runs were named, but one page compares 2 to 26"):
        side_by_side([trio()[0]] * count)
