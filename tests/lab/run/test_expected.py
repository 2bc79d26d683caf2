"""Which answer is expected, learned from those that one client got."""

import json

import pytest

from core.request_plan import ANY, Request
from lab.run.stress_rounds import learn_check

ANSWERS = """\
200 {"id": 3} | 200 {"id": 3} | 200 {"id": 3} -> body 200 {"id": 3}
404 no | 404 no | 404 no -> body 404
200 {"id": 3, "at": 1} | 200 {"id": 3, "at": 2} -> common 200 {"id": 3}
200 {"a": {"b": 1, "c": 2}} | 200 {"a": {"b": 1}} -> common 200 {"a": {"b": 1}}
200 {"at": 1} | 200 {"at": true} -> status 200
201 | 409 -> status 200
 -> status 200"""


@pytest.mark.parametrize("line", ANSWERS.splitlines())
def test_what_all_answers_have_in_common_is_expected(line: str) -> None:
    said, _, expected = line.partition(" -> ")
    answers = []
    for answer in filter(None, said.split(" | ")):
        status, _, body = answer.partition(" ")
        answers.append((int(status), body.encode()))
    check, status, *value = expected.split(" ", 2)
    request, by = learn_check(Request(path="/a"), answers)
    assert (by, request.expect_status) == (check, int(status))
    assert request.expect_json == (json.loads(value[0]) if value else ANY)
    assert bool(request.expect_sha256) is (check == "body")


def test_what_was_declared_is_not_learned_anew() -> None:
    declared = Request(expect_json={"id": 3})
    assert learn_check(declared, [(500, b"")]) == (declared, "declared")
