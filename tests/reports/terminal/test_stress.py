"""What a stress found, from rounds by hand."""

from typing import Any

import pytest

from core.messages import message
from core.stress import Round, Stress
from reports.terminal.stress import answered, findings, stress_document, verdict

FIRST = {"request": "GET /a", "got": "it is 1", "expected": "2"}


def one(runtime: str, **values: Any) -> Round:
    return Round(runtime=runtime, system="own", params={}, gil_enabled="gil" in runtime, **{"answered": 100, **values})


def stress(*rounds: Round) -> Stress:
    return Stress(
        name="own", started_at="", seconds=60.0, switch_interval_s=1e-6, connections=32, runtimes={}, rounds=[*rounds]
    )


FREE, HELD = "3.14t", "3.14t+gil"
CRASHED = {"answered": 0, "reason": message("it ended"), "crashes": ("Fatal Python error: Aborted",)}


def test_nothing_found_is_no_finding_and_says_what_would_not_show() -> None:
    clean = stress(one(FREE, answered=3000), one(HELD), one(FREE, answered=3000))
    assert findings(clean) == []
    assert answered(clean) == {FREE: 6000, HELD: 100}
    text = [str(note) for note in stress_document(clean).sections[0].notes]
    assert len(text) == 1
    assert "A race condition can still exist if it affects less than 0.0005 of the answers" in text[0]  # 3/6000


@pytest.mark.parametrize(
    ("rounds", "kind", "counts", "only"),
    [
        ([one(FREE, wrong=3, first_wrong=FIRST), one(HELD)], "wrong", {FREE: 3, HELD: 0}, True),
        ([one(FREE, wrong=3), one(HELD, wrong=1, first_wrong=FIRST)], "wrong", {FREE: 3, HELD: 1}, False),
        ([one(FREE, wrong=3), one(HELD, answered=0)], "wrong", {FREE: 3, HELD: 0}, False),
        ([one(FREE, **CRASHED), one(HELD)], "crash", {FREE: 1, HELD: 0}, True),
        ([one(FREE, answered=0, reason=message("it ended")), one(HELD)], "crash", {FREE: 1, HELD: 0}, True),
        ([one(FREE, failures={"timeout": 4}, stacks=("Thread",)), one(HELD)], "hang", {FREE: 4, HELD: 0}, True),
        (
            [one(FREE, answered=0, reason=message("silence"), stacks=("x",)), one(HELD)],
            "hang",
            {FREE: 1, HELD: 0},
            True,
        ),
        ([one(FREE, failures={"closed": 2}), one(HELD)], "failure", {FREE: 2, HELD: 0}, True),
        ([one(FREE, notices=("RuntimeError: ...",)), one(HELD)], "notice", {FREE: 1, HELD: 0}, True),
        ([one(FREE, valid=False, reason=message("on")), one(HELD)], "invalid", {FREE: 1, HELD: 0}, True),
        ([one(FREE), one(HELD, answered=0, ready=False, reason=message("no"))], "silent", {FREE: 0, HELD: 1}, False),
    ],
)
def test_each_kind_of_finding_is_counted_where_it_was_seen(
    rounds: list[Round], kind: str, counts: dict[str, int], only: bool
) -> None:
    (found,) = findings(stress(*rounds))
    assert (found.kind, found.counts, found.only_without_gil) == (kind, counts, only)
    assert str(verdict(stress(*rounds))).startswith("Found only without the GIL: " if only else "Found, but not only")


def test_the_first_wrong_answer_without_the_gil_is_the_example() -> None:
    other = {**FIRST, "got": "it is 9"}
    (found,) = findings(stress(one(HELD, wrong=1, first_wrong=other), one(FREE, wrong=1, first_wrong=FIRST)))
    assert found.rounds[0].first_wrong == FIRST


def test_a_crash_breaks_connections_which_is_said_once() -> None:
    (found,) = findings(stress(one(FREE, failures={"reset": 8}, crashes=("Fatal",)), one(HELD)))
    assert (found.kind, found.rounds[0].crashes) == ("crash", ("Fatal",))
