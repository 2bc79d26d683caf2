"""The tables of result.md are made from the docstrings of the types that decode the file, and name all their keys."""

import os
import re
from inspect import cleandoc
from typing import Any

import pytest

from core import record
from core.method import Method
from core.result import CellResult, Run
from core.saved import Machine, MachineFacts, SavedPlan
from tests.docs.pages import DOCS

PAGE = DOCS / "result.md"
BY_KIND = {
    "A profile by perf": (record.PerfProfile,),
    "A profile by memory": (record.MemoryProfile,),
    "A profile by python": (record.PythonProfile,),
    "A profile by locks": (record.LocksProfile,),
}
TABLES: dict[str, tuple[type[Any], ...]] = {  # by the heading above the table
    "The run": (Run,),
    "A cell": (CellResult,),
    "A histogram": (record.Summary,),
    "Slow requests": (record.Slow,),
    "A client": (record.Client, record.Usage),
    "A service": (record.Service, record.ServiceLine, record.Usage),
    "The plan": (SavedPlan,),
    "The method": (Method,),
    "The machine": (MachineFacts, Machine),
    "A window": (record.Window,),
    "A runtime": (record.RuntimeFacts,),
    "A comparison": (record.Comparison, record.Ratio),
    "A profile": (record.Profile,),
    **BY_KIND,
    "A hot function": (record.HotFunction,),
}
ELSEWHERE = {"A profile": {key for (kind,) in BY_KIND.values() for key in kind.__annotations__}, "The run": {"damaged"}}
OF_THE_TEXT = {"order", "checksum"}


def described(heading: str) -> list[tuple[list[str], str]]:
    """Keys that stand together in the docstrings, and what they mean."""
    texts = [paragraph for kind in TABLES[heading] for paragraph in cleandoc(kind.__doc__ or "").split("\n\n")[1:]]
    entries = [" ".join(entry.split()) for text in texts for entry in re.split(r"\n(?! )", text)]
    found = [re.fullmatch(r"([a-z0-9_, ]+): (.*)", entry) for entry in entries]
    return [(one[1].split(", "), one[2]) for one in found if one]


@pytest.mark.parametrize("heading", TABLES)
def test_a_table_names_every_key_of_the_record_with_its_meaning(heading: str) -> None:
    """GOLDEN=update, which `make golden` sets, makes the table anew."""
    rows = described(heading)
    declared = {key for kind in TABLES[heading] for key in kind.__annotations__} - ELSEWHERE.get(heading, set())
    assert {key for keys, _ in rows for key in keys} - OF_THE_TEXT == declared
    lines = "".join(f"| {', '.join(f'`{key}`' for key in keys)} | {meaning} |\n" for keys, meaning in rows)
    top = rf"(^#+ {heading}\n(?:(?!\|).*\n)*\| key \| what it is \|\n\|---\|---\|\n)(?:\|.*\n)*"
    page = PAGE.read_text()
    made = re.sub(top, lambda found: found[1] + lines, page, count=1, flags=re.MULTILINE)
    if os.environ.get("GOLDEN") == "update":
        PAGE.write_text(made)
    assert made == PAGE.read_text(), "make golden makes the tables anew"
    assert lines in made
