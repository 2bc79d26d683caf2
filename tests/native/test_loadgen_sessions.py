"""loadgen and sessions: a login first, cookies, values of answers in later requests, generated fields."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.clients.user_service.both import native
from tests.clients.user_service.sessions import SHOP, shop, shop_plan, told
from tests.tables import table


def test_a_login_comes_first_and_its_values_and_cookies_are_in_every_request(tmp_path: Path) -> None:
    with shop() as (seen, address):
        result = native(told(shop_plan(tmp_path)), address, NUM_REQUESTS_PER_CLIENT=200)
    assert (result["answered"], result["wrong"], result["errors"]) == (200, 0, {})
    assert result["latency"]["count"] == 200  # without the login
    assert "secret" not in json.dumps(result)
    login, *others = seen.sent
    assert login.startswith(b"POST /login?u=1 HTTP/1.1\r\n")
    assert login.endswith(b'\r\n\r\n{"name": "u1"}')
    puts = [one for one in others if one.startswith(b"PUT")]
    for number, put in enumerate(puts, 1):
        head, body = put.split(b"\r\n\r\n")
        fields = json.loads(body)
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", fields["id"])
        assert (fields["n"], fields["again"]) == (number, number)
        assert -5 <= fields["in"] <= 5
        assert b"\r\nAuthorization: Bearer secret-token-1\r\n" in head
        assert b'\r\nIf-Match: "e1"\r\n' in head
        assert head.endswith(b"\r\nCookie: deep=d; sid=secret-cookie-1; safe=s")
        assert f"\r\nContent-Length: {len(body)}\r\n".encode() in head
    assert len({put.split()[1] for put in puts}) > len(puts) / 2
    deletes = [one.split()[1] for one in others if one.startswith(b"DELETE")]
    assert set(deletes) == {b"/items/cup%20%C3%A9"}
    (static,) = {one for one in others if one.startswith(b"PATCH")}
    assert static.count(b"Cookie") == 1
    (posted,) = {one for one in others if one.startswith(b"POST /file")}
    assert posted.endswith(b"\xffsecret-token-1 {{unknown}} 1")


def test_each_connection_is_a_user_with_a_login_of_its_own(tmp_path: Path) -> None:
    with shop() as (seen, address):
        native(told(shop_plan(tmp_path)), address, NUM_CONNECTIONS_PER_CLIENT=2)
    logins = [one.split()[1] for one in seen.sent if one.startswith(b"POST /login")]
    assert sorted(logins) == [b"/login?u=1", b"/login?u=2"]


def test_a_user_logs_in_again_when_its_login_has_expired(tmp_path: Path) -> None:
    with shop(lives=7) as (seen, address):
        result = native(told(shop_plan(tmp_path)), address, NUM_REQUESTS_PER_CLIENT=50)
    assert (result["answered"], result["errors"]) == (50, {})
    assert sum(one.startswith(b"POST /login") for one in seen.sent) == 8


LACKS = table(__file__, "sessions.yaml")


@pytest.mark.parametrize("case", LACKS)
def test_what_a_session_lacks_is_named_without_its_secrets(tmp_path: Path, case: dict[str, Any]) -> None:
    old, new = case.get("replace", ("{{user}}", "{{user}}"))
    plan = told(shop_plan(tmp_path, SHOP.replace(old, new)))
    with shop(**case.get("shop", {})) as (_, address):
        result = native(plan, address)
    assert result["errors"] == case["errors"]
    assert case["errors"] or result["wrong"]
    assert (result["first_wrong"]["request"], result["first_wrong"]["got"]) == (case["request"], case["got"])
    assert "secret" not in json.dumps(result)
