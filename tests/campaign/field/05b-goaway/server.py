"""HTTP/2 by prior knowledge; GOAWAY at request 20, before or after its answer (MODE)."""

import os
import socket

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived
from raw import serve

LAST = 20  # the request


def going_away(last):
    return b"\x00\x00\x08\x07\x00\x00\x00\x00\x00" + last.to_bytes(4, "big") + b"\x00\x00\x00\x00"


def talk(sock):
    connection = H2Connection(H2Configuration(client_side=False))
    connection.initiate_connection()
    requests = 0
    while True:
        sock.sendall(connection.data_to_send())
        data = sock.recv(65536)
        if not data:
            return
        for event in connection.receive_data(data):
            if not isinstance(event, RequestReceived):
                continue
            requests += 1
            parts = [connection.data_to_send()]
            connection.send_headers(event.stream_id, [(":status", "200")])
            connection.send_data(event.stream_id, b"ok\n", end_stream=True)
            parts.append(connection.data_to_send())
            if requests == LAST:
                parts.insert(1 if os.environ["MODE"] == "before" else 2, going_away(event.stream_id))
            sock.sendall(b"".join(parts))
            if requests == LAST:
                sock.shutdown(socket.SHUT_WR)


serve(talk)
