"""The lists of result.md are made from the docstrings of the types that decode the file, and name all their keys."""

import re
from dataclasses import fields, is_dataclass
from inspect import cleandoc
from textwrap import fill
from typing import Any

import pytest
from msgspec import Struct

from core import method, runtime
from record import child_lines as child
from record import comparison, result_parts
from record import saved_plan as plan
from record import saved_run as run
from tests.docs.pages import DOCS, expect, with_made

PAGE = DOCS / "result.md"
MODULES = (method, runtime, child, result_parts, comparison, plan, run)
KINDS: dict[str, Any] = {name: kind for module in MODULES for name, kind in vars(module).items()}
USED = {*child.ProcessUsage.__struct_fields__}  # which have a list of their own
NOT_HERE = {  # keys that are not in the list of that type, and why
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
    if issubclass(kind, Struct):
        return {*kind.__struct_fields__}
    return {one.name for one in fields(kind)} if is_dataclass(kind) else {*kind.__annotations__}


def with_list(text: str, names: str, entries: list[tuple[list[str], str]]) -> str:
    """Return the text of the page with *entries*, keys and their meaning, below `made from` *names*."""
    lines = ""
    for keys, meaning in entries:
        entry = f"- {', '.join(f'`{key}`' for key in keys)}: {meaning}"
        lines += fill(entry, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
    return with_made(text, names, lines)


@pytest.mark.parametrize("names", re.findall("<!-- made from (.*) -->", PAGE.read_text()))
def test_a_list_names_every_key_of_its_types_with_its_meaning(names: str) -> None:
    kinds = [KINDS[name] for name in names.split(", ")]
    entries = [entry for kind in kinds for entry in described(kind)]
    declared = {key for kind in kinds for key in keys_of(kind)} - NOT_HERE.get(names, set())
    assert {key for keys, _ in entries for key in keys} == declared
    expect(PAGE, with_list(PAGE.read_text(), names, entries))
