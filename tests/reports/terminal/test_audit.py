"""What audit found, on paper."""

import json
from typing import Any

from reports.terminal.audit import audit_json, audit_markdown, audit_sentence, verdict


def package(name: str, *problems: tuple[str, str], version: str = "1.0") -> dict[str, Any]:
    found = [{"kind": kind, "detail": detail, "module": "", "culprit": ""} for kind, detail in problems]
    return {"package": name, "version": version, "modules": [name], "problems": found, "passes": not found}


def document(*packages: dict[str, Any]) -> dict[str, Any]:
    runtime = {"name": "3.14t", "version": "3.14.7", "build": "free-threading build"}
    return {"schema": 1, "runtime": runtime, "packages": list(packages)}


GIL = ("gil", "importing old switches the GIL on, by old._speed")
LATE = ("warns", "DeprecationWarning: use | new")
MIXED = document(package("fine"), package("old", GIL, LATE), package("gone", ("not installable", "no"), version=""))


def test_the_sentence_names_who_does_not_pass_and_why() -> None:
    assert audit_sentence(MIXED) == "2 of 3 packages do not pass: old (GIL back on, warns), gone (not installable)."
    assert audit_sentence(document(package("old", GIL))) == "1 of 1 package does not pass: old (GIL back on)."


def test_where_all_pass_the_sentence_says_what_that_means() -> None:
    said = "All 2 pass: imported without the GIL, from wheels, without a warning."
    assert audit_sentence(document(package("a"), package("b"))) == said
    assert audit_sentence(document(package("a"))).startswith("a passes: imported without the GIL")


def test_a_verdict_names_each_kind_once() -> None:
    assert verdict(package("a", LATE, LATE)) == "warns"
    assert verdict(package("a")) == "ok"


def test_the_page_has_a_table_the_reasons_and_the_sentence() -> None:
    assert audit_markdown(MIXED).splitlines() == [
        "# Audit: 3 packages under 3.14t (3.14.7)",
        "",
        "| package | version | verdict            | imported |",
        "| ------- | ------- | ------------------ | -------- |",
        "| fine    | 1.0     | ok                 | fine     |",
        "| old     | 1.0     | GIL back on, warns | old      |",
        "| gone    |         | not installable    | gone     |",
        "",
        "- old: importing old switches the GIL on, by old._speed",
        "- old: DeprecationWarning: use \\| new",
        "- gone: no",
        "",
        "2 of 3 packages do not pass: old (GIL back on, warns), gone (not installable).",
    ]


def test_json_is_the_document_itself() -> None:
    assert json.loads(audit_json(MIXED)) == MIXED
