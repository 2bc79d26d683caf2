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


@pytest.mark.parametrize(
    ("audited", "sentence"),
    [
        (audit(package("old", GIL)), "1 of 1 packages is not ready: old (switches the GIL on)."),
        (
            audit(package("a"), package("b")),
            "All 2 packages are ready: each installs from a wheel and imports without the GIL and without a warning",
        ),
        (
            audit(package("a")),
            "a is ready: it installs from a wheel and imports without the GIL and without a warning.",
        ),
    ],
)
def test_the_sentence_names_what_is_not_ready_and_why(audited: dict[str, Any], sentence: str) -> None:
    assert str(summary(audited)).rstrip(".") == sentence.rstrip(".")
