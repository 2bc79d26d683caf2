"""Each rule of advice: when it applies, when it does not, and that docs/why.md names it with its page."""

import pytest

from core.messages import message
from reports.topics.advice import (
    RULES,
    Fact,
    advise,
    collection_rules,
    count_rules,
    lock_rules,
    stop_rules,
    stress_rules,
)

MS = 1_000_000


def stressed(kind: str, *lines: str, only: bool = True) -> tuple[str, ...]:
    return stress_rules(kind, lines, only_without_gil=only)


CASES: list[tuple[tuple[str, ...], list[str]]] = [
    (lock_rules(0.3, "dict"), ["one for each thread"]),
    (lock_rules(0.02, "collections.deque"), ["one for each thread", "queue"]),
    (lock_rules(0.019, "dict"), []),
    (lock_rules(0.3, "_thread.lock"), ["hold it for less"]),
    (lock_rules(0.3, "_thread.RLock", ["logging/__init__.py"]), ["logging"]),
    (lock_rules(0.3, ""), []),
    (lock_rules(0.3, "", under_gil=True), ["hold it for less"]),
    (lock_rules(0.3, "[python3.14t]"), []),
    (lock_rules(0.3, "[own_mutex.so]"), ["extension"]),
    (lock_rules(0.3, "", ["logging/__init__.py", "app.py"]), ["logging"]),
    (stop_rules(0.4, 9.0, "update_wrapper"), ["decorate once"]),
    (stop_rules(0.4, 9.0, "as_view"), ["set attributes once"]),
    (stop_rules(0.4, 0.1, "as_view"), []),
    (stop_rules(0.01, 9.0, "as_view"), []),
    (collection_rules(0.05, 5 * MS), ["freeze", "collect less often"]),
    (collection_rules(0.05, 5 * MS - 1), ["collect less often"]),
    (collection_rules(0.04, 500 * MS), []),
    (collection_rules(0.01, 500 * MS, holds_up=True), ["freeze", "collect less often"]),
    (count_rules(0.02), ["constants"]),
    (count_rules(0.01), []),
    (stressed("wrong"), ["lock"]),
    (stressed("wrong", only=False), []),
    (stressed("crash"), ["sanitizer"]),
    (stressed("notice", "RuntimeError: Set changed size during iteration", only=False), ["iteration"]),
    (stressed("notice", "The global interpreter lock (GIL) has been enabled to load module 'x'"), ["audit"]),
    (stressed("notice", "ValueError: list modified during sort"), []),
]


@pytest.mark.parametrize(("rules", "names"), CASES)
def test_a_rule_applies_to_what_it_is_about_and_to_nothing_else(rules: tuple[str, ...], names: list[str]) -> None:
    fact = Fact(found=message("found"), rules=rules)
    advice = advise([fact])
    assert [piece.rule for piece in advice] == names
    assert all(piece.facts == [fact] for piece in advice)


def test_every_rule_but_that_of_a_verdict_has_a_case_that_it_applies_to() -> None:
    assert {*RULES} - {name for _, names in CASES for name in names} == {"compare patch releases"}


def test_no_finding_no_advice_and_several_findings_of_a_kind_one_piece() -> None:
    assert advise([]) == []
    facts = [Fact(found=message("found"), rules=lock_rules(share, "dict")) for share in (0.3, 0.2, 0.01)]
    (piece,) = advise(facts)
    assert piece.facts == facts[:2]
