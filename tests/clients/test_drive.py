"""The client against scripted services: every answer is counted once, under the name that it deserves."""

import pytest

from clients.workers import GIVE_UP_AFTER
from tests.clients.driving import called, counts
from tests.clients.scripted import FULL, RIGHT, WRONG

# What is answered, by what it is: "wrong", or the code of an error.
ANSWERS: dict[str, tuple[bytes, ...]] = {
    "right": (
        RIGHT,
        b" \r\n" + RIGHT + b"\n",
        b'{"msg":"1000","calc_ns":1,"code":200,"err":"","more":[1]}',
    ),
    "wrong": (
        WRONG,
        b'{"code": 200, "msg": "", "err": "", "calc_ns": 1}',
        b'{"code": 200, "msg": "1000 ", "err": "", "calc_ns": 1}',
        b'{"code": 200, "msg": 1000, "err": "", "calc_ns": 1}',
        b'{"code": 200, "msg": null, "err": "", "calc_ns": 1}',
    ),
    "503": (FULL,),
    "400": (b'{"code": 400, "msg": "1000", "err": "", "calc_ns": 1}',),
    "garbled": (
        *(b"", b"not json", b"\xff" + RIGHT, RIGHT[:-1], RIGHT + b"x", RIGHT + RIGHT),
        *(b"null", b'"text"', b"[]", b"{}", b'{"code": 200}', b'{"code": %s}' % (b"9" * 5000), b"[" * 200_000),
        b'{"code": 200, "msg": "1000", "err": ""}',
        b'{"code": 200, "msg": "1000", "err": "", "calc_ns": "1"}',
    ),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_is_right_or_wrong_or_an_error_with_a_name(what: str) -> None:
    for body in ANSWERS[what]:
        caller, result = called(body)
        errors = {} if what in ("right", "wrong") else {what: 1}
        assert counts(result) == (1, what == "wrong", errors), body[:60]
        assert caller.done == ["open", "give" if what == "right" else "drop"]


@pytest.mark.parametrize("cause", ["connect", "closed", "reset", "extra", "garbled"])
def test_a_service_without_usable_answers_is_given_up_and_the_rest_is_missing(cause: str) -> None:
    caller, result = called(*[cause] * (GIVE_UP_AFTER + 5))
    assert counts(result) == (0, 0, {cause: GIVE_UP_AFTER})
    assert caller.done == ["open", *["drop"] * (GIVE_UP_AFTER if cause != "connect" else 0)]
    assert result["requests"] == GIVE_UP_AFTER + 5
    assert len(caller.outcomes) == 5


def test_an_answer_starts_the_count_to_giving_up_anew() -> None:
    almost = ["closed"] * (GIVE_UP_AFTER - 1)
    _, result = called(*almost, RIGHT, *almost, RIGHT)
    assert counts(result) == (2, 0, {"closed": 2 * (GIVE_UP_AFTER - 1)})
