"""Frames for services that others wrote: what a body must be."""

import json
from pathlib import Path

import pytest

from clients.user_service.framed import message
from core.errors import BadInput
from core.request_plan import Request


def test_a_frame_has_method_url_and_params() -> None:
    sent = message(Request(method="POST", path="/calc", body='{"target": 10}'), "/run/x.sock", "/v1")
    assert int.from_bytes(sent[:4], "big") == len(sent) - 4
    assert json.loads(sent[4:]) == {"method": "POST", "url": "/v1/calc", "params": {"target": 10}}


@pytest.mark.parametrize("body", ["hello", "[1]", "3", "[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused_with_the_request(body: str) -> None:
    with pytest.raises(BadInput, match="POST /calc"):
        message(Request(method="POST", path="/calc", body=body), "/run/x.sock")


def test_a_body_in_a_file_is_looked_into_as_well(tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_bytes(b"\xff")
    with pytest.raises(BadInput, match="JSON object"):
        message(Request(body_file=str(file)), "/run/x.sock")
