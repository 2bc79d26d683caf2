"""The ways through the code in architecture.md: every station exists, and none has more than it may have."""

import re
from importlib import import_module

import pytest

from tests.docs.pages import DOCS

TEXT = (DOCS / "architecture.md").read_text()
WAYS = {
    heading: re.findall(r"^\d+\. `([\w/.]+)`: `([\w.]+)` ", body, re.MULTILINE)
    for heading, body in re.findall(r"^### (.* \(at most \d+\))\n\n((?:\d+\. .*\n)+)", TEXT, re.MULTILINE)
}


def declared(path: str, name: str) -> object:
    """Return what a module declares or imports by that name, or what the class of it declares itself."""
    found: object = import_module(path.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        found = vars(found)[part]
    return found


def test_there_are_four_ways() -> None:
    assert len(WAYS) == 4


@pytest.mark.parametrize("heading", WAYS)
def test_each_station_exists_and_a_way_has_no_more_than_it_may(heading: str) -> None:
    stations = WAYS[heading]
    assert all(declared(path, name) for path, name in stations)
    assert 5 < len(stations) <= int(heading.rpartition(" ")[2].rstrip(")"))


def test_the_way_of_an_application_enters_no_room_of_the_laboratory_twice() -> None:
    (stations,) = (stations for heading, stations in WAYS.items() if heading.startswith("`--app`"))
    folders = [path.rpartition("/")[0] for path, _ in stations if path.startswith("lab/")]
    assert folders == sorted(folders, key=folders.index)
