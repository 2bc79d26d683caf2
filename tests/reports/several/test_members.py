"""The runs of one page: how many, their letters, and which may be compared with which."""

from dataclasses import replace

import pytest
from reports.page.several.members import alike, letters, members
from reports.page.texts import TEXTS

from core.errors import BadInput
from reports.rows.comparisons import OVER_ALL
from tests.reports.several.trio import trio


def test_runs_are_named_by_letters_in_their_order_and_look_each_their_own_way() -> None:
    some = members(trio(), TEXTS["en"], {})
    assert [one.name for one in some] == ["A: run-of-day-1", "B: run-of-day-2", "C: run-of-day-3"]
    assert [one.date for one in some] == ["2026-05-01", "2026-05-02", "2026-05-03"]
    assert len({one.look.name for one in some}) == 3


def test_runs_of_one_machine_and_method_are_alike() -> None:
    assert [letters(some) for some in alike(members(trio(), TEXTS["en"], {}))] == ["A, B", "C"]


def test_the_name_of_a_cell_begins_with_the_letter_of_its_run() -> None:
    (_, second, _) = members(trio(), TEXTS["en"], {})
    assert second.cells("3.14t-1-x 3.14-1-y") == "B/3.14t-1-x B/3.14-1-y"


def test_what_is_over_all_settings_is_the_same_thing_only_where_the_settings_are() -> None:
    _, second, _ = members(trio(), TEXTS["en"], {})
    over_all = next(one for one in second.view.comparisons if one.system == OVER_ALL)
    fewer = replace(over_all, settings=over_all.settings[:1])
    assert len(over_all.settings) == 2
    assert second.setting(over_all) == second.setting(replace(over_all, settings=over_all.settings[::-1]))
    assert second.setting(over_all) != second.setting(fewer)


@pytest.mark.parametrize("count", [0, 1, 27])
def test_a_page_takes_two_to_twenty_six_runs(count: int) -> None:
    with pytest.raises(BadInput, match=f"{count} runs were named for one page; it takes 2 to 26"):
        members([trio()[0]] * count, TEXTS["en"], {})
