"""loadgen and sessions: it sends the bytes that the Python client sends, and fails in the same words."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.clients.user_service.sessions import SHOP, shop, shop_plan, told
from tests.clients.user_service.test_session import asked
from tests.contract.speaking import released, spoken
from tests.native.programs import program_or_skip, told_client

OUTCOME = ("requests", "answered", "wrong", "errors")


def native(own: dict[str, Any], address: str, requests: int, connections: int = 1) -> dict[str, Any]:
    """The result of the native client."""
    shares: dict[str, Any] = {"NUM_REQUESTS_PER_CLIENT": requests, "NUM_CONNECTIONS_PER_CLIENT": connections}
    cell = {**told_client([[address]], **shares), "own": own}
    with spoken([program_or_skip("loadgen"), "--report", "child"], cell) as (client, _):
        return released(client)


def both(own: dict[str, Any], requests: int, connections: int = 1, **how: int) -> tuple[list[bytes], dict[str, Any]]:
    """What both clients sent, in what order, and how it went: the same."""
    outcomes, sent = [], []
    for client in (asked, native):
        with shop(**how) as (seen, address):
            result = client(own, address, requests, connections)
        assert result["latency"]["count"] == result["answered"]
        assert "secret" not in json.dumps(result)
        wrong = {
            key: text for key, text in result.get("first_wrong", {}).items() if key != "expected"
        }  # JSON: in other words
        outcomes.append({name: result[name] for name in OUTCOME} | {"first_wrong": wrong})
        sent.append([one.replace(address.encode(), b"HOST") for one in seen.sent])
    if connections > 1:
        sent = [sorted(re.sub(rb"(secret-[a-z]+-|\"e)[12]", rb"\1N", text) for text in one) for one in sent]
    assert outcomes[0] == outcomes[1]
    assert sent[0] == sent[1]
    return sent[1], outcomes[1]


def test_both_clients_send_the_same_bytes(tmp_path: Path) -> None:
    sent, outcome = both(told(shop_plan(tmp_path)), 200)
    assert outcome["answered"] == 200
    assert len(sent) == 201
    assert {one.split()[0] for one in sent} == {b"POST", b"PUT", b"DELETE", b"PATCH"}
    assert b"POST /login?u=2 HTTP/1.1" in b"".join(both(told(shop_plan(tmp_path)), 40, connections=2)[0])


def test_both_clients_log_in_again_when_a_login_has_expired(tmp_path: Path) -> None:
    sent, outcome = both(told(shop_plan(tmp_path)), 50, lives=7)
    assert (outcome["answered"], outcome["errors"]) == (50, {})
    assert sum(one.startswith(b"POST /login") for one in sent) == 8


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ("", "", {"lives": 0}),
        ("", "", {"login": 403}),
        ("a~1b/0", "nowhere", {}),
        ("weight: 3", "expect_json: '1'", {}),
        ("DELETE /items/{{item}}", "GET /a\n    expect_sha256: " + 64 * "0", {}),
        ("item=", "other=", {}),
    ],
)
def test_both_clients_fail_in_the_same_words(tmp_path: Path, old: str, new: str, how: dict[str, int]) -> None:
    plan = told(shop_plan(tmp_path, SHOP.replace(old, new) if old else SHOP))
    _, outcome = both(plan, 20, **how)
    assert outcome["errors"] or outcome["wrong"]
    assert outcome["first_wrong"]
