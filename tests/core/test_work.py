"""Every row of the wire table that depends on a request's bytes alone, and that no bytes make answer() raise."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import work
from core.work import CALC_TARGET_LIMIT, answer, calc, calc_request, error_answer

CODES = {200, 400, 404, 405, 500}


def answered(body: bytes) -> dict[str, Any]:
    """The answer to *body*, which must be JSON (no NaN) with exactly the four keys, each of its type."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    said = json.loads(answer(body).decode(), parse_constant=refuse)
    assert {name: type(value) for name, value in said.items()} == {"code": int, "msg": str, "err": str, "calc_ns": int}
    assert (said["err"] == "") is (said["code"] == 200)
    return dict(said)


def calc_with(target: str) -> bytes:
    """A request whose target is this JSON text."""
    return b'{"method": "POST", "url": "/calc", "params": {"target": %s}}' % target.encode()


def changed(**values: Any) -> bytes:
    """A request for /calc with other values of these keys."""
    return json.dumps(calc_request(3) | values).encode()


@pytest.mark.parametrize("target", [0, 1, 1000])
def test_calc_counts_to_its_target_and_says_how_long_it_took(target: int) -> None:
    said = answered(changed(params={"target": target}))
    assert (said["code"], said["msg"]) == (200, str(target))
    assert said["calc_ns"] >= 0
    assert calc(target) == target


def test_the_answer_to_calc_is_spelled_as_in_the_specification() -> None:
    text = answer(calc_with("1000"))
    calc_ns = json.loads(text)["calc_ns"]
    assert text == b'{"code": 200, "msg": "1000", "err": "", "calc_ns": %d}' % calc_ns


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("text", ["", "hello", 'a "quote" and a \\', "€ 中文 \U0001f40d", "\x00\x7f", "\ud800"])
def test_the_root_echoes_its_message(method: str, text: str) -> None:
    assert answered(changed(method=method, url="/", params={"msg": text})) == {
        "code": 200,
        "msg": text,
        "err": "",
        "calc_ns": 0,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"\xff\xfe",
        b'{"method": "\xc3\x28"}',
        b"\xed\xa0\x80",
        calc_with("1").decode().encode("utf-16"),
        b"\xef\xbb\xbf" + calc_with("1"),
        b"{",
        b"not json",
        b"{'method': 'POST'}",
        calc_with("1") + b"x",
        calc_with("1") + calc_with("1"),
        calc_with("1") + b"\x00",
        calc_with("1") + b"\x0b",
        calc_with(""),
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"[" * 200_000 + b"]" * 200_000,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_a_body_that_is_not_one_json_value_in_utf8_is_refused(body: bytes) -> None:
    said = answered(body)
    assert said["code"] == 400
    assert "body" in said["err"]


@pytest.mark.parametrize(
    "body",
    [
        *[b"null", b"true", b"5", b'"text"', b"[]", b'[{"method": "POST"}]', b"NaN"],
        *[changed(**{key: value}) for key in ("method", "url") for value in (None, 5, True, [], ["POST"], {})],
        *[changed(params=value) for value in (None, 5, "target", [], [["target", 5]])],
        *[changed(method="GET", url="/", params=value) for value in ({}, {"msg": 5}, {"msg": None}, {"msg": ["a"]})],
    ],
)
def test_a_request_with_values_of_another_type_is_refused(body: bytes) -> None:
    assert answered(body)["code"] == 400


@pytest.mark.parametrize("missing", ["method", "url", "params", "target"])
def test_a_missing_key_is_refused_by_its_name(missing: str) -> None:
    whole = calc_request(5)
    del (whole["params"] if missing == "target" else whole)[missing]
    said = answered(json.dumps(whole).encode())
    assert said["code"] == 400
    assert missing in said["err"]


@pytest.mark.parametrize(
    "target",
    [
        *["true", "false", "null", '"5"', "1e3", "1.0", "5.5", "-1", "NaN", "Infinity", "-Infinity"],
        *["[5]", '{"n": 5}', "1e400", str(CALC_TARGET_LIMIT + 1), str(2**64), "9" * 4000, "9" * 5000, "-" + "9" * 5000],
    ],
    ids=lambda target: str(target)[:12],
)
def test_a_target_that_is_not_a_json_integer_within_bounds_is_refused(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "calc", lambda target: target)
    assert answered(calc_with(str(CALC_TARGET_LIMIT)))["msg"] == "1000000000"
    assert answered(calc_with(target))["code"] == 400


@pytest.mark.parametrize("url", ["", "/calc/", "/Calc", "calc", "/calc?target=5", "//", "/\x00"])
def test_an_unknown_url_is_not_found(url: str) -> None:
    assert answered(changed(url=url))["code"] == 404


@pytest.mark.parametrize(("method", "url"), [("GET", "/calc"), ("post", "/calc"), ("", "/calc"), ("PUT", "/")])
def test_a_method_that_a_url_does_not_have_is_refused_with_those_it_has(method: str, url: str) -> None:
    said = answered(changed(method=method, url=url))
    assert said["code"] == 405
    assert "POST" in said["err"]


@pytest.mark.parametrize("error", [ValueError("no luck"), MemoryError(), RecursionError("deep"), KeyError("\ud800")])
def test_a_handler_that_raises_is_answered_with_500(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(params: Mapping[str, Any]) -> bytes:
        raise error

    monkeypatch.setitem(work.ROUTES, "/fail", {"POST": fail})
    said = answered(changed(url="/fail"))
    assert said["code"] == 500
    assert type(error).__name__ in said["err"]


@pytest.mark.parametrize(
    "body",
    [
        *[space + calc_with("7") + space for space in (b" ", b"\n", b"\r\n", b"\t", b" \t\r\n ")],
        b'{"method": "POST", "url": "/calc", "params": {"target": 5, "target": 7}}',
        changed(params={"target": 7, "filler": "x"}, more=[1]),
    ],
)
def test_white_space_a_key_twice_and_keys_that_nobody_asked_for_are_accepted(body: bytes) -> None:
    assert answered(body)["msg"] == "7"


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


def test_an_error_answer_holds_what_went_wrong_and_nothing_else() -> None:
    assert json.loads(error_answer(413, "too much")) == {"code": 413, "msg": "", "err": "too much", "calc_ns": 0}


def test_the_request_is_the_one_of_the_specification() -> None:
    assert calc_request(1000) == {"method": "POST", "url": "/calc", "params": {"target": 1000}}
    assert len(calc_request(1000, payload_bytes=99)["params"]["filler"]) == 99
