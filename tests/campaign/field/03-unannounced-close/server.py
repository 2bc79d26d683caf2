"""Say HTTP/1.1 with a length, then hang up without having announced it.

Usage: server.py PORT. LINGER_MS: how long after the answer the connection stays open (default 0).
"""

import os
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

LINGER_S = float(os.environ.get("LINGER_MS", "0")) / 1000
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"


def serve(sock):
    with sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b""
        while b"\r\n\r\n" not in data:
            more = sock.recv(4096)
            if not more:
                return
            data += more
        sock.sendall(ANSWER)
        time.sleep(LINGER_S)


with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128) as listener, ThreadPoolExecutor(32) as pool:
    while True:
        pool.submit(serve, listener.accept()[0])
