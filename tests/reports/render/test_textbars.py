"""Bars of text, in eighths of a character or in ASCII."""

import pytest

from reports.render.textbars import bar


@pytest.mark.parametrize(("share", "text"), [(0, ""), (0.5, "####"), (1, "########"), (0.001, "#"), (-1, "")])
def test_without_unicode_it_is_made_of_number_signs(share: float, text: str) -> None:
    assert bar(share, 8, unicode=False) == text
