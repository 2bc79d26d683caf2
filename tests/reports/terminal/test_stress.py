"""What a stress found, from rounds by hand."""

from typing import Any

import pytest

from core.messages import message
from core.stress import Round, Stress
from reports.terminal.stress import findings, stress_document, verdict

FIRST = {"request": "GET /a", "got": "it is 1", "expected": "2"}


def one(runtime: str, **values: Any) -> Round:
    return Round(runtime=runtime, system="own", params={}, gil_enabled="gil" in runtime, **{"answered": 100, **values})


def stress(*rounds: Round) -> Stress:
    return Stress(
        name="own", started_at="", seconds=60.0, switch_interval_s=1e-6, connections=32, runtimes={}, rounds=[*rounds]
    )


FREE, HELD = "3.14t", "3.14t+gil"
ENDED = {"answered": 0, "reason": message("it ended")}
CRASHED = {**ENDED, "crashes": ("Fatal Python error: Aborted",)}


def test_nothing_found_is_no_finding_and_says_what_would_not_show() -> None:
    clean = stress(one(FREE, answered=3000), one(HELD), one(FREE, answered=3000))
    assert findings(clean) == []
    text = [str(note) for note in stress_document(clean).sections[0].notes]
    assert len(text) == 1
    assert "A race condition can still exist if it affects less than 0.0005 of the answers" in text[0]  # 3/6000


@pytest.mark.parametrize(
    ("free", "held", "kind", "counts", "only"),
    [
        ({"wrong": 3}, {}, "wrong", [3, 0], True),
        ({"wrong": 3}, {"wrong": 1}, "wrong", [3, 1], False),
        ({"wrong": 3}, {"answered": 0}, "wrong", [3, 0], False),
        (ENDED, {}, "crash", [1, 0], True),
        ({"failures": {"reset": 8}, "crashes": ("Fatal",)}, {}, "crash", [1, 0], True),  # it breaks connections
        ({"failures": {"timeout": 4}, "stacks": ("Thread",)}, {}, "hang", [4, 0], True),
        ({**ENDED, "stacks": ("x",)}, {}, "hang", [1, 0], True),
        ({"failures": {"closed": 2}}, {}, "failure", [2, 0], True),
        ({"notices": ("RuntimeError: ...",)}, {}, "notice", [1, 0], True),
        ({"valid": False, "reason": message("on")}, {}, "invalid", [1, 0], True),
        ({}, {**ENDED, "ready": False}, "silent", [0, 1], False),
    ],
)
def test_each_kind_of_finding_is_counted_where_it_was_seen(
    free: dict[str, Any], held: dict[str, Any], kind: str, counts: list[int], only: bool
) -> None:
    made = stress(one(HELD, **held), one(FREE, **free))
    (found,) = findings(made)
    assert (found.kind, [found.counts[name] for name in (FREE, HELD)], found.only_without_gil) == (kind, counts, only)
    assert found.rounds[0].runtime == (FREE if counts[0] else HELD)  # examples are of rounds without the GIL, if any
    assert str(verdict(made)).startswith(
        "Found only without the GIL: " if only else "The stress test found problems, but the missing GIL may "
    )
