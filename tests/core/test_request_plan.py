"""Right and wrong answers, told apart by hand; orders that repeat."""

import json
from collections import Counter

import pytest

from core.request_plan import ANY, Request, RequestPlan, order, shown, wrong
from tests.tables import each_row


def difference(request: Request, status: int, body: bytes) -> str:
    """What is wrong with an answer, in words."""
    found = wrong(request, status, body)
    return f"{found.got}, expected {found.expected}" if found else ""


@each_row
def test_an_answer_holds_at_least_the_json_that_is_expected(line: str) -> None:
    expected, body, words = map(str.strip, line.split("|"))
    assert difference(Request(expect_json=json.loads(expected)), 200, body.encode()) == words


def test_a_body_that_is_too_deep_is_no_json_and_is_cut_where_it_is_shown() -> None:
    deep = difference(Request(expect_json={"id": 3}), 200, b"[" * 100_000)
    assert deep == f"body {'[' * 200}..., expected JSON"


def test_null_is_an_answer_that_can_be_expected() -> None:
    assert wrong(Request(expect_json=None), 200, b"null") is None
    assert difference(Request(expect_json=None), 200, b'{"id": 3}') == 'body {"id": 3}: it is {"id": 3}, expected null'
    assert wrong(Request(), 200, b"no JSON at all") is None
    stored = json.loads(json.dumps(RequestPlan(requests=(Request(expect_json=None), Request())).to_json()))
    assert [one.get("expect_json", "any") for one in stored["requests"]] == [None, "any"]
    assert [one.expect_json for one in RequestPlan.from_json(stored).requests] == [None, ANY]


def test_another_status_is_wrong_whatever_the_body() -> None:
    assert difference(Request(expect_json={"id": 3}), 500, b'{"id": 3}') == 'status 500: {"id": 3}, expected 200'
    assert difference(Request(), 500, b"") == "status 500, expected 200"
    assert difference(Request(), 422, b"a" * 300) == f"status 422: {'a' * 200}..., expected 200"
    assert wrong(Request(expect_status=404), 404, b"nothing") is None


def test_requests_come_by_weight_and_the_same_for_the_same_seed() -> None:
    requests = [Request(weight=3), Request(weight=1)]
    drawn = order(requests, 1, 4000)
    assert drawn == order(requests, 1, 4000)
    assert drawn != order(requests, 2, 4000)
    assert Counter(drawn) == {0: 3000, 1: 1000}
    assert all(Counter(drawn[start : start + 4]) == {0: 3, 1: 1} for start in range(0, 4000, 4))


def test_requests_whose_weights_make_a_long_round_are_drawn() -> None:
    drawn = order([Request(weight=2999), Request(weight=1001)], 1, 2000)
    assert Counter(drawn)[0] == pytest.approx(1500, abs=140)  # 7 standard deviations


def test_what_is_shown_of_a_body_can_be_printed() -> None:
    assert shown(b"a\n\x1b[31m\xff") == "a  [31m\N{REPLACEMENT CHARACTER}"
