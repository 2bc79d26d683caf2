"""Request plans from YAML: what is read, and what is refused with a reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from config.options import Given
from config.user_service.requests import load_requests, parse_time
from core.errors import BadInput
from core.request_plan import Request, RequestPlan
from core.secret import revealed

WHOLE = """
think_time: 10ms
requests:
  - request: GET /items/3?full=1
    weight: 9
    headers: {Accept: application/json}
    expect_json: '{"id": 3}'
  - request: POST /items
    body: '{"name": "x"}'
    expect_status: 201
  - request: PUT /items/4
    body_file: body.bin
  - /plain
"""


def loaded(folder: Path, text: str) -> RequestPlan:
    file = folder / "requests.yaml"
    file.write_text(text)
    return load_requests(file)


def test_a_file_says_what_is_asked_and_what_is_right(tmp_path: Path) -> None:
    (tmp_path / "body.bin").write_bytes(b"\0")
    plan = loaded(tmp_path, WHOLE)
    assert plan.think_time_s == 0.01
    sent = [replace(one, path=revealed(one.path), body=revealed(one.body)) for one in plan.requests]
    assert sent == [
        Request(path="/items/3?full=1", weight=9, headers={"Accept": "application/json"}, expect_json={"id": 3}),
        Request(method="POST", path="/items", body='{"name": "x"}', expect_status=201),
        Request(method="PUT", path="/items/4", body_file=str(tmp_path / "body.bin")),
        Request(path="/plain"),
    ]


REFUSED = {
    "- request: GET items": "must be a method and a path",
    "- request: GET /a\n  weight: 0": "weight is 0;",
    "- request: GET /a\n  colour: red": "unknown key 'colour'. Accepted keys are request, weight",
    "- weight: 3": "has no key request",
    "- request: GET /a\n  expect_json: {id: 3}": "must be a text; put it in quotes",
    "- request: GET /a\n  expect_json: '{'": "it must be JSON such as",
    "- request: GET /a\n  expect_sha256: abc": "64 hex digits",
    "- request: GET /a\n  expect_status: 20": "whole number from 100 to 999",
    "- request: GET /a\n  body_file: none.bin": "none.bin, which cannot be read",
    "- request: GET /a\n  body: a\n  body_file: b": "Give only one of them",
    "- request: GET /a\n  headers: {'A b': c}": "must be NAME: VALUE",
    "- request: GET /a\n  headers: [Accept]": "header is ...; it must be NAME: VALUE",
    "- request: GET /a\n  body_file: [a]": "body_file is ['a']; it must be a text",
    "- request: [GET]": "request is ['GET']; it must be a text",
    f"- request: GET /a\n  expect_json: '{'[' * 100_000}'": "it must be JSON such as",
    "requests: []": "must be a list such as",
    "think_time: 3": "a list of requests, or a mapping",
    "requests: [GET /]\nthink_time: soon": "think_time is soon",
    "[{request: GET /, first: maybe}]": "first is maybe; it must be one of true, false",
    "[{request: GET /, first: true}]": "do not count in the result",
    "[{request: GET /, save: {a: {json: b}}}]": "save: a is {'json': 'b'}; it must be a name that you choose",
    "[{request: GET /, save: {user: {json: /b}}}]": "a name that you choose",
    "[{request: GET /, save: {a: {regex: 'b'}}}]": "regex: 'id=([0-9]+)'",
    "[{request: GET /, save: {a: {regex: '(?=b)(c)'}}}]": "not use look-around",
    "['GET /{{token}}']": "the placeholder token, but nothing fills it",
    '- request: GET /\n  expect_json: \'{"name": "user{{user}}"}\'': "placeholders are filled in requests only",
    "['GET /{{token}}', {request: GET /, save: {token: {header: X}}}]": "the placeholder token, but nothing fills it",
    "['GET /{{random.int 5 1}}']": "the placeholder random.int, but nothing fills it",
    "['GET /{{random.text}}']": "the placeholder {{random.text}}, but nothing fills it",
    "a: {": "is not valid YAML",
}


@pytest.mark.parametrize(("text", "words"), REFUSED.items(), ids=lambda value: repr(value[:60]))
def test_what_cannot_be_asked_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=r"requests\.yaml") as caught:
        loaded(tmp_path, text)
    assert words in str(caught.value)


def test_a_bare_list_is_a_plan_and_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    listed = loaded(tmp_path, "- GET /a\n- request: GET /b\n  headers: ['Accept: a: b']\n")
    assert listed.requests == (Request(path="/a"), Request(path="/b", headers={"Accept": "a: b"}))
    with pytest.raises(BadInput, match="Name a YAML file with --requests"):
        load_requests(tmp_path / "none.yaml")


@pytest.mark.parametrize(("text", "seconds"), [("10ms", 0.01), ("0.5s", 0.5), ("2", 2.0)])
def test_times_are_read_in_their_unit(text: str, seconds: float) -> None:
    assert parse_time(Given(value=text, name="think_time")) == seconds
