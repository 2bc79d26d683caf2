"""Send requests to a user's service with HTTP/2. The package h2 makes and reads the frames."""

from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from clients.channel import HEAD_END, READ_BYTES, CallFailed
from clients.user_service.http import HttpConnection, Tls
from core.limits import MAX_BODY_BYTES, MAX_FRAMING_BYTES, STATUSES

WINDOW_BYTES = 1 << 24  # how much of an answer may be under way; native/loadgen/src/net/http2.rs has the same values
# After 500 requests. Many servers end a connection after 1000 requests, and Hypercorn never answers number 1001.
LAST_STREAM = 999
MAX_STALE_READS = 8  # between two requests, each of up to 64 KiB


class _Frames(H2Connection):  # type: ignore[misc,unused-ignore]
    """The frames of a connection. After GOAWAY, answers to requests that the service has begun can still come."""

    def _receive_goaway_frame(self, frame: Any) -> Any:
        state = self.state_machine.state
        received = super()._receive_goaway_frame(frame)
        self.state_machine.state = state  # h2 would refuse all further frames (RFC 9113, 6.8)
        return received


class Http2Connection(HttpConnection):
    """An HTTP/2 connection that sends one request at a time, as an HTTP/1.1 connection does."""

    __slots__ = ("_content", "_frames", "_is_whole", "_scheme", "_status", "_stream")

    def __init__(self, address: str, deadline_s: float, tls: Tls | None = None) -> None:
        super().__init__(address, deadline_s, tls)
        config = H2Configuration(
            header_encoding=None, normalize_outbound_headers=False, validate_outbound_headers=False
        )
        self._frames = _Frames(config)
        values = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: WINDOW_BYTES}
        self._frames.local_settings = Settings(client=True, initial_values=values)
        self._frames.initiate_connection()
        self._frames.increment_flow_control_window(WINDOW_BYTES - self._frames.inbound_flow_control_window)
        self._scheme = b"https" if tls else b"http"
        self._status, self._content, self._is_whole, self._stream = 0, bytearray(), True, 0

    def ask(self, sent: bytes, method: str) -> tuple[int, bytes]:
        """Send one request, which is given as HTTP/1.1 bytes, with HTTP/2. Return the response's status and body."""
        self._deadline.begin()
        head, _, body = sent.partition(HEAD_END)
        rest, frames, window = memoryview(body), self._frames, self._frames.local_flow_control_window
        self._status, self._content, self._is_whole = 0, bytearray(), False
        try:
            self._stream = stream = frames.get_next_available_stream_id()
            frames.send_headers(stream, self._headers(head), end_stream=not body)
            received_bytes = 0
            while not self._is_whole:
                if received_bytes - len(self._content) > MAX_FRAMING_BYTES:
                    raise CallFailed("garbled")
                while rest and (room := min(window(stream), frames.max_outbound_frame_size)) > 0:
                    part, rest = rest[:room], rest[room:]
                    frames.send_data(stream, bytes(part), end_stream=not rest)
                self._send(frames.data_to_send())
                data = self._read() if self._status else self._read_first()
                received_bytes += len(data)
                self._take_in(data)
        except (ProtocolError, ValueError) as error:
            raise CallFailed("garbled") from error
        self.usable = self.usable and not rest and stream < LAST_STREAM
        return self._status, bytes(self._content)

    def is_stale(self) -> bool:
        """Return whether the service has closed the connection, or sends without end. Read the frames that arrived."""
        self._sock.settimeout(0)
        try:
            for _ in range(MAX_STALE_READS):
                if not self.usable or not (data := self._sock.recv(READ_BYTES)):
                    break
                self._take_in(data)
        except (BlockingIOError, CallFailed, ProtocolError) as error:
            return not isinstance(error, BlockingIOError)
        except OSError as error:
            return self._tls is None or not self._tls.is_quiet(error)
        finally:
            self._sock.settimeout(self._deadline_s)
        return True

    def _headers(self, head: bytes) -> list[tuple[bytes, bytes]]:
        line, *lines = head.split(b"\r\n")
        method, path, _ = line.split(b" ", 2)
        fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
        host = next(value for name, value in fields if name == b"host")
        pseudo = [(b":method", method), (b":scheme", self._scheme), (b":authority", host), (b":path", path)]
        return [*pseudo, *(field for field in fields if field[0] != b"host")]

    def _take_in(self, data: bytes) -> None:
        """Parse the frames in *data*. Raises ProtocolError, or CallFailed if the response will not be complete."""
        for event in self._frames.receive_data(data):
            match event:
                case ResponseReceived():
                    (_, status), *fields = event.headers
                    self._status = int(status)
                    self.head = b"".join((b"HTTP/2\r\n", *(b"%s: %s\r\n" % field for field in fields)))
                case TrailersReceived():
                    self.head += b"".join(b"%s: %s\r\n" % field for field in event.headers)
                case DataReceived():
                    self._content += event.data
                    self._frames.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                case StreamEnded():
                    self._is_whole = True
                case ConnectionTerminated():
                    self.usable = False
                    if not self._is_whole and event.last_stream_id < self._stream:
                        raise CallFailed("closed", was_refused=True)
                case StreamReset() if not self._is_whole:
                    raise CallFailed("reset", was_refused=event.error_code == ErrorCodes.REFUSED_STREAM)
        if len(self._content) > MAX_BODY_BYTES or (self._status and self._status not in STATUSES):
            raise CallFailed("garbled")
