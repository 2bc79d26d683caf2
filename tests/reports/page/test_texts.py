"""Every language says the same things, with the same figures in them."""

import re

import pytest

from reports.page.checks import CHECKS
from reports.page.gaps import GAPS
from reports.page.texts import TEXTS


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("catalogue", [TEXTS, CHECKS, GAPS], ids=["page", "checks", "gaps"])
def test_languages_have_the_same_keys_and_placeholders(catalogue: dict[str, dict[str, str]]) -> None:
    english = catalogue["en"]
    for other in catalogue.values():
        assert list(other) == list(english) or set(other) == set(english)
        assert [key for key in english if placeholders(other[key]) != placeholders(english[key])] == []


def test_no_key_is_a_method_of_a_mapping_which_templates_would_take_for_it() -> None:
    assert [key for key in TEXTS["en"] if hasattr(dict, key)] == []
