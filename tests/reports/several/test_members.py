"""The runs of one page: how many, their letters, and what of them is the same."""

from dataclasses import replace

import pytest

from core.errors import BadInput
from reports.rows.pairs import OVER_ALL
from reports.several import Member, side_by_side
from tests.reports.several.trio import trio


def test_runs_are_named_by_letters_in_their_order_and_look_each_their_own_way() -> None:
    heads = [line[0] for line in side_by_side(trio()).sections[0].tables[0].lines]
    assert [str(head.words) for head in heads] == ["A: run-of-day-1", "B: run-of-day-2", "C: run-of-day-3"]
    assert len({head.look for head in heads}) == 3


def test_the_name_of_a_cell_begins_with_the_letter_of_its_run() -> None:
    assert Member("B", 1, trio()[1]).cells("3.14t-1-x 3.14-1-y") == "B/3.14t-1-x B/3.14-1-y"


def test_what_is_over_all_settings_is_the_same_thing_only_where_the_settings_are() -> None:
    second = Member("B", 1, trio()[1])
    over_all = next(one for one in second.view.comparisons if one.system == OVER_ALL)
    fewer = replace(over_all, settings=over_all.settings[:1])
    assert len(over_all.settings) == 2
    assert second.setting(over_all) == second.setting(replace(over_all, settings=over_all.settings[::-1]))
    assert second.setting(over_all) != second.setting(fewer)


@pytest.mark.parametrize("count", [0, 1, 27])
def test_a_page_takes_two_to_twenty_six_runs(count: int) -> None:
    with pytest.raises(BadInput, match=f"{count} runs were named for one page; it takes 2 to 26"):
        side_by_side([trio()[0]] * count)
