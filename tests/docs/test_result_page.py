"""The tables of result.md are made from the docstrings of the types that decode the file, and name all their keys."""

import os
import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import pytest

from core import record
from core.method import Method
from core.result import CellResult, Run
from core.saved import Machine, MachineFacts, SavedPlan
from tests.docs.pages import DOCS

PAGE = DOCS / "result.md"
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
    "A profile by perf": (record.PerfProfile,),
    "A profile by memory": (record.MemoryProfile,),
    "A profile by python": (record.PythonProfile,),
    "A profile by locks": (record.LocksProfile,),
    "A hot function": (record.HotFunction,),
}
NO_FIELDS = {"order", "checksum"}  # of the file's text
NO_KEYS = {"damaged"}  # not saved


def described(kind: type[Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Keys that stand together in the docstring of *kind*, and what they mean."""
    for paragraph in cleandoc(kind.__doc__ or "").split("\n\n")[1:]:
        for entry in re.split(r"\n(?! )", paragraph):
            if found := re.fullmatch(r"([a-z0-9_, ]+): (.*)", " ".join(entry.split())):
                yield tuple(found[1].split(", ")), found[2]


def with_table(page: str, heading: str) -> str:
    """*page* with the first table under *heading* made anew."""
    lines = [f"| {', '.join(f'`{key}`' for key in keys)} | {said} |\n" for keys, said in rows(heading)]
    top = rf"(^#+ {re.escape(heading)}\n(?:(?!\|).*\n)*\| key \| what it is \|\n\|---\|---\|\n)(?:\|.*\n)*"
    made, count = re.subn(top, lambda found: found[1] + "".join(lines), page, flags=re.MULTILINE)
    assert count == 1
    return made


def rows(heading: str) -> list[tuple[tuple[str, ...], str]]:
    return [row for kind in TABLES[heading] for row in described(kind)]


def test_the_tables_are_those_of_the_record() -> None:
    """GOLDEN=update, which `make golden` sets, makes them anew."""
    now = PAGE.read_text()
    for heading in TABLES:
        now = with_table(now, heading)
    if os.environ.get("GOLDEN") == "update":
        PAGE.write_text(now)
    assert now == PAGE.read_text(), "make golden makes the tables anew"


@pytest.mark.parametrize("heading", TABLES)
def test_every_key_of_the_record_has_a_meaning(heading: str) -> None:
    declared = {key for kind in TABLES[heading] for key in kind.__annotations__}
    if heading == "A profile":
        declared = {*record.Profile.__annotations__} - {
            key for part, kinds in TABLES.items() if part.startswith("A profile by") for key in kinds[0].__annotations__
        }
    documented = [key for keys, _ in rows(heading) for key in keys]
    assert sorted({*documented} - NO_FIELDS) == sorted(declared - NO_KEYS)
