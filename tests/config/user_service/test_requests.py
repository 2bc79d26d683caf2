"""Request plans from YAML; tests/config/refused.txt has what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from config.user_service.request_options import load_requests
from config.user_service.service_flags import restore_secrets, secrets_in_flags
from core.messages import BadInput
from core.request_plan import Request, RequestPlan
from core.secret import revealed
from tests.config.planning import COMMAND_LINE, parsed, planned, service_of

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
    name: replace
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
        Request(method="PUT", path="/items/4", body_file=str(tmp_path / "body.bin"), title="replace"),
        Request(path="/plain"),
    ]


def test_a_bare_list_is_a_plan_and_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    listed = loaded(tmp_path, "- GET /a\n- request: GET /b\n  headers: ['Accept: a: b']\n")
    assert listed.requests == (Request(path="/a"), Request(path="/b", headers={"Accept": "a: b"}))
    with pytest.raises(BadInput, match="Name a YAML file with --requests"):
        load_requests(tmp_path / "none.yaml")


def test_a_run_that_goes_on_takes_its_file_again_and_refuses_another_expected_answer(tmp_path: Path) -> None:
    file = tmp_path / "requests.yaml"
    file.write_text("- {request: POST /login, body: hunter2}\n- {request: /items/3, expect_json: '{\"id\": 3}'}\n")
    own = service_of(planned(f"{COMMAND_LINE} --requests {file}")).to_json()
    restored = restore_secrets(own, secrets_in_flags(parsed(f"--requests {file}")), [])
    assert restored
    assert [revealed(one["body"]) for one in restored["requests"]["requests"]] == ["hunter2", ""]
    file.write_text(file.read_text().replace('"id": 3', '"id": 4'))
    with pytest.raises(BadInput, match="has no --expect-json of GET /items/3 with the value that you gave"):
        restore_secrets(own, secrets_in_flags(parsed(f"--requests {file}")), [])
