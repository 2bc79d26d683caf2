"""HTTP/2 by prior knowledge; GOAWAY at request 20, before or after its answer (MODE). Usage: server.py PORT"""

import os
import socket
import sys
import threading

from h2.config import H2Configuration
from h2.connection import H2Connection


def GOAWAY(last):
    return b"\x00\x00\x08\x07\x00\x00\x00\x00\x00" + last.to_bytes(4, "big") + b"\x00\x00\x00\x00"


def serve(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c = H2Connection(H2Configuration(client_side=False))
    c.initiate_connection()
    s.sendall(c.data_to_send())
    n = 0
    with s:
        while d := s.recv(65536):
            for e in c.receive_data(d):
                if type(e).__name__ == "RequestReceived":
                    n += 1
                    before = c.data_to_send()
                    c.send_headers(e.stream_id, [(":status", "200")])
                    c.send_data(e.stream_id, b"ok\n", end_stream=True)
                    answer = c.data_to_send()
                    if n == 20:
                        answer = (
                            answer + GOAWAY(e.stream_id)
                            if os.environ["MODE"] == "after"
                            else GOAWAY(e.stream_id) + answer
                        )
                    s.sendall(before + answer)
                    if n == 20:
                        s.shutdown(socket.SHUT_WR)
            if out := c.data_to_send():
                s.sendall(out)


with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128) as listener:
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
