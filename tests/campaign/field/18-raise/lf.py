"""Answers with a head whose last line ends with LF only, as gunicorn's error page does. Usage: lf.py PORT MODE"""

import sys

from raw import heads, serve

ENDS = {"crlf": (b"\r\n", b"\r\n"), "last": (b"\r\n", b"\n"), "all": (b"\n", b"\n")}
LINE, BLANK = ENDS[sys.argv[2]]
ANSWER = LINE.join([b"HTTP/1.1 200 OK", b"Content-Length: 2", b""]) + BLANK + b"ok"


def talk(sock):
    for _ in heads(sock):
        sock.sendall(ANSWER)


serve(talk)
