"""Keep-alive server with a pool of 8 threads; each thread stays with its connection. Usage: server.py PORT"""

import socket
import sys
from concurrent.futures import ThreadPoolExecutor

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def serve(sock):
    with sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b""
        while more := sock.recv(4096):
            data += more
            while b"\r\n\r\n" in data:
                data = data.partition(b"\r\n\r\n")[2]
                sock.sendall(ANSWER)


with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128) as listener, ThreadPoolExecutor(8) as pool:
    while True:
        pool.submit(serve, listener.accept()[0])
