"""The service of system 3: Tornado with one event loop per process. The calculation runs in the
handler.

POST /calc accepts the params of the frame protocol as its JSON body, such as {"target": 1000}, or
the whole request of the frame protocol. It answers with the frame protocol's JSON, whose code is
also the HTTP status.
"""

import socket
from dataclasses import replace

from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler, stream_request_body

from core.cell import Cell
from core.messages import Json
from core.wire import MAX_FRAME_BYTES
from core.work import Refused, decode, error_answer, route
from services.event_loop import LoopService


@stream_request_body
class RouteHandler(RequestHandler):
    """A handler for all URLs and HTTP methods. It calls core.work to compute the answer."""

    def initialize(self, service: "TornadoService") -> None:
        self.service = service
        self.chunks: list[bytes] = []

    def prepare(self) -> None:
        """Refuse a request whose body is larger than the limit, before the body is read."""
        announced = self.request.headers.get("Content-Length", "0")
        if announced.isdecimal() and int(announced) > MAX_FRAME_BYTES:
            self.set_header("Connection", "close")
            self._reply(413, error_answer(413, f"a body of {announced} bytes is not accepted"))
            return
        connection = self.request.connection
        assert isinstance(connection, HTTP1Connection)
        connection.set_max_body_size(MAX_FRAME_BYTES)

    def data_received(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    def get(self) -> None:
        self.service.counted += 1
        try:
            self._reply(200, route(self.request.method or "", self.request.path)(self._params()))
        except Refused as refused:
            self._reply(refused.code, error_answer(refused.code, str(refused)))
        except Exception as error:
            self._reply(500, error_answer(500, f"{type(error).__name__}: {error}"))

    # route() says which methods a URL has, so all come here
    head = post = put = patch = delete = options = get

    def _params(self) -> Json:
        if not self.chunks:
            return {
                name: _text(values[-1]) for name, values in self.request.query_arguments.items()
            }
        params = decode(b"".join(self.chunks))
        if type(params) is dict and type(params.get("params")) is dict:
            params = params["params"]
        if type(params) is not dict:
            raise Refused(400, "the request's body is not a JSON object")
        return params

    def _reply(self, code: int, body: bytes) -> None:
        self.set_status(code)
        self.set_header("Content-Type", "application/json")
        self.finish(body)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise Refused(400, f"the query is not UTF-8: {error}") from error


class TornadoService(LoopService):
    """A service with one Tornado HTTPServer."""

    async def accept(self, sock: socket.socket) -> None:
        """Begin to accept connections on the listening socket *sock*."""
        application = Application(
            [(r".*", RouteHandler, {"service": self})], log_function=lambda _: None
        )
        # no limit here, because prepare() refuses long bodies with an answer in JSON
        HTTPServer(application, max_body_size=2**62).add_socket(sock)


def tornado_service(cell: Cell, service_id: int, folder: str) -> TornadoService:
    """Create the service of system 3, Tornado, which always listens on a TCP port."""
    return TornadoService(replace(cell, transport="tcp"), service_id, folder)
