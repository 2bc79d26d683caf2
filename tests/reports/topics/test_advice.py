"""Each rule of advice: when it applies, when it does not, and that docs/why.md names it with its page."""

from dataclasses import replace

import pytest

from core.messages import message
from reports.facts.causes import Collecting, Fact, LockWait, SharedCounts, SlowRelease, Stops, Stressed
from reports.topics.advice import RULES, advise

FOUND = message("found")
MS = 1_000_000


def wait(share: float = 0.3, owner: str = "", *files: str) -> LockWait:
    return LockWait(found=FOUND, share=share, owner=owner, files=files)


def stops(per_request: float = 9.0, share: float = 0.4, function: str = "as_view") -> Stops:
    return Stops(found=FOUND, runtime="3.14t", per_request=per_request, share=share, function=function)


def stressed(kind: str, *lines: str, only: bool = True) -> Stressed:
    return Stressed(found=FOUND, kind=kind, only_without_gil=only, lines=lines)


CASES: list[tuple[Fact, list[str]]] = [
    (wait(0.3, "dict"), ["one for each thread"]),
    (wait(0.02, "collections.deque"), ["one for each thread", "queue"]),
    (wait(0.019, "dict"), []),
    (wait(0.3, "_thread.lock"), ["hold it for less"]),
    (wait(0.3, "_thread.RLock", "logging/__init__.py"), ["logging"]),
    (wait(0.3, ""), []),
    (replace(wait(0.3, ""), under_gil=True), ["hold it for less"]),
    (wait(0.3, "[python3.14t]"), []),
    (wait(0.3, "[own_mutex.so]"), ["extension"]),
    (wait(0.3, "", "logging/__init__.py", "app.py"), ["logging"]),
    (stops(function="update_wrapper"), ["decorate once"]),
    (stops(), ["set attributes once"]),
    (stops(per_request=0.1), []),
    (stops(share=0.01), []),
    (Collecting(found=FOUND, share=0.05, longest_ns=5 * MS), ["freeze", "collect less often"]),
    (Collecting(found=FOUND, share=0.05, longest_ns=5 * MS - 1), ["collect less often"]),
    (Collecting(found=FOUND, share=0.04, longest_ns=500 * MS), []),
    (Collecting(found=FOUND, share=0.01, longest_ns=500 * MS, holds_up=True), ["freeze", "collect less often"]),
    (SharedCounts(found=FOUND, share=0.02), ["constants"]),
    (SharedCounts(found=FOUND, share=0.01), []),
    (stressed("wrong"), ["lock"]),
    (stressed("wrong", only=False), []),
    (stressed("crash"), ["sanitizer"]),
    (stressed("notice", "RuntimeError: Set changed size during iteration", only=False), ["iteration"]),
    (stressed("notice", "The global interpreter lock (GIL) has been enabled to load module 'x'"), ["audit"]),
    (stressed("notice", "ValueError: list modified during sort"), []),
    (SlowRelease(found=FOUND), ["compare patch releases"]),
]


@pytest.mark.parametrize(("fact", "names"), CASES)
def test_a_rule_applies_to_what_it_is_about_and_to_nothing_else(fact: Fact, names: list[str]) -> None:
    advice = advise([fact])
    assert [piece.rule.name for piece in advice] == names
    assert all(piece.facts == [fact] for piece in advice)


def test_every_rule_has_a_case_that_it_applies_to() -> None:
    assert {name for _, names in CASES for name in names} == {rule.name for rule in RULES}


def test_no_finding_no_advice_and_several_findings_of_a_kind_one_piece() -> None:
    assert advise([]) == []
    (piece,) = advise([wait(0.3, "dict"), wait(0.2, "dict"), wait(0.01, "dict")])
    assert [fact.share for fact in piece.facts if isinstance(fact, LockWait)] == [0.3, 0.2]
