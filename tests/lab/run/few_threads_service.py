"""A service of few threads, each of which stays with its connection. Arguments: port, threads."""

import socket
import sys
from concurrent.futures import ThreadPoolExecutor

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def serve(connection: socket.socket) -> None:
    """Answer every request of a connection until its end."""
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b""
        while more := connection.recv(4096):
            data += more
            while b"\r\n\r\n" in data:
                data = data.partition(b"\r\n\r\n")[2]
                connection.sendall(ANSWER)


if __name__ == "__main__":
    port, threads = map(int, sys.argv[1:])
    with socket.create_server(("127.0.0.1", port), backlog=128) as listener, ThreadPoolExecutor(threads) as pool:
        while True:
            pool.submit(serve, listener.accept()[0])
