"""What audit found, as a document."""

from typing import Any

import pytest

from core.messages import verbatim
from reports.terminal.audit import summary


def package(name: str, *problems: tuple[str, str], version: str = "1.0") -> dict[str, Any]:
    kept = [
        {"kind": kind, "message": verbatim(detail).to_json(), "module": "", "culprit": ""} for kind, detail in problems
    ]
    found = {"package": name, "version": version, "modules": [name], "problems": kept, "passes": not kept}
    return {**found, "direct": True, "needed_by": [], "ready_since": ""}


def audit(*packages: dict[str, Any]) -> dict[str, Any]:
    runtime = {"name": "3.14t", "version": "3.14.7", "build": "free-threading build"}
    return {"schema": 1, "runtime": runtime, "packages": list(packages)}


GIL = ("gil", "importing old switches the GIL on, by old._speed")
LATE = ("warns", "DeprecationWarning: use | new")
MIXED = audit(package("fine"), package("old", GIL, LATE), package("gone", ("not installable", "no"), version=""))


READY = "ready: {} from a wheel and {} without the GIL and without a warning"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("ab", f"All 2 packages are {READY.format('each installs', 'imports')}"),
        ("a", f"a is {READY.format('it installs', 'imports')}."),
    ],
)
def test_packages_that_are_all_ready_are_counted_and_one_is_named(names: str, sentence: str) -> None:
    assert str(summary(audit(*map(package, names)))).rstrip(".") == sentence.rstrip(".")
