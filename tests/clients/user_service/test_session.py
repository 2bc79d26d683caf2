"""Sessions of virtual users: a login first, cookies, values of answers in later requests, generated fields."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clients.user_service.session import Cookies
from tests.clients.user_service.sessions import SHOP, shop, shop_plan, told
from tests.clients.user_service.test_client import client


def asked(own: dict[str, Any], address: str, requests: int, connections: int = 1) -> dict[str, Any]:
    """The result of a client."""
    one = client(address, own=own, NUM_REQUESTS_PER_CLIENT=requests, NUM_CONNECTIONS_PER_CLIENT=connections)
    return one.run()


def test_a_login_comes_first_and_its_values_and_cookies_are_in_every_request(tmp_path: Path) -> None:
    with shop() as (seen, address):
        result = asked(told(shop_plan(tmp_path)), address, 60)
    assert (result["answered"], result["wrong"], result["errors"]) == (60, 0, {})
    assert result["latency"]["count"] == 60  # without the login
    login, *others = seen.sent
    assert login.startswith(b"POST /login?u=1 HTTP/1.1\r\n")
    assert login.endswith(b'\r\n\r\n{"name": "u1"}')
    puts = [one for one in others if one.startswith(b"PUT")]
    for number, put in enumerate(puts, 1):
        head, _, body = put.partition(b"\r\n\r\n")
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


def test_a_request_that_a_new_login_does_not_help_is_a_failure_whose_text_has_no_token(tmp_path: Path) -> None:
    with shop(lives=0) as (_, address):
        result = asked(told(shop_plan(tmp_path)), address, 20)
    assert result["errors"] == {"401": 20}
    assert result["first_wrong"]["got"] == "status 401, after a login"
    assert "secret" not in json.dumps(result)


def test_a_login_that_fails_has_an_error_of_its_own(tmp_path: Path) -> None:
    with shop(login=403) as (seen, address):
        result = asked(told(shop_plan(tmp_path)), address, 40, connections=2)
    assert (result["requests"], result["answered"], result["errors"]) == (40, 0, {"login": 20})
    assert result["first_wrong"] == {"request": "POST /login?u={{user}}", "got": "status 403", "expected": "200"}
    assert all(one.startswith(b"POST /login") for one in seen.sent)


def test_a_value_that_an_answer_lacks_is_named(tmp_path: Path) -> None:
    text = SHOP.replace("a~1b/0", "nowhere")
    with shop() as (_, address):
        result = asked(told(shop_plan(tmp_path, text)), address, 10)
    assert result["errors"] == {"login": 10}
    assert result["first_wrong"]["got"] == "no value for token at json /nowhere/access_token"


# Source of the expected values: RFC 6265, 5.1.4, 5.2 and 5.4.
COOKIES = [
    ((b"a=1", b"b=2; Path=/x", b"a=3"), b"/x/y", b"b=2; a=3"),
    ((b"a=1; Path=/x",), b"/xy", b""),
    ((b"a=1; Path=relative",), b"/other", b"a=1"),
    ((b"a=1; Domain=.EXAMPLE.org",), b"/", b"a=1"),
    ((b"a=1; Domain=shop.example.org",), b"/", b"a=1"),
    ((b"a=1; Domain=hop.example.org",), b"/", b""),
    ((b"a=1; Secure",), b"/", b""),
    ((b"a=1", b"a=; Max-Age=-1"), b"/", b""),
    ((b"a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; max-age=x",), b"/", b"a=1"),
    ((b"a=1; Max-Age=5; Expires=Wed, 21 Oct 2015 07:28:00 GMT",), b"/", b"a=1"),
    ((b"a=b=c d ; HttpOnly", b"=x", b"y"), b"/", b"a=b=c d"),
]


@pytest.mark.parametrize(("lines", "path", "sent"), COOKIES)
def test_cookies_are_sent_where_they_belong(lines: tuple[bytes, ...], path: bytes, sent: bytes) -> None:
    cookies = Cookies("shop.example.org", is_secure=False)
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(b"set-cookie: %s\r\n" % line for line in lines)
    cookies.take(head, b"/login")
    assert cookies.header(path) == (b"\r\nCookie: " + sent if sent else b"")
