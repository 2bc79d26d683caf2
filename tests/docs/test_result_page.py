"""The tables of result.md are made from the docstrings of the types that decode the file, and name all their keys."""

import re
from dataclasses import fields, is_dataclass
from inspect import cleandoc
from typing import Any

import pytest

from core import method, runtime
from record import cell_parts, child, comparison, plan, profile, run
from tests.docs.pages import DOCS, expect, with_table

PAGE = DOCS / "result.md"
MODULES = (method, runtime, child, cell_parts, profile, comparison, plan, run)
KINDS: dict[str, Any] = {name: kind for module in MODULES for name, kind in vars(module).items()}
USED = {*child.ProcessUsage.__annotations__}  # which have a table of their own
NOT_HERE = {  # keys that are not in the table of that type, and why
    "ClientResult": USED,
    "ServiceResult, ServiceLine": USED,
    "Run": {"damaged", "folder"},  # no key of the file
    "Profile": {
        key for name in KINDS if name.endswith("Profile") and name != "Profile" for key in KINDS[name].__annotations__
    },
}


def described(kind: type[Any]) -> list[tuple[list[str], str]]:
    """Keys that stand together in the docstring, and what they mean."""
    paragraphs = cleandoc(kind.__doc__ or "").split("\n\n")[1:]
    entries = [" ".join(entry.split()) for text in paragraphs for entry in re.split(r"\n(?! )", text)]
    found = [re.fullmatch(r"([a-z0-9_, ]+): (.*)", entry) for entry in entries]
    return [(one[1].split(", "), one[2]) for one in found if one]


def keys_of(kind: type[Any]) -> set[str]:
    """The keys that *kind* declares, inherited ones included."""
    return {one.name for one in fields(kind)} if is_dataclass(kind) else {*kind.__annotations__}


@pytest.mark.parametrize("names", re.findall("<!-- made from (.*) -->", PAGE.read_text()))
def test_a_table_names_every_key_of_its_types_with_its_meaning(names: str) -> None:
    kinds = [KINDS[name] for name in names.split(", ")]
    rows = [row for kind in kinds for row in described(kind)]
    declared = {key for kind in kinds for key in keys_of(kind)} - NOT_HERE.get(names, set())
    assert {key for keys, _ in rows for key in keys} == declared
    table = [(", ".join(f"`{key}`" for key in keys), meaning) for keys, meaning in rows]
    expect(PAGE, with_table(PAGE.read_text(), names, table))
