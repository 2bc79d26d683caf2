"""The wire table of tests/contract, which services are held to, on answer() itself; no bytes make it raise."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import work
from core.work import CALC_TARGET_LIMIT, answer, calc, calc_request
from tests.tables import each_row

CODES = {200, 400, 404, 405, 500}


def answered(body: bytes) -> dict[str, Any]:
    """The answer to *body*, which must be JSON (no NaN) with exactly the four keys, each of its type."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    said = json.loads(answer(body).decode(), parse_constant=refuse)
    assert {name: type(value) for name, value in said.items()} == {"code": int, "msg": str, "err": str, "calc_ns": int}
    assert (said["err"] == "") is (said["code"] == 200)
    return dict(said)


@each_row
def test_an_error_names_what_is_wrong(body: str, named: str) -> None:
    assert named in answered(body.encode())["err"]


def test_the_answer_to_calc_is_spelled_as_in_the_specification_and_the_last_of_two_equal_keys_counts() -> None:
    text = answer(b'{"method": "POST", "url": "/calc", "params": {"target": 5, "target": 1000}}')
    calc_ns = json.loads(text)["calc_ns"]
    assert text == b'{"code": 200, "msg": "1000", "err": "", "calc_ns": %d}' % calc_ns
    assert calc(1000) == 1000


def test_a_target_at_the_upper_bound_is_accepted_and_one_more_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "calc", lambda target: target)
    assert answered(json.dumps(calc_request(CALC_TARGET_LIMIT)).encode())["msg"] == "1000000000"
    assert answered(json.dumps(calc_request(CALC_TARGET_LIMIT + 1)).encode())["code"] == 400


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("deep"), KeyError("\ud800")])
def test_a_handler_that_raises_is_answered_with_500(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(params: Mapping[str, Any]) -> bytes:
        raise error

    monkeypatch.setitem(work.ROUTES, "/fail", {"POST": fail})
    said = answered(b'{"method": "POST", "url": "/fail", "params": {}}')
    assert said["code"] == 500
    assert type(error).__name__ in said["err"]


@given(st.binary() | st.text().map(str.encode))
@example(b"[" * 5000)
@example(b'"\\ud800"')
def test_no_bytes_make_the_answer_raise(body: bytes) -> None:
    assert answered(body)["code"] in CODES


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 2000) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from(["GET", "POST", "PUT"]) | JSON_VALUES,
    st.sampled_from(["/", "/calc", "/none"]) | JSON_VALUES,
    st.dictionaries(st.sampled_from(["target", "msg", "x"]), JSON_VALUES, max_size=3) | JSON_VALUES,
)
def test_no_json_request_makes_the_answer_raise(method: Any, url: Any, params: Any) -> None:
    body = json.dumps({"method": method, "url": url, "params": params}).encode()
    assert answered(body)["code"] in CODES - {500}
