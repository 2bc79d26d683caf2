"""The client against scripted services: every answer is counted once, under the name that it deserves."""

from pathlib import Path

import pytest

from clients.workers import GIVE_UP_AFTER
from core.histogram import Histogram
from core.wire import frame
from tests.clients.driving import called, connects, counted, counts
from tests.clients.scripted import FULL, RIGHT, WRONG, always, says


@pytest.mark.parametrize(
    ("body", "wrong", "errors"),
    [
        (RIGHT, 0, {}),
        (b" \r\n" + RIGHT + b"\n", 0, {}),
        (b'{"msg":"1000","calc_ns":1,"code":200,"err":"","more":[1]}', 0, {}),
        (WRONG, 1, {}),
        (b'{"code": 200, "msg": "", "err": "", "calc_ns": 1}', 1, {}),
        (b'{"code": 200, "msg": "1000 ", "err": "", "calc_ns": 1}', 1, {}),
        (b'{"code": 200, "msg": 1000, "err": "", "calc_ns": 1}', 1, {}),
        (b'{"code": 200, "msg": null, "err": "", "calc_ns": 1}', 1, {}),
        (FULL, 0, {"503": 1}),
        (b'{"code": 400, "msg": "1000", "err": "", "calc_ns": 1}', 0, {"400": 1}),
        (b"", 0, {"garbled": 1}),
        (b"not json", 0, {"garbled": 1}),
        (b"\xff" + RIGHT, 0, {"garbled": 1}),
        (RIGHT[:-1], 0, {"garbled": 1}),
        (RIGHT + b"x", 0, {"garbled": 1}),
        (RIGHT + RIGHT, 0, {"garbled": 1}),
        (b"null", 0, {"garbled": 1}),
        (b'"text"', 0, {"garbled": 1}),
        (b"[]", 0, {"garbled": 1}),
        (b"{}", 0, {"garbled": 1}),
        (b'{"code": 200}', 0, {"garbled": 1}),
        (b'{"code": 200, "msg": "1000", "err": ""}', 0, {"garbled": 1}),
        (b'{"code": 200, "msg": "1000", "err": "", "calc_ns": "1"}', 0, {"garbled": 1}),
        (b'{"code": %s}' % (b"9" * 5000), 0, {"garbled": 1}),
        (b"[" * 200_000, 0, {"garbled": 1}),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_an_answer_is_right_or_wrong_or_an_error_with_a_name(body: bytes, wrong: int, errors: dict[str, int]) -> None:
    caller, result = called(body)
    assert counts(result) == (1, wrong, errors)
    assert caller.done == ["open", "drop" if wrong or errors else "give"]


def test_a_right_answer_gives_the_channel_back_and_any_other_drops_it() -> None:
    caller, result = called(RIGHT, WRONG, FULL, b"?", "closed", RIGHT)
    assert caller.done == ["open", "give", "drop", "drop", "drop", "drop", "give"]
    assert counts(result) == (5, 1, {"503": 1, "garbled": 1, "closed": 1})


@pytest.mark.parametrize("cause", ["connect", "closed", "reset", "extra", "garbled"])
def test_a_service_without_usable_answers_is_given_up_and_the_rest_is_missing(cause: str) -> None:
    caller, result = called(*[cause] * (GIVE_UP_AFTER + 5))
    assert counts(result) == (0, 0, {cause: GIVE_UP_AFTER})
    assert result["requests"] == GIVE_UP_AFTER + 5
    assert len(caller.outcomes) == 5


def test_an_answer_starts_the_count_to_giving_up_anew() -> None:
    almost = ["closed"] * (GIVE_UP_AFTER - 1)
    _, result = called(*almost, RIGHT, *almost, RIGHT)
    assert counts(result) == (2, 0, {"closed": 2 * (GIVE_UP_AFTER - 1)})


def test_right_answers_are_all_counted_and_timed_and_nothing_else_is(short_folder: Path) -> None:
    result = counted(short_folder, always(RIGHT))
    assert (result["requests"], *counts(result)) == (5, 5, 0, {})
    assert result["latency"]["count"] == 5
    assert result["calc_ns"] == 5 * 24123
    assert "connect" not in result
    assert result["completion_ns"] == result["finished_ns"] - result["started_ns"] > 0


def test_a_full_service_that_answers_and_closes_is_counted_under_its_code(short_folder: Path) -> None:
    result = counted(short_folder, says(frame(FULL)), says(frame(FULL)), always(RIGHT))
    assert counts(result) == (5, 0, {"503": 2})
    assert connects(result) == 2


def test_what_a_client_says_has_latencies_that_a_histogram_reads(short_folder: Path) -> None:
    latency = counted(short_folder, always(RIGHT))["latency"]
    assert Histogram.from_json(latency).to_json() == latency
