"""The ways through the code in architecture.md: every station exists, and none has more than it may have."""

import ast
import re

import pytest

from lab.places import REPOSITORY
from tests.docs.pages import DOCS

TEXT = (DOCS / "architecture.md").read_text()
WAYS = {
    heading: re.findall(r"^\d+\. `([\w/.]+)`: `([\w.]+)` ", body, re.MULTILINE)
    for heading, body in re.findall(r"^### (.* \(at most \d+\))\n\n((?:\d+\. .*\n)+)", TEXT, re.MULTILINE)
}


def names(path: str) -> set[str]:
    """The functions, classes, methods and imported names of a module, and what it assigns."""
    found = set()
    for node in ast.parse((REPOSITORY / path).read_text()).body:
        if isinstance(node, ast.ClassDef):
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            found |= {node.name, *(f"{node.name}.{method}" for method in methods)}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            found.add(ast.unparse(node.target))
    return found


def test_there_are_four_ways() -> None:
    assert len(WAYS) == 4


@pytest.mark.parametrize("heading", WAYS)
def test_each_station_exists_and_a_way_has_no_more_than_it_may(heading: str) -> None:
    stations = WAYS[heading]
    assert [station for station in stations if station[1] not in names(station[0])] == []
    assert 5 < len(stations) <= int(heading.rpartition(" ")[2].rstrip(")"))


def test_the_way_of_an_application_enters_no_room_of_the_laboratory_twice() -> None:
    (stations,) = (stations for heading, stations in WAYS.items() if heading.startswith("`--app`"))
    folders = [path.rpartition("/")[0] for path, _ in stations if path.startswith("lab/")]
    assert folders == sorted(folders, key=folders.index)
