"""TLS to a user's service, by both clients: certificates that are trusted, that are not, and that are accepted."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from core.request_plan import Request, RequestPlan
from lab.user_service.readiness import probe
from tests.clients.user_service.both import native, python
from tests.clients.user_service.sessions import told


class Secured(BaseHTTPRequestHandler):
    """Closes every third connection after its answer, and sends answers that do not fit one TLS record."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    asked = 0

    def do_GET(self) -> None:
        """Answer."""
        type(self).asked += 1
        body = b'{"id": 3, "filler": "%s"}' % (b"x" * 100_000)
        self.send_response(200)
        self.send_header("Set-Cookie", "a=b; Secure")
        self.send_header("Content-Length", str(len(body)))
        if self.asked % 3 == 0:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1, and its key, in one file."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    words = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 "
        f"-addext subjectAltName=IP:127.0.0.1 -keyout {file} -out {file}"
    )
    subprocess.run(words.split(), check=True, capture_output=True)
    return file


@pytest.fixture
def secured(certificate: Path) -> Iterator[str]:
    """The address of a service by TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    Secured.asked = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Secured) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield "{}:{}".format(*server.server_address[:2])
        server.shutdown()
        thread.join()


PLAN = RequestPlan(requests=(Request(path="/3", expect_json={"id": 3}),))


@pytest.mark.parametrize("client", [python, native])
@pytest.mark.parametrize("insecure", [False, True])
def test_requests_are_answered_by_tls(certificate: Path, secured: str, client: Any, *, insecure: bool) -> None:
    tls = {"ca": "" if insecure else str(certificate), "insecure": insecure}
    result = client(told(PLAN, tls=tls), secured, NUM_REQUESTS_PER_CLIENT=40, NUM_CONNECTIONS_PER_CLIENT=2)
    assert (result["answered"], result["wrong"], result["errors"]) == (40, 0, {})
    assert 11 <= result["reconnects"] <= 13  # those that were closed, and none for a ticket that came unasked


def test_a_certificate_that_is_not_trusted_is_named(secured: str) -> None:
    own = told(PLAN, tls={"ca": "", "insecure": False})
    assert "certificate verify failed: self-signed certificate" in str(probe(own, secured, 5.0))
    assert python(own, secured, NUM_CONNECTIONS_PER_CLIENT=1)["errors"] == {"tls": 10}
