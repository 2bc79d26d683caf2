"""Answers whatever comes with -ERR."""

from raw import serve


def talk(sock):
    while sock.recv(65536):
        sock.sendall(b"-ERR unknown command\r\n")


serve(talk)
