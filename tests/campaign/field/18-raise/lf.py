"""Answers with a head whose last line ends with LF only, as gunicorn's error page does. Usage: lf.py PORT MODE"""

import socket
import sys
import threading

ends = {"crlf": (b"\r\n", b"\r\n"), "last": (b"\r\n", b"\n"), "all": (b"\n", b"\n")}
line, blank = ends[sys.argv[2]]
answer = line.join([b"HTTP/1.1 200 OK", b"Content-Length: 2", b""]) + blank + b"ok"


def serve(s):
    buf = b""
    while data := s.recv(65536):
        buf += data
        while b"\r\n\r\n" in buf:
            buf = buf.partition(b"\r\n\r\n")[2]
            s.sendall(answer)


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
