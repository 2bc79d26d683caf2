"""Say HTTP/1.1 with a length, then hang up without having announced it."""

from raw import HELLO, heads, serve


def talk(sock):
    if next(heads(sock), None):
        sock.sendall(HELLO)


serve(talk)
