"""Lines that wait: what is said of them, and when nothing is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from record.saved_run import Run
from reports.document import Section
from reports.sections.waits import section
from reports.view import View
from tests.analysis.timed_cells import steady
from tests.reports.sample import run_of

PROFILE: Mapping[str, Any] = json.loads(Path(__file__).with_name("profile.json").read_text())
STATES = PROFILE["states"]


def line_of(function: str, file: str, number: int, waits: list[int], **more: Any) -> dict[str, Any]:
    return {"function": function, "file": file, "line": number, "states": STATES, "waits": {"lock": waits}, **more}


def profile(runtime: str, *lines: dict[str, Any]) -> dict[str, Any]:
    return {**PROFILE, "cell_id": f"2-{runtime}-0", "runtime": runtime, "lines": list(lines)}


def made(*profiles: dict[str, Any], before: str = "3.14") -> Section:
    cells = steady(before, 2000) + steady("3.14t", 1000)
    run: Run = run_of(cells, runtimes=[before, "3.14t"], blocks=8)
    run.profiles = list(profiles)
    return section(View(run))


def said(section: Section) -> list[str]:
    return [str(sentence) for sentence in section.sentences]


def test_a_line_that_waits_alike_under_both_is_told_once() -> None:
    waiting = line_of("ask", "lib.py", 5, [50, 52] * 10, is_library=True, caller="main (app.py:3)")
    (sentence,) = said(made(profile("3.14", waiting), profile("3.14t", waiting)))
    assert sentence.startswith("Threads wait longest for a lock at")
    assert sentence.endswith(
        "(app.py:3). Shares of their time at work: 51% [50%, 52%] under 3.14, 51% [50%, 52%] under 3.14t."
    )


def test_between_versions_a_librarys_function_is_compared_whatever_its_line() -> None:
    before, after = (line_of("acquire", "logging.py", number, [30] * 20, is_library=True) for number in (9, 12))
    for version, is_told in (("3.14", True), ("3.13", False)):
        sentences = said(made(profile(version, before), profile("3.14t", after), before=version))
        assert any("Difference" in sentence for sentence in sentences) == is_told


def test_much_waiting_without_a_certain_line_is_told_with_its_runtime_and_setting() -> None:
    lightly = {**profile("3.14"), "states": {**STATES, "lock": 0.01}}
    (sentence,) = said(made(lightly, profile("3.14t")))
    assert sentence.startswith("3.14t, System 2")
    assert "threads wait for locks for 30% of their time at work, but no single line" in sentence
    assert said(made(lightly)) == ["No line of code waits significantly for a lock."]
