"""What audit found, as a document."""

from typing import Any

import pytest

from core.languages import ENGLISH
from reports.render.markdown import markdown
from reports.terminal.audit import audit_document, summary, verdict


def package(name: str, *problems: tuple[str, str], version: str = "1.0") -> dict[str, Any]:
    kept = [{"kind": kind, "detail": detail, "module": "", "culprit": ""} for kind, detail in problems]
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
        (MIXED, "2 of 3 packages are not ready: old (GIL back on, warns), gone (not installable)."),
        (audit(package("old", GIL)), "1 of 1 packages is not ready: old (GIL back on)."),
        (
            audit(package("a"), package("b")),
            "All 2 are ready: imported without the GIL, from wheels, without a warning",
        ),
        (audit(package("a")), "a is ready: imported without the GIL, from a wheel, without a warning."),
    ],
)
def test_the_sentence_names_what_is_not_ready_and_why(audited: dict[str, Any], sentence: str) -> None:
    assert str(summary(audited)).rstrip(".") == sentence.rstrip(".")


def test_a_verdict_names_each_kind_once() -> None:
    assert [str(verdict(package("a", LATE, LATE))), str(verdict(package("a")))] == ["warns", "ok"]


def test_the_page_has_a_table_the_reasons_and_the_sentence() -> None:
    lines = markdown(audit_document(MIXED), ENGLISH).splitlines()
    assert lines[0] == "# Audit: 3 packages under 3.14t (3.14.7)"
    assert "| old     | 1.0     | GIL back on, warns |             |           | old      |" in lines
    assert "- old: DeprecationWarning: use \\| new" in lines
    assert lines[-1] == "2 of 3 packages are not ready: old (GIL back on, warns), gone (not installable)."
