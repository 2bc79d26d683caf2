"""HTTP/2 to a user's service on Hypercorn: by prior knowledge and by ALPN."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.method import Warmup
from lab.run.cell_processes import Bench
from lab.run.measure import measure
from lab.run.measured_runtimes import Runtime
from record.saved_run import CellResult
from tests.clients.user_service.test_tls import certificate
from tests.conftest import runtime_or_skip
from tests.contract.own_services import planned
from tests.contract.packages import not_installed
from tests.contract.runs import NEEDS_LINUX
from tests.contract.serving import check_ok
from tests.tables import each_row

__all__ = ["certificate"]

pytestmark = NEEDS_LINUX

SHOP = """
import json

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            event = await receive()
            await send({"type": event["type"] + ".complete"})
            if event["type"] == "lifespan.shutdown":
                return
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event.get("body", b""), event.get("more_body", False)
    headers = [[name.decode(), value.decode()] for name, value in scope["headers"] if name != b"host"]
    seen = [scope["http_version"], scope["scheme"], scope["method"], scope["raw_path"].decode(), headers]
    with open("seen", "a") as file:
        file.write(json.dumps([*seen, len(body), body.decode()[:80]]) + chr(10))
    answer = json.dumps({"token": "secret-token", "length": len(body), "filler": "x" * 40_000}).encode()
    cookie = (b"set-cookie", b"sid=secret-cookie; Path=/; Secure")
    status = 201 if scope["method"] == "POST" else 200
    await send({"type": "http.response.start", "status": status, "headers": [cookie]})
    await send({"type": "http.response.body", "body": answer[:30_000], "more_body": True})
    await send({"type": "http.response.body", "body": answer[30_000:]})
"""
REQUESTS = yaml.safe_load("""
- request: POST /login?u={{user}}
  first: true
  body: '{"name": "a"}'
  expect_status: 201
  save: {token: {json: /token}}
- request: PUT /items/{{random.int 1 9}}?q=%20
  body: '{"n": {{counter}}}'
  weight: 3
  headers: {Authorization: 'Bearer {{token}}', X-Shop: ' é b'}
  expect_json: '{"token": "secret-token"}'
- request: DELETE /big
  body_file: big.txt
  expect_json: '{"length": 200000}'
- request: HEAD /items/3
""")
PLAIN = "{python} -m hypercorn --bind {host}:{port} --log-level warning"
SECURE = f"{PLAIN} --certfile both.pem --keyfile both.pem"
TLS_ITEMS = """
import http.server, runpy, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("both.pem")

class Secured(http.server.ThreadingHTTPServer):
    def __init__(self, *args):
        super().__init__(*args)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

http.server.ThreadingHTTPServer = Secured
runpy.run_path("items.py", run_name="__main__")
"""

Run = Callable[..., CellResult]


@pytest.fixture
def run(folder: Path, native_client: Bench, certificate: Path) -> Run:
    """Measure a cell of a service in *folder* by HTTP/2."""
    (folder / "shop.py").write_text(SHOP)
    (folder / "big.txt").write_text("x" * 200_000)
    (folder / "tls_items.py").write_text(TLS_ITEMS)
    (folder / "hypercorn.txt").write_text("hypercorn==0.18.0\n")
    shutil.copy(certificate, folder / "both.pem")

    def run(runtime: Runtime, given: dict[str, Any], **values: int) -> CellResult:
        method = replace(native_client.method, warmup=Warmup(share=0.2))
        service = {"protocol": "http2", **given}
        cell, system = planned(folder, str(runtime.name), service, NUM_CONNECTIONS_PER_CLIENT=1, **values)
        result = measure(cell, system, 1, replace(native_client, method=method))
        if "could not be installed" in str(result.reason):
            not_installed(str(result.reason))
        return result

    return run


@pytest.mark.parametrize(
    ("how", "scheme", "requests", "connects"),
    [
        ({"command": f"{PLAIN} shop:app"}, "http", 450, {1, 2}),  # a new one after 500 requests
        ({"command": f"{SECURE} shop:app", "scheme": "https", "ca": "both.pem"}, "https", 60, {0, 1}),
    ],
)
def test_a_service_gets_the_headers_and_bodies_of_the_plan(
    run: Run, folder: Path, how: dict[str, str], scheme: str, requests: int, connects: set[int]
) -> None:
    given = {"requests": REQUESTS, "requirements": "hypercorn.txt", **how}
    result = run(runtime_or_skip("3.14t"), given, NUM_REQUESTS_PER_CLIENT=requests)
    check_ok(result)
    assert result.answered == requests
    assert result.connect.count in connects
    seen = [json.loads(line) for line in (folder / "seen").read_text().splitlines()]
    assert {tuple(one[:2]) for one in seen} == {("2", scheme)}
    assert {one[2] for one in seen} == {"POST", "PUT", "DELETE", "HEAD"}
    put = next(one for one in seen if one[2] == "PUT")
    assert put[4] == [
        *[["content-type", "application/json"], ["authorization", "Bearer secret-token"]],
        *[["x-shop", "é b"], ["content-length", "8"], ["cookie", "sid=secret-cookie"]],
    ]
    assert put[5:] == [8, '{"n": 1}']


@each_row
def test_a_service_that_does_not_speak_http2_is_named_with_the_fix(
    run: Run, any_runtime: Runtime, given: dict[str, Any]
) -> None:
    result = run(any_runtime, {**given, "start_deadline": "1s"})
    assert result.status == "failed"
    reason = str(result.reason)
    assert str(given["command"]).split()[1] in reason
    assert "if the service speaks only HTTP/1.1, leave out --protocol http2" in reason
    assert "did not choose h2 by ALPN" in reason or "scheme" not in given
