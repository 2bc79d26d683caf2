"""What audit found, as a document."""

import pytest

from commands.audit import summary
from core.messages import verbatim
from lab.gil.audit import PackageFinding
from lab.gil.switching import Problem


def package(name: str, *problems: tuple[str, str], version: str = "1.0") -> PackageFinding:
    found = tuple(Problem(kind=kind, detail=verbatim(detail)) for kind, detail in problems)
    return PackageFinding(package=name, version=version, modules=(name,), problems=found)


GIL = ("gil", "importing old switches the GIL on, by old._speed")
LATE = ("warns", "DeprecationWarning: use | new")
MIXED = [package("fine"), package("old", GIL, LATE), package("gone", ("not installable", "no"), version="")]


READY = "ready: {} from a wheel and {} without the GIL and without a warning"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("ab", f"All 2 packages are {READY.format('each installs', 'imports')}"),
        ("a", f"a is {READY.format('it installs', 'imports')}."),
    ],
)
def test_packages_that_are_all_ready_are_counted_and_one_is_named(names: str, sentence: str) -> None:
    assert str(summary([*map(package, names)])).rstrip(".") == sentence.rstrip(".")
