"""Which answer is expected, learned from those that one client got."""

from typing import Any

import pytest

from core.request_plan import ANY, Request
from lab.run.stress import learn_check


@pytest.mark.parametrize(
    ("answers", "check", "status", "value"),
    [
        ([(200, b'{"id": 3}')] * 3, "body", 200, {"id": 3}),
        ([(404, b"no")] * 3, "body", 404, ANY),
        ([(200, b'{"id": 3, "at": 1}'), (200, b'{"id": 3, "at": 2}')], "common", 200, {"id": 3}),
        ([(200, b'{"a": {"b": 1, "c": 2}}'), (200, b'{"a": {"b": 1}}')], "common", 200, {"a": {"b": 1}}),
        ([(200, b'{"at": 1}'), (200, b'{"at": true}')], "status", 200, ANY),
        ([(201, b""), (409, b"")], "status", 200, ANY),
        ([], "status", 200, ANY),
    ],
)
def test_what_all_answers_have_in_common_is_expected(
    answers: list[tuple[int, bytes]], check: str, status: int, value: Any
) -> None:
    request, by = learn_check(Request(path="/a"), answers)
    assert (by, request.expect_status, request.expect_json) == (check, status, value)
    assert bool(request.expect_sha256) is (check == "body")


def test_what_was_declared_is_not_learned_anew() -> None:
    declared = Request(expect_json={"id": 3})
    assert learn_check(declared, [(500, b"")]) == (declared, "declared")
