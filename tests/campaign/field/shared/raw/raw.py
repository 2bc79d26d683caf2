"""HTTP by hand: a thread for each connection. Usage: server.py PORT"""

import socket
import sys
from concurrent.futures import ThreadPoolExecutor

HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"


def heads(sock):
    """Yield the head of each request, none of which has a body."""
    data = b""
    while more := sock.recv(65536):
        data += more
        while b"\r\n\r\n" in data:
            head, _, data = data.partition(b"\r\n\r\n")
            yield head


def serve(talk, threads=64):
    def play(sock):
        with sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            talk(sock)

    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128)
    with listener, ThreadPoolExecutor(threads) as pool:
        while True:
            pool.submit(play, listener.accept()[0])
