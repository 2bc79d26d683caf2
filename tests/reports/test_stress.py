"""What a stress found, from rounds by hand."""

import json
from typing import Any

from core.messages import Message
from core.stress_results import Round, Stress
from reports.stress_report import findings, stress_document, verdict
from tests.tables import each_row

FIRST = {"request": "GET /a", "got": "it is 1", "expected": "2"}


def one(runtime: str, reason: str = "", **values: Any) -> Round:
    said: dict[str, Any] = {"answered": 100, "reason": Message(msgid=reason), **values}
    return Round(runtime=runtime, system="own", params={}, gil_enabled="gil" in runtime, **said)


def stress(*rounds: Round) -> Stress:
    return Stress(
        name="own", started_at="", seconds=60.0, switch_interval_s=1e-6, connections=32, runtimes={}, rounds=[*rounds]
    )


FREE, HELD = "3.14t", "3.14t+gil"
CRASHED: Any = {"answered": 0, "reason": "it ended", "crashes": ("Fatal Python error: Aborted",)}


def test_nothing_found_is_no_finding_and_says_what_would_not_show() -> None:
    clean = stress(one(FREE, answered=3000), one(HELD), one(FREE, answered=3000))
    assert findings(clean) == []
    text = [str(note) for note in stress_document(clean).sections[0].notes]
    assert len(text) == 1
    assert "A race condition can still exist if it affects less than 0.0005 of the answers" in text[0]  # 3/6000


@each_row
def test_each_kind_of_finding_is_counted_where_it_was_seen(line: str) -> None:
    rounds, _, wanted = line.partition(" -> ")
    free, held = map(json.loads, rounds.split(" | "))
    kind, of_free, of_held, *only = wanted.split(" ", 3)
    made = stress(one(HELD, **held), one(FREE, **free))
    (found,) = findings(made)
    assert (found.kind, found.counts[FREE], found.counts[HELD]) == (kind, int(of_free), int(of_held))
    assert found.only_without_gil is bool(only)
    assert found.rounds[0].runtime == (HELD if of_free == "0" else FREE)  # examples without the GIL, if there are any
    assert str(verdict(made)).startswith(
        "Found only without the GIL: " if only else "The missing GIL may not be the cause of the "
    )
