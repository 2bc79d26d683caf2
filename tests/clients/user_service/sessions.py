"""A service with a login, which records what it was sent, and the plan of a shop that needs it."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from config.user_service.request_options import load_requests
from core.request_plan import RequestPlan
from core.secret import line_for_child
from tests.native.loadgen_peers import Scripted, read_http, response, scripted

SHOP = """
requests:
  - request: POST /login?u={{user}}
    first: true
    body: '{"name": "u{{user}}"}'
    save: {token: {json: /a~1b/0/access_token}, etag: {header: ETag}}
  - request: PUT /items/{{random.int 1 1000}}
    headers: {Authorization: 'Bearer {{token}}', If-Match: '{{etag}}'}
    body: '{"id": "{{random.uuid}}", "n": {{counter}}, "again": {{ counter }}, "in": {{random.int -5 5}}}'
    weight: 3
    save: {item: {regex: 'item=([a-z é]+)'}}
  - request: DELETE /items/{{item}}
  - request: PATCH /static
    headers: {Cookie: own=1}
  - request: POST /file
    body_file: body.txt
"""


class Shop:
    """sent: every request, in order. lives: how many requests a login is good for."""

    def __init__(self, lives: int = 1_000_000, login: int = 200) -> None:
        self.sent: list[bytes] = []
        self.lives = lives
        self.login = login
        self._lock = threading.Lock()
        self._left = 0
        self.logins = 0

    def __call__(self, server: Scripted, connection: socket.socket, request: bytes) -> bool:
        """Answer one request."""
        with self._lock:
            self.sent.append(request)
            connection.sendall(self._answer(request))
        return True

    def _answer(self, request: bytes) -> bytes:
        if request.startswith(b"POST /login"):
            self.logins += 1
            self._left = self.lives
            token = f"secret-token-{self.logins}"
            body = json.dumps({"a/b": [{"access_token": token}]}).encode()
            cookies = (
                f"sid=secret-cookie-{self.logins}; Path=/; HttpOnly",
                "deep=d; path=/items; Max-Age=60",
                "gone=g; Max-Age=0",
                "old=o; Expires=Thu, 01-Jan-1970 00:00:00 GMT",
                "foreign=f; Domain=example.org",
                "safe=s; Secure",
                "bad",
            )
            lines = "".join(f"Set-Cookie: {cookie}\r\n" for cookie in cookies)
            return response(self.login, body, f'ETag: "e{self.logins}"\r\n{lines}')
        self._left -= 1
        if self._left < 0:
            return response(401, b"log in as secret-token-1")
        return response(200, "item=cup é; secret-token-1".encode())


def shop_plan(folder: Path, text: str = SHOP) -> RequestPlan:
    """Read the plan of a file in *folder*."""
    (folder / "body.txt").write_bytes(b"\xff{{token}} {{unknown}} {{user}}")
    (folder / "shop.yml").write_text(text, encoding="utf-8")
    return load_requests(folder / "shop.yml")


@contextmanager
def shop(**how: int) -> Iterator[tuple[Shop, str]]:
    """A shop, and its address."""
    one = Shop(**how)
    with scripted(one, read_http) as server:
        yield one, server.address


def told(plan: RequestPlan, **more: Any) -> dict[str, Any]:
    """The key `own` of a client's first line."""
    requests = plan.to_json()
    for request, stored in zip(plan.requests, requests["requests"], strict=True):
        stored["title"] = str(request)
    line = line_for_child({"protocol": "http", "prefix": "", "requests": requests, **more})
    own: dict[str, Any] = json.loads(line)
    return own
