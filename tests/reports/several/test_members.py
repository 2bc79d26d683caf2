"""The runs of one page: how many, their letters, and what of them is the same."""

import pytest

from core.errors import BadInput
from reports.several import side_by_side
from tests.reports.several.trio import trio


@pytest.mark.parametrize("count", [0, 1, 27])
def test_a_page_takes_two_to_twenty_six_runs(count: int) -> None:
    with pytest.raises(BadInput, match=f"{count} runs were named, but one page compares 2 to 26"):
        side_by_side([trio()[0]] * count)
